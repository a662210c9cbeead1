#pragma once

#include <Eigen/Dense>

/// @file
/// Square matrices that are dense, banded or cyclic tridiagonal.

namespace tarn::papers {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// The entries of a square matrix that may differ from zero.
struct Sparsity {
  Index half_bandwidth;  ///< |i - j| of the outermost entries; size - 1 for a dense matrix
  bool cyclic = false;   ///< the corners too; requires half_bandwidth = 1
};
inline Sparsity dense(Index size) { return {size - 1}; }

/// A square matrix with a solver for its structure: Eigen's LU if dense, LU with row exchanges in
/// O(n) if banded, and in addition the formula of Sherman & Morrison 1950 if cyclic. Matrices of
/// linearly implicit methods may be indefinite, so Cholesky factorisation is not used.
class BandMatrix {
 public:
  /// A zero matrix.
  /// @throws std::logic_error for a cyclic band that is not tridiagonal or has fewer than four rows
  BandMatrix(Index size, Sparsity sparsity);

  Index size() const { return size_; }
  /// Adds to an entry. @throws std::logic_error outside the sparsity
  void add(Index row, Index column, double value);
  void add_diagonal(const Vector& values);
  Matrix to_dense() const;
  /// Solves A x = b. The result is not finite if A is singular.
  Vector solve(const Vector& b) const;

 private:
  Vector solve_band(const Matrix& band, Vector b) const;
  Vector solve_cyclic(const Vector& b) const;

  Index size_;
  Index half_;
  bool cyclic_;
  bool dense_;
  Matrix a_;  ///< dense: as usual; otherwise column i holds row i, entry (i, j) at j - i + half
  double top_right_ = 0.0;
  double bottom_left_ = 0.0;
};

}  // namespace tarn::papers
