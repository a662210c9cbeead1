#include <cuda_runtime.h>

#include "engine_fixtures.hpp"
#include "engine_parts.hpp"
#include "kernels/cuda_engine.hpp"

/// @file
/// What a frame costs on a device, counted: bytes that the host receives and kernel launches.

namespace tarn {
namespace {

using namespace test;

struct Cost {
  std::int64_t bytes, launches;
};

class Frames : public ::testing::TestWithParam<int> {
 protected:
  /// An engine with GetParam() molecules and some replicas, after two steps.
  static std::unique_ptr<Engine> make(int replicas) {
    const System system = make_system({"zss_structured", Bath::gla}, tip3p(), GetParam());
    auto engine = make_cuda_engine(system, start_state(system, first_ids(replicas)), {});
    MeasureSettings settings;
    settings.lindemann = {true, 1, 0};
    settings.moment_groups = 2;
    settings.radial = {12.0, 50, 2};
    engine->measure_with(settings);
    engine->advance(2);
    return engine;
  }
  template <class Op>
  static Cost cost_of(Engine& engine, const Op& op) {
    const std::int64_t bytes = emulated::bytes_to_host, launches = emulated::launches;
    op(engine);
    return {emulated::bytes_to_host - bytes, emulated::launches - launches};
  }
  /// The cost of a frame after one more step.
  static Cost cost_of_frame(Engine& engine, unsigned fields) {
    engine.advance(1);
    return cost_of(engine, [&](Engine& e) {
      Frame frame;
      e.snapshot(fields, frame);
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Paths, Frames, ::testing::Values(7, 40, 130));

TEST_P(Frames, OfRowsHaveFewBytesPerReplica) {
  constexpr std::int64_t few = 2;
  const std::int64_t many = GetParam() > 100 ? 3 : 60;
  const auto of_few = make(few), of_many = make(static_cast<int>(many));
  struct Limit {
    unsigned fields;
    std::int64_t bytes;
  };
  for (const Limit& limit : {Limit{kEnergies, 108},
                             {kConservation, 68},
                             {kEnergies | kHeat, 116},
                             {kShape, 76},
                             {kShape | kLindemann, 84},
                             {kParts, 20},
                             {kExchangeEnergies, 12},
                             {kGeometry, 84}}) {
    SCOPED_TRACE("fields " + std::to_string(limit.fields));
    const Cost a = cost_of_frame(*of_few, limit.fields);
    const Cost b = cost_of_frame(*of_many, limit.fields);
    EXPECT_EQ(a.bytes, few * limit.bytes);
    EXPECT_EQ(b.bytes, many * limit.bytes);
    EXPECT_EQ(a.launches, b.launches);
    EXPECT_LE(a.launches, 6);
  }
}

/// Flags of stopped replicas are all that depends on the number of replicas.
TEST_P(Frames, OfGroupsHaveAFixedSize) {
  constexpr std::int64_t few = 2;
  const std::int64_t many = GetParam() > 100 ? 3 : 60;
  const auto of_few = make(few), of_many = make(static_cast<int>(many));
  for (const unsigned fields : {kEnergyMoments + 0u, kShapeMoments | kLindemannMoments,
                                kGeometryMoments + 0u, kRadialCounts + 0u, kGroupFields}) {
    SCOPED_TRACE("fields " + std::to_string(fields));
    const Cost a = cost_of_frame(*of_few, fields), b = cost_of_frame(*of_many, fields);
    EXPECT_EQ(b.bytes - a.bytes, (many - few) * 4);
    EXPECT_LE(a.bytes, 8192);
    EXPECT_EQ(a.launches, b.launches);
    EXPECT_LE(a.launches, 16);
  }
}

TEST_P(Frames, OfExchangesHaveOneEnergyPerReplica) {
  const int replicas = 6;
  const Cost cost = cost_of(*make(replicas), [](Engine& engine) {
    Frame frame;
    engine.snapshot(kExchangeEnergies, frame);
    engine.exchange(std::vector<StateExchange>{{0, 1}, {2, 3}, {4, 5}});
  });
  EXPECT_LE(cost.bytes, 16 * replicas);
}

/// Positions and velocities are copied as they are reported: nothing else comes down.
TEST_P(Frames, OfArraysHaveTheirNumbersOnly) {
  const std::int64_t replicas = 3, n = GetParam();
  const auto engine = make(replicas);
  EXPECT_EQ(cost_of_frame(*engine, kPositions).bytes, replicas * (72 * n + 4));
  EXPECT_EQ(cost_of_frame(*engine, kPositions | kVelocities).bytes, replicas * (144 * n + 4));
  EXPECT_EQ(cost_of_frame(*engine, kMultipliers).bytes, replicas * (24 * n + 4));
}

}  // namespace
}  // namespace tarn
