#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "engine_fixtures.hpp"
#include "flexible_reference.hpp"
#include "one_replica.hpp"
#include "steps/step_parameters.hpp"
#include "worst.hpp"

/// @file
/// Forces and single steps of the CPU engine compared with the plain equations in long double, with
/// dense matrices. The references use no formula of tarn/physics.

namespace tarn {
namespace {

using namespace test;

using Vector3 = Eigen::Matrix<Real, 3, 1>;
using Matrix3 = Eigen::Matrix<Real, 3, 3>;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

/// One replica, integrated with the equations as written.
class ReferenceStepper {
 public:
  ReferenceStepper(const System& system, const State& start)
      : system_(system), step_(start.step), id_(start.replica_ids.at(0)) {
    for (int k = 0; k < system.molecules; ++k) {
      Vector9 mass;
      for (int c = 0; c < 9; ++c) mass[c] = mass_of(system, k, c / 3);
      mass_.push_back(mass);
    }
    const Real half = system.model.angle_hoh_degrees * std::acos(Real(-1)) / 360;
    const Real oh = system.model.r_oh_A, hh = 2 * oh * std::sin(half);
    squares_ << oh * oh, oh * oh, hh * hh;
    for (int k = 0; k < system.molecules; ++k) {
      x_.push_back(part(start.positions_A, k));
      v_.push_back(part(start.velocities_A_per_akma, k));
    }
    a_ = accelerations();
    hot_ = v_;
  }

  void step() {
    const Real h = system_.integrator.timestep_akma;
    const bool baoab = system_.thermostat.kind == Thermostat::baoab;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      v_[k] += h / 2 * a_[k];
      if (system_.integrator.scheme == Scheme::newmark_one_step) {
        x_[k] += matrix(k, x_[k]).llt().solve(Vector9(h * mass_[k].cwiseProduct(v_[k])));
      } else if (baoab) {
        if (rigid()) v_[k] = tangent(k, x_[k], v_[k]);
        drift(k, h / 2);
        if (rigid()) v_[k] = tangent(k, x_[k], v_[k]);
        add_noise(k);
        hot_[k] = v_[k];
        drift(k, h / 2);
        if (rigid()) v_[k] = tangent(k, x_[k], v_[k]);
      } else {
        drift(k, h);
      }
    }
    a_ = accelerations();
    for (std::size_t k = 0; k < x_.size(); ++k) {
      v_[k] += h / 2 * a_[k];
      if (rigid()) v_[k] = tangent(k, x_[k], v_[k]);
      if (system_.thermostat.kind == Thermostat::gla) add_noise(k);
      if (!baoab) hot_[k] = v_[k];
    }
    ++step_;
  }

  const std::vector<Vector9>& x() const { return x_; }
  const std::vector<Vector9>& v() const { return v_; }
  /// Temperature from the velocities right after the noise, or at the end of the step without
  /// noise.
  Real temperature_K() const {
    Real twice_kinetic = 0;
    for (std::size_t k = 0; k < hot_.size(); ++k) {
      twice_kinetic += hot_[k].dot(mass_[k].cwiseProduct(hot_[k]));
    }
    return twice_kinetic / (static_cast<Real>(hot_.size()) * (rigid() ? 6 : 9) *
                            Real(units::boltzmann_kcal_per_mol_K));
  }
  /// q = x + b h^2 a, or x for rigid bonds.
  std::vector<Vector9> reported() const {
    std::vector<Vector9> q = x_;
    const IntegratorSpec& i = system_.integrator;
    if (!uses_pushforward(i.scheme)) return q;
    for (std::size_t k = 0; k < q.size(); ++k) q[k] += bh2() * a_[k];
    return q;
  }

 private:
  bool rigid() const { return is_rigid(system_.integrator.scheme); }
  void drift(std::size_t k, Real h) {
    const Vector9 x_old = x_[k];
    x_[k] += h * v_[k];
    if (!rigid()) return;
    const Vector9 x = constrained(k, x_old, x_[k]);
    v_[k] += (x - x_[k]) / h;
    x_[k] = x;
  }
  static Vector9 part(const std::vector<double>& c, int molecule) {
    return Eigen::Map<const Eigen::Matrix<double, 9, 1>>(c.data() + 9 * molecule).cast<Real>();
  }
  Vector3 constraint(const Vector9& x) const { return dense_constraint(x, squares_); }
  /// M^-1 J^T y.
  Vector9 by_mass(std::size_t k, const Vector9& f) const { return f.cwiseQuotient(mass_[k]); }

