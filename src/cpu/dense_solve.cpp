#include "dense_solve.hpp"

#include <cstddef>

#include "core/dense.hpp"
#include "physics/dense_matrix.hpp"
#include "physics/flexible_hessian.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn::cpu {
namespace {

/// Parameters of the matrices M + b h^2 H.
struct Terms {
  WaterModel model;
  Hessian hessian;
  double omega;
  ClusterMasses masses;
  double bh2;
};

Terms terms_of_step(const System& system) {
  const IntegratorSpec& i = system.integrator;
  return {system.model, i.hessian, i.omega, system, i.beta * i.timestep_akma * i.timestep_akma};
}

/// For the Hessian of V0 + V1 alone: M = 0 and b h^2 = 1.
Terms terms_of_hessian(const WaterModel& model, double omega) {
  ClusterMasses massless = model;
  massless.model = {};
  return {model, Hessian::total, omega, massless, 1.0};
}

/// The matrices of one replica at x.
template <bool kMSite>
class Dense {
 public:
  Dense(const Terms& terms, std::span<const double> x)
      : terms_(terms),
        pair_(pair_parameters<double>(terms.model)),
        reference_(bond_reference(terms.model)),
        x_(x) {}

  int molecules() const { return static_cast<int>(x_.size() / 9); }
  /// Writes the lower triangle of the matrix of molecule k.
  void put_molecule_matrix(int k, auto&& matrix) const {
    SiteCurvatures<double> sites = no_curvatures<double>();
    if (terms_.hessian == Hessian::molecule || terms_.hessian == Hessian::total) {
      for (int l = 0; l < molecules(); ++l) {
        if (l != k) add_curvatures<kMSite>(pair_, at(k), at(l), sites);
      }
    }
    const MoleculeMatrix<double> m =
        terms_.masses.of(static_cast<std::size_t>(k), [&](const auto& masses) {
          return molecule_matrix(at(k), reference_, masses, terms_.omega, terms_.bh2,
                                 terms_.hessian != Hessian::gauss_newton, pair_.m_weight, sites);
        });
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b <= a; ++b) {
        for_each_element(block(m, a, b), a != b, [&](int row, int column, double value) {
          matrix(3 * a + row, 3 * b + column) = value;
        });
      }
    }
  }
  /// Writes the block that couples molecule k (rows) to l (columns).
  void put_coupling(int k, int l, auto&& matrix) const {
    SymmetricBlock<double> blocks[3][3];
    couplings<kMSite>(pair_, at(k), at(l), blocks);
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        for_each_element(blocks[a][b], true, [&](int row, int column, double value) {
          matrix(3 * a + row, 3 * b + column) = terms_.bh2 * value;
        });
      }
    }
  }
  Triple<double> right_side(int k, std::span<const double> f0) const {
    return molecule_at(f0.data(), static_cast<std::size_t>(k)) +
           penalty_force(at(k), reference_, terms_.omega);
  }

 private:
  Triple<double> at(int k) const { return molecule_at(x_.data(), static_cast<std::size_t>(k)); }

  Terms terms_;
  PairParameters<double> pair_;
  BondReference<double> reference_;
  std::span<const double> x_;
};

template <bool kMSite>
int accelerations(const System& system, std::span<const double> x, std::span<const double> f0,
                  std::span<double> a) {
  const Dense<kMSite> terms(terms_of_step(system), x);
  const int n = terms.molecules();
  for (int k = 0; k < n; ++k) {
    put_molecule(terms.right_side(k, f0), a.data(), static_cast<std::size_t>(k));
  }
  Eigen::Map<Eigen::VectorXd> right(a.data(), 9 * n);
  if (system.integrator.hessian == Hessian::total) {
    Eigen::MatrixXd matrix(9 * n, 9 * n);
    for (int k = 0; k < n; ++k) {
      terms.put_molecule_matrix(k, matrix.block<9, 9>(9 * k, 9 * k));
      for (int l = 0; l < k; ++l) terms.put_coupling(k, l, matrix.block<9, 9>(9 * k, 9 * l));
    }
    return dense::solve_definite(matrix, right) ? 0 : 1;
  }
  int indefinite = 0;
  Eigen::MatrixXd matrix(9, 9);
  for (int k = 0; k < n; ++k) {
    terms.put_molecule_matrix(k, matrix);
    if (!dense::solve_definite(matrix, right.segment(9 * k, 9))) ++indefinite;
  }
  return indefinite;
}

template <bool kMSite>
void hessian_blocks(const WaterModel& model, double omega, std::span<const double> x,
                    const PutBlock& put) {
  const Dense<kMSite> dense(terms_of_hessian(model, omega), x);
  Eigen::MatrixXd block(9, 9);
  for (int k = 0; k < dense.molecules(); ++k) {
    for (int l = 0; l < k; ++l) {
      dense.put_coupling(k, l, block);
      put(k, l, block);
    }
    dense.put_molecule_matrix(k, block);
    block.triangularView<Eigen::StrictlyUpper>() = block.transpose();
    if (model.is_flexible()) {
      const auto own = intramolecular_hessian(molecule_at(x.data(), static_cast<std::size_t>(k)),
                                              flexible_parameters(model));
      block += Eigen::Map<const Eigen::Matrix<double, 9, 9, Eigen::RowMajor>>(&own.at[0][0]);
    }
    put(k, k, block);
  }
}

}  // namespace

int dense_accelerations(const System& system, std::span<const double> x, std::span<const double> f0,
                        std::span<double> a) {
  return system.model.has_m_site() ? accelerations<true>(system, x, f0, a)
                                   : accelerations<false>(system, x, f0, a);
}

void for_each_hessian_block(const WaterModel& model, double omega, std::span<const double> x,
                            const PutBlock& put) {
  model.has_m_site() ? hessian_blocks<true>(model, omega, x, put)
                     : hessian_blocks<false>(model, omega, x, put);
}

}  // namespace tarn::cpu
