#include "dense_solve.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cstddef>
#include <limits>
#include <vector>

#include "tarn/flat_coordinates.hpp"
#include "tarn/physics/dense_matrix.hpp"

namespace tarn::cpu {
namespace {

using Vector9 = Eigen::Matrix<double, 9, 1>;
using Matrix9 = Eigen::Matrix<double, 9, 9>;

/// Solves with the lower half of a matrix. @return false if it is not positive definite
template <class Matrix, class Right, class Out>
bool solve(const Matrix& matrix, const Right& right, Out out) {
  const Eigen::LLT<Matrix> cholesky(matrix);
  const bool definite = cholesky.info() == Eigen::Success;
  if (definite) {
    out = cholesky.solve(right);
  } else {
    out.setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  return definite;
}

/// The molecules of one replica and what their matrices are made of.
template <bool kMSite>
class Dense {
 public:
  Dense(const System& system, std::span<const double> x)
      : system_(system), pair_(pair_parameters<double>(system.model)), x_(x) {}

  /// Lower half of the matrix of molecule k.
  void put_molecule_matrix(int k, auto&& matrix) const {
    const IntegratorSpec& i = system_.integrator;
    SiteCurvatures<double> sites = no_curvatures<double>();
    if (i.hessian == Hessian::molecule || i.hessian == Hessian::total) {
      for (int l = 0; l < system_.molecules; ++l) {
        if (l != k) add_curvatures<kMSite>(pair_, at(k), at(l), sites);
      }
    }
    const MoleculeMatrix<double> m =
        molecule_matrix(at(k), bond_reference(system_.model), masses(system_.model), i.omega, bh2(),
                        i.hessian != Hessian::gauss_newton, pair_.m_weight, sites);
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b <= a; ++b) {
        for_each_element(block(m, a, b), a != b, [&](int row, int column, double value) {
          matrix(3 * a + row, 3 * b + column) = value;
        });
      }
    }
  }
  /// What couples molecule k to l.
  void put_coupling(int k, int l, auto&& matrix) const {
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        for_each_element(coupling<kMSite>(pair_, at(k), a, at(l), b), true,
                         [&](int row, int column, double value) {
                           matrix(3 * a + row, 3 * b + column) = bh2() * value;
                         });
      }
    }
  }
  Triple<double> right_side(int k, std::span<const double> f0) const {
    return molecule_at(f0.data(), static_cast<std::size_t>(k)) +
           penalty_force(at(k), bond_reference(system_.model), system_.integrator.omega);
  }

 private:
  Triple<double> at(int k) const { return molecule_at(x_.data(), static_cast<std::size_t>(k)); }
  double bh2() const {
    const IntegratorSpec& i = system_.integrator;
    return i.beta * i.timestep_akma * i.timestep_akma;
  }

  const System& system_;
  PairParameters<double> pair_;
  std::span<const double> x_;
};

template <bool kMSite>
int accelerations(const System& system, std::span<const double> x, std::span<const double> f0,
                  std::span<double> a) {
  const Dense<kMSite> dense(system, x);
  const int n = system.molecules;
  Eigen::VectorXd right(9 * n);
  for (int k = 0; k < n; ++k) {
    put_molecule(dense.right_side(k, f0), right.data(), static_cast<std::size_t>(k));
  }
  Eigen::Map<Eigen::VectorXd> out(a.data(), 9 * n);
  if (system.integrator.hessian == Hessian::total) {
    Eigen::MatrixXd matrix(9 * n, 9 * n);
    for (int k = 0; k < n; ++k) {
      dense.put_molecule_matrix(k, matrix.block<9, 9>(9 * k, 9 * k));
      for (int l = 0; l < k; ++l) dense.put_coupling(k, l, matrix.block<9, 9>(9 * k, 9 * l));
    }
    return solve(matrix, right, out) ? 0 : 1;
  }
  int indefinite = 0;
  for (int k = 0; k < n; ++k) {
    Matrix9 matrix;
    dense.put_molecule_matrix(k, matrix);
    indefinite += solve(matrix, right.segment<9>(9 * k), out.segment<9>(9 * k)) ? 0 : 1;
  }
  return indefinite;
}

}  // namespace

int dense_accelerations(const System& system, std::span<const double> x, std::span<const double> f0,
                        std::span<double> a) {
  return system.model.has_m_site() ? accelerations<true>(system, x, f0, a)
                                   : accelerations<false>(system, x, f0, a);
}

}  // namespace tarn::cpu
