#include <atomic>
#include <thread>

#include "modes_numbers.hpp"
#include "recorded_potential.hpp"
#include "tarn/force_field.hpp"
#include "tarn/minimise.hpp"
#include "tarn/modes.hpp"
#include "tarn/potential.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"

/// @file
/// Minima and normal modes of a Potential: that of a flexible water model, computed image by image.

namespace tarn {
namespace {

using namespace test;

std::vector<double> minimum_of(int molecules, int replica = 0) {
  std::vector<double> x = clusters(molecules, 1, replica);
  ForceField force_field(flexible(), molecules);
  EXPECT_TRUE(quench_to_minimum(force_field, x, {1e-8}).converged);
  return x;
}
/// Number of threads of this process.
std::ptrdiff_t threads_now() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}
/// Distances between all atoms, which do not depend on the position and orientation of the cluster.
std::vector<double> distances(std::span<const double> x) {
  std::vector<double> all;
  for (std::size_t a = 0; a < x.size(); a += 3) {
    for (std::size_t b = 0; b < a; b += 3) {
      all.push_back(std::hypot(x[a] - x[b], x[a + 1] - x[b + 1], x[a + 2] - x[b + 2]));
    }
  }
  return all;
}
std::vector<MinimiseResult> minimise(const std::shared_ptr<RecordedPotential>& potential,
                                     int molecules, std::vector<double>& x, int threads = 0,
                                     const MinimiseOptions& options = {}) {
  return minimise_clusters(flexible(), molecules, x, {"cpu", threads, potential}, options);
}
void throw_from(RecordedPotential& potential) {
  potential.change = [](auto...) { throw std::runtime_error("no convergence"); };
}
void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], tolerance) << k;
}

// --- energies -----------------------------------------------------------------------------------

TEST(PotentialForceField, HasTheNumbersOfThePotential) {
  const auto potential = potential_of(3);
  ForceField by_potential(flexible(), 3, potential), built_in(flexible(), 3);
  const std::vector<double> x = clusters(3, 1);
  std::vector<double> f(x.size()), g(x.size());
  const ClusterEnergy e = by_potential.energy_and_forces(x, f);
  EXPECT_EQ(e.total_kcal_per_mol(), built_in.energy_and_forces(x, g).total_kcal_per_mol());
  EXPECT_EQ(f, g);
  EXPECT_EQ(e.potential_kcal_per_mol, e.total_kcal_per_mol());
  EXPECT_EQ(e.intramolecular_kcal_per_mol, 0.0);
  EXPECT_EQ(by_potential.energy(x).potential_kcal_per_mol, e.potential_kcal_per_mol);
  EXPECT_EQ(potential->calls, (std::vector<std::vector<std::int64_t>>{{0}, {0}}));
  EXPECT_TRUE(by_potential.is_flexible());
  EXPECT_TRUE(ForceField(tip3p(), 3, potential).is_flexible());
  EXPECT_FALSE(ForceField(tip3p(), 3, nullptr).is_flexible());
  EXPECT_THROW(by_potential.energy(std::span(x).first(18)), InputError);
  EXPECT_THROW(relax_penalised(by_potential, 100.0, f), InputError);
  // A force that is not finite makes the energy NaN.
  potential->change = [](auto, auto, std::span<double> forces) {
    forces[4] = std::numeric_limits<double>::infinity();
  };
  EXPECT_TRUE(std::isnan(by_potential.energy_and_forces(x, f).total_kcal_per_mol()));
  EXPECT_TRUE(std::isnan(by_potential.energy(x).total_kcal_per_mol()));
}

// --- minima -------------------------------------------------------------------------------------

/// A gradient of 1e-6 leaves an energy of 1e-8 (minimise.hpp), and displacements of 1e-6/k with the
/// smallest second derivative k of the cluster, here above 1e-2 kcal/mol/A^2.
TEST(PotentialMinimum, IsThatOfTheModel) {
  for (const int n : {1, 2, 6}) {
    SCOPED_TRACE(n);
    const auto potential = potential_of(n);
    // The masses and the geometry of a rigid model, which does not take part in the minimum.
    for (const WaterModel& model : {flexible(), tip3p()}) {
      std::vector<double> x = clusters(n, 1), y = x;
      ForceField by_potential(model, n, potential), built_in(flexible(), n);
      const auto r = quench_to_minimum(by_potential, x), s = quench_to_minimum(built_in, y);
      EXPECT_TRUE(r.converged);
      // Another order of sums of some n^2 terms of up to 1e3 kcal/mol.
      EXPECT_NEAR(r.start_energy_kcal_per_mol, s.start_energy_kcal_per_mol, 1e-12 * n * n);
      EXPECT_NEAR(r.energy_kcal_per_mol, s.energy_kcal_per_mol, 1e-8);
      expect_near(distances(x), distances(y), 1e-4);
    }
  }
}

