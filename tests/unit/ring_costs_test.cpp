#include "counting.hpp"
#include "document_table.hpp"
#include "kernels/cluster_program.hpp"
#include "kernels/layout.hpp"
#include "physics/noise.hpp"
#include "testing.hpp"

/// @file
/// Compares the cost of ring polymers on a GPU with the tables in docs/operations.md. The program
/// of a thread runs with numbers that count, so that a change of the kernels changes the tables.

namespace tarn {
namespace {

using namespace test;
using namespace gpu;

constexpr int kMolecules = 7, kBeads = 32;
constexpr const char* kPage = "operations.md";

/// Instructions of a thread.
struct Work {
  Operations on_double, on_float, words;
  int conversions = 0;        ///< between float and double
  int shuffles = 0;           ///< of 32 bits
  int loads = 0, stores = 0;  ///< of shared memory
  int elements = 0;           ///< of the matrices of transforms, from the L1 cache
  int bytes = 0;              ///< of shuffles, shared memory and the L1 cache

  template <class F>
  friend Work combine(const Work& a, const Work& b, const F& f) {
    return {combine(a.on_double, b.on_double, f),
            combine(a.on_float, b.on_float, f),
            combine(a.words, b.words, f),
            f(a.conversions, b.conversions),
            f(a.shuffles, b.shuffles),
            f(a.loads, b.loads),
            f(a.stores, b.stores),
            f(a.elements, b.elements),
            f(a.bytes, b.bytes)};
  }
  friend Work operator+(const Work& a, const Work& b) {
    return combine(a, b, [](int x, int y) { return x + y; });
  }
  friend Work operator-(const Work& a, const Work& b) {
    return combine(a, b, [](int x, int y) { return x - y; });
  }

  static int arithmetic(const Operations& o) { return o.add + o.multiply + o.fma; }
  int doubles() const { return arithmetic(on_double); }
  int floats() const { return arithmetic(on_float); }
  /// Selections use the integer units. Signs are free.
  int integers() const {
    return on_double.choose + on_float.choose + words.word + words.word_multiply;
  }
  /// Estimates of roots and quotients, one each.
  int estimates() const {
    const auto of = [](const Operations& o) { return o.rsqrt + o.square_root + o.divide; };
    return of(on_double) + of(on_float);
  }
  int instructions() const {
    return doubles() + floats() + integers() + estimates() + conversions + shuffles + loads +
           stores + elements;
  }
};

/// What this thread has done.
Work& done() {
  static Work work;
  return work;
}
Work now() {
  Work work = done();
  work.on_double = tally<double>();
  work.on_float = tally<float>();
  work.words = tally<std::uint32_t>() + tally<std::uint64_t>();
  return work;
}

/// A thread of advance_rings_kernel that counts: its partners have its own values, since only the
/// operations matter. The interface is documented in cluster_program.hpp, DeviceRings is the
/// original.
class CountingThread {
 public:
  using Double = Counted<double>;
  using Float = Counted<float>;
  using Word = Word32;
  using Index = int;
  static constexpr bool kRings = true;

  int rounds() const { return gpu::rounds(kMolecules); }
  template <class T>
  T shuffle(const T& value, int) const {
    done().shuffles += static_cast<int>(sizeof(value.v) / 4);
    done().bytes += static_cast<int>(sizeof(value.v));
    return value;
  }
  int partner(int) const { return 0; }
  int meeting(int) const { return 0; }
  int first() const { return 0; }
  template <class R>
  bool pair(int) const {
    return true;
  }
  Vec3<Double> sum(Vec3<Double> a) const {
    for (int o = cluster_lanes(kMolecules) / 2; o > 0; o /= 2) a = a + shuffled(*this, a, 0);
    return a;
  }
  static Float to_float(const Double& value) { return ++done().conversions, Float(value.v); }
  static Double to_double(const Float& value) { return ++done().conversions, Double(value.v); }

