#include "systems.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <stdexcept>

#include "tarn/core/philox.hpp"

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

enum class Form { squared, plain };  ///< |r|² - L², or |r| - L

constexpr Index kOrigin = -1;
struct Bond {
  Index from;  ///< point, or kOrigin
  Index to;
  double length;
};

/// Constraints on distances between points, or from the origin.
class DistanceConstraint : public Constraint {
 public:
  /// @param dimensions of space, 2 or 3; the coordinates of a point are consecutive
  DistanceConstraint(Form form, Index dimensions, std::vector<Bond> bonds)
      : form_(form), dimensions_(dimensions), bonds_(std::move(bonds)) {
    // The farthest bond that shares a point, found through the first bond of each point.
    std::map<Index, Index> first;
    for (Index i = 0; i < count(); ++i) {
      std::vector<Index>& support = supports_.emplace_back();
      for (const Index point : {bonds_[i].from, bonds_[i].to}) {
        if (point == kOrigin) continue;
        for (Index d = 0; d < dimensions_; ++d) support.push_back(dimensions_ * point + d);
        coupling_ = std::max(coupling_, i - first.try_emplace(point, i).first->second);
      }
      const auto [low, high] = std::minmax_element(support.begin(), support.end());
      coordinate_coupling_ = std::max(coordinate_coupling_, *high - *low);
    }
  }

  Index count() const override { return std::ssize(bonds_); }
  const std::vector<Index>& support(Index i) const override { return supports_[i]; }
  double value(Index i, const Local& x) const override {
    const double length = bonds_[i].length;
    const Local r = bond(x);
    return form_ == Form::squared ? r.squaredNorm() - length * length : r.norm() - length;
  }
  Local gradient(Index, const Local& x) const override {
    const Local r = bond(x);
    return onto_points(form_ == Form::squared ? Local(2.0 * r) : Local(r / r.norm()), x.size());
  }
  LocalMatrix hessian(Index, const Local& x) const override {
    const Local r = bond(x);
    LocalMatrix h = LocalMatrix::Identity(dimensions_, dimensions_);
    if (form_ == Form::squared) {
      h *= 2.0;
    } else {
      const double length = r.norm();
      const Local u = r / length;
      h = (h - u * u.transpose()) / length;
    }
    if (x.size() == dimensions_) return h;
    LocalMatrix both(x.size(), x.size());
    both << h, -h, -h, h;
    return both;
  }
  Local third_derivative(Index, const Local& x, const Local& a) const override {
    if (form_ == Form::squared) return Local::Zero(x.size());
    const Local r = bond(x), b = bond(a);
    const double length = r.norm();
    const Local u = r / length;
    const double s = u.dot(b);
    return onto_points(((3.0 * s * s - b.squaredNorm()) * u - 2.0 * s * b) / (length * length),
                       x.size());
  }
  Sparsity coupling() const override { return {coupling_}; }
  Sparsity coordinate_coupling(Index) const override { return {coordinate_coupling_}; }

 private:
  Local bond(const Local& x) const {
    if (x.size() == dimensions_) return x;
    return x.tail(dimensions_) - x.head(dimensions_);
  }
  Local onto_points(const Local& along_bond, Index size) const {
    if (size == dimensions_) return along_bond;
    Local both(size);
    both << -along_bond, along_bond;
    return both;
  }

  Form form_;
  Index dimensions_;
  std::vector<Bond> bonds_;
  std::vector<std::vector<Index>> supports_;
  Index coupling_ = 0, coordinate_coupling_ = 0;
};

/// V = gravity Σ m y, with y the last coordinate of each point; 0: no forces.
class Weight : public MechanicalSystem {
 public:
  Weight(const Vector& point_masses, Index dimensions, double gravity)
      : MechanicalSystem(point_masses.transpose().replicate(dimensions, 1).reshaped()),
        weight_(Vector::Zero(size())) {
    for (Index i = 0; i < point_masses.size(); ++i) {
      weight_[dimensions * (i + 1) - 1] = gravity * point_masses[i];
    }
  }
  double potential(const Vector& q) const override { return 0.0 + weight_.dot(q); }
  Vector gradient(const Vector&) const override { return weight_; }
  Sparsity sparsity() const override { return {0}; }
  void add_hessian(const Vector&, double, BandMatrix&, Hessian) const override {}
  Vector third_derivative(const Vector& q, const Vector&) const override {
    return Vector::Zero(q.size());
  }

