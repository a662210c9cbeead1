#include "system.hpp"

#include <algorithm>

namespace tarn::papers {
namespace {

/// Adds values at the coordinates that each constraint depends on, which `of` computes from its
/// number and the positions there.
template <class Of>
Vector scattered(const Constraint& constraint, const Vector& q, Vector sum, const Of& of) {
  for (Index i = 0; i < constraint.count(); ++i) {
    const Local values = of(i, constraint.at(i, q));
    const std::vector<Index>& where = constraint.support(i);
    for (std::size_t k = 0; k < where.size(); ++k) sum[where[k]] += values[static_cast<Index>(k)];
  }
  return sum;
}

}  // namespace

BandMatrix MechanicalSystem::shifted_mass(const Vector& q, double c, Hessian kind) const {
  BandMatrix a(size(), sparsity());
  a.add_diagonal(masses_);
  add_hessian(q, c, a, kind);
  return a;
}

Local Constraint::at(Index i, const Vector& q) const {
  const std::vector<Index>& where = support(i);
  Local x(static_cast<Index>(where.size()));
  for (std::size_t k = 0; k < where.size(); ++k) x[static_cast<Index>(k)] = q[where[k]];
  return x;
}

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

void Constraint::add_gram(const Vector& left, const Vector& right, const Vector& masses,
                          double factor, BandMatrix& a) const {
  const Sparsity near = coupling();
  std::vector<Local> columns;
  for (Index j = 0; j < count(); ++j) columns.push_back(gradient(j, at(j, right)));
  for (Index i = 0; i < count(); ++i) {
    const std::vector<Index>& rows = support(i);
    const Local row = gradient(i, at(i, left));
    const Index begin = std::max<Index>(0, i - near.half_bandwidth);
    const Index end = std::min(count(), i + near.half_bandwidth + 1);
    for (Index j = begin; j < end; ++j) {
      const std::vector<Index>& others = support(j);
      const Local& column = columns[static_cast<std::size_t>(j)];
      double sum = 0.0;
      for (std::size_t k = 0; k < rows.size(); ++k) {
        for (std::size_t l = 0; l < others.size(); ++l) {
          if (rows[k] != others[l]) continue;
          sum += row[static_cast<Index>(k)] * column[static_cast<Index>(l)] / masses[rows[k]];
        }
      }
      if (sum != 0.0) a.add(i, j, factor * sum);
    }
  }
}

Penalised::Penalised(const MechanicalSystem& soft, const Constraint& constraint, double omega)
    : MechanicalSystem(soft.masses()),
      soft_(soft),
      constraint_(constraint),
      omega2_(omega * omega) {}

double Penalised::potential(const Vector& q) const {
  return soft_.potential(q) + 0.5 * omega2_ * constraint_.values(q).squaredNorm();
}

Vector Penalised::gradient(const Vector& q) const {
  return soft_.gradient(q) + constraint_.forces(q, omega2_ * constraint_.values(q));
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
        a.add(where[static_cast<std::size_t>(k)], where[static_cast<std::size_t>(l)],
              factor * omega2_ * (row[k] * row[l] + h(k, l)));
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
