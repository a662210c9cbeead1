#pragma once

#include <Eigen/Dense>

/// @file
/// Square matrices whose entries lie near the diagonal: dense, banded, or a cyclic band of three.

namespace tarn::mechanics {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Which entries of a square matrix may differ from zero.
struct Sparsity {
  Index half_bandwidth;  ///< |i - j| of the outermost entries; size - 1 for a dense matrix
  bool cyclic = false;   ///< the corners too; with half_bandwidth 1 only
};
inline Sparsity dense(Index size) { return {size - 1}; }

/// A square matrix with a solver that fits: Eigen's LU when dense, LU with row exchanges in O(n)
/// when banded, and the formula of Sherman & Morrison 1950 on top of that when cyclic. The matrices
/// of linearly implicit methods may be indefinite, so that no Cholesky factorisation is used.
class BandMatrix {
 public:
  /// All zero. @throws std::logic_error for a cyclic band that is not tridiagonal or has fewer
  /// than four rows
  BandMatrix(Index size, Sparsity sparsity);

  Index size() const { return size_; }
  /// Adds to an entry. @throws std::logic_error outside the sparsity
  void add(Index row, Index column, double value);
  void add_diagonal(const Vector& values);
  Matrix to_dense() const;
  /// Solves A x = b. What a singular matrix gives is not finite.
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

}  // namespace tarn::mechanics
