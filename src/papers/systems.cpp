#include "systems.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tarn/core/philox.hpp"

namespace tarn::papers {
namespace {

/// Each point's mass once for each of its coordinates.
Vector repeated(const Vector& point_masses, Index dimensions) {
  return point_masses.transpose().replicate(dimensions, 1).reshaped();
}

/// A system with constraints |r|² = L² or |r| = L on bonds of points, and its penalty.
Experiment with_bonds(std::unique_ptr<MechanicalSystem> soft, DistanceConstraint::Form form,
                      Index dimensions, std::vector<DistanceConstraint::Bond> bonds, double omega) {
  Experiment p;
  p.soft = std::move(soft);
  p.constraint = std::make_unique<DistanceConstraint>(form, dimensions, std::move(bonds));
  p.penalised = std::make_unique<Penalised>(*p.soft, *p.constraint, omega);
  return p;
}

using Form = DistanceConstraint::Form;

}  // namespace

// --- distances -----------------------------------------------------------------------------------

DistanceConstraint::DistanceConstraint(Form form, Index dimensions, std::vector<Bond> bonds)
    : form_(form), dimensions_(dimensions), bonds_(std::move(bonds)) {
  for (const Bond& bond : bonds_) {
    std::vector<Index>& support = supports_.emplace_back();
    for (Index point : {bond.from, bond.to}) {
      if (point == kOrigin) continue;
      for (Index d = 0; d < dimensions_; ++d) support.push_back(dimensions_ * point + d);
    }
    const auto [low, high] = std::minmax_element(support.begin(), support.end());
    coordinate_coupling_ = std::max(coordinate_coupling_, *high - *low);
  }
  // The farthest bond that shares a point, found through the bonds of each point.
  Index points = 0;
  for (const Bond& bond : bonds_) points = std::max({points, bond.from + 1, bond.to + 1});
  std::vector<Index> first(static_cast<std::size_t>(points), -1);
  for (Index i = 0; i < count(); ++i) {
    const Bond& bond = bonds_[static_cast<std::size_t>(i)];
    for (Index point : {bond.from, bond.to}) {
      if (point == kOrigin) continue;
      Index& f = first[static_cast<std::size_t>(point)];
      if (f < 0) f = i;
      coupling_ = std::max(coupling_, i - f);
    }
  }
}

const std::vector<Index>& DistanceConstraint::support(Index i) const {
  return supports_[static_cast<std::size_t>(i)];
}

Local DistanceConstraint::bond(const Local& x) const {
  if (x.size() == dimensions_) return x;
  return x.tail(dimensions_) - x.head(dimensions_);
}

Local DistanceConstraint::onto_points(const Local& along_bond, Index size) const {
  if (size == dimensions_) return along_bond;
  Local both(size);
  both << -along_bond, along_bond;
  return both;
}

double DistanceConstraint::value(Index i, const Local& x) const {
  const double length = bonds_[static_cast<std::size_t>(i)].length;
  const Local r = bond(x);
  return form_ == Form::squared ? r.squaredNorm() - length * length : r.norm() - length;
}

Local DistanceConstraint::gradient(Index, const Local& x) const {
  const Local r = bond(x);
  return onto_points(form_ == Form::squared ? Local(2.0 * r) : Local(r / r.norm()), x.size());
}

LocalMatrix DistanceConstraint::hessian(Index, const Local& x) const {
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

Local DistanceConstraint::third_derivative(Index, const Local& x, const Local& a) const {
  if (form_ == Form::squared) return Local::Zero(x.size());
  const Local r = bond(x);
  const Local b = bond(a);
  const double length = r.norm();
  const Local u = r / length;
  const double s = u.dot(b);
  return onto_points(((3.0 * s * s - b.squaredNorm()) * u - 2.0 * s * b) / (length * length),
                     x.size());
}

// --- weight --------------------------------------------------------------------------------------

Weight::Weight(const Vector& point_masses, Index dimensions, double gravity)
    : MechanicalSystem(repeated(point_masses, dimensions)), weight_(Vector::Zero(size())) {
  for (Index i = 0; i < point_masses.size(); ++i) {
    weight_[dimensions * (i + 1) - 1] = gravity * point_masses[i];
  }
}

// --- DNA -----------------------------------------------------------------------------------------

Dna::Dna(const Parameters& parameters)
    : MechanicalSystem(Vector::Ones(parameters.n)), parameters_(parameters) {}

Dna::Well Dna::well(double theta) const {
  const double a = parameters_.a;
  const double s = std::sin(theta), c = std::cos(theta);
  const double e = std::exp(-a * (1.0 - c - parameters_.x0));
  const double e1 = -a * s * e;
  const double e2 = -a * c * e - a * s * e1;
  const double e3 = a * s * e - 2.0 * a * c * e1 - a * s * e2;
  return {(e - 1.0) * (e - 1.0), 2.0 * (e - 1.0) * e1, 2.0 * (e1 * e1 + (e - 1.0) * e2),
          2.0 * (3.0 * e1 * e2 + (e - 1.0) * e3)};
}

double Dna::potential(const Vector& q) const {
  double sum = 0.0;
  for (Index k = 0; k < springs(); ++k) {
    const double d = q[(k + 1) % size()] - q[k];
    sum += 0.5 * d * d;
  }
  for (Index k = 0; k < size(); ++k) sum += parameters_.epsilon * well(q[k]).value;
  return sum;
}

Vector Dna::gradient(const Vector& q) const {
  Vector sum(size());
  for (Index k = 0; k < size(); ++k) sum[k] = parameters_.epsilon * well(q[k]).first;
  for (Index k = 0; k < springs(); ++k) {
    const Index next = (k + 1) % size();
    const double d = q[next] - q[k];
    sum[next] += d;
    sum[k] -= d;
  }
  return sum;
}

void Dna::add_hessian(const Vector& q, double factor, BandMatrix& a, Hessian) const {
  for (Index k = 0; k < size(); ++k) {
    a.add(k, k, factor * parameters_.epsilon * well(q[k]).second);
  }
  for (Index k = 0; k < springs(); ++k) {
    const Index next = (k + 1) % size();
    a.add(k, k, factor);
    a.add(next, next, factor);
    a.add(k, next, -factor);
    a.add(next, k, -factor);
  }
}

Vector Dna::third_derivative(const Vector& q, const Vector& a) const {
  Vector sum(size());
  for (Index k = 0; k < size(); ++k) {
    sum[k] = parameters_.epsilon * well(q[k]).third * a[k] * a[k];
  }
  return sum;
}

// --- problems ------------------------------------------------------------------------------------

Pendula double_pendulum() {
  return {Vector::Ones(2),
          {1.0, std::numbers::sqrt2},
          1.0,
          Vector{{0.0, -1.0, 1.0, -2.0}},
          Vector::Zero(4)};
}

Pendula pendulum_chain(Index n) {
  Pendula p{Vector::Ones(n), std::vector<double>(static_cast<std::size_t>(n), std::sqrt(5.0)), 1.0,
            Vector(2 * n), Vector::Zero(2 * n)};
  for (Index i = 0; i < n; ++i) {
    p.position.segment<2>(2 * i) = static_cast<double>(i + 1) * Eigen::Vector2d(1.0, -2.0);
  }
  return p;
}

Pendula spherical_pendulum() {
  return {Vector::Ones(1), {1.0}, 1.0, Vector{{0.6, 0.0, -0.8}}, Vector{{0.1, 0.7, 0.075}}};
}

Pendula double_spherical_pendulum() {
  return {Vector::Ones(2),
          {1.0, 1.0},
          1.0,
          Vector{{0.6, 0.0, -0.8, 0.6, 0.6, -1.6}},
          Vector{{0.0, 0.5, 0.0, 0.4, 0.5, 0.0}}};
}

Experiment make_pendula(const Pendula& pendula, double omega) {
  const Index dimensions = pendula.position.size() / pendula.masses.size();
  std::vector<DistanceConstraint::Bond> bonds;
  for (Index i = 0; i < pendula.masses.size(); ++i) {
    bonds.push_back({i - 1, i, pendula.lengths[static_cast<std::size_t>(i)]});
  }
  Experiment p = with_bonds(std::make_unique<Weight>(pendula.masses, dimensions, pendula.gravity),
                            Form::squared, dimensions, std::move(bonds), omega);
  p.position = pendula.position;
  p.velocity = pendula.velocity;
  return p;
}

Experiment make_dna(const Dna::Parameters& parameters, const Vector& xi) {
  const auto n = static_cast<double>(parameters.n);
  Experiment p;
  p.soft = std::make_unique<Dna>(parameters);
  p.position = Vector::Constant(parameters.n, 0.8) + 0.1 * xi;
  p.velocity.resize(parameters.n);
  for (Index k = 0; k < parameters.n; ++k) {
    p.velocity[k] =
        std::cos(4.0 * std::numbers::pi * static_cast<double>(k + 1) / n) / std::sqrt(n);
  }
  return p;
}

Experiment make_double_spring(double omega) {
  Experiment p = with_bonds(std::make_unique<Weight>(Vector::Ones(2), 2, 0.0), Form::plain, 2,
                            {{DistanceConstraint::kOrigin, 0, 1.0}, {0, 1, 1.0}}, omega);
  p.position = Vector{{1.0, 0.25, 2.0, 0.0}};
  p.velocity = Vector{{0.0, -0.5, 0.0, 0.5}};
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

Experiment make_three_body_plane(double omega) {
  const Vector masses{{1.0, 1.7, 0.6}};
  Experiment soft =
      with_bonds(std::make_unique<Weight>(masses, 2, 0.0), Form::plain, 2, {{0, 2, 1.2}}, 1.0);
  Experiment p =
      with_bonds(std::move(soft.penalised), Form::squared, 2, {{0, 1, 1.0}, {1, 2, 1.0}}, omega);
  p.extra = std::move(soft.soft);
  p.extra_constraint = std::move(soft.constraint);
  p.position = Vector{{0.0, 0.0, 1.0, 0.0, 1.0, 1.0}};
  p.velocity = Vector{{0.1, 0.2, 0.1, -0.3, -0.4, -0.3}};
  return p;
}

}  // namespace tarn::papers
