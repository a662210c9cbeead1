#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "engine_parts.hpp"
#include "ring_fixtures.hpp"
#include "tarn/cluster_forces.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/many_body.hpp"
#include "tarn/minimise.hpp"
#include "tarn/modes.hpp"

/// @file
/// The laws of engines for many-body models.

namespace tarn {
namespace {

using namespace test;

std::unique_ptr<Engine> engine_of(const System& s, const State& start, int threads = 1) {
  return make_cpu_engine(s, start, {}, threads);
}
State start_of(const System& s, const std::vector<std::int64_t>& ids) {
  return s.path_integral.beads > 1 ? ring_start(s, ids) : start_state(s, ids);
}
System with_model(System s, const char* model) {
  s.model = *find_water_model(model);
  return s;
}
Bits bits_of(Engine& engine, std::int64_t id) {
  Frame f;
  engine.snapshot(kEnergies | kRings | kExchangeEnergies | kDipoles, f);
  Bits bits = bits_of_ring(engine.state(), id);
  for (std::size_t r = 0; r < f.live(); ++r) {
    if (f.replica_ids[r] != id) continue;
    append_bits(numbers_of(f.energies[r]), bits);
    append_bits(numbers_of(f.rings[r]), bits);
    append_bits(f.dipoles_e_A[r], bits);
    append_bits({&f.exchange_energies_kcal_per_mol[r], 1}, bits);
  }
  return bits;
}

std::vector<System> systems() {
  std::vector<System> all;
  for (const Precision precision : {Precision::double_, Precision::mixed}) {
    for (const int n : {1, 4, 7}) {
      all.push_back(with_model(
          make_system({"flexible_verlet", Bath::baoab_per_mass}, tip4p(), n, precision), "mbpol"));
    }
    all.push_back(with_model(ring_system(5, Bath::baoab, 3, precision), "mbpol"));
  }
  all.push_back(with_model(ring_system(4, Bath::none, 3), "mbpol"));
  for (const char* scheme : {"settle", "shake", "rattle"}) {
    all.push_back(with_model(make_system({scheme, Bath::gla}, tip4p(), 7), "dang-chang"));
  }
  return all;
}
std::string text_of(const System& s) {
  return std::string(s.model.name) + ", " + std::to_string(s.molecules) + " molecules, " +
         std::to_string(s.path_integral.beads) + " beads, " + name_of(s.precision);
}

TEST(ManyBodyEngine, BatchesPartsRestartsAndThreadsChangeNoBit) {
  for (const System& s : systems()) {
    SCOPED_TRACE(text_of(s));
    const std::vector<std::int64_t> ids = spread_ids(19);
    const auto whole = engine_of(s, start_of(s, ids));
    whole->advance(6);
    EXPECT_TRUE(whole->blow_ups().empty());
    const auto threads = engine_of(s, start_of(s, ids), 3);
    threads->advance(2);
    threads->advance(4);
    const auto first = engine_of(s, start_of(s, ids));
    first->advance(4);
    const auto second = engine_of(s, first->state());
    second->advance(2);
    const std::int64_t one = ids[2];
    const auto alone = engine_of(s, start_of(s, {one}), 2);
    alone->advance(6);
    for (const std::int64_t id : ids) {
      EXPECT_EQ(bits_of(*threads, id), bits_of(*whole, id));
      EXPECT_EQ(bits_of_ring(second->state(), id), bits_of_ring(whole->state(), id));
    }
    EXPECT_EQ(bits_of(*alone, one), bits_of(*whole, one));
  }
}

/// Energies of frames, ForceField, ClusterForces and ManyBody are those of one model; the energy of
/// the bonds is the one-body term.
TEST(ManyBodyEngine, AllEnergiesAreThoseOfTheModel) {
  for (const char* name : {"mbpol", "dang-chang"}) {
    const bool flexible = find_water_model(name)->is_flexible();
    const System s = with_model(
        make_system({flexible ? "flexible_verlet" : "settle", Bath::none}, tip4p(), 5), name);
    const State start = start_state(s, {0, 1, 2});
    Frame f;
    engine_of(s, start)->snapshot(kEnergies | kDipoles | kShape, f);
    ManyBody model(s.model.many_body);
    std::vector<double> energies(3), terms(3 * model.terms().size()),
        forces(start.positions_A.size()), dipoles(9);
    model.compute(5, start.positions_A, {energies, terms, forces, dipoles, {}});
    std::vector<double> cluster_energies(3), cluster_forces(forces.size());
    ClusterForces(s.model, 5).compute(start.positions_A, cluster_energies, cluster_forces);
    EXPECT_EQ(cluster_energies, energies);
    EXPECT_EQ(cluster_forces, forces);
    EXPECT_EQ(dipole_moments_e_A(s.model, 5, start.positions_A), dipoles);
    ForceField force_field(s.model, 5);
    for (std::size_t r = 0; r < 3; ++r) {
      const double bonds = flexible ? terms[r * model.terms().size()] : 0.0;
      const Energies& e = f.energies[r];
      EXPECT_EQ(e.bond_kcal_per_mol, bonds);
      EXPECT_EQ(e.potential_kcal_per_mol, energies[r] - bonds);
      // The order of a sum of four numbers.
      EXPECT_NEAR(e.total_kcal_per_mol, e.kinetic_kcal_per_mol + energies[r],
                  1e-14 * (e.kinetic_kcal_per_mol + std::abs(energies[r])));
      const ClusterEnergy one =
          force_field.energy(std::span(start.positions_A).subspan(45 * r, 45));
      EXPECT_EQ(one.between_molecules_kcal_per_mol(), energies[r] - bonds);
      EXPECT_EQ(one.intramolecular_kcal_per_mol, bonds);
      for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(f.dipoles_e_A[r][k], dipoles[3 * r + k]);
      EXPECT_NEAR(
          f.shape[r].dipole_D,
          units::debye_per_e_A * std::hypot(dipoles[3 * r], dipoles[3 * r + 1], dipoles[3 * r + 2]),
          1e-12);
    }
  }
}

/// Errors of the energy are of second order, bounded on both sides.
TEST(ManyBodyEngine, EnergyErrorsAreOfSecondOrder) {
  for (const char* name : {"mbpol", "dang-chang"}) {
    const bool flexible = find_water_model(name)->is_flexible();
    System s = with_model(
        make_system({flexible ? "flexible_verlet" : "rattle", Bath::none}, tip4p(), 4), name);
    const auto largest_error = [&](double step_fs) {
      s.integrator.timestep_akma = units::akma_from_fs(step_fs);
      s.integrator.tolerance = 1e-12;
      const auto engine = engine_of(s, start_state(s, {0}));
      Frame f;
      double first = 0.0, most = 0.0;
      for (int k = 0; k <= static_cast<int>(24.0 / step_fs); ++k) {
        engine->snapshot(kEnergies, f);
        const double total = f.energies.at(0).total_kcal_per_mol;
        if (k == 0) first = total;
        most = std::max(most, std::abs(total - first));
        engine->advance(1);
      }
      return most;
    };
    const double ratio = largest_error(0.2) / largest_error(0.1);
    EXPECT_GT(ratio, 3.5) << name;
    EXPECT_LT(ratio, 4.5) << name;
  }
}

/// Two molecules fly at each other: their replica is stopped with the reason.
TEST(ManyBodyEngine, AReplicaWithoutAnEnergyIsStoppedWithTheReason) {
  for (const char* name : {"mbpol", "dang-chang"}) {
    const bool flexible = find_water_model(name)->is_flexible();
    const System s = with_model(
        make_system({flexible ? "flexible_verlet" : "settle", Bath::none}, tip4p(), 2), name);
    State start = start_state(s, {0, 1});
    // The second molecule of replica 1, 5 A away, gets a speed of 1 A/fs towards the first.
    for (int k = 0; k < 9; ++k) {
      const auto at = static_cast<std::size_t>(27 + k), other = static_cast<std::size_t>(18 + k);
      start.positions_A[at] = start.positions_A[other] + (k % 3 == 0 ? 5.0 : 0.0);
      start.velocities_A_per_akma[other] = 0.0;
      start.velocities_A_per_akma[at] = k % 3 == 0 ? -1.0 / units::akma_from_fs(1.0) : 0.0;
    }
    const auto engine = engine_of(s, start);
    engine->advance(200);
    ASSERT_EQ(engine->blow_ups().size(), 1u) << name;
    const BlowUp blow_up = engine->blow_ups()[0];
    EXPECT_EQ(blow_up.replica, 1);
    EXPECT_TRUE(blow_up.potential_was_not_finite);
    EXPECT_EQ(blow_up.failure, flexible ? ImageFailure::too_close : ImageFailure::polarisation);
    Frame f;
    engine->snapshot(kEnergies, f);
    ASSERT_EQ(f.live(), 1u);
    EXPECT_TRUE(std::isfinite(f.energies[0].total_kcal_per_mol));
  }
}

/// Published dimers, and the second derivatives of a rigid model against those of its energies.
TEST(ManyBodyModel, MinimaAndModes) {
  for (const auto& [name, energy] : {std::pair("mbpol", -4.963242), {"dang-chang", -4.688987}}) {
    const WaterModel model = *find_water_model(name);
    System s;
    s.model = model;
    s.molecules = 2;
    std::vector<double> x = lattice_cluster(model, 2, 1);
    ForceField force_field(model, 2);
    const MinimiseResult r = quench_to_minimum(force_field, x);
    EXPECT_TRUE(r.converged);
    EXPECT_NEAR(r.energy_kcal_per_mol, energy, 1e-6) << name;
    const NormalModes modes = normal_modes(model, x);
    EXPECT_EQ(modes.imaginary_count(), 0);
    EXPECT_EQ(modes.modes.size(), model.is_flexible() ? 18u : 12u);
    // The curvature along the stiffest mode, by energies.
    const double h = 1e-3;
    const auto moved = [&](double by) {
      std::vector<double> y = x;
      for (std::size_t k = 0; k < x.size(); ++k) {
        y[k] +=
            by *
            modes.displacements_per_sqrt_Da[modes.displacements_per_sqrt_Da.size() - x.size() + k];
      }
      return force_field.energy(y).total_kcal_per_mol();
    };
    if (!model.is_flexible()) continue;  // a straight line stretches rigid bonds
    const double curvature = (moved(h) - 2.0 * moved(0.0) + moved(-h)) / (h * h);
    EXPECT_NEAR(units::wavenumber_per_cm(std::sqrt(curvature)),
                modes.modes.back().wavenumber_per_cm, 1e-4 * modes.modes.back().wavenumber_per_cm);
  }
}

/// The harmonic wavenumbers of the monomer surface of Partridge & Schwenke 1997.
TEST(ManyBodyModel, MonomerWavenumbers) {
  const WaterModel model = *find_water_model("mbpol");
  std::vector<double> x = lattice_cluster(model, 1, 1);
  ForceField force_field(model, 1);
  quench(force_field, x);
  const NormalModes modes = normal_modes(model, x);
  const double expected[] = {1648.92, 3832.43, 3943.97};  // by GF, from differences of energies
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(modes.modes[6 + k].wavenumber_per_cm, expected[k], 0.5);
  }
}

}  // namespace
}  // namespace tarn