/// With errors of a tenth of the tolerance, the true gradient at the end is at most 1.3 times the
/// tolerance: components in bond coordinates are sums of forces on up to three atoms. The energy is
/// then that of the minimum to 9 N g^2/(2 k), with k > 1e-2 as above, plus the error of one energy.
TEST(PotentialMinimum, OfNoisyForcesIsFoundToATolerance) {
  for (const double error : {1e-6, 1e-5, 1e-4}) {
    for (const int n : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << error << ", " << n << " molecules");
      const auto potential = potential_of(n);
      add_noise(*potential, error);
      std::vector<double> x = clusters(n, 1), y = x;
      ForceField by_potential(flexible(), n, potential), built_in(flexible(), n);
      const double tolerance = 10.0 * error, gradient = 1.3 * tolerance;
      const MinimiseResult r = quench_to_minimum(by_potential, x, {tolerance});
      EXPECT_TRUE(r.converged);
      EXPECT_NEAR(r.energy_kcal_per_mol, quench_to_minimum(built_in, y).energy_kcal_per_mol,
                  9 * n * gradient * gradient / (2 * 1e-2) + error);
      std::vector<double> f(x.size());
      built_in.energy_and_forces(x, f);
      for (const double component : f) EXPECT_LT(std::abs(component), 3 * gradient);
      EXPECT_LT(potential->images(), 2'000u);
    }
  }
}

/// Errors above the tolerance: the minimisation ends when the forces no longer decrease, at about
/// the size of the errors.
TEST(PotentialMinimum, OfForcesWithLargerErrorsEndsUnconverged) {
  const auto potential = potential_of(2);
  add_noise(*potential, 1e-5);
  std::vector<double> x = clusters(2, 1);
  ForceField by_potential(flexible(), 2, potential);
  const MinimiseResult r = quench_to_minimum(by_potential, x);
  EXPECT_FALSE(r.converged);
  EXPECT_LT(r.iterations, 1'000);
  EXPECT_LT(r.max_gradient_kcal_per_mol_A, 1e-3);
}

/// Two molecules in one plane that face each other: by symmetry forces keep them in the plane, in
/// which the energy has a minimum; out of it, it is a saddle point.
TEST(PotentialMinimum, LeavesASaddlePoint) {
  const double h = 0.76, y = 0.59;
  std::vector<double> x{0, 0, 0, h, y, 0, -h, y, 0, 0, 3, 0, h, 3 + y, 0, -h, 3 + y, 0};
  const auto potential = potential_of(2);
  ForceField by_potential(flexible(), 2, potential), built_in(flexible(), 2);
  std::vector<double> flat = x, expected = x;
  ASSERT_TRUE(quench(built_in, flat).converged);
  ASSERT_GT(normal_modes(flexible(), flat).imaginary_count(), 0);
  const auto s = quench_to_minimum(built_in, expected), r = quench_to_minimum(by_potential, x);
  EXPECT_TRUE(r.converged);
  EXPECT_EQ(r.saddle_points, s.saddle_points);
  EXPECT_GT(r.saddle_points, 0);
  EXPECT_NEAR(r.energy_kcal_per_mol, s.energy_kcal_per_mol, 1e-8);
  EXPECT_EQ(normal_modes(flexible(), x).imaginary_count(), 0);
}

TEST(PotentialMinima, AreFoundInBatches) {
  const int n = 4;
  const std::vector<double> start = clusters(n, 8);
  const auto potential = potential_of(n);
  std::vector<double> x = start;
  const auto threads = threads_now();
  const auto results = minimise(potential, n, x);
  EXPECT_EQ(threads_now(), threads);
  EXPECT_EQ(potential->callers, std::set<std::thread::id>{std::this_thread::get_id()});
  // As many calls as the longest minimisation has: all eight take part in the first ones, in order.
  EXPECT_EQ(potential->calls.front(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_GT(potential->images(), 3 * potential->calls.size());
  for (const auto& call : potential->calls) {
    for (const std::int64_t id : call) EXPECT_LE(id / 8, 18 * n);
  }
  // Each alone, in calls of its own, has the same bits; so has the batch with other threads, with
  // the same calls.
  std::size_t longest = 0;
  const std::size_t size = 9 * static_cast<std::size_t>(n);
  for (std::size_t k = 0; k < 8; ++k) {
    const auto own = potential_of(n);
    std::vector<double> alone(&start[k * size], &start[k * size] + size);
    const auto one = minimise(own, n, alone);
    EXPECT_TRUE(one[0].converged);
    EXPECT_EQ(one[0].energy_kcal_per_mol, results[k].energy_kcal_per_mol);
    EXPECT_EQ(one[0].iterations, results[k].iterations);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), &x[k * size]));
    EXPECT_EQ(own->calls.front(), std::vector<std::int64_t>{0});
    longest = std::max(longest, own->calls.size());
  }
  // The displacements of the modes of each cluster are a call.
  EXPECT_LE(potential->calls.size(), longest + 7);
  const auto again = potential_of(n);
  std::vector<double> y = start;
  minimise(again, n, y, 3);
  EXPECT_EQ(again->calls, potential->calls);
  EXPECT_EQ(x, y);
}

