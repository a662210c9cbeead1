#include "tarn/minimise.hpp"

#include <Eigen/Dense>

#include "dual.hpp"
#include "physics/penalty.hpp"
#include "start/molecule_frame.hpp"
#include "steps/quench.hpp"
#include "tarn/modes.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;
using Eigen::Vector3d;

std::vector<double> flat(const std::vector<Triple<double>>& molecules) {
  std::vector<double> x;
  for (const Triple<double>& t : molecules) {
    const auto a = to_array(t);
    x.insert(x.end(), a.begin(), a.end());
  }
  return x;
}

/// Molecules bent and stretched by up to `size` A.
std::vector<double> distorted(std::vector<double> x, double size, std::uint64_t seed) {
  Random random(seed);
  for (double& c : x) c += random.uniform(-size, size);
  return x;
}

std::vector<double> seven() { return flat(reference_cluster("tip3p-7.xyz")); }

/// A cluster after quench().
struct Quenched {
  std::vector<double> x;
  ForceField force_field;
  MinimiseResult result;

  explicit Quenched(std::vector<double> start, const MinimiseOptions& options = {},
                    const WaterModel& model = tip3p())
      : x(std::move(start)),
        force_field(model, static_cast<int>(x.size() / 9)),
        result(quench(force_field, x, options)) {}
  double energy() { return force_field.energy(x).total_kcal_per_mol(); }
};

/// V1, and the largest component of -grad(V0 + V1), from the formulas of the engines.
struct PenalisedPoint {
  double energy, penalty, largest_force;
};
PenalisedPoint penalised_point(ForceField& force_field, double omega,
                               const std::vector<double>& x) {
  std::vector<double> f(x.size());
  const BondReference<double> reference = bond_reference(force_field.model());
  const double v0 = force_field.energy_and_forces(x, f).total_kcal_per_mol();
  PenalisedPoint p{v0, 0.0, 0.0};
  for (std::size_t m = 0; m < x.size() / 9; ++m) {
    p.penalty += penalty_energy(molecule(x, m), reference, omega);
    const auto bond = to_array(penalty_force(molecule(x, m), reference, omega));
    for (std::size_t c = 0; c < 9; ++c) {
      p.largest_force = std::max(p.largest_force, std::abs(f[9 * m + c] + bond[c]));
    }
  }
  p.energy += p.penalty;
  return p;
}

// --- frames -----------------------------------------------------------------------

TEST(MoleculeFrame, MovesAboutTheOxygen) {
  Random random(4);
  const WaterModel model = tip3p();
  const start::Triangle t(model);
  for (double angle : {0.0, 1e-12, 1e-8, 1e-3, 1.0, 3.0}) {
    const auto a = to_array(random_molecule(model, random, 3.0));
    start::MoleculeFrame frame;
    ASSERT_TRUE(start::MoleculeFrame::nearest_rigid(model, a.data(), frame));
    const Vector3d axis = Vector3d(1.0, -2.0, 0.5).normalized(), shift(0.1, 0.2, -0.3);
    double x[9], y[9];
    frame.place(t, x);
    frame.moved(shift, angle * axis).place(t, y);
    const Eigen::Map<const Vector3d> o(x), h(x + 3), o_new(y), h_new(y + 3);
    // One rounding of coordinates of 4 A in each of three directions.
    EXPECT_LT((o_new - o - shift).norm(), 1e-15);
    const Vector3d expected = Eigen::AngleAxisd(angle, axis) * (h - o);
    // Roundings of coordinates of 4 A.
    EXPECT_LT((h_new - o_new - expected).norm(), 4e-15) << angle;
  }
}

