#include "device_fixture.hpp"
#include "engine_parts.hpp"
#include "one_replica.hpp"
#include "ring_fixtures.hpp"

/// @file
/// Many-body models on each device: frames and steps compared with the CPU, laws, and failures.

namespace tarn {
namespace {

using namespace test;

System with_model(System s, const char* model) {
  s.model = *find_water_model(model);
  return s;
}
System mbpol(int molecules, Bath bath, Precision precision = Precision::double_) {
  return with_model(make_system({"flexible_verlet", bath}, tip4p(), molecules, precision), "mbpol");
}
System mbpol_rings(int beads, int molecules, Precision precision = Precision::double_) {
  System s = with_model(ring_system(beads, Bath::baoab, molecules, precision), "mbpol");
  s.confinement = {2.0, 5.0};
  s.thermostat.temperature_K = 200.0;
  s.thermostat.temperatures_K = {200.0, 250.0};
  return s;
}
System dang_chang(const char* scheme, int molecules, Bath bath) {
  return with_model(make_system({scheme, bath}, tip4p(), molecules), "dang-chang");
}
State start_of(const System& s, const std::vector<std::int64_t>& ids) {
  return s.path_integral.beads > 1 ? ring_start(s, ids) : start_state(s, ids);
}

class ManyBodyDevices : public DeviceTest {
 protected:
  std::unique_ptr<Engine> make(const System& system, const State& start) const {
    return make_engine(system, start, {}, {GetParam(), 1});
  }
  std::vector<System> systems() const {
    std::vector<System> all{mbpol(1, Bath::none),
                            mbpol(2, Bath::baoab_per_mass),
                            mbpol(4, Bath::gla_per_mass, Precision::mixed),
                            mbpol_rings(4, 3),
                            mbpol_rings(2, 4, Precision::mixed),
                            dang_chang("settle", 4, Bath::gla_per_mass),
                            dang_chang("shake", 3, Bath::baoab),
                            dang_chang("rattle", 2, Bath::none)};
    if (covers_everything()) {
      all.push_back(mbpol(12, Bath::baoab));
      all.push_back(mbpol(32, Bath::baoab, Precision::mixed));
      all.push_back(mbpol_rings(64, 7));
      all.push_back(mbpol_rings(1024, 2, Precision::mixed));
      all.push_back(dang_chang("settle", 32, Bath::gla));
    }
    return all;
  }
};
std::string text_of(const System& s) {
  return std::string(s.model.name) + ", " + std::to_string(s.molecules) + " molecules, " +
         std::to_string(s.path_integral.beads) + " beads, " + name_of(s.precision);
}

/// Products of trimers in float differ by up to 1e-5 kcal/mol/A from those of the CPU, in another
/// order; all others by rounding.
TEST_P(ManyBodyDevices, MeasureAndStepAsTheCpu) {
  for (const System& s : systems()) {
    SCOPED_TRACE(text_of(s));
    const State start = with_heat(start_of(s, spread_ids(s.molecules > 7 ? 1 : 4)));
    const auto engine = make(s, start), reference = make_cpu_engine(s, start, {}, 1);
    MeasureSettings settings = settings_of_all_fields();
    for (Engine* e : {engine.get(), reference.get()}) e->measure_with(settings);
    const double tolerance = s.precision == Precision::mixed ? 1e-5 : 1e-10;
    for (const int steps : {0, 5}) {
      Frame a, b;
      for (Engine* e : {engine.get(), reference.get()}) {
        e->advance(steps);
        e->snapshot(kRowFields | kGroupFields | kPositions | kVelocities,
                    e == engine.get() ? a : b);
      }
      ASSERT_EQ(a.replica_ids, b.replica_ids);
      ASSERT_EQ(a.live(), start.replica_ids.size());
      expect_rows_near("energies", a.energies, b.energies, tolerance);
      expect_rows_near("conservation", a.conservation, b.conservation, tolerance);
      expect_rows_near("dipoles", a.dipoles_e_A, b.dipoles_e_A, tolerance);
      expect_rows_near("shape", a.shape, b.shape, tolerance);
      expect_rows_near("rings", a.rings, b.rings, tolerance);
      Frame dipoles;
      engine->snapshot(kDipoles, dipoles);
      EXPECT_EQ(dipoles.dipoles_e_A, a.dipoles_e_A);
      expect_near("heat", a.heat_kcal_per_mol, b.heat_kcal_per_mol, tolerance);
      expect_near("exchange", a.exchange_energies_kcal_per_mol, b.exchange_energies_kcal_per_mol,
                  tolerance);
      expect_near("rescaled", a.rescaled_energies_kcal_per_mol, b.rescaled_energies_kcal_per_mol,
                  tolerance);
      expect_near("moments", a.energy_moments.pivots, b.energy_moments.pivots, tolerance);
      expect_near("dipole moments", a.shape_moments.pivots, b.shape_moments.pivots, tolerance);
      expect_near("positions", a.positions_A, b.positions_A, tolerance);
      expect_near("velocities", a.velocities_A_per_akma, b.velocities_A_per_akma, tolerance);
    }
  }
}

/// Laws 1 to 3.
TEST_P(ManyBodyDevices, BatchesAndRestartsChangeNoBit) {
  for (const System& s : systems()) {
    SCOPED_TRACE(text_of(s));
    const std::vector<std::int64_t> ids = spread_ids(s.molecules > 7 ? 2 : 4);
    const auto whole = make(s, start_of(s, ids)), first = make(s, start_of(s, ids));
    whole->advance(30);
    EXPECT_TRUE(whole->blow_ups().empty());
    first->advance(1);
    first->advance(22);
    const auto second = make(s, first->state());
    Frame frame;
    second->snapshot(kRowFields, frame);
    second->advance(7);
    const auto alone = make(s, start_of(s, {ids[1]}));
    alone->advance(30);
    for (const std::int64_t id : ids) {
      EXPECT_TRUE(same_bits(bits_of_ring(second->state(), id), bits_of_ring(whole->state(), id)));
    }
    EXPECT_TRUE(
        same_bits(bits_of_ring(alone->state(), ids[1]), bits_of_ring(whole->state(), ids[1])));
  }
}

/// Two molecules fly at each other: their replica stops with the reason, the others go on.
TEST_P(ManyBodyDevices, AFailureStopsItsReplica) {
  for (const System& s : {mbpol(2, Bath::none), dang_chang("settle", 2, Bath::none),
                          with_model(ring_system(3, Bath::none, 2), "mbpol")}) {
    SCOPED_TRACE(text_of(s));
    const bool flexible = s.model.is_flexible();
    const int beads = s.path_integral.beads;
    State start = start_of(s, {0, 1, 2});
    // The second molecule of replica 1, 5 A away, gets a speed of 1 A/fs towards the first. Of a
    // ring polymer these are the centroids.
    const double scale = std::sqrt(static_cast<double>(beads));
    const auto first = static_cast<std::size_t>(18 * beads);
    for (std::size_t k = first; k < first + 9; ++k) {
      const bool is_x = k % 3 == 0;
      start.positions_A[k + 9] = start.positions_A[k] + (is_x ? 5.0 * scale : 0.0);
      start.velocities_A_per_akma[k] = 0.0;
      start.velocities_A_per_akma[k + 9] = is_x ? -scale / units::akma_from_fs(1.0) : 0.0;
    }
    const auto engine = make(s, start), reference = make_cpu_engine(s, start, {}, 1);
    for (Engine* e : {engine.get(), reference.get()}) e->advance(200);
    ASSERT_EQ(engine->blow_ups().size(), 1u);
    const BlowUp blow_up = engine->blow_ups()[0], expected = reference->blow_ups().at(0);
    EXPECT_EQ(blow_up.replica, 1);
    EXPECT_EQ(blow_up.step, expected.step);
    EXPECT_EQ(blow_up.molecule, expected.molecule);
    EXPECT_TRUE(blow_up.potential_was_not_finite);
    EXPECT_EQ(blow_up.failure, flexible ? ImageFailure::too_close : ImageFailure::polarisation);
    EXPECT_EQ(blow_up.failure, expected.failure);
    Frame f;
    engine->snapshot(kEnergies | kDipoles, f);
    EXPECT_EQ(f.replica_ids, (std::vector<std::int64_t>{0, 2}));
    EXPECT_TRUE(all_finite(f));
    // One that has no energy at the start.
    for (std::size_t k = first; k < first + 9; ++k) {
      start.positions_A[k + 9] = start.positions_A[k] + (k % 3 == 0 ? 0.5 * scale : 0.0);
    }
    const auto none = make(s, start);
    none->advance(3);
    ASSERT_EQ(none->blow_ups().size(), 1u);
    EXPECT_NE(none->blow_ups()[0].failure, ImageFailure::none);
  }
}

TEST_P(ManyBodyDevices, LargeClustersRunOnTheCpu) {
  const System s = mbpol(33, Bath::none);
  const State start = start_state(s, {0});
  if (is_cpu()) return;
  try {
    make(s, start);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("more than 32 molecules run on the CPU"),
              std::string::npos)
        << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, ManyBodyDevices, ::testing::Values("cpu", "cuda"), name_of_device);

}  // namespace
}  // namespace tarn