/// The clusters beyond the first 64 begin as others end.
TEST(PotentialMinima, MoreThanAreMinimisedAtATime) {
  const auto run = [](std::vector<double>& x) {
    const auto potential = potential_of(1);
    minimise(potential, 1, x);
    return potential->calls;
  };
  std::vector<double> x = clusters(1, 150);
  // Different numbers of iterations.
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (k % 9 / 3 == 1) x[k] += 0.002 * static_cast<double>(k / 9 % 7);
  }
  std::vector<double> y = x;
  const auto calls = run(x);
  EXPECT_EQ(calls.front().size(), 64u);
  EXPECT_EQ(run(y), calls);
  EXPECT_EQ(x, y);
  std::set<std::int64_t> seen;
  for (const auto& call : calls) {
    for (const std::int64_t id : call) seen.insert(id % 150);
  }
  EXPECT_EQ(seen.size(), 150u);
}

TEST(PotentialMinima, ExceptionsEndAllMinimisations) {
  const auto threads = threads_now();
  for (const int count : {1, 5, 100}) {
    SCOPED_TRACE(count);
    std::vector<double> x = clusters(2, count);
    const auto throws = potential_of(2);
    throws->change = [&](auto...) {
      // Of a kind that the minimisation of a cluster reports as its own.
      if (throws->calls.size() == 7) throw NumericalError("no convergence");
    };
    EXPECT_EQ(message_of<NumericalError>([&] { minimise(throws, 2, x); }), "no convergence");
    EXPECT_EQ(throws->calls.size(), 7u);
    EXPECT_EQ(threads_now(), threads);

    MinimiseOptions options;
    std::atomic<int> checks = 0;
    options.should_continue = [&]() -> bool {
      if (++checks == 20) throw std::runtime_error("interrupted");
      return true;
    };
    x = clusters(2, count);
    EXPECT_THROW(minimise(potential_of(2), 2, x, 0, options), std::runtime_error);
    EXPECT_EQ(threads_now(), threads);

    // A minimisation that is asked to stop is no exception.
    options.should_continue = [] { return false; };
    x = clusters(2, count);
    for (const MinimiseResult& r : minimise(potential_of(2), 2, x, 0, options)) {
      EXPECT_FALSE(r.converged);
      EXPECT_EQ(r.iterations, 0);
    }
  }
}