// The fit is a minimum: every other placement of the rigid molecule has larger mass-weighted moves.
TEST(RigidFit, MovesTheAtomsLeast) {
  Random random(5);
  for_models([&](const WaterModel& model) {
    for (int k = 0; k < 50; ++k) {
      const Triple<double> old = random_molecule(model, random, 5.0) + random.triple(0.1);
      const auto a = to_array(old);
      std::vector<double> x(a.begin(), a.end());
      const RigidFit fit = fit_rigid_geometry(model, x);
      EXPECT_LT(worst_length(model, x), length_rounding_A());
      EXPECT_EQ(fit.molecule, 0);
      EXPECT_GT(fit.largest_move_A, 0.0);
      EXPECT_LT(fit.largest_move_A, 0.2);

      const Triple<double> y = molecule(x, 0);
      const Vector9 mass = mass_matrix(masses(model)).diagonal();
      const Vector9 d = to_vector(y) - to_vector(old);
      // The centre of mass does not move.
      EXPECT_LT(total((mass.array() * d.array()).matrix()).norm(), 1e-13);
      const Real distance = (mass.array() * d.array().square()).sum();
      const Eigen::Matrix<Real, 3, 1> centre =
          total((mass.array() * to_vector(y).array()).matrix()) /
          static_cast<Real>(model.molecule_mass_Da());
      for (int j = 0; j < 20; ++j) {
        const double angle = random.log_uniform(1e-4, 1.0);
        const Vec3<double> axis = random.in_ball(1.0);
        const Eigen::Matrix<Real, 3, 3> turn =
            Eigen::AngleAxis<Real>(angle, to_vector(axis).normalized()).toRotationMatrix();
        Vector9 z = to_vector(y);
        for (int c = 0; c < 9; c += 3) {
          z.segment<3>(c) = turn * (z.segment<3>(c) - centre) + centre;
        }
        const Vector9 dz = z - to_vector(old);
        EXPECT_GT((mass.array() * dz.array().square()).sum(), distance);
      }
    }
  });
}

// Some ten roundings of coordinates up to 8 A, 1e-15 each, in each of three directions; measured is
// one. A hydrogen displaced by 0.01 A moves back by less, because the other atoms move too, and by
// more than a hundredth of it, its component along the bonds.
TEST(RigidFit, LeavesARigidMoleculeAlone) {
  std::vector<double> x = random_cluster(tip3p(), 50, 1, 0);
  const std::vector<double> old = x;
  EXPECT_LT(fit_rigid_geometry(tip3p(), x).largest_move_A, 1.8e-14);
  x = old;
  x[9 * 17 + 4] += 0.01;
  const RigidFit fit = fit_rigid_geometry(tip3p(), x);
  EXPECT_EQ(fit.molecule, 17);
  EXPECT_GT(fit.largest_move_A, 1e-4);
  EXPECT_LT(fit.largest_move_A, 1e-2);
}

// --- gradients ----------------------------------------------------------------------------------

/// The gradient with respect to displacements is minus the work of the forces, by dual numbers; and
/// displacements keep rigid bonds.
TEST(Gradient, OfDisplacements) {
  using D = Dual<long double, 9>;
  Random random(3);
  QuenchRules rules;
  rules.bond_unit_A = 0.24;
  for (const bool rigid : {true, false}) {
    rules.rigid = rigid;
    Worst gradient("gradient"), bond("bonds");
    for (int k = 0; k < 50; ++k) {
      const Triple<double> x = random_molecule(tip3p(), random, 5.0) + random.triple(0.1);
      const Triple<double> f = random.triple(3.0);
      double g[9], u[9];
      quench_gradient(rules, x, f, g);
      D at_rest[9];
      for (int c = 0; c < 9; ++c) at_rest[c] = D::variable(0.0L, c);
      std::array<D, 9> exact;
      for (std::size_t c = 0; c < 9; ++c) exact[c] = D(to_array(x)[c]);
      const auto y = to_array(displaced(rules, to_triple(exact), at_rest));
      for (int c = 0; c < rules.unknowns(); ++c) {
        long double work = 0.0L;
        for (std::size_t i = 0; i < 9; ++i) {
          work += to_array(f)[i] * y[i].d[static_cast<std::size_t>(c)];
        }
        gradient.see(g[c] + work, k);
      }
      for (double& step : u) step = random.uniform(-0.3, 0.3);
      const auto before = bonds(x).length2, after = bonds(displaced(rules, x, u)).length2;
      bond.see(after.oh1 - before.oh1, k);
      bond.see(after.hh - before.hh, k);
    }
    // Some twenty roundings of products up to 10, in coordinates of 5 A.
    gradient.expect_below(3e-14);
    if (rigid) bond.expect_below(3e-14);
  }
}

