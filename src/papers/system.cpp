#include "system.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tarn::papers {
namespace {

/// Adds values at the coordinates that each constraint depends on, which `of` computes from its
/// number and the positions there.
template <class Of>
Vector scattered(const Constraint& constraint, const Vector& q, Vector sum, const Of& of) {
  for (Index i = 0; i < constraint.count(); ++i) {
    const Local values = of(i, constraint.at(i, q));
    const std::vector<Index>& where = constraint.support(i);
    for (Index k = 0; k < values.size(); ++k) sum[where[k]] += values[k];
  }
  return sum;
}

/// Gaussian elimination with row exchanges, which fill up to `half` more diagonals.
Vector solve_band(const Matrix& band, Vector b) {
  const Index size = band.cols(), half = band.rows() / 2;
  Matrix work = Matrix::Zero(3 * half + 1, size);
  work.topRows(2 * half + 1) = band;
  const auto at = [&](Index i, Index j) -> double& { return work(j - i + half, i); };
  for (Index k = 0; k < size; ++k) {
    const Index last_row = std::min(size - 1, k + half);
    const Index last_column = std::min(size - 1, k + 2 * half);
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
  for (Index k = size - 1; k >= 0; --k) {
    for (Index j = k + 1; j <= std::min(size - 1, k + 2 * half); ++j) b[k] -= at(k, j) * b[j];
    b[k] /= at(k, k);
  }
  return b;
}

}  // namespace

BandMatrix::BandMatrix(Index size, Sparsity sparsity)
    : size_(size), half_(sparsity.half_bandwidth), cyclic_(sparsity.cyclic) {
  if (cyclic_ && (half_ != 1 || size < 4)) {
    throw std::logic_error("a cyclic band matrix must be tridiagonal with four rows or more");
  }
  dense_ = !cyclic_ && 2 * half_ + 1 >= size;
  a_ = dense_ ? Matrix::Zero(size, size) : Matrix::Zero(2 * half_ + 1, size);
}

double* BandMatrix::entry(Index row, Index column) {
  if (dense_) return &a_(row, column);
  if (std::abs(row - column) <= half_) return &a_(column - row + half_, row);
  if (cyclic_ && row == 0 && column == size_ - 1) return &top_right_;
  return cyclic_ && row == size_ - 1 && column == 0 ? &bottom_left_ : nullptr;
}

void BandMatrix::add(Index row, Index column, double value) {
  double* const stored = entry(row, column);
  if (stored == nullptr) throw std::logic_error("BandMatrix: entry outside the band");
  *stored += value;
}

Matrix BandMatrix::to_dense() const {
  BandMatrix copy = *this;
  return Matrix::NullaryExpr(size_, size_, [&](Index row, Index column) {
    const double* const stored = copy.entry(row, column);
    return stored != nullptr ? *stored : 0.0;
  });
}

/// A cyclic matrix is T + u wᵀ with u = (s, 0, ..., bottom left), w = (1, 0, ..., top right / s);
/// T is banded.
Vector BandMatrix::solve(const Vector& b) const {
  if (dense_) return a_.partialPivLu().solve(b);
  if (!cyclic_) return solve_band(a_, b);
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

BandMatrix MechanicalSystem::shifted_mass(const Vector& q, double c, Hessian kind) const {
  BandMatrix a(size(), sparsity());
  for (Index i = 0; i < size(); ++i) a.add(i, i, masses_[i]);
  add_hessian(q, c, a, kind);
  return a;
}

Local Constraint::at(Index i, const Vector& q) const { return q(support(i)); }

Vector Constraint::values(const Vector& q) const {
  return Vector::NullaryExpr(count(), [&](Index i) { return value(i, at(i, q)); });
}

Vector Constraint::rates(const Vector& q, const Vector& v) const {
  return Vector::NullaryExpr(count(), [&](Index i) { return gradient(i, at(i, q)).dot(at(i, v)); });
}

Vector Constraint::forces(const Vector& q, const Vector& lambda) const {
  return scattered(*this, q, Vector::Zero(q.size()),
                   [&](Index i, const Local& x) -> Local { return lambda[i] * gradient(i, x); });
}

Vector Constraint::curvatures(const Vector& q, const Vector& v) const {
  return Vector::NullaryExpr(count(), [&](Index i) {
    const Local a = at(i, v);
    return a.dot(hessian(i, at(i, q)) * a);
  });
}

Vector Constraint::hessian_times(const Vector& q, const Vector& w, const Vector& u) const {
  return scattered(*this, q, Vector::Zero(q.size()), [&](Index i, const Local& x) -> Local {
    return w[i] * (hessian(i, x) * at(i, u));
  });
}

Vector Constraint::third_derivatives(const Vector& q, const Vector& w, const Vector& v) const {
  return scattered(*this, q, Vector::Zero(q.size()), [&](Index i, const Local& x) -> Local {
    return w[i] * third_derivative(i, x, at(i, v));
  });
}

BandMatrix Constraint::gram(const Vector& left, const Vector& right, const Vector& masses,
                            double factor) const {
  const Sparsity near = coupling();
  BandMatrix a(count(), near);
  std::vector<Local> columns;
  for (Index j = 0; j < count(); ++j) columns.push_back(gradient(j, at(j, right)));
  for (Index i = 0; i < count(); ++i) {
    const std::vector<Index>& rows = support(i);
    const Local row = gradient(i, at(i, left));
    const Index begin = std::max<Index>(0, i - near.half_bandwidth);
    const Index end = std::min(count(), i + near.half_bandwidth + 1);
    for (Index j = begin; j < end; ++j) {
      const std::vector<Index>& others = support(j);
      double sum = 0.0;
      for (Index k = 0; k < row.size(); ++k) {
        for (Index l = 0; l < columns[j].size(); ++l) {
          if (rows[k] == others[l]) sum += row[k] * columns[j][l] / masses[rows[k]];
        }
      }
      if (sum != 0.0) a.add(i, j, factor * sum);
    }
  }
  return a;
}

Sparsity Penalised::sparsity() const {
  const Sparsity a = soft_.sparsity();
  const Sparsity b = constraint_.coordinate_coupling(size());
  return {std::max(a.half_bandwidth, b.half_bandwidth), a.cyclic || b.cyclic};
}

/// The penalty's is omega² (GᵀG + Σ g_i Hess g_i), with Gauss & Newton without the second term.
void Penalised::add_hessian(const Vector& q, double factor, BandMatrix& a, Hessian kind) const {
  if (kind == Hessian::full) soft_.add_hessian(q, factor, a, kind);
  for (Index i = 0; i < constraint_.count(); ++i) {
    const std::vector<Index>& where = constraint_.support(i);
    const Local x = constraint_.at(i, q);
    const Local row = constraint_.gradient(i, x);
    const Index n = x.size();
    LocalMatrix h = LocalMatrix::Zero(n, n);
    if (kind != Hessian::gauss_newton) h = constraint_.value(i, x) * constraint_.hessian(i, x);
    for (Index k = 0; k < n; ++k) {
      for (Index l = 0; l < n; ++l) {
        a.add(where[k], where[l], factor * omega2_ * (row[k] * row[l] + h(k, l)));
      }
    }
  }
}

/// omega² Σ ( 2 (∇g_i·a) H_i a + (aᵀH_i a) ∇g_i + g_i g_i‴[a, a] )
Vector Penalised::third_derivative(const Vector& q, const Vector& a) const {
  return scattered(
      constraint_, q, soft_.third_derivative(q, a), [&](Index i, const Local& x) -> Local {
        const Local b = constraint_.at(i, a);
        const Local row = constraint_.gradient(i, x);
        const Local hb = constraint_.hessian(i, x) * b;
        return omega2_ * (2.0 * row.dot(b) * hb + b.dot(hb) * row +
                          constraint_.value(i, x) * constraint_.third_derivative(i, x, b));
      });
}

}  // namespace tarn::papers