  /// The a of (M + b h^2 omega^2 J^T J) a = F0 - omega^2 J^T g; for infinite omega the a with
  /// J a = -g/(b h^2) and M a - F0 in the range of J^T. M^-1 F0 for rigid bonds.
  std::vector<Vector9> accelerations() const {
    const IntegratorSpec& i = system_.integrator;
    if (i.scheme == Scheme::pushforward_newmark) return newmark_accelerations();
    if (i.hessian == Hessian::molecule || i.hessian == Hessian::total) {
      return study_accelerations();
    }
    const std::vector<Real> forces = forces_at(x_);
    std::vector<Vector9> a(x_.size());
    for (std::size_t k = 0; k < x_.size(); ++k) {
      const Vector9 f = Eigen::Map<const Vector9>(forces.data() + 9 * k);
      if (system_.model.is_flexible()) {
        const FlexibleReference molecule(system_.model, x_[k]);
        a[k] = i.scheme == Scheme::verlet
                   ? by_mass(k, f + molecule.force())
                   : molecule.acceleration(system_.model, mass_[k], bh2(), f);
        continue;
      }
      const Matrix39 j = dense_jacobian(x_[k]);
      if (rigid()) {
        a[k] = by_mass(k, f);
      } else if (i.scheme == Scheme::verlet || i.scheme == Scheme::newmark_one_step) {
        a[k] = by_mass(k, f - Real(i.omega) * i.omega * j.transpose() * constraint(x_[k]));
      } else if (std::isinf(i.omega)) {
        Eigen::Matrix<Real, 12, 12> saddle = Eigen::Matrix<Real, 12, 12>::Zero();
        saddle.topLeftCorner<9, 9>() = mass_[k].asDiagonal();
        saddle.topRightCorner<9, 3>() = j.transpose();
        saddle.bottomLeftCorner<3, 9>() = j;
        Eigen::Matrix<Real, 12, 1> right;
        right << f, -constraint(x_[k]) / bh2();
        a[k] = saddle.fullPivLu().solve(right).head<9>();
      } else {
        const Real w2 = Real(i.omega) * i.omega;
        a[k] = matrix(k, x_[k]).llt().solve(f - w2 * j.transpose() * constraint(x_[k]));
      }
    }
    return a;
  }
  /// Non-bonded and wall forces.
  std::vector<Real> forces_at(const std::vector<Vector9>& x, bool with_wall = true) const {
    std::vector<Real> flat;
    for (const Vector9& xk : x) flat.insert(flat.end(), xk.data(), xk.data() + 9);
    std::vector<Real> forces = plain_energy(system_.model, flat).forces;
    if (with_wall) add_wall(x, forces);
    return forces;
  }
  Real bh2() const {
    const IntegratorSpec& i = system_.integrator;
    return Real(i.beta) * i.timestep_akma * i.timestep_akma;
  }
  /// M + b h^2 times the Hessian of the penalty of one molecule.
  Matrix9 matrix(std::size_t k, const Vector9& x) const {
    const IntegratorSpec& i = system_.integrator;
    const Real bh2w2 = bh2() * i.omega * i.omega;
    const Matrix39 j = dense_jacobian(x);
    Matrix9 m = Matrix9(mass_[k].asDiagonal()) + bh2w2 * j.transpose() * j;
    if (i.hessian != Hessian::gauss_newton) m += bh2w2 * curvature(constraint(x));
    return m;
  }
  Vector9 penalty_force(const Vector9& x) const {
    const Real w2 = Real(system_.integrator.omega) * system_.integrator.omega;
    return -w2 * dense_jacobian(x).transpose() * constraint(x);
  }
  /// Solves M a = -grad V(x + b h^2 a) until a does not change.
  std::vector<Vector9> newmark_accelerations() const {
    std::vector<Vector9> a(x_.size(), Vector9::Zero()), q = x_;
    Real change = 1;
    for (int iteration = 0; iteration < 100 && change > 1e-18L; ++iteration) {
      for (std::size_t k = 0; k < q.size(); ++k) q[k] = x_[k] + bh2() * a[k];
      const std::vector<Real> forces = forces_at(q);
      change = 0;
      for (std::size_t k = 0; k < q.size(); ++k) {
        const Vector9 f = Eigen::Map<const Vector9>(forces.data() + 9 * k) + penalty_force(q[k]);
        const Vector9 d = matrix(k, q[k]).llt().solve(f - mass_[k].cwiseProduct(a[k]));
        a[k] += d;
        change = std::max(change, bh2() * d.norm());
      }
    }
    EXPECT_LE(change, 1e-17L);
    return a;
  }
  /// With the whole Hessian or its molecular blocks; the non-bonded part from differences of fourth
  /// order of the forces.
  std::vector<Vector9> study_accelerations() const {
    const IntegratorSpec& i = system_.integrator;
    const auto n = static_cast<Eigen::Index>(x_.size());
    Matrix hessian(9 * n, 9 * n);
    for (Eigen::Index column = 0; column < 9 * n; ++column) {
      const auto force = [&](Real step) {
        std::vector<Vector9> x = x_;
        x[static_cast<std::size_t>(column / 9)][column % 9] += step;
        const std::vector<Real> f = forces_at(x, false);
        return Eigen::Matrix<Real, Eigen::Dynamic, 1>(
            Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(f.data(), 9 * n));
      };
      const Real d = 1e-4L;
      hessian.col(column) =
          -(8 * (force(d) - force(-d)) - (force(2 * d) - force(-2 * d))) / (12 * d);
    }
    const std::vector<Real> forces = forces_at(x_);
    Eigen::Matrix<Real, Eigen::Dynamic, 1> right(9 * n);
    Matrix all = bh2() * hessian;
    if (i.hessian == Hessian::molecule) all.setZero();
    for (Eigen::Index k = 0; k < n; ++k) {
      const auto m = static_cast<std::size_t>(k);
      all.block<9, 9>(9 * k, 9 * k) = bh2() * hessian.block<9, 9>(9 * k, 9 * k) + matrix(m, x_[m]);
      right.segment<9>(9 * k) =
          Eigen::Map<const Vector9>(forces.data() + 9 * k) + penalty_force(x_[m]);
    }
    const Eigen::Matrix<Real, Eigen::Dynamic, 1> solution = all.partialPivLu().solve(right);
    std::vector<Vector9> a;
    for (Eigen::Index k = 0; k < n; ++k) a.push_back(solution.segment<9>(9 * k));
    return a;
  }
  /// Sum of g_c Hess g_c.
  static Matrix9 curvature(const Vector3& g) {
    Matrix9 sum = Matrix9::Zero();
    const int ends[3][2] = {{0, 3}, {0, 6}, {3, 6}};
    for (int c = 0; c < 3; ++c) {
      for (int d = 0; d < 3; ++d) {
        const int i = ends[c][0] + d, j = ends[c][1] + d;
        sum(i, i) += 2 * g[c];
        sum(j, j) += 2 * g[c];
        sum(i, j) -= 2 * g[c];
        sum(j, i) -= 2 * g[c];
      }
    }
    return sum;
  }
  /// The wall pushes oxygens towards the centre of mass; all atoms take the recoil in proportion to
  /// mass.
  void add_wall(const std::vector<Vector9>& positions, std::vector<Real>& forces) const {
    const ConfinementSpec& wall = system_.confinement;
    if (wall.stiffness_kcal_per_mol_A2 == 0.0) return;
    Real total = 0;
    for (const Vector9& mass : mass_) total += mass.sum() / 3;
    Vector3 centre = Vector3::Zero(), net = Vector3::Zero();
    for (std::size_t k = 0; k < positions.size(); ++k) {
      for (int a = 0; a < 9; a += 3) centre += mass_[k][a] / total * positions[k].segment<3>(a);
    }
    for (std::size_t k = 0; k < positions.size(); ++k) {
      const Vector3 r = positions[k].segment<3>(0) - centre;
      const Real beyond = r.norm() - wall.radius_A;
      if (beyond <= 0) continue;
      const Vector3 f = -wall.stiffness_kcal_per_mol_A2 * beyond / r.norm() * r;
      for (int d = 0; d < 3; ++d) forces[9 * k + static_cast<std::size_t>(d)] += f[d];
      net += f;
    }
    for (std::size_t k = 0; k < forces.size(); ++k) {
      const auto c = static_cast<Eigen::Index>(k % 9);
      forces[k] -= mass_[k / 9][c] / total * net[c % 3];
    }
  }
  /// x_free + M^-1 J(x_old)^T mu with g = 0, by Newton's method.
  Vector9 constrained(std::size_t k, const Vector9& x_old, const Vector9& x_free) const {
    const Matrix39 j = dense_jacobian(x_old);
    Vector9 x = x_free;
    for (int i = 0; i < 30; ++i) {
      Eigen::Matrix<Real, 9, 3> directions = j.transpose();
      for (int c = 0; c < 3; ++c) directions.col(c) = by_mass(k, directions.col(c));
      const Matrix3 slope = dense_jacobian(x) * directions;
      x -= directions * slope.fullPivLu().solve(constraint(x));
    }
    return x;
  }
  Vector9 tangent(std::size_t k, const Vector9& x, const Vector9& v) const {
    const Matrix39 j = dense_jacobian(x);
    const Matrix3 s = j * mass_[k].cwiseInverse().asDiagonal() * j.transpose();
    return v - by_mass(k, j.transpose() * s.fullPivLu().solve(j * v));
  }
  void add_noise(std::size_t k) {
    const ThermostatSpec& t = system_.thermostat;
    if (rigid()) v_[k] = tangent(k, x_[k], v_[k]);
    const Real temperature =
        t.temperatures_K.empty()
            ? t.temperature_K
            : t.temperatures_K[static_cast<std::size_t>(id_) % t.temperatures_K.size()];
    const MoleculeNormals z =
        molecule_normals(system_.seed, static_cast<std::uint64_t>(id_), k,
                         static_cast<std::uint64_t>(step_), NoiseStream::thermostat);
    for (int c = 0; c < 9; ++c) {
      Real rate = c < 3 ? t.friction_oxygen_per_akma : t.friction_hydrogen_per_akma;
      if (t.friction_oxygen_per_akma != t.friction_hydrogen_per_akma) {
        rate *= system_.model.mass_Da(c / 3) / mass_[k][c];  // a friction per mass
      }
      const Real decay = std::exp(-rate * Real(system_.integrator.timestep_akma));
      const Real kT = Real(units::boltzmann_kcal_per_mol_K) * temperature;
      v_[k][c] = decay * v_[k][c] + std::sqrt(kT / mass_[k][c] * (1 - decay * decay)) * z.xi[c];
    }
    if (rigid()) v_[k] = tangent(k, x_[k], v_[k]);
  }