// --- rigid quench -------------------------------------------------------------------------------

TEST(Quench, TwoMolecules) {
  for (int k = 0; k < 10; ++k) {
    Quenched two(random_cluster(tip3p(), 2, 1, k));
    EXPECT_TRUE(two.result.converged);
    EXPECT_NEAR(two.result.energy_kcal_per_mol, -6.539941, kSixDecimals);
    EXPECT_LT(worst_length(tip3p(), two.x), length_rounding_A());
    // A gradient of 1e-6 against stiffnesses above 1 leaves an error of 1e-12.
    EXPECT_NEAR(two.energy(), two.result.energy_kcal_per_mol, 1e-11);
  }
}

TEST(Quench, OneMoleculeStays) {
  const std::vector<double> old = random_cluster(tip3p(), 1, 1, 0);
  const Quenched one(old);
  EXPECT_TRUE(one.result.converged);
  EXPECT_EQ(one.result.iterations, 0);
  EXPECT_EQ(one.result.energy_kcal_per_mol, 0.0);
  for (std::size_t c = 0; c < 9; ++c) EXPECT_NEAR(one.x[c], old[c], length_rounding_A());
}

TEST(Quench, ReferenceStructureIsTheMinimum) {
  for (const double distortion_A : {0.0, 0.02}) {
    const Quenched q(distorted(seven(), distortion_A, 1));
    EXPECT_TRUE(q.result.converged);
    EXPECT_NEAR(q.result.energy_kcal_per_mol, -57.918723, kSixDecimals);
    EXPECT_LT(worst_length(tip3p(), q.x), length_rounding_A());
    if (distortion_A > 0.0) continue;
    // Error of a gradient of 1e-6 for coordinates with stiffnesses of 0.01 kcal/mol/A^2 and more.
    for (std::size_t c = 0; c < q.x.size(); ++c) EXPECT_NEAR(q.x[c], seven()[c], 1e-4);
  }
  for (const char* name : {"tip3p-7.xyz", "tip3p-32.xyz"}) {
    EXPECT_EQ(Quenched(flat(reference_cluster(name)), {1e-7}).result.iterations, 0) << name;
  }
}

// Force and torque on each molecule vanish, and every small move raises the energy.
TEST(Quench, EndsAtAMinimum) {
  for_models([](const WaterModel& model) {
    Quenched q(random_cluster(model, 6, 2, 0), {}, model);
    ASSERT_TRUE(q.result.converged);
    std::vector<double> f(q.x.size());
    const double v = q.force_field.energy_and_forces(q.x, f).total_kcal_per_mol();
    for (std::size_t m = 0; m < 6; ++m) {
      const Triple<double> t = molecule(q.x, m);
      const Vector9 force = to_vector(molecule(f, m));
      // Three components of 1e-6 at most, and √3 of it.
      EXPECT_LT(total(force).norm(), 2e-6);
      EXPECT_LT(torque({t.o - t.o, t.h1 - t.o, t.h2 - t.o}, force).norm(), 2e-6);
    }
    Random random(9);
    for (int k = 0; k < 30; ++k) {
      std::vector<Triple<double>> moved;
      for (std::size_t m = 0; m < 6; ++m) {
        const Vec3<double> s = random.in_ball(0.02);
        moved.push_back(molecule(q.x, m) + Triple<double>{s, s, s});
      }
      EXPECT_GT(q.force_field.energy(flat(moved)).total_kcal_per_mol(), v);
    }
  });
}

