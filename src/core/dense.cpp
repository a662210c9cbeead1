#include "dense.hpp"

#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include "tarn/core/error.hpp"

namespace tarn::dense {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Spectrum3 symmetric_spectrum(const Matrix3d& matrix) {
  const Eigen::SelfAdjointEigenSolver<Matrix3d> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Spectrum orthogonal_spectrum(const MatrixXd& columns, MatrixXd matrix) {
  const Eigen::Index n = matrix.rows(), rest = n - columns.cols();
  if (rest == 0) return {VectorXd(0), MatrixXd(n, 0)};
  // The first columns of Q span `columns`, the others the orthogonal complement.
  const Eigen::HouseholderQR<MatrixXd> qr(columns);
  matrix.applyOnTheLeft(qr.householderQ().adjoint());
  matrix.applyOnTheRight(qr.householderQ());
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(matrix.bottomRightCorner(rest, rest));
  if (solver.info() != Eigen::Success) {
    throw NumericalError("the eigenvalue solver for the second derivatives did not converge");
  }
  Spectrum spectrum{solver.eigenvalues(), MatrixXd::Zero(n, rest)};
  spectrum.vectors.bottomRows(rest) = solver.eigenvectors();
  spectrum.vectors.applyOnTheLeft(qr.householderQ());
  return spectrum;
}

MatrixXd orthogonal_matrix(const MatrixXd& columns) {
  return Eigen::HouseholderQR<MatrixXd>(columns).householderQ();
}

void orthonormalise(Eigen::Ref<Eigen::MatrixX3d> columns) {
  const Spectrum3 axes = symmetric_spectrum(columns.transpose() * columns);
  columns = (columns * axes.vectors * axes.values.cwiseSqrt().cwiseInverse().asDiagonal()).eval();
}

bool solve_definite(MatrixXd& matrix, Eigen::Ref<VectorXd> right) {
  const Eigen::LLT<Eigen::Ref<MatrixXd>> cholesky(matrix);
  const bool definite = cholesky.info() == Eigen::Success;
  if (definite) {
    cholesky.solveInPlace(right);
  } else {
    right.setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  return definite;
}

VectorXd solve_symmetric(const ConstMatrixRef& matrix, const ConstVectorRef& right) {
  return matrix.ldlt().solve(right);
}

Matrix3d inverse(const Matrix3d& matrix) { return matrix.inverse(); }

MatrixXd solve_lyapunov(MatrixXd a, const MatrixXd& b) {
  // The sum of A^k B B^T (A^k)^T, by doubling the number of terms.
  MatrixXd c = b.lazyProduct(b.transpose());
  for (int doubling = 0; doubling < 40; ++doubling) {
    const MatrixXd ac = a.lazyProduct(c), square = a.lazyProduct(a);
    c += ac.lazyProduct(a.transpose());
    a = square;
  }
  return c;
}

VectorXd product(const MatrixXd& a, const ConstVectorRef& x) { return a * x; }
VectorXd transposed_product(const MatrixXd& a, const ConstVectorRef& x) {
  return a.transpose() * x;
}
MatrixXd congruence(const MatrixXd& a, const MatrixXd& b, const MatrixXd& c) {
  // Eigen's products of dynamic sizes are for large matrices.
  const auto of_size = [&]<int kColumns>() -> MatrixXd {
    using Columns = Eigen::Matrix<double, 9, kColumns>;
    const Eigen::Matrix<double, 9, 9> middle = b;
    const Columns left = a, right = middle * Columns(c);
    return left.transpose() * right;
  };
  return a.cols() == 6 ? of_size.operator()<6>() : of_size.operator()<9>();
}
void add_outer_product(double factor, const ConstMatrixRef& columns, MatrixXd& matrix) {
  matrix.noalias() += factor * (columns * columns.transpose());
}

}  // namespace tarn::dense
