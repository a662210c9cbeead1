#include "device_fixture.hpp"
#include "engine_parts.hpp"
#include "one_replica.hpp"
#include "ring_fixtures.hpp"

/// @file
/// Windows, walls and fields on each device: frames and steps compared with the CPU, and laws.

namespace tarn {
namespace {

using namespace test;

System with_bias(System s, BiasCoordinate coordinate, bool wall = false) {
  const bool contacts = coordinate == BiasCoordinate::contacts;
  s.thermostat.temperatures_K.clear();
  s.biases = {{.coordinate = coordinate,
               .molecules = {0, 1},
               .stiffness = 3.0,
               .centres = contacts ? std::vector<double>{1.0, 2.0, 3.0}
                                   : std::vector<double>{2.7, 3.0, 3.3}}};
  if (wall) {
    s.biases.push_back({.coordinate = BiasCoordinate::largest_separation,
                        .kind = BiasKind::upper_wall,
                        .stiffness = 2.0,
                        .centres = {2.0}});
  }
  return s;
}
System with_field(System s) {
  set_field_V_per_nm({0.5, -1.0, 0.25}, s.model);
  return s;
}
System plain(const char* scheme, Bath bath, int n, Precision precision = Precision::double_) {
  return make_system({scheme, bath}, tip4p(), n, precision);
}
System many_body(const char* model, const char* scheme, int n) {
  System s = plain(scheme, Bath::baoab_per_mass, n);
  s.model = *find_water_model(model);
  return s;
}
State start_of(const System& s, const std::vector<std::int64_t>& ids) {
  return s.path_integral.beads > 1 ? ring_start(s, ids) : start_state(s, ids);
}

class OutsideDevices : public DeviceTest {
 protected:
  std::unique_ptr<Engine> make(const System& system, const State& start) const {
    return make_engine(system, start, {}, {GetParam(), 1});
  }
  /// All kernels' paths with a field, and all coordinates with their tile path or with beads.
  std::vector<System> systems() const {
    System walled = with_field(plain("settle", Bath::gla, 5));
    walled.confinement = {2.0, 5.0};
    return {
        walled,
        with_field(plain("zss_structured", Bath::baoab, 33)),
        with_field(plain("shake", Bath::gla, 3, Precision::single)),
        with_field(ring_system(4, Bath::baoab, 3)),
        with_field(many_body("mbpol", "flexible_verlet", 3)),
        with_field(many_body("dang-chang", "settle", 3)),
        with_bias(with_field(plain("settle", Bath::baoab, 4)), BiasCoordinate::separation, true),
        with_bias(plain("zss_structured", Bath::gla, 4, Precision::mixed),
                  BiasCoordinate::distance),
        with_bias(plain("pushforward", Bath::none, 3), BiasCoordinate::contacts),
        with_bias(plain("flexible_verlet", Bath::gla, 34), BiasCoordinate::radius_of_gyration),
        with_bias(with_field(ring_system(5, Bath::baoab, 3)), BiasCoordinate::distance, true),
        with_bias(many_body("mbpol", "flexible_verlet", 3), BiasCoordinate::distance)};
  }
};
std::string text_of(const System& s) {
  return std::string(s.model.name) + ", " + std::to_string(s.molecules) + " molecules, " +
         std::to_string(s.path_integral.beads) + " beads, " + name_of(s.precision) + ", " +
         std::to_string(s.biases.size()) + " biases";
}

TEST_P(OutsideDevices, MeasureAndStepAsTheCpu) {
  for (const System& s : systems()) {
    SCOPED_TRACE(text_of(s));
    const State start = start_of(s, spread_ids(3));
    const auto engine = make(s, start), reference = make_cpu_engine(s, start, {}, 1);
    for (Engine* e : {engine.get(), reference.get()}) e->measure_with(settings_of_all_fields());
    // Forces in floats differ in the order of their sums.
    const double tolerance = s.precision == Precision::double_ ? 1e-9 : 1e-3;
    for (const int steps : {0, 5}) {
      Frame a, b;
      for (Engine* e : {engine.get(), reference.get()}) {
        e->advance(steps);
        e->snapshot(kEnergies | kConservation | kShape | kRings | kPositions | kEnergyMoments,
                    e == engine.get() ? a : b);
      }
      ASSERT_EQ(a.live(), start.replica_ids.size());
      expect_rows_near("energies", a.energies, b.energies, tolerance);
      expect_rows_near("conservation", a.conservation, b.conservation, tolerance);
      expect_rows_near("shape", a.shape, b.shape, tolerance);
      expect_rows_near("rings", a.rings, b.rings, tolerance);
      expect_near("moments", a.energy_moments.pivots, b.energy_moments.pivots, tolerance);
      expect_near("positions", a.positions_A, b.positions_A, tolerance);
      for (const Energies& e : a.energies) {
        EXPECT_EQ(e.bias_kcal_per_mol != 0.0, !s.biases.empty());
        EXPECT_EQ(e.field_kcal_per_mol != 0.0, s.model.has_field());
      }
    }
  }
}

/// Laws 1 to 3, and an exchange of windows, after which the forces are those of a restart.
TEST_P(OutsideDevices, BatchesRestartsAndExchangesChangeNoBit) {
  for (const System& s : systems()) {
    SCOPED_TRACE(text_of(s));
    const std::vector<std::int64_t> ids{0, 1, 5};
    const auto whole = make(s, start_of(s, ids)), first = make(s, start_of(s, ids));
    whole->advance(10);
    first->advance(7);
    const auto second = make(s, first->state());
    second->advance(3);
    const auto alone = make(s, start_of(s, {1}));
    alone->advance(10);
    for (const std::int64_t id : ids) {
      EXPECT_TRUE(same_bits(bits_of_ring(second->state(), id), bits_of_ring(whole->state(), id)));
    }
    EXPECT_TRUE(same_bits(bits_of_ring(alone->state(), 1), bits_of_ring(whole->state(), 1)));
    if (!windows_of(s) || s.thermostat.kind == Thermostat::none) continue;
    whole->exchange(std::vector<StateExchange>{{0, 1, 1.0, 1.0}});
    const auto third = make(s, whole->state());
    for (Engine* e : {whole.get(), third.get()}) e->advance(3);
    for (const std::int64_t id : ids) {
      EXPECT_TRUE(same_bits(bits_of_ring(third->state(), id), bits_of_ring(whole->state(), id)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OutsideDevices, ::testing::Values("cpu", "cuda"), name_of_device);

}  // namespace
}  // namespace tarn