  ModeNumbers<Double> mode() const { return {0.9, 0.1, 0.2, {0.8, 0.8, 0.3, 0.7}}; }
  Triple<Double> to_beads(const Triple<Double>& modes) {
    const Work before = now();
    put();
    const Triple<Double> part = product(inputs_of_beads(0, kBeads), modes);
    put();
    const Triple<Double> beads = folded(0, kBeads, part, get(part));
    transforms = transforms + (now() - before);
    return beads;
  }
  Triple<Double> to_modes(const Triple<Double>& beads) {
    const Work before = now();
    put();
    const Triple<Double> part = folded(0, kBeads, beads, get(beads));
    put();
    const Triple<Double> modes = product(inputs_of_modes(0, kBeads), part);
    transforms = transforms + (now() - before);
    return modes;
  }
  /// As molecule_normals().
  template <class T>
  Triple<T> normals(std::int64_t) {
    const Work before = now();
    for (int call = 0; call < 2; ++call) {
      (void)philox4x32_10(PhiloxWords<Word64>{Word64(1), Word64(2), Word64(3), Word64(4)}, 7);
    }
    const Word32 words[8] = {};
    const NormalBits<Word32> bits = normal_bits(words);
    Float a, b;
    for (int p = 0; p < 5; ++p) box_muller(bits.radius[p], bits.angle[p], a, b);
    const auto number = [&] { return to_double(b); };
    const auto vector = [&] { return Vec3<T>{number(), number(), number()}; };
    const Triple<T> xi{vector(), vector(), vector()};
    noise = noise + (now() - before);
    return xi;
  }
  NoTally heat_tally() const { return {}; }
  double largest_speed2() const { return 1e9; }
  template <class M>
  void keep(const M&) const {}
  void store_thermal(const Triple<Double>&) const {}
  template <class M>
  void stop(bool, std::int64_t, M&) const {}
  void begin_stages(std::int64_t) const {}
  void end_stage(Stage, std::int64_t) const {}

  Work transforms, noise;

 private:
  /// RingBuffer has nine coordinates in five pairs of doubles. nvcc leaves out the tenth number of
  /// a load.
  static constexpr int kPairsOfNumbers = 5;
  void put() const {
    done().stores += kPairsOfNumbers;
    done().bytes += 16 * kPairsOfNumbers;
  }
  Triple<Double> get(const Triple<Double>& t) const {
    done().loads += kPairsOfNumbers;
    done().bytes += 16 * kPairsOfNumbers - 8;
    return t;
  }
  Triple<Double> product(const RingInputs& inputs, const Triple<Double>& t) const {
    static const std::vector<Double> table(std::size_t{kBeads} * kBeads, Double(0.5));
    done().elements += inputs.count;
    done().bytes += 8 * inputs.count;
    return transformed<Triple<Double>>(table.data(), kBeads, 0, inputs,
                                       [&](int) { return get(t); });
  }
};

struct StepWork {
  Work pairs, bonds, transforms, noise, all;
  Work rest() const { return all - pairs - bonds - transforms - noise; }
};

template <class R>
StepWork work_of_step() {
  using D = CountingThread::Double;
  System s;
  s.model = *find_water_model("qtip4pf");
  s.molecules = kMolecules;
  s.integrator.scheme = Scheme::verlet;
  const ClusterSystem system{step_parameters(s),
                             step_passes(s),
                             Thermostat::baoab,
                             {},
                             {},
                             pair_parameters<double>(s.model),
                             kMolecules};
  const auto pair = rounded_parameters<scalar_t<R>>(system.pair);
  const Vec3<D> zero{D(0.0), D(0.0), D(0.0)};
  const Triple<D> x{zero, {D(0.95), D(0.0), D(0.0)}, {D(-0.3), D(0.9), D(0.0)}};
  CountingThread w;
  const auto counted = [&](const auto& work) {
    const Work before = now();
    work();
    return now() - before;
  };
  StepWork r;
  r.pairs = counted([&] { (void)cluster_forces<CountingThread, R, true>(w, system, pair, x); });
  r.bonds = counted([&] { (void)intramolecular_force(x, system.step.flexible); });
  MoleculeState<D> state{x, {zero, zero, zero}, {zero, zero, zero}};
  Triple<D> unused{};
  r.all = counted([&] {
    advance_cluster<CountingThread, R, true, true>(w, system, pair, 1, 1, state, unused);
  });
  r.transforms = w.transforms;
  r.noise = w.noise;
  return r;
}

std::string row_of(const char* name, const Work& w) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |", name, w.doubles(),
                     w.floats(), w.integers(), w.estimates(), w.conversions, w.shuffles, w.loads,
                     w.stores, w.elements, w.bytes);
}

