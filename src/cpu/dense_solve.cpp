#include "dense_solve.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "tarn/physics/pair_hessian.hpp"
#include "tarn/physics/penalty.hpp"

namespace tarn::cpu {
namespace {

using Matrix3 = Eigen::Matrix3d;
using Vector9 = Eigen::Matrix<double, 9, 1>;
using Matrix9 = Eigen::Matrix<double, 9, 9>;
/// Row a, column s: what part of site s (O, H1, H2, M) moves with atom a.
using SiteWeights = Eigen::Matrix<double, 3, 4>;

Triple<double> molecule(std::span<const double> x, int k) {
  const double* p = &x[static_cast<std::size_t>(k) * 9];
  return {{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}};
}

Vector9 to_vector(const Triple<double>& t) {
  Vector9 v;
  v << t.o.x, t.o.y, t.o.z, t.h1.x, t.h1.y, t.h1.z, t.h2.x, t.h2.y, t.h2.z;
  return v;
}

/// The Hessian of the penalty and its force, of one molecule.
struct Penalty {
  Matrix9 hessian;
  Vector9 force;
};
Penalty penalty_at(const Triple<double>& x, const BondReference<double>& reference, double omega,
                   bool with_curvature) {
  const Bonds<double> b = bonds(x);
  const BondValues<double> g = constraint_values(b, reference);
  const double values[3] = {g.oh1, g.oh2, g.hh};
  const double omega2 = omega * omega;
  Eigen::Matrix<double, 9, 3> jt;  // columns are the gradients of g
  jt.col(0) = to_vector(apply_jacobian_transposed(b, BondValues<double>{1.0, 0.0, 0.0}));
  jt.col(1) = to_vector(apply_jacobian_transposed(b, BondValues<double>{0.0, 1.0, 0.0}));
  jt.col(2) = to_vector(apply_jacobian_transposed(b, BondValues<double>{0.0, 0.0, 1.0}));
  Penalty p;
  p.hessian = omega2 * jt * jt.transpose();
  p.force = -omega2 * (jt * Eigen::Vector3d(g.oh1, g.oh2, g.hh));
  if (with_curvature) {
    constexpr int ends[3][2] = {{0, 3}, {0, 6}, {3, 6}};
    for (int c = 0; c < 3; ++c) {
      const Matrix3 block = 2.0 * omega2 * values[c] * Matrix3::Identity();
      p.hessian.block<3, 3>(ends[c][0], ends[c][0]) += block;
      p.hessian.block<3, 3>(ends[c][1], ends[c][1]) += block;
      p.hessian.block<3, 3>(ends[c][0], ends[c][1]) -= block;
      p.hessian.block<3, 3>(ends[c][1], ends[c][0]) -= block;
    }
  }
  return p;
}

/// Blocks (i, i), (j, j) and (i, j) of the non-bonded Hessian of one pair of molecules.
struct PairBlocks {
  Matrix9 ii, jj, ij;
};
class PairHessian {
 public:
  explicit PairHessian(const WaterModel& model) : p_(pair_parameters<double>(model)) {
    const double w = p_.m_weight;
    weights_ << 1, 0, 0, 1 - 2 * w, 0, 1, 0, w, 0, 0, 1, w;
    negative_ = model.has_m_site() ? 3 : 0;
  }

  PairBlocks operator()(const Triple<double>& xi, const Triple<double>& xj) const {
    PairBlocks blocks{Matrix9::Zero(), Matrix9::Zero(), Matrix9::Zero()};
    const int charged[3] = {negative_, 1, 2};
    for (int s : charged) {
      for (int t : charged) {
        const double qq = s == negative_ && t == negative_   ? p_.qq_nn
                          : s == negative_ || t == negative_ ? p_.qq_nh
                                                             : p_.qq_hh;
        const Vec3<double> d = site(xi, s) - site(xj, t);
        add(coulomb_hessian(qq, d), d, s, t, blocks);
      }
    }
    const Vec3<double> d = xi.o - xj.o;
    add(lj_hessian(p_, d), d, 0, 0, blocks);
    return blocks;
  }