 private:
  Vector weight_;
};

class Dna : public MechanicalSystem {
 public:
  explicit Dna(const SystemKeys& keys)
      : MechanicalSystem(Vector::Ones(keys.n)),
        a_(keys.a),
        x0_(keys.x0),
        epsilon_(keys.epsilon),
        periodic_(keys.ends == DnaEnds::periodic) {}
  double potential(const Vector& q) const override {
    double sum = 0.0;
    for (Index k = 0; k < springs(); ++k) {
      const double d = q[(k + 1) % size()] - q[k];
      sum += 0.5 * d * d;
    }
    for (Index k = 0; k < size(); ++k) sum += epsilon_ * well(q[k]).value;
    return sum;
  }
  Vector gradient(const Vector& q) const override {
    Vector sum = q.unaryExpr([&](double theta) { return epsilon_ * well(theta).first; });
    for (Index k = 0; k < springs(); ++k) {
      const Index next = (k + 1) % size();
      const double d = q[next] - q[k];
      sum[next] += d;
      sum[k] -= d;
    }
    return sum;
  }
  Sparsity sparsity() const override { return {1, periodic_}; }
  void add_hessian(const Vector& q, double factor, BandMatrix& a, Hessian) const override {
    for (Index k = 0; k < size(); ++k) a.add(k, k, factor * epsilon_ * well(q[k]).second);
    for (Index k = 0; k < springs(); ++k) {
      const Index next = (k + 1) % size();
      a.add(k, k, factor);
      a.add(next, next, factor);
      a.add(k, next, -factor);
      a.add(next, k, -factor);
    }
  }
  Vector third_derivative(const Vector& q, const Vector& a) const override {
    return q.binaryExpr(
        a, [&](double theta, double b) { return epsilon_ * well(theta).third * b * b; });
  }

 private:
  /// U and its derivatives.
  struct Well {
    double value, first, second, third;
  };
  Well well(double theta) const {
    const double s = std::sin(theta), c = std::cos(theta);
    const double e = std::exp(-a_ * (1.0 - c - x0_));
    const double e1 = -a_ * s * e;
    const double e2 = -a_ * c * e - a_ * s * e1;
    const double e3 = a_ * s * e - 2.0 * a_ * c * e1 - a_ * s * e2;
    return {(e - 1.0) * (e - 1.0), 2.0 * (e - 1.0) * e1, 2.0 * (e1 * e1 + (e - 1.0) * e2),
            2.0 * (3.0 * e1 * e2 + (e - 1.0) * e3)};
  }
  Index springs() const { return periodic_ ? size() : size() - 1; }

  double a_, x0_, epsilon_;
  bool periodic_;
};