// The TIP3P pentamer at the flip of a hydrogen, where quenches to 1e-6 kcal/mol/A sometimes end:
// one mode of 0.85i cm^-1 has negative curvature. The lowest minimum is 6.6e-6 kcal/mol below it
// (docs/results/minima.csv); the error of a gradient of 1e-6 for a mode of 0.85 cm^-1 (6e-5
// kcal/mol/A^2/Da) is 1e-8.
TEST(QuenchToMinimum, LeavesASaddlePoint) {
  std::vector<double> x = flat(reference_cluster("tip3p-5-saddle.xyz"));
  ForceField force_field(tip3p(), 5);
  EXPECT_EQ(quench(force_field, x).iterations, 0);
  EXPECT_TRUE(has_negative_curvature(tip3p(), x, 1e-5));
  EXPECT_EQ(normal_modes(tip3p(), x).imaginary_count(), 1);
  const MinimiseResult r = quench_to_minimum(force_field, x);
  EXPECT_TRUE(r.converged);
  EXPECT_EQ(r.saddle_points, 1);
  EXPECT_GT(r.iterations, 0);
  EXPECT_NEAR(r.start_energy_kcal_per_mol, -38.7539836, 0.5e-7);
  // Error of the gradient, as above.
  EXPECT_NEAR(r.energy_kcal_per_mol, -38.753990251, 1e-8);
  // As of two molecules.
  EXPECT_NEAR(force_field.energy(x).total_kcal_per_mol(), r.energy_kcal_per_mol, 1e-11);
  EXPECT_LT(worst_length(tip3p(), x), length_rounding_A());
  EXPECT_FALSE(has_negative_curvature(tip3p(), x, 1e-5));
  EXPECT_EQ(normal_modes(tip3p(), x).imaginary_count(), 0);
}

/// If quench() ends at a minimum, the result is bitwise the same.
TEST(QuenchToMinimum, LeavesMinimaAlone) {
  for_models([](const WaterModel& model) {
    for (const int n : {1, 2, 6}) {
      std::vector<double> y = random_cluster(model, n, 2, 0);
      Quenched q(y, {}, model);
      if (n > 1 && normal_modes(model, q.x).imaginary_count() > 0) continue;
      EXPECT_EQ(quench_to_minimum(q.force_field, y).saddle_points, 0);
      EXPECT_EQ(q.x, y);
    }
  });
}

/// The minima of a search are minima: no mode is imaginary beyond the curvature of
/// 10/(A Da) 1e-6 kcal/mol/A, or 0.35 cm^-1.
TEST(QuenchToMinimum, AllMinimaOfASearchAreMinima) {
  std::size_t seen = 0;
  for (const char* name : {"tip3p", "spce", "tip4p"}) {
    const WaterModel model = *find_water_model(name);
    for (const int n : {2, 4, 5, 6}) {
      for (const std::uint64_t seed : {1, 2}) {
        const LowestCluster found =
            lowest_cluster(model, n, seed, {.starts = 24, .keep = 30, .threads = 2});
        for (const FoundMinimum& m : found.minima) {
          const NormalModes modes = normal_modes(model, m.positions_A);
          EXPECT_TRUE(modes.is_stationary());
          EXPECT_GT(modes.modes.front().wavenumber_per_cm, -0.35)
              << name << ' ' << n << ' ' << m.energy_kcal_per_mol;
          ++seen;
        }
      }
    }
  }
  EXPECT_GT(seen, 100u);
}

// Oxygens at 1 A: 1e6 kcal/mol. The step limit keeps the molecules together.
TEST(Quench, OverlappingMoleculesMoveApart) {
  for (int k = 0; k < 5; ++k) {
    Random random(static_cast<std::uint64_t>(k) + 1);
    std::vector<Triple<double>> molecules;
    for (int m = 0; m < 7; ++m) molecules.push_back(random_molecule(tip3p(), random, 1.5));
    const Quenched q(flat(molecules));
    EXPECT_TRUE(q.result.converged);
    EXPECT_LT(q.result.energy_kcal_per_mol, -35.0);
    EXPECT_LT(worst_length(tip3p(), q.x), length_rounding_A(30.0));
    for (double c : q.x) EXPECT_LT(std::abs(c), 30.0);
  }
}

