#include "band_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tarn::papers {

BandMatrix::BandMatrix(Index size, Sparsity sparsity)
    : size_(size), half_(sparsity.half_bandwidth), cyclic_(sparsity.cyclic) {
  if (cyclic_ && (half_ != 1 || size < 4)) {
    throw std::logic_error("a cyclic band matrix must be tridiagonal with four rows or more");
  }
  dense_ = !cyclic_ && 2 * half_ + 1 >= size;
  a_ = dense_ ? Matrix::Zero(size, size) : Matrix::Zero(2 * half_ + 1, size);
}

void BandMatrix::add(Index row, Index column, double value) {
  if (dense_) {
    a_(row, column) += value;
  } else if (std::abs(row - column) <= half_) {
    a_(column - row + half_, row) += value;
  } else if (cyclic_ && row == 0 && column == size_ - 1) {
    top_right_ += value;
  } else if (cyclic_ && row == size_ - 1 && column == 0) {
    bottom_left_ += value;
  } else {
    throw std::logic_error("BandMatrix: entry outside the band");
  }
}

void BandMatrix::add_diagonal(const Vector& values) {
  for (Index i = 0; i < size_; ++i) add(i, i, values[i]);
}

Matrix BandMatrix::to_dense() const {
  if (dense_) return a_;
  Matrix full = Matrix::Zero(size_, size_);
  for (Index i = 0; i < size_; ++i) {
    for (Index j = std::max<Index>(0, i - half_); j <= std::min(size_ - 1, i + half_); ++j) {
      full(i, j) = a_(j - i + half_, i);
    }
  }
  full(0, size_ - 1) += top_right_;
  full(size_ - 1, 0) += bottom_left_;
  return full;
}

Vector BandMatrix::solve(const Vector& b) const {
  if (dense_) return a_.partialPivLu().solve(b);
  return cyclic_ ? solve_cyclic(b) : solve_band(a_, b);
}

/// Gaussian elimination with row exchanges, which fill up to `half` more diagonals.
Vector BandMatrix::solve_band(const Matrix& band, Vector b) const {
  Matrix work = Matrix::Zero(3 * half_ + 1, size_);
  work.topRows(2 * half_ + 1) = band;
  const auto at = [&](Index i, Index j) -> double& { return work(j - i + half_, i); };
  for (Index k = 0; k < size_; ++k) {
    const Index last_row = std::min(size_ - 1, k + half_);
    const Index last_column = std::min(size_ - 1, k + 2 * half_);
    Index pivot = k;
    for (Index i = k + 1; i <= last_row; ++i) {
      if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
    }
    if (pivot != k) {
      for (Index j = k; j <= last_column; ++j) std::swap(at(k, j), at(pivot, j));
      std::swap(b[k], b[pivot]);
    }
    for (Index i = k + 1; i <= last_row; ++i) {
      const double factor = at(i, k) / at(k, k);
      if (factor == 0.0) continue;
      for (Index j = k + 1; j <= last_column; ++j) at(i, j) -= factor * at(k, j);
      b[i] -= factor * b[k];
    }
  }
  for (Index k = size_ - 1; k >= 0; --k) {
    for (Index j = k + 1; j <= std::min(size_ - 1, k + 2 * half_); ++j) b[k] -= at(k, j) * b[j];
    b[k] /= at(k, k);
  }
  return b;
}

/// A = T + u wᵀ with u = (s, 0, ..., bottom left), w = (1, 0, ..., top right / s); T is banded.
Vector BandMatrix::solve_cyclic(const Vector& b) const {
  const Index last = size_ - 1;
  const double s = a_(half_, 0) != 0.0 ? -a_(half_, 0) : 1.0;
  Matrix band = a_;
  band(half_, 0) -= s;
  band(half_, last) -= top_right_ * bottom_left_ / s;
  Vector u = Vector::Zero(size_);
  u[0] = s;
  u[last] = bottom_left_;
  const Vector y = solve_band(band, b);
  const Vector z = solve_band(band, u);
  const double wy = y[0] + top_right_ / s * y[last];
  const double wz = z[0] + top_right_ / s * z[last];
  return y - (wy / (1.0 + wz)) * z;
}

}  // namespace tarn::papers