/// A system with constraints |r|² = L² or |r| = L on bonds of points, its penalty and its start.
Experiment with_bonds(std::unique_ptr<MechanicalSystem> soft, Form form, Index dimensions,
                      std::vector<Bond> bonds, double omega, Vector position, Vector velocity) {
  Experiment p{.soft = std::move(soft),
               .omega = omega,
               .position = std::move(position),
               .velocity = std::move(velocity)};
  p.constraint = std::make_unique<DistanceConstraint>(form, dimensions, std::move(bonds));
  p.penalised = std::make_unique<Penalised>(*p.soft, *p.constraint, omega);
  return p;
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

// --- the systems of the papers
// ---------------------------------------------------------------------

Vector rods_of(const Vector& points, Index dimensions) {
  const Index rest = points.size() - dimensions;
  Vector rods = points;
  rods.tail(rest) -= points.head(rest);
  return rods;
}

Vector points_of(Vector rods, Index dimensions) {
  for (Index i = dimensions; i < rods.size(); ++i) rods[i] += rods[i - dimensions];
  return rods;
}

SystemKeys double_pendulum() {
  return {.masses = {1.0, 1.0},
          .lengths = {1.0, std::numbers::sqrt2},
          .position = {0.0, -1.0, 1.0, -2.0},
          .velocity = {0.0, 0.0, 0.0, 0.0}};
}

SystemKeys pendulum_chain(Index n) {
  const auto size = static_cast<std::size_t>(n);
  SystemKeys p{.masses = std::vector<double>(size, 1.0),
               .lengths = std::vector<double>(size, std::sqrt(5.0)),
               .velocity = std::vector<double>(2 * size, 0.0)};
  for (Index i = 1; i <= n; ++i) {
    p.position.push_back(static_cast<double>(i));
    p.position.push_back(-2.0 * static_cast<double>(i));
  }
  return p;
}

SystemKeys spherical_pendulum() {
  return {.masses = {1.0},
          .lengths = {1.0},
          .position = {0.6, 0.0, -0.8},
          .velocity = {0.1, 0.7, 0.075}};
}

SystemKeys double_spherical_pendulum() {
  return {.masses = {1.0, 1.0},
          .lengths = {1.0, 1.0},
          .position = {0.6, 0.0, -0.8, 0.0, 0.6, -0.8},
          .velocity = {0.0, 0.5, 0.0, 0.4, 0.0, 0.0}};
}

Experiment make_pendula(const SystemKeys& pendula, double omega) {
  const Index count = std::ssize(pendula.masses), dimensions = std::ssize(pendula.position) / count;
  std::vector<Bond> bonds;
  for (Index i = 0; i < count; ++i) bonds.push_back({i - 1, i, pendula.lengths[i]});
  const auto points = [&](const std::vector<double>& given) {
    return dimensions == 3 ? points_of(vector_of(given), 3) : vector_of(given);
  };
  return with_bonds(
      std::make_unique<Weight>(vector_of(pendula.masses), dimensions, pendula.gravity),
      Form::squared, dimensions, std::move(bonds), omega, points(pendula.position),
      points(pendula.velocity));
}

Experiment make_dna(const SystemKeys& keys, const Vector& xi) {
  const auto n = static_cast<double>(keys.n);
  Experiment p{.soft = std::make_unique<Dna>(keys)};
  p.position = Vector::Constant(keys.n, 0.8) + 0.1 * xi;
  p.velocity = Vector::NullaryExpr(keys.n, [&](Index k) {
    return std::cos(4.0 * std::numbers::pi * static_cast<double>(k + 1) / n) / std::sqrt(n);
  });
  return p;
}

Vector standard_normals(std::uint64_t seed, Index count) {
  Vector xi(count);
  for (Index k = 0; k < count; k += 2) {
    const PhiloxWords<std::uint64_t> words =
        philox4x32_10<std::uint64_t>({static_cast<std::uint64_t>(k), 0, 0, 0}, seed);
    float first = 0.0f, second = 0.0f;
    box_muller(static_cast<std::uint32_t>(words.w0), static_cast<std::uint32_t>(words.w1), first,
               second);
    xi[k] = first;
    if (k + 1 < count) xi[k + 1] = second;
  }
  return xi;
}

Experiment make_double_spring(double omega) {
  return with_bonds(std::make_unique<Weight>(Vector::Ones(2), 2, 0.0), Form::plain, 2,
                    {{kOrigin, 0, 1.0}, {0, 1, 1.0}}, omega, Vector{{1.0, 0.25, 2.0, 0.0}},
                    Vector{{0.0, -0.5, 0.0, 0.5}});
}

Experiment make_three_body_plane(double omega) {
  Experiment soft = with_bonds(std::make_unique<Weight>(Vector{{1.0, 1.7, 0.6}}, 2, 0.0),
                               Form::plain, 2, {{0, 2, 1.2}}, 1.0, {}, {});
  Experiment p =
      with_bonds(std::move(soft.penalised), Form::squared, 2, {{0, 1, 1.0}, {1, 2, 1.0}}, omega,
                 Vector{{0.0, 0.0, 1.0, 0.0, 1.0, 1.0}}, Vector{{0.1, 0.2, 0.1, -0.3, -0.4, -0.3}});
  p.extra = std::move(soft.soft);
  p.extra_constraint = std::move(soft.constraint);
  return p;
}

}  // namespace tarn::papers