/// At the start it is an error that names the cluster; later, steps are shortened.
TEST(PotentialMinima, NumbersThatAreNotFinite) {
  const auto threads = threads_now();
  for (const bool energy : {false, true}) {
    const auto potential = potential_of(2);
    const auto spoil = [&](auto ids, auto energies, auto forces) {
      for (std::size_t k = 0; k < ids.size(); ++k) {
        if (ids[k] == 1) (energy ? energies[k] : forces[18 * k + 3]) = std::nan("");
      }
    };
    potential->change = spoil;
    std::vector<double> x = clusters(2, 3);
    expect_throws<NumericalError>({"positions[1]: ", "the potential returned"},
                                  [&] { minimise(potential, 2, x); });
    EXPECT_EQ(potential->calls.size(), 1u);
    EXPECT_EQ(threads_now(), threads);

    potential->calls.clear();
    potential->change = [&](auto ids, auto energies, auto forces) {
      if (potential->calls.size() == 5) spoil(ids, energies, forces);
    };
    x = clusters(2, 3);
    for (const MinimiseResult& r : minimise(potential, 2, x)) EXPECT_TRUE(r.converged);
  }
}

TEST(PotentialMinima, RefuseWhatIsNoMolecule) {
  std::vector<double> x = clusters(2, 2);
  x[3] += 4.0;
  EXPECT_THROW(minimise_clusters(tip3p(), 2, x, {"cpu", 0, potential_of(2)}), InputError);
  x = clusters(2, 2);
  x[3] += 0.3;  // beyond the tolerance of a rigid model
  EXPECT_NO_THROW(minimise_clusters(tip3p(), 2, x, {"cpu", 0, potential_of(2)}));
}

// --- normal modes -------------------------------------------------------------------------------

/// Truncation errors by displacements d (equation 90). Stretches: 7 (alpha d)^2/12 of the
/// wavenumber, with d = 0.4 displacement_A (1 + mass ratio) of the bond; those of bends are
/// smaller. Soft modes: V d^2/6 of the eigenvalue, with V of 1300 kcal/mol/A^4 and the mass of H.
TEST(PotentialModes, HaveTheErrorsOfTheDifferences) {
  const WaterModel model = flexible();
  for (const int n : {1, 2, 6}) {
    SCOPED_TRACE(n);
    const std::vector<double> x = minimum_of(n);
    const std::vector<double> exact = wavenumbers(normal_modes(model, x));
    const auto potential = potential_of(n);
    const auto found = [&](double displacement_A) {
      return wavenumbers(normal_modes(model, x, *potential, displacement_A));
    };
    const double d = kModeDisplacement_A;
    const double bond = 0.4 * d * (1.0 + model.mass_h_Da / model.mass_o_Da);
    const double alpha = model.intramolecular.alpha_per_A;
    const std::vector<double> whole = found(d), half = found(0.5 * d), small = found(1e-4);
    ASSERT_EQ(whole.size(), exact.size());
    double largest = 0.0;
    for (std::size_t k = 0; k < exact.size(); ++k) {
      const double error = whole[k] - exact[k];
      if (exact[k] > 1300.0) {
        EXPECT_LT(std::abs(error), 7.0 * alpha * alpha * bond * bond / 12.0 * exact.back());
      } else {
        EXPECT_LT(std::abs(eigenvalue(whole[k]) - eigenvalue(exact[k])),
                  1300.0 * d * d / 6.0 / model.mass_h_Da);
      }
      // Second order; the next one is smaller by (alpha d)^2.
      if (std::abs(error) > 1e-3) {
        EXPECT_NEAR(error / (half[k] - exact[k]), 4.0, 0.05) << k;
      }
      // Smaller by 50^2, and the rounding of the forces is below 1e-12/1e-4 of the eigenvalue.
      EXPECT_NEAR(small[k], exact[k], 5e-5) << k;
      largest = std::max(largest, std::abs(error));
    }
    EXPECT_GT(largest, 0.01);
  }
}