TEST(RingCosts, OfAThread) {
  const StepWork mixed = work_of_step<CountingThread::Float>();
  const StepWork in_double = work_of_step<CountingThread::Double>();
  expect_document_rows(
      kPage, "### Work of a thread",
      {row_of("pairs, mixed precision", mixed.pairs),
       row_of("pairs, double precision", in_double.pairs), row_of("bonds", mixed.bonds),
       row_of("transforms", mixed.transforms), row_of("noise", mixed.noise),
       row_of("rest", mixed.rest()), row_of("all, mixed precision", mixed.all),
       row_of("all, double precision", in_double.all)});
}

/// Per multiprocessor of compute capability 9.0.
struct Resource {
  const char* name;
  int per_cycle;
  int (*use)(const Work&);
};
constexpr Resource kResources[] = {
    {"double-precision lanes", 64, [](const Work& w) { return w.doubles(); }},
    {"single-precision lanes", 128, [](const Work& w) { return w.floats(); }},
    {"integer lanes", 64, [](const Work& w) { return w.integers(); }},
    {"conversions and estimates", 16, [](const Work& w) { return w.conversions + w.estimates(); }},
    {"instructions issued, all lanes", 128, [](const Work& w) { return w.instructions(); }},
    {"bytes of shared memory, shuffles and L1 cache", 128, [](const Work& w) { return w.bytes; }},
};

TEST(RingCosts, OfTheMultiprocessors) {
  constexpr double kMultiprocessors = 132.0, kClock_Hz = 1.98e9;
  const Work mixed = work_of_step<CountingThread::Float>().all;
  const Work in_double = work_of_step<CountingThread::Double>().all;
  std::vector<std::string> rows;
  for (const Resource& r : kResources) {
    std::string row = fmt::format("| {} | {}", r.name, r.per_cycle);
    for (const Work& w : {mixed, in_double}) {
      const double cycles = 1.0 * cluster_lanes(kMolecules) * r.use(w) / r.per_cycle;
      row +=
          fmt::format(" | {:.1f} | {:.2f}", cycles, 1e-9 * kMultiprocessors * kClock_Hz / cycles);
    }
    rows.push_back(row + " |");
  }
  expect_document_rows(kPage, "### Bound of an H100 and an H200", rows);
}

/// @return registers and static bytes of shared memory of advance_rings_kernel in mixed precision
std::pair<int, int> measured_resources() {
  std::ifstream file(std::string(TARN_SOURCE_DIR) + "/tests/structure/registers.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kernel;
    int registers = 0, stores = 0, loads = 0, stack = 0, shared = 0;
    words >> kernel >> registers >> stores >> loads >> stack >> shared;
    if (kernel == "advance_rings_kernel<float,true,false>") return {registers, shared};
  }
  ADD_FAILURE() << "registers.txt does not contain the kernel";
  return {1, 1};
}

TEST(RingCosts, OfBlocks) {
  // Of compute capability 9.0. The system reserves 1 KiB of shared memory per block.
  constexpr int kRegisters = 65'536, kSharedBytes = 228 * 1024, kReserved = 1024, kThreads = 2048;
  constexpr int kBytesOfSlot = 80;  // five pairs of doubles, see RingBuffer
  const auto [registers, static_bytes] = measured_resources();
  std::vector<std::string> rows;
  for (const int beads : {16, 32, 64}) {
    const int rings = rings_in_block(beads, kMolecules);
    const int threads = ring_warps(rings, beads, kMolecules) * kWarpLanes;
    const int bytes = kBytesOfSlot * rings * beads * kMolecules;
    const int by_registers = kRegisters / (registers * threads);
    const int by_shared = kSharedBytes / (bytes + static_bytes + kReserved);
    const int blocks = std::min({by_registers, by_shared, kThreads / threads});
    rows.push_back(fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} % | {} |", beads, rings,
                               threads, bytes, by_registers, by_shared, kThreads / threads,
                               100 * blocks * threads / kThreads, 132 * blocks * rings));
  }
  expect_document_rows(kPage, "### Blocks", rows);
}

}  // namespace
}  // namespace tarn
