#pragma once

#include <Eigen/Core>

/// @file
/// Linear algebra by Eigen. Its decompositions and products of large matrices are compiled in
/// dense.cpp alone: in each file that used them they took the compiler several seconds.

namespace tarn::dense {

using ConstMatrixRef = Eigen::Ref<const Eigen::MatrixXd>;
using ConstVectorRef = Eigen::Ref<const Eigen::VectorXd>;

/// Eigenvalues in increasing order, and eigenvectors in columns.
struct Spectrum3 {
  Eigen::Vector3d values;
  Eigen::Matrix3d vectors;
};
struct Spectrum {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
/// Spectrum of a symmetric matrix.
Spectrum3 symmetric_spectrum(const Eigen::Matrix3d& matrix);
/// Spectrum of a symmetric matrix in the space orthogonal to some columns; eigenvectors in full
/// coordinates. @throws NumericalError if the iteration does not converge
Spectrum orthogonal_spectrum(const Eigen::MatrixXd& columns, Eigen::MatrixXd matrix);

/// An orthogonal matrix whose first columns span those of a matrix (QR decomposition).
Eigen::MatrixXd orthogonal_matrix(const Eigen::MatrixXd& columns);
/// Replaces three independent columns by orthonormal ones along the axes of their Gram matrix.
void orthonormalise(Eigen::Ref<Eigen::MatrixX3d> columns);

/// Solves with the lower triangle of a matrix by Cholesky factorisation.
/// @param matrix overwritten
/// @param right replaced by the solution, or by NaN if the matrix is not positive definite
/// @return whether it is
bool solve_definite(Eigen::MatrixXd& matrix, Eigen::Ref<Eigen::VectorXd> right);
/// Solves with a symmetric matrix by LDL^T factorisation.
Eigen::VectorXd solve_symmetric(const ConstMatrixRef& matrix, const ConstVectorRef& right);
Eigen::Matrix3d inverse(const Eigen::Matrix3d& matrix);

/// The solution C of C = A C A^T + B B^T, for matrices A whose powers vanish.
Eigen::MatrixXd solve_lyapunov(Eigen::MatrixXd a, const Eigen::MatrixXd& b);

/// a x
Eigen::VectorXd product(const Eigen::MatrixXd& a, const ConstVectorRef& x);
/// a^T x
Eigen::VectorXd transposed_product(const Eigen::MatrixXd& a, const ConstVectorRef& x);
/// a^T b c
Eigen::MatrixXd congruence(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                           const Eigen::MatrixXd& c);
/// matrix += factor columns columns^T
void add_outer_product(double factor, const ConstMatrixRef& columns, Eigen::MatrixXd& matrix);

}  // namespace tarn::dense
