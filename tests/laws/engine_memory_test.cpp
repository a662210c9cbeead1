#include <atomic>
#include <new>

#include "engine_fixtures.hpp"
#include "src/core/processors.hpp"
#include "start/molecule_frame.hpp"

/// @file
/// Too little memory: for every failing allocation, in any thread, the caller receives
/// std::bad_alloc. The program does not terminate, and no thread waits forever.

namespace {

enum class Memory { enough, one_failure, full };

std::atomic<Memory> g_memory = Memory::enough;
std::atomic<long> g_allocations_left = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (g_memory != Memory::enough) {
    const long left = g_allocations_left.fetch_sub(1);
    if (left == 0 || (left < 0 && g_memory == Memory::full)) throw std::bad_alloc();
  }
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* p = std::aligned_alloc(alignment, size > 0 ? size : alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace tarn {
namespace {

using namespace test;

struct Case {
  std::string scheme;
  int molecules, replicas, threads;
  Precision precision = Precision::double_;
  int beads = 1;
};

/// Groups of replicas, single replicas, several threads per replica, and ring polymers.
const std::vector<Case> kCases{
    {"zss_structured", 7, 19, 2},
    {"settle", 7, 19, 2, Precision::single},
    {"zss_dense", 7, 3, 3},
    {"pushforward", 7, 19, 2},
    {"zss_structured", 65, 3, 2},
    {"zss_structured", 65, 1, 3},
    {"settle", 65, 2, 3, Precision::single},
    {"zss_dense", 65, 1, 3},
    {"pushforward", 65, 1, 3},
    {"flexible_verlet", 3, 5, 2, Precision::double_, 4},
};

/// All functions of an engine, including a blow-up of its last replica.
void use_engine(const System& system, const State& start, int threads) {
  const auto engine = make_cpu_engine(system, start, {.enabled = true, .every = 1}, threads);
  engine->advance(2);
  Frame frame;
  engine->snapshot(kPositions | kVelocities | kEnergies | kConservation | kPairCounts, frame);
  engine->state();
  if (engine->blow_ups().size() != 1) throw std::logic_error("there was no blow-up");
}

TEST(EngineMemory, EveryFailedAllocationThrows) {
  processors();  // read once, by a stream, which hides failed allocations
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.scheme + ", N = " + std::to_string(c.molecules) + ", " + name_of(c.precision));
    System system = make_system({c.scheme, Bath::gla}, tip3p(), c.molecules, c.precision);
    State start = start_state(system, spread_ids(c.replicas));
    if (c.beads > 1) {
      system.path_integral.beads = c.beads;
      start = start::rings_of(system, start, nullptr, true, false);
    }
    start.velocities_A_per_akma.back() = 200.0 * c.beads;
    for (const Memory memory : {Memory::one_failure, Memory::full}) {
      long failures = 0;
      for (bool failed = true; failed;) {
        failed = false;
        g_allocations_left = failures;
        g_memory = memory;
        try {
          use_engine(system, start, c.threads);
        } catch (const std::bad_alloc&) {
          failed = true;
        }
        g_memory = Memory::enough;
        failures += failed;
      }
      EXPECT_GT(failures, 30);
    }
  }
}

}  // namespace
}  // namespace tarn
