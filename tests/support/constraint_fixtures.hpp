#pragma once

#include "steps/rigid.hpp"
#include "tarn/physics/parameters.hpp"
#include "water_fixtures.hpp"

/// @file
/// Fixtures for SHAKE and SETTLE: a molecule that is rigid before a move and not after it.

namespace tarn::test {

struct Move {
  Triple<double> x_old, x_free;
  BondReference<double> reference;
  Masses<double> m;
  SettleParameters<double> settle;
};

inline Move make_move(const WaterModel& model, const Triple<double>& x_old,
                      const Triple<double>& x_free) {
  return {x_old, x_free, bond_reference(model), masses(model), settle_parameters(model)};
}

/// x_free put onto the constraints by `constrain`.
template <class T>
struct Constrained {
  Triple<T> x;
  mask_t<T> converged;
  T iterations;
};
template <class T, class Constrain>
Constrained<T> constrained(const Triple<T>& x_old, const Triple<T>& x_free,
                           const Constrain& constrain) {
  const JacobiVectors<T> free = jacobi_vectors(x_free);
  const ShakeResult<T> r = constrain.move(jacobi_vectors(x_old), free);
  return {add_change(T(1.0), r.change, constrain.masses, x_free), r.converged, r.iterations};
}

/// Calls f for n moves of each model: up to `size` A for each atom, on all scales below it, within
/// 5 A of the origin.
template <class F>
void for_moves(Random& random, int n, double size, F f) {
  for (const WaterModel& model : kWaterModels) {
    SCOPED_TRACE(std::string(model.name));
    for (int k = 0; k < n; ++k) {
      const Triple<double> x_old = random_molecule(model, random, 5.0);
      const double s = k % 2 == 0 || size == 0.0 ? size : random.log_uniform(1e-6 * size, size);
      f(make_move(model, x_old, x_old + random.triple(s)));
    }
  }
}

/// Calls f(move, turned molecule, s) for displacements s n x r about the three principal axes n
/// through the centre of mass; the molecule lies anywhere.
template <class F>
void for_turns(F f) {
  Random random(11);
  for (const WaterModel& model : kWaterModels) {
    SCOPED_TRACE(std::string(model.name));
    Triple<double> x = molecule_at_origin(model);
    const double shift = 2 * model.mass_h_Da * x.h1.x / model.molecule_mass_Da();
    for (Vec3<double>* v : {&x.o, &x.h1, &x.h2}) v->x -= shift;
    const Vec3<double> axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (const Vec3<double>& n : axes) {
      for (double s : {1e-6, 1e-3, 0.1, 0.5, 0.8, 0.95}) {
        const RigidMotion motion = RigidMotion::random(random, 1.0);
        const double c = std::sqrt(1 - s * s);
        const auto push = [&](const Vec3<double>& r) { return fma(s, cross(n, r), r); };
        const auto turn = [&](const Vec3<double>& r) {
          return dot(n, r) * n + c * (r - dot(n, r) * n) + s * cross(n, r);
        };
        f(make_move(model, motion(x), motion({push(x.o), push(x.h1), push(x.h2)})),
          motion({turn(x.o), turn(x.h1), turn(x.h2)}), s);
      }
    }
  }
}

/// The constraint equations g(x_free + M^-1 J^T(x_old) l) = 0 by Newton's method in long double.
inline Vector9 constrained_by_newton(const Move& c) {
  const Eigen::Matrix<Real, 9, 3> force =
      inverse_mass_matrix(c.m) * dense_jacobian(c.x_old).transpose();
  const Eigen::Matrix<Real, 3, 1> length2(c.reference.oh2, c.reference.oh2, c.reference.hh2);
  Vector9 x = to_vector(c.x_free);
  for (int iteration = 0; iteration < 50; ++iteration) {
    const Vector9 step = force * solution(dense_jacobian(x) * force, dense_constraint(x, length2));
    x -= step;
    if (step.norm() < 1e-18L) break;
  }
  return x;
}

/// Deviations of a move from x_free to x from the laws of constraint forces.
struct MoveLaws {
  Real off_span;          ///< distance of x - x_free from the span of M^-1 J^T(x_old) [A]
  Real momentum;          ///< |sum m (x - x_free)| [Da A]
  Real angular_momentum;  ///< |sum m x_old cross (x - x_free)| about the old oxygen [Da A^2]

  MoveLaws(const Move& c, const Triple<double>& x) {
    const Matrix39 j = dense_jacobian(c.x_old);
    const Matrix9 mass = mass_matrix(c.m), inverse = inverse_mass_matrix(c.m);
    const Vector9 d = to_vector(x) - to_vector(c.x_free);
    off_span = (d - inverse * j.transpose() * solution(j * inverse * j.transpose(), j * d)).norm();
    momentum = total(mass * d).norm();
    const Vec3<double> o = c.x_old.o;
    angular_momentum = torque({o - o, c.x_old.h1 - o, c.x_old.h2 - o}, mass * d).norm();
  }
};

}  // namespace tarn::test