TEST(PotentialModes, AreOneCall) {
  const std::vector<double> x = minimum_of(2);
  const auto potential = potential_of(2);
  const NormalModes found = normal_modes(flexible(), x, *potential);
  ASSERT_EQ(potential->calls.size(), 1u);
  std::vector<std::int64_t> ids(37);
  std::iota(ids.begin(), ids.end(), 0);
  EXPECT_EQ(potential->calls[0], ids);
  const NormalModes exact = normal_modes(flexible(), x);
  EXPECT_EQ(found.energy_kcal_per_mol, exact.energy_kcal_per_mol);
  EXPECT_EQ(found.max_gradient_kcal_per_mol_A, exact.max_gradient_kcal_per_mol_A);
  EXPECT_TRUE(found.is_stationary());
  ASSERT_EQ(found.modes.size(), 18u);
  for (std::size_t k = 0; k < 18; ++k) {
    const NormalMode &a = found.modes[k], &b = exact.modes[k];
    EXPECT_TRUE(std::isnan(a.ir_intensity_D2_per_A2_Da));
    EXPECT_TRUE(std::isnan(a.ir_intensity_km_per_mol()));
    EXPECT_EQ(a.wavenumber_per_cm == 0.0, k < 6);
    // Modes that are mixed by errors of 1e-4 of their eigenvalues, relative to the gaps.
    EXPECT_NEAR(a.translation, b.translation, 0.01);
    EXPECT_NEAR(a.rotation, b.rotation, 0.01);
    EXPECT_NEAR(a.vibration, b.vibration, 0.01);
  }
}

/// The masses are those of the model, also of one that is rigid.
TEST(PotentialModes, DependOnTheMasses) {
  const std::vector<double> x = minimum_of(2);
  WaterModel heavy = flexible(), rigid = tip3p();
  heavy.mass_h_Da = rigid.mass_h_Da = 2.014;
  const auto exact = wavenumbers(normal_modes(heavy, x));
  const auto potential = potential_of(2);
  // By displacements of 1e-3 A, errors are 25 times smaller than by the default.
  expect_near(wavenumbers(normal_modes(heavy, x, *potential, 1e-3)), exact, 0.01);
  expect_near(wavenumbers(normal_modes(rigid, x, *potential, 1e-3)), exact, 0.01);
  EXPECT_LT(exact.back(), 0.75 * wavenumbers(normal_modes(flexible(), x)).back());
}

TEST(PotentialModes, RefuseWhatTheyDoNotSupport) {
  const std::vector<double> x = clusters(2, 1);
  const auto potential = potential_of(2);
  for (const double displacement_A : {0.0, -0.005, 0.2, std::nan("")}) {
    EXPECT_THROW(normal_modes(flexible(), x, *potential, displacement_A), InputError);
  }
  EXPECT_THROW(normal_modes(flexible(), std::span(x).first(17), *potential), InputError);
  EXPECT_THROW(normal_modes(flexible(), {}, *potential), InputError);
  const std::vector<double> many(std::size_t{9} * 334, 1.0);
  EXPECT_THROW(normal_modes(flexible(), many, *potential), InputError);
  EXPECT_TRUE(potential->calls.empty());
  potential->change = [](auto, auto energies, auto) {
    energies[5] = -std::numeric_limits<double>::infinity();
  };
  EXPECT_THROW(normal_modes(flexible(), x, *potential), NumericalError);
  throw_from(*potential);
  EXPECT_THROW(normal_modes(flexible(), x, *potential), std::runtime_error);
}

// --- searches -----------------------------------------------------------------------------------

/// A few hops of 4 starts: the same moves, and minima to 1e-8, as with the model's energies.
TEST(PotentialSearch, FindsTheMinimaOfTheModel) {
  const auto potential = potential_of(3);
  SearchOptions options{.starts = 4, .hops = 3, .keep = 2};
  const LowestCluster built_in = lowest_cluster(flexible(), 3, 1, options);
  options.potential = potential;
  const LowestCluster found = lowest_cluster(flexible(), 3, 1, options);
  EXPECT_NEAR(found.energy_kcal_per_mol, built_in.energy_kcal_per_mol, 1e-8);
  EXPECT_EQ(found.starts_done, 4);
  ASSERT_EQ(found.minima.size(), built_in.minima.size());
  EXPECT_GT(potential->images(), 2 * potential->calls.size());
  // Steps that have no energy are rejected, and an exception ends the search.
  std::size_t calls = 0;
  potential->change = [&](auto, auto energies, auto) {
    if (++calls > 100) std::ranges::fill(energies, std::numeric_limits<double>::quiet_NaN());
  };
  EXPECT_THROW(lowest_cluster(flexible(), 3, 1, options), NumericalError);
  throw_from(*potential);
  EXPECT_THROW(lowest_cluster(flexible(), 3, 1, options), std::runtime_error);
}

}  // namespace
}  // namespace tarn