  System system_;
  std::int64_t step_;
  std::int64_t id_;
  std::vector<Vector9> mass_;
  Vector3 squares_;
  std::vector<Vector9> x_, v_, a_, hot_;
};

Real largest_difference(const std::vector<Vector9>& a, const double* b) {
  Real worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (Eigen::Index c = 0; c < 9; ++c) {
      const Real d = std::fabs(a[k][c] - b[9 * k + static_cast<std::size_t>(c)]);
      if (!(d <= worst)) worst = d;
    }
  }
  return worst;
}

class EngineAccuracy : public ::testing::TestWithParam<EngineCase> {};

/// Each step starts from the engine's state, so that errors do not accumulate.
TEST_P(EngineAccuracy, AStepSolvesTheEquations) {
  Worst x_error("log10_x_error"), v_error("log10_v_error"), q_error("log10_q_error");
  Worst t_error("log10_temperature_error");
  for (const WaterModel& model : {tip3p(), tip4p()}) {
    for (const std::string& set : different_instruction_sets()) {
      for (int n : {1, 2, 7, 16, 17, 20, 33, 65}) {
        if (n > most_molecules(GetParam().scheme)) continue;
        // The reference's second derivatives of all these pairs take seconds.
        const bool slow = GetParam().scheme == "zss_molecule" || GetParam().scheme == "zss_total";
        if (slow && n > 7 && n != 17 && !covers_everything()) continue;
        const bool costly = slow && n > 7;
        if (costly && (model.name != "tip3p" || set != cpu_instruction_sets().front())) continue;
        System system = make_system(GetParam(), model, n);
        system.integrator.tolerance = 1e-14;  // SHAKE to the end
        const auto engine =
            make_cpu_engine(system, start_state(system, {3, 4'000'000'000}, 70), {}, 1, set);
        for (int before : {0, n <= 2 ? 30 : 5}) {
          if (costly && before > 0) continue;
          engine->advance(before);
          const State from = engine->state();
          engine->advance(1);
          const State to = engine->state();
          Frame f;
          engine->snapshot(kPositions | kVelocities | kEnergies, f);
          ASSERT_TRUE(engine->blow_ups().empty());
          const std::size_t r = before == 0 ? 1 : 0;
          ReferenceStepper reference(system, replica_of(from, r));
          reference.step();
          x_error.see(largest_difference(reference.x(), &to.positions_A[r * to.coordinates()]), n);
          v_error.see(
              largest_difference(reference.v(), &f.velocities_A_per_akma[r * to.coordinates()]), n);
          q_error.see(
              largest_difference(reference.reported(), &f.positions_A[r * to.coordinates()]), n);
          const Real t = reference.temperature_K();
          t_error.see(std::fabs(f.energies[r].temperature_K - t) / t, n);
        }
      }
    }
  }
  // Coordinates up to 12 A have 2e-15 of rounding each. Rigid velocities take x+ - x_free over
  // h = 0.05 or half of it, where that is 8e-14, twice; infinite omega divides g by b h^2 = 1e-3.
  // Sweeps end at a move of 1e-14 of a bond, with some more of that to go.
  const double x_bound = GetParam().scheme == "shake_sweeps" ? 1e-13 : 2e-14;
  x_error.expect_below(x_bound);
  v_error.expect_below(1e-12);
  q_error.expect_below(x_bound);
  t_error.expect_below(1e-11);  // twice that of velocities of 0.2 A/akma and more
}

std::vector<EngineCase> accuracy_cases() {
  std::vector<EngineCase> cases = engine_cases();
  cases.push_back({"one_step_full", Bath::none});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Isotopes, EngineAccuracy, ::testing::ValuesIn(isotope_cases()),
                         EngineCaseName());
INSTANTIATE_TEST_SUITE_P(All, EngineAccuracy, ::testing::ValuesIn(accuracy_cases()),
                         EngineCaseName());

constexpr std::array kPrecisions{Precision::double_, Precision::mixed, Precision::single};

TEST(EngineForces, EqualThePlainSum) {
  for (const WaterModel& model : kWaterModels) {
    Worst double_error("log10_double_" + std::string(model.name));
    Worst mixed_error("log10_mixed_" + std::string(model.name));
    Worst energy_error("log10_energy_" + std::string(model.name));
    // 64 and 65 molecules are in the two layouts.
    // 161 and 257 have one and several squares of 128 a block of rows, 2100 several in a block.
    for (int n : {2, 7, 15, 16, 17, 20, 31, 33, 64, 65, 100, 161, 257, 2100}) {
      if (n > 33 && model.name != "tip3p" && model.name != "tip4p") continue;
      if (n > 1000 && model.name != "tip3p") continue;
      const std::vector<double> x = lattice_cluster(model, n, 5);
      const PlainEnergy reference = plain_energy(model, x);

      ForceField force_field(model, n);
      std::vector<double> f(x.size());
      const ClusterEnergy e = force_field.energy_and_forces(x, f);
      double_error.see(relative_rms(f, reference.forces), n);
      const ClusterEnergy only_energy = force_field.energy(x);
      EXPECT_EQ(e.coulomb_kcal_per_mol, only_energy.coulomb_kcal_per_mol);
      EXPECT_EQ(e.lj_kcal_per_mol, only_energy.lj_kcal_per_mol);
      energy_error.see((e.coulomb_kcal_per_mol - reference.coulomb) / reference.size, n);
      energy_error.see((e.lj_kcal_per_mol - reference.lj) / reference.size, n);

      for (Precision precision : kPrecisions) {
        for (const std::string& set : different_instruction_sets()) {
          const State start = replicas_at(model, x, 1, 0.0, 1, false);
          const auto engine =
              make_cpu_engine(system_that_shows_forces(model, n, precision), start, {}, 1, set);
          const std::vector<double> shown = forces_shown(*engine, model);
          const double error = relative_rms(shown, reference.forces);
          (precision == Precision::double_ ? double_error : mixed_error).see(error, n);
          // Mixed and single must be what they say: with doubles throughout this would be 1e-15.
          if (precision != Precision::double_) {
            EXPECT_GT(error, 1e-9);
          }
          // The net force: sums of 3 N forces, each rounded to 1e-16 of its size, in double and
          // mixed; to 6e-8 in single, as they come and as they go.
          double net[3] = {0, 0, 0}, size = 0;
          for (std::size_t k = 0; k < shown.size(); ++k) {
            net[k % 3] += shown[k];
            size += std::fabs(shown[k]);
          }
          EXPECT_LT(std::hypot(net[0], net[1], net[2]),
                    (precision == Precision::single ? 2 * 0x1p-24 : 4e-16) * size)
              << n << set;
        }
      }
    }
    // A pair force has some ten roundings and rsqrt a few more, of 1.1e-16 each.
    double_error.expect_below(3e-15);
    energy_error.expect_below(1e-15);
    mixed_error.expect_between(1e-9, 2e-6);
  }
}

/// A free cluster drifts under noise; forces far from the origin must be as accurate as near it.
TEST(EngineForces, AreAsGoodFarFromTheOrigin) {
  for (const WaterModel& model : {tip3p(), tip4p()}) {
    Worst mixed_error("log10_mixed_far_" + std::string(model.name));
    Worst double_error("log10_double_far_" + std::string(model.name));
    for (int n : {2, 7, 16, 17, 100}) {
      std::vector<double> x = lattice_cluster(model, n, 5);
      for (std::size_t k = 0; k < x.size(); ++k) x[k] += std::array{1e4, -1e4, 7e3}[k % 3];
      const PlainEnergy reference = plain_energy(model, x);
      for (Precision precision : kPrecisions) {
        const auto engine = make_cpu_engine(system_that_shows_forces(model, n, precision),
                                            replicas_at(model, x, 1, 0.0, 1, false), {}, 1);
        const double error = relative_rms(forces_shown(*engine, model), reference.forces);
        (precision == Precision::double_ ? double_error : mixed_error).see(error, n);
      }
    }
    // The bound at the origin: distances are taken from a high and a low float.
    mixed_error.expect_between(1e-9, 2e-6);
    // The forces are exact to rounding; what is seen is q - x, with 9e-13 A of rounding at 1e4 A,
    // times a mass of 16, on forces of about 10 kcal/mol/A: 1.5e-12.
    double_error.expect_below(1e-11);
  }
}

/// Up to rounding, 64 molecules, and 64 with a distant 65th, move alike in the two layouts.
TEST(EngineForces, LayoutsAgree) {
  for (Precision precision : kPrecisions) {
    const int n = 64;
    std::vector<double> x = lattice_cluster(tip3p(), n, 5);
    std::vector<double> more = x;
    for (std::size_t c = 0; c < 9; ++c) more.push_back(x[c] + 1e7);
    const auto shown = [&](const std::vector<double>& at) {
      const int molecules = static_cast<int>(at.size() / 9);
      std::vector<double> f =
          forces_shown(*make_cpu_engine(system_that_shows_forces(tip3p(), molecules, precision),
                                        replicas_at(tip3p(), at, 1, 0.0, 1, false), {}),
                       tip3p());
      f.resize(9 * n);
      return f;
    };
    // A dipole 1e7 A away leaves 1e-18; the bounds are those of the forces themselves.
    EXPECT_LT(relative_rms(shown(more), shown(x)), precision == Precision::double_ ? 3e-15 : 4e-6);
  }
}

/// Trajectories of different instruction sets differ by rounding only, over a few steps.
TEST(EngineForces, InstructionSetsAgree) {
  if (cpu_instruction_sets().size() == 1) {
    GTEST_SKIP() << "this processor has one instruction set only";
  }
  Worst double_error("log10_double"), mixed_error("log10_mixed"), single_error("log10_single");
  for (const std::string& scheme : kSchemeNames) {
    for (Precision precision : precisions_of(scheme)) {
      for (int n : {2, 7, 17, 65}) {
        System system = make_system({scheme, Bath::gla_per_mass}, tip4p(), n, precision);
        const State start = start_state(system, spread_ids(9));
        std::vector<double> first;
        for (const std::string& set : different_instruction_sets()) {
          const auto engine = make_cpu_engine(system, start, {}, 1, set);
          EXPECT_NE(engine->description().find(set), std::string::npos);
          engine->advance(10);
          const std::vector<double> x = engine->state().positions_A;
          if (first.empty()) first = x;
          const double error = relative_rms(x, first);
          (precision == Precision::double_ ? double_error
           : precision == Precision::mixed ? mixed_error
                                           : single_error)
              .see(error, n);
        }
      }
    }
  }
  // Ten steps of rounding of 2e-16 each, or of forces good to 2e-7 over h^2 F/m = 0.1 A at most; in
  // single also of velocities of some 10 A/akma to 6e-7 each, over ten steps of h = 0.05.
  double_error.expect_below(1e-14);
  mixed_error.expect_below(1e-7);
  single_error.expect_between(1e-10, 1e-6);
}

TEST(EngineForces, OrdersOfOneInstructionSetGiveTheSameBits) {
  std::vector<std::string> orders;
  for (const std::string& set : cpu_instruction_sets()) {
    if (set.starts_with("avx512")) orders.push_back(set);
  }
  if (orders.size() < 2) GTEST_SKIP() << "this processor has no AVX-512";
  for (const WaterModel& model : {tip3p(), tip4p()}) {
    for (Precision precision : {Precision::double_, Precision::mixed, Precision::single}) {
      // Lanes that are replicas and molecules, whole packs and parts.
      for (const auto& [n, replicas] :
           {std::pair(2, 1), std::pair(7, 1), std::pair(7, 20), std::pair(17, 1), std::pair(40, 1),
            std::pair(65, 1), std::pair(300, 1)}) {
        SCOPED_TRACE(testing::Message() << model.name << ", N = " << n << ", " << replicas
                                        << " replicas, " << name_of(precision));
        System system = make_system({"zss_structured", Bath::gla_per_mass}, model, n, precision);
        const State start = start_state(system, spread_ids(replicas));
        std::vector<double> first;
        for (const std::string& order : orders) {
          const auto engine = make_cpu_engine(system, start, {}, 1, order);
          engine->advance(5);
          const std::vector<double> x = engine->state().positions_A;
          if (first.empty()) first = x;
          EXPECT_EQ(x, first) << order;
        }
      }
    }
  }
}

TEST(EngineForces, UnknownInstructionSetsAreRefused) {
  System system = make_system({"settle", Bath::none}, tip3p(), 2);
  EXPECT_THROW(make_cpu_engine(system, start_state(system, {1}), {}, 1, "sse9"), InputError);
  ASSERT_FALSE(cpu_instruction_sets().empty());
  EXPECT_EQ(cpu_instruction_sets().back(), "portable");
}

/// The structured solve and the dense 9x9 Cholesky factorisation, along a run. Cholesky's
/// rounding is some 9 epsilon times the condition number, at most 4 b h^2 omega^2 r^2 / m_H of each
/// of three bonds, 5e3 at omega = 500: 5e-12 of an acceleration, which makes a tenth of a position
/// or velocity at most. The full Hessian is not positive definite for long with stiffer bonds.
TEST(EngineSolvers, StructuredAgreesWithDense) {
  for (const auto& [scheme, omega] : {std::pair{"zss_structured", 20.0},
                                      {"zss_structured", 100.0},
                                      {"zss_structured", 500.0},
                                      {"zss_full", 20.0}}) {
    Worst error(std::string("log10_") + scheme + "_omega_" +
                std::to_string(static_cast<int>(omega)));
    for (int n : {7, 17}) {
      System system = make_system({scheme, Bath::gla}, tip3p(), n);
      system.integrator.omega = omega;
      System dense = system;
      dense.integrator.solver = Solver::dense;
      const auto engine = make_cpu_engine(system, start_state(system, spread_ids(3)), {});
      for (int i = 0; i < 20; ++i) {
        engine->advance(5);
        const auto other = make_cpu_engine(dense, engine->state(), {});
        const State x = engine->state();
        Frame a, b;
        engine->snapshot(kPositions, a);
        other->snapshot(kPositions, b);
        ASSERT_EQ(a.positions_A.size(), x.positions_A.size());
        ASSERT_EQ(b.positions_A.size(), x.positions_A.size());
        // q = x + b h^2 a; the accelerations move q by up to 1e-2 A.
        Real difference = 0, size = 0;
        for (std::size_t k = 0; k < a.positions_A.size(); ++k) {
          difference = std::max<Real>(difference, std::fabs(a.positions_A[k] - b.positions_A[k]));
          size = std::max<Real>(size, std::fabs(a.positions_A[k]));
        }
        error.see(difference / size, n);

        other->advance(1);
        const auto same = make_cpu_engine(system, x, {});
        same->advance(1);
        error.see(
            relative_rms(other->state().velocities_A_per_akma, same->state().velocities_A_per_akma),
            n);
      }
      EXPECT_TRUE(engine->blow_ups().empty());
    }
    error.expect_below(1e-12);
  }
}

/// SHAKE stops at its tolerance: the remaining g and the work follow it.
TEST(EngineShake, ToleranceIsKept) {
  for (const std::string scheme : {"shake", "shake_sweeps"}) {
    double last_work = 0.0;
    for (double tolerance : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
      SCOPED_TRACE(scheme + ", tolerance " + std::to_string(tolerance));
      System system = make_system({scheme, Bath::none}, tip3p(), 7);
      system.integrator.tolerance = tolerance;
      const auto engine = make_cpu_engine(system, start_state(system, spread_ids(8)), {});
      double worst = 0.0;
      for (int i = 0; i < 10; ++i) {
        engine->advance(1);
        Frame f;
        engine->snapshot(kConservation, f);
        for (const Conservation& c : f.conservation) worst = std::max(worst, c.constraint_max_A2);
      }
      // The last iteration moved no bond by more than `tolerance` of its length, and the next would
      // move it less: |g| < 2 r^2 tolerance, 4.6 A^2 tolerance for H-H.
      EXPECT_LT(worst, 4.6 * tolerance);
      // A sweep takes off a factor of some ten, no more than a hundred. Newton squares the error,
      // but bonds that turn by 0.1 A a step start from |g| = 1e-2: two iterations do not leave less
      // than 1e-9.
      if (scheme == "shake_sweeps" || tolerance > 1e-3) {
        EXPECT_GT(worst, (scheme == "shake_sweeps" ? 1e-2 : 1e-7) * tolerance);
      }
      const EngineReport report = engine->report();
      const double work = static_cast<double>(report.constraint_iterations) /
                          static_cast<double>(report.molecule_steps);
      EXPECT_GT(work, last_work);
      EXPECT_LE(work, scheme == "shake" ? 6.0 : 60.0);
      last_work = work;
    }
  }
}

/// SHAKE in single precision stops at the limit of floats for any smaller tolerance.
TEST(EngineShake, SingleStopsAtRounding) {
  for (const std::string scheme : {"shake", "shake_sweeps"}) {
    std::int64_t work = 0;
    for (double tolerance : {kLeastSingleTolerance, 1e-8, 1e-15}) {
      System system = make_system({scheme, Bath::none}, tip3p(), 7, Precision::single);
      system.integrator.tolerance = tolerance;
      const auto engine = make_cpu_engine(system, start_state(system, spread_ids(8)), {});
      engine->advance(10);
      EXPECT_TRUE(engine->blow_ups().empty());
      Frame f;
      engine->snapshot(kConservation, f);
      for (const Conservation& c : f.conservation) {
        EXPECT_LT(c.constraint_max_A2, 4.6 * kLeastSingleTolerance) << scheme;
      }
      if (work == 0) work = engine->report().constraint_iterations;
      EXPECT_EQ(engine->report().constraint_iterations, work) << scheme;
    }
  }
}

/// The report counts iterations of replicas, not of padding lanes.
TEST(EngineShake, IterationsAreCountedPerReplica) {
  for (const std::string scheme : {"shake", "shake_sweeps"}) {
    for (const auto& [n, precision] : {std::pair{1, Precision::double_},
                                       {7, Precision::double_},
                                       {17, Precision::double_},
                                       {20, Precision::double_},
                                       {1, Precision::single},
                                       {7, Precision::single},
                                       {17, Precision::single},
                                       {20, Precision::single}}) {
      const System system = make_system({scheme, Bath::gla}, tip3p(), n, precision);
      const std::vector<std::int64_t> ids = spread_ids(n <= 64 ? 11 : 2);
      std::int64_t iterations = 0;
      for (std::int64_t id : ids) {
        const auto alone = make_cpu_engine(system, start_state(system, {id}), {});
        alone->advance(6);
        iterations += alone->report().constraint_iterations;
        EXPECT_EQ(alone->report().molecule_steps, 6 * n);
      }
      const auto all = make_cpu_engine(system, start_state(system, ids), {});
      all->advance(6);
      EXPECT_EQ(all->report().constraint_iterations, iterations) << scheme << ", N = " << n;
    }
  }
}

}  // namespace
}  // namespace tarn