TEST(Quench, IterationLimit) {
  Quenched q(random_cluster(tip3p(), 20, 1, 0), {1e-6, 5});
  EXPECT_FALSE(q.result.converged);
  EXPECT_EQ(q.result.iterations, 5);
  EXPECT_GT(q.result.max_gradient_kcal_per_mol_A, 1e-6);
  EXPECT_LT(q.result.energy_kcal_per_mol, q.result.start_energy_kcal_per_mol);
  // The same sum of 190 pairs of nine distances, up to 120 kcal/mol each.
  EXPECT_NEAR(q.energy(), q.result.energy_kcal_per_mol, rounding(190 * 9, 5, 120.0));
}

TEST(Quench, ReportsProgressBeforeEachIteration) {
  std::vector<double> x = random_cluster(tip3p(), 6, 1, 0);
  ForceField force_field(tip3p(), 6);
  const double before = force_field.energy(x).total_kcal_per_mol();
  std::vector<double> energies;
  MinimiseOptions options;
  options.on_iteration = [&](const MinimiseResult& r) {
    EXPECT_EQ(r.iterations, static_cast<int>(energies.size()));
    energies.push_back(r.energy_kcal_per_mol);
  };
  const MinimiseResult r = quench(force_field, x, options);
  ASSERT_EQ(energies.size(), static_cast<std::size_t>(r.iterations));
  EXPECT_EQ(energies.front(), r.start_energy_kcal_per_mol);
  // The molecules are rigid already, to rounding; forces are below 1e3 kcal/mol/A.
  EXPECT_NEAR(r.start_energy_kcal_per_mol, before, 54 * length_rounding_A() * 1e3);
  EXPECT_LT(r.energy_kcal_per_mol, r.start_energy_kcal_per_mol);
  std::size_t asked = 0;
  options.on_iteration = nullptr;
  options.should_continue = [&] { return asked++ < 3; };
  EXPECT_EQ(quench(force_field, x = random_cluster(tip3p(), 6, 1, 0), options).iterations, 3);
}

// --- penalised relaxation -----------------------------------------------------------------------

struct Relaxed {
  MinimiseResult result;
  std::vector<double> x;
  PenalisedPoint point;
};
Relaxed relax_seven(double omega, double tolerance = 1e-8) {
  Relaxed r;
  r.x = seven();
  ForceField force_field(tip3p(), 7);
  r.result = relax_penalised(force_field, omega, r.x, {tolerance, 2000});
  r.point = penalised_point(force_field, omega, r.x);
  return r;
}

// The number of iterations is independent of the stiffness of the bonds.
TEST(Relax, StiffBondsCostNoIterations) {
  EXPECT_NEAR(relax_seven(20.0).result.energy_kcal_per_mol, -61.014119, kSixDecimals);
  for (double omega : {20.0, 50.0, 100.0, 500.0, 1000.0, 1e4}) {
    const Relaxed r = relax_seven(omega);
    EXPECT_TRUE(r.result.converged) << omega;
    EXPECT_LT(r.result.iterations, 200) << omega;
    // Coordinates round to 1e-15 A, g to 4e-15 A^2; its force is 2 |d| omega^2 times that.
    EXPECT_LT(r.point.largest_force, 4e-8 + 2e-14 * omega * omega) << omega;
  }
}