 private:
  Vec3<double> site(const Triple<double>& x, int s) const {
    return weights_(0, s) * x.o + weights_(1, s) * x.h1 + weights_(2, s) * x.h2;
  }
  /// Spreads the Hessian of one pair of sites over the atoms that they move with.
  void add(const SiteHessian<double>& h, const Vec3<double>& d, int s, int t,
           PairBlocks& blocks) const {
    const Eigen::Vector3d r(d.x, d.y, d.z);
    const Matrix3 k = h.t * r * r.transpose() - h.s * Matrix3::Identity();
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        blocks.ii.block<3, 3>(3 * a, 3 * b) += weights_(a, s) * weights_(b, s) * k;
        blocks.jj.block<3, 3>(3 * a, 3 * b) += weights_(a, t) * weights_(b, t) * k;
        blocks.ij.block<3, 3>(3 * a, 3 * b) -= weights_(a, s) * weights_(b, t) * k;
      }
    }
  }

  PairParameters<double> p_;
  SiteWeights weights_;
  int negative_ = 0;  // the site that carries the negative charge
};

}  // namespace

int dense_accelerations(const System& system, std::span<const double> x, std::span<const double> f0,
                        std::span<double> a) {
  const IntegratorSpec& i = system.integrator;
  const int n = system.molecules;
  const double bh2 = i.beta * i.timestep_akma * i.timestep_akma;
  const Masses<double> m = masses(system.model);
  const BondReference<double> reference = bond_reference(system.model);
  const bool total = i.hessian == Hessian::total;

  Vector9 mass;
  mass << m.o, m.o, m.o, m.h, m.h, m.h, m.h, m.h, m.h;
  std::vector<Matrix9> blocks;
  Eigen::VectorXd right = Eigen::Map<const Eigen::VectorXd>(f0.data(), 9 * n);
  for (int k = 0; k < n; ++k) {
    const Penalty p =
        penalty_at(molecule(x, k), reference, i.omega, i.hessian != Hessian::gauss_newton);
    blocks.push_back(Matrix9(mass.asDiagonal()) + bh2 * p.hessian);
    right.segment<9>(9 * k) += p.force;
  }
  Eigen::MatrixXd matrix;
  if (total) matrix.resize(9 * n, 9 * n);
  if (total || i.hessian == Hessian::molecule) {
    const PairHessian pair(system.model);
    for (int k = 0; k < n; ++k) {
      for (int l = k + 1; l < n; ++l) {
        const PairBlocks b = pair(molecule(x, k), molecule(x, l));
        blocks[static_cast<std::size_t>(k)] += bh2 * b.ii;
        blocks[static_cast<std::size_t>(l)] += bh2 * b.jj;
        if (total) matrix.block<9, 9>(9 * l, 9 * k) = bh2 * b.ij.transpose();
      }
    }
  }

  Eigen::Map<Eigen::VectorXd> out(a.data(), 9 * n);
  if (total) {
    for (int k = 0; k < n; ++k) {
      matrix.block<9, 9>(9 * k, 9 * k) = blocks[static_cast<std::size_t>(k)];
    }
    const Eigen::LLT<Eigen::MatrixXd> cholesky(matrix.selfadjointView<Eigen::Lower>());
    out = cholesky.solve(right);
    return cholesky.info() == Eigen::Success ? 0 : 1;
  }
  int indefinite = 0;
  for (int k = 0; k < n; ++k) {
    const Eigen::LLT<Matrix9> cholesky(blocks[static_cast<std::size_t>(k)]);
    indefinite += cholesky.info() == Eigen::Success ? 0 : 1;
    out.segment<9>(9 * k) = cholesky.solve(right.segment<9>(9 * k));
  }
  return indefinite;
}

}  // namespace tarn::cpu