// V0 + V1 at the minimum is V0(rigid) - c/omega^2 + O(omega^-4): to first order the bonds stretch
// by their multipliers, and c = sum lambda^2 / 2.
TEST(Relax, ApproachesTheRigidMinimum) {
  const double rigid = Quenched(seven(), {1e-9, 10'000}).result.energy_kcal_per_mol;
  const auto c = [&](double omega) {
    return (rigid - relax_seven(omega).result.energy_kcal_per_mol) * omega * omega;
  };
  const double c400 = c(400.0), c800 = c(800.0);
  EXPECT_GT(c400, 1000.0);
  // The next term is 1/4 of c400 - c(200), and energies of 1e-11 times omega^2 are 1e-5.
  EXPECT_NEAR(c800 / c400, 1.0, 5e-3);
}

// The bonds relax by c / omega^2, as above; the next term is 1.5e-3 of it at omega = 100 for the
// lowest minimum, and less than 1e-2 for each of these. Two quenches to gradients of 1e-6 in 42
// coordinates, with stiffnesses above 1, leave 2 * 42 * 1e-12 / 2; measured is a twentieth.
TEST(Relax, StaysInItsBasin) {
  for (int k = 0; k < 5; ++k) {
    Quenched q(random_cluster(tip3p(), 7, 5, k));
    const double rigid = q.result.energy_kcal_per_mol;
    const MinimiseResult r = relax_penalised(q.force_field, 100.0, q.x);
    EXPECT_TRUE(r.converged);
    std::vector<double> stiff = q.x;
    const double gives_way =
        (rigid - relax_penalised(q.force_field, 400.0, stiff).energy_kcal_per_mol) * 16.0;
    EXPECT_GT(gives_way, 0.0);
    EXPECT_NEAR(rigid - r.energy_kcal_per_mol, gives_way, 1e-2 * gives_way);
    EXPECT_NEAR(quench(q.force_field, q.x).energy_kcal_per_mol, rigid, 4.2e-11);
  }
}

TEST(Relax, FromFarAway) {
  for_models([](const WaterModel& model) {
    for (const int molecules : {1, 10}) {
      ForceField force_field(model, molecules);
      std::vector<double> x = distorted(random_cluster(model, molecules, 5, 0), 0.05, 3);
      EXPECT_TRUE(relax_penalised(force_field, 100.0, x).converged);
      // The tolerance of MinimiseOptions, and the rounding of bonds (above).
      EXPECT_LT(penalised_point(force_field, 100.0, x).largest_force,
                MinimiseOptions{}.tolerance_kcal_per_mol_A + 2e-14 * 100.0 * 100.0);
      // One molecule takes its reference lengths: the force 2 |d| omega^2 g is below 1e-7.
      if (molecules == 1) {
        EXPECT_LT(worst_length(model, x), 1e-11);
      }
    }
  });
}

// --- invalid input ------------------------------------------------------------------------------

TEST(Minimise, RefusesBadInput) {
  ForceField force_field(tip3p(), 2);
  std::vector<double> x = random_cluster(tip3p(), 2, 1, 0);
  std::vector<double> short_by_one(17), collinear = x, not_finite = x, coincident = x;
  EXPECT_THROW(quench(force_field, short_by_one), InputError);
  EXPECT_THROW(relax_penalised(force_field, 20.0, short_by_one), InputError);

  for (int k = 0; k < 3; ++k) collinear[15 + k] = 2.0 * collinear[12 + k] - collinear[9 + k];
  not_finite[13] = std::nan("");
  for (std::vector<double>* bad : {&collinear, &not_finite}) {
    for (const std::string& message :
         {message_of<InputError>([&] { quench(force_field, *bad); }),
          message_of<InputError>([&] { relax_penalised(force_field, 20.0, *bad); }),
          message_of<InputError>([&] { fit_rigid_geometry(tip3p(), *bad); })}) {
      EXPECT_TRUE(contains(message, "molecule 1 "));
    }
  }

  std::copy_n(x.begin(), 9, coincident.begin() + 9);
  EXPECT_THROW(quench(force_field, coincident), NumericalError);
  EXPECT_THROW(relax_penalised(force_field, 20.0, coincident), NumericalError);

  for (double omega : {0.0, -20.0, HUGE_VAL, std::nan("")}) {
    EXPECT_THROW(relax_penalised(force_field, omega, x), InputError) << omega;
  }
}

// With such weak bonds a hydrogen falls into the oxygen of a neighbour.
TEST(Relax, ThrowsIfThePenaltyIsTooWeak) {
  std::vector<double> x = seven();
  ForceField force_field(tip3p(), 7);
  EXPECT_TRUE(contains(message_of<NumericalError>([&] { relax_penalised(force_field, 5.0, x); }),
                       "omega = 5 "));
  EXPECT_EQ(x, seven());
}

}  // namespace
}  // namespace tarn
