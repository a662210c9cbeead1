#include "kernels/cluster_program.hpp"

#include "engine_fixtures.hpp"
#include "kernels/layout.hpp"
#include "lanes.hpp"
#include "worst.hpp"

/// @file
/// The warp program for small clusters, run on 32 lanes of scalars, compared with the CPU engine.
/// Only loads, stores and shuffles of a device are not covered.

namespace tarn {
namespace {

using namespace test;

using D = Lanes<double>;
using F = Lanes<float>;
using U = Lanes<std::uint32_t>;

// --- the state in memory, in doubles, and in lanes -----------------------------------------------

/// Calls op(part of the first, part of the second) for each number of a lane.
template <class A, class B, class Op>
void for_both(A& a, B& b, const Op& op) {
  const auto vec3 = [&](auto& x, auto& y) {
    op(x.x, y.x);
    op(x.y, y.y);
    op(x.z, y.z);
  };
  if constexpr (requires { a.cell; }) {
    vec3(a.cell, b.cell);
    for_both(a.x, b.x, op);
  } else {
    vec3(a.o, b.o);
    vec3(a.h1, b.h1);
    vec3(a.h2, b.h2);
  }
}
/// Calls op(lanes, number) for all of a state.
template <class Lanes, class One, class Op>
void for_state(Lanes& lanes, One& one, const Op& op) {
  for_both(lanes.x, one.x, op);
  for_both(lanes.v, one.v, op);
  for_both(lanes.a, one.a, op);
}
void put_lane(const MoleculeState<double>& m, std::size_t l, MoleculeState<D>& s) {
  for_state(s, m, [&](D& lanes, double one) { lanes.v[l] = one; });
}
void put_lane(const MoleculeState<double>& m, std::size_t l, SingleState<F, U>& s) {
  const auto one = StateInMemory<float>::of(m);
  for_state(s, one, [&](auto& lanes, auto number) { lanes.v[l] = number; });
}
MoleculeState<double> lane_of(const MoleculeState<D>& s, std::size_t l) {
  MoleculeState<double> m;
  for_state(s, m, [&](const D& lanes, double& one) { one = lanes.v[l]; });
  return m;
}
MoleculeState<double> lane_of(const SingleState<F, U>& s, std::size_t l) {
  SingleState<float, std::uint32_t> m;
  for_state(s, m, [&](const auto& lanes, auto& one) { one = lanes.v[l]; });
  return in_double(m);
}
using WarpMemory = std::array<MoleculeState<double>, kLanes>;
template <class M>
M loaded(const WarpMemory& memory) {
  M s;
  for (std::size_t l = 0; l < kLanes; ++l) put_lane(memory[l], l, s);
  return s;
}
template <class M>
WarpMemory stored(const M& s) {
  WarpMemory memory;
  for (std::size_t l = 0; l < kLanes; ++l) memory[l] = lane_of(s, l);
  return memory;
}

// --- warps ---------------------------------------------------------------------------------------

/// Shared data of the warps of a batch.
struct Batch {
  System system;
  ClusterSystem cluster;
  std::vector<std::int64_t> ids;
  std::vector<char> stopped;
  std::vector<BlowUp> blow_ups;
  std::int64_t iterations = 0, indefinite = 0;
};

class HostWarp {
 public:
  using Double = D;
  using Float = F;
  using Word = U;
  using Index = Lanes<int>;

  HostWarp(Batch& batch, std::int64_t warp) : batch_(batch), n_(batch.system.molecules) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const gpu::LanePlace p =
          gpu::place_of(warp, static_cast<int>(l), n_, static_cast<std::int64_t>(batch.ids.size()));
      replica_[l] = p.replica;
      molecule_[l] = p.molecule;
      running_.v[l] = p.molecule >= 0 && !batch.stopped[static_cast<std::size_t>(p.replica)];
    }
  }

  std::int64_t replica(std::size_t l) const { return replica_[l]; }
  int molecule(std::size_t l) const { return molecule_[l]; }

  NoTally heat_tally() const { return {}; }
  int rounds() const { return gpu::rounds(n_); }
  template <class T>
  Lanes<T> shuffle(const Lanes<T>& value, const Index& from) const {
    return Lanes<T>::of(
        [&](std::size_t l) { return value.v[static_cast<std::size_t>(from.v[l])]; });
  }
  Index partner(int k) const {
    return Index::of(
        [&](std::size_t l) { return gpu::partner_lane(static_cast<int>(l), molecule_[l], k, n_); });
  }
  Index meeting(int k) const {
    return Index::of(
        [&](std::size_t l) { return gpu::meeting_lane(static_cast<int>(l), molecule_[l], k, n_); });
  }
  Index first() const {
    return Index::of(
        [&](std::size_t l) { return static_cast<int>(l) - std::max(molecule_[l], 0); });
  }
  template <class R>
  LaneMask pair(int k) const {
    LaneMask m;
    for (std::size_t l = 0; l < kLanes; ++l) m.v[l] = gpu::meets(molecule_[l], k, n_);
    return m;
  }
  template <class T>
  Vec3<Lanes<T>> sum(const Vec3<Lanes<T>>& a) const {
    const auto over_lanes = [&](const Lanes<T>& number) {
      Lanes<T> value = number;
      for (int o = gpu::first_offset(n_); o > 0; o /= 2) {
        LaneMask adds;
        for (std::size_t l = 0; l < kLanes; ++l) adds.v[l] = gpu::adds(molecule_[l], o, n_);
        const auto other = shuffle(
            value, Index::of([&](std::size_t l) { return (static_cast<int>(l) + o) % 32; }));
        value = select(adds, value + other, value);
      }
      return shuffle(value, first());
    };
    return {over_lanes(a.x), over_lanes(a.y), over_lanes(a.z)};
  }
  static F to_float(const D& a) {
    return F::of([&](std::size_t l) { return static_cast<float>(a.v[l]); });
  }
  static D to_double(const F& a) {
    return D::of([&](std::size_t l) { return static_cast<double>(a.v[l]); });
  }
  template <class T>
  Triple<T> normals(std::int64_t step) const {
    std::array<T, 9> xi;
    for (std::size_t l = 0; l < kLanes; ++l) {
      const std::size_t r = static_cast<std::size_t>(std::max<std::int64_t>(replica_[l], 0));
      const MoleculeNormals z =
          molecule_normals(batch_.system.seed, static_cast<std::uint64_t>(batch_.ids[r]),
                           static_cast<std::uint64_t>(std::max(molecule_[l], 0)),
                           static_cast<std::uint64_t>(step), NoiseStream::thermostat);
      for (std::size_t c = 0; c < 9; ++c) xi[c].v[l] = z.xi[c];
    }
    return {{xi[0], xi[1], xi[2]}, {xi[3], xi[4], xi[5]}, {xi[6], xi[7], xi[8]}};
  }
  template <class T>
  T kick_scale() const {
    return T::of([&](std::size_t l) {
      const double scale = molecule_[l] < 0
                               ? 0.0
                               : kick_scale_of(batch_.system.thermostat,
                                               batch_.ids[static_cast<std::size_t>(replica_[l])]);
      return static_cast<scalar_t<T>>(scale);
    });
  }
  template <class M>
  void keep(const M& s) {
    kept_ = stored(s);
  }
  template <class M>
  void stop(const LaneMask& bad, std::int64_t step, M& s) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      if (!bad.v[l] || !running_.v[l]) continue;
      const std::int64_t replica = replica_[l];
      batch_.stopped[static_cast<std::size_t>(replica)] = 1;
      BlowUp blow_up;
      blow_up.replica = batch_.ids[static_cast<std::size_t>(replica)];
      blow_up.step = step;
      blow_up.molecule = molecule_[l];
      batch_.blow_ups.push_back(blow_up);
      for (std::size_t k = 0; k < kLanes; ++k) {
        if (replica_[k] != replica) continue;
        running_.v[k] = false;
        put_lane({kept_[k].x, {}, {}}, k, s);
      }
    }
  }
  template <class T>
  void record(const StepStatus<T>& status) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      if (running_.v[l]) batch_.iterations += static_cast<std::int64_t>(status.iterations.v[l]);
    }
  }
  void begin_stages(std::int64_t) const {}
  void end_stage(Stage, std::int64_t) const {}
  void indefinite(const LaneMask& definite) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      batch_.indefinite += running_.v[l] && !definite.v[l];
    }
  }

 private:
  Batch& batch_;
  int n_;
  std::array<std::int64_t, kLanes> replica_{};
  std::array<int, kLanes> molecule_{};
  LaneMask running_;
  WarpMemory kept_{};
};

/// Runs a batch of small clusters warp by warp, as on a GPU.
class WarpMachine {
 public:
  WarpMachine(const System& system, const State& start) : state_(start) {
    batch_.system = system;
    batch_.cluster = {step_parameters(system),
                      step_passes(system),
                      system.thermostat.kind,
                      {system.confinement.radius_A, system.confinement.stiffness_kcal_per_mol_A2},
                      pair_parameters<double>(system.model),
                      system.molecules};
    batch_.ids = start.replica_ids;
    batch_.stopped.assign(batch_.ids.size(), 0);
    for (std::int64_t w = 0; w < gpu::warps_for(start.replicas(), system.molecules); ++w) {
      warps_.emplace_back(batch_, w);
      memory_.push_back(load(warps_.back()));
      run([&]<class S, class R, bool kMSite, bool kFlexible>() {
        auto s = loaded<Molecule<S>>(memory_.back());
        Triple<lane_t<HostWarp, S>> f;
        prepare_cluster<HostWarp, lane_t<HostWarp, R>, kMSite, kFlexible>(
            warps_.back(), rounded_system<S>(batch_.cluster),
            rounded_parameters<R>(batch_.cluster.pair), state_.step, s, f);
        memory_.back() = stored(s);
      });
    }
  }

  void advance(std::int64_t n) {
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      run([&]<class S, class R, bool kMSite, bool kFlexible>() {
        auto s = loaded<Molecule<S>>(memory_[w]);
        auto v_thermal = s.v;
        advance_cluster<HostWarp, lane_t<HostWarp, R>, kMSite, kFlexible>(
            warps_[w], rounded_system<S>(batch_.cluster),
            rounded_parameters<R>(batch_.cluster.pair), state_.step, n, s, v_thermal);
        memory_[w] = stored(s);
      });
    }
    state_.step += n;
  }

  State state() const {
    State s = state_;
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      for (std::size_t l = 0; l < kLanes; ++l) {
        if (warps_[w].molecule(l) < 0) continue;
        const std::size_t at = static_cast<std::size_t>(warps_[w].replica(l)) * s.coordinates() +
                               static_cast<std::size_t>(warps_[w].molecule(l)) * 9;
        const MoleculeState<double>& m = memory_[w][l];
        visit(m.x, [&](std::size_t c, double x) { s.positions_A[at + c] = x; });
        visit(m.v, [&](std::size_t c, double v) { s.velocities_A_per_akma[at + c] = v; });
      }
    }
    return s;
  }
  const Batch& batch() const { return batch_; }

 private:
  template <class T, class Op>
  static void visit(T& t, const Op& op) {
    std::size_t c = 0;
    for (auto* v : {&t.o, &t.h1, &t.h2}) {
      for (auto* x : {&v->x, &v->y, &v->z}) op(c++, *x);
    }
  }
  template <class S>
  using Molecule =
      std::conditional_t<std::is_same_v<S, double>, MoleculeState<D>, SingleState<F, U>>;
  template <class Body>
  void run(const Body& body) {
    with_numbers(batch_.system.precision, batch_.system.model.has_m_site(),
                 [&]<class S, class R, bool kMSite>() {
                   with_bonds(batch_.cluster, [&]<bool kFlexible>() {
                     body.template operator()<S, R, kMSite, kFlexible>();
                   });
                 });
  }
  /// Lanes without a molecule have molecule 0 of the first replica, at rest.
  WarpMemory load(const HostWarp& warp) const {
    WarpMemory memory{};
    for (std::size_t l = 0; l < kLanes; ++l) {
      const bool there = warp.molecule(l) >= 0;
      const std::size_t at =
          there ? static_cast<std::size_t>(warp.replica(l)) * state_.coordinates() +
                      static_cast<std::size_t>(warp.molecule(l)) * 9
                : 0;
      visit(memory[l].x, [&](std::size_t c, double& x) { x = state_.positions_A[at + c]; });
      visit(memory[l].v, [&](std::size_t c, double& v) {
        v = there ? state_.velocities_A_per_akma[at + c] : 0.0;
      });
    }
    return memory;
  }

  State state_;
  Batch batch_;
  std::vector<HostWarp> warps_;
  std::vector<WarpMemory> memory_;
};

bool runs_on_a_warp(const EngineCase& c) {
  const IntegratorSpec i = integrator(c.scheme);
  return i.scheme != Scheme::pushforward_newmark && i.solver == Solver::structured &&
         i.hessian != Hessian::molecule && i.hessian != Hessian::total;
}
std::vector<EngineCase> warp_cases() {
  std::vector<EngineCase> cases;
  for (const EngineCase& c : engine_cases()) {
    if (runs_on_a_warp(c)) cases.push_back(c);
  }
  return cases;
}

class ClusterProgram : public ::testing::TestWithParam<EngineCase> {};

/// Steps and iterations are those of the CPU engine: it shares the formulas of one molecule
/// and nothing else.
TEST_P(ClusterProgram, IsTheCpuEngine) {
  Worst exact("log10_double"), mixed("log10_mixed"), single("log10_single");
  for (const WaterModel& model : {tip3p(), tip4p()}) {
    for (Precision precision : precisions_of(GetParam().scheme)) {
      for (int n : {1, 2, 3, 5, 7, 8, 10, 31, 32}) {
        SCOPED_TRACE(std::string(model.name) + ", " + name_of(precision) +
                     ", N = " + std::to_string(n));
        System system = make_system(GetParam(), model, n, precision);
        system.integrator.tolerance = 1e-13;
        const State start = start_state(system, spread_ids(n <= 8 ? 5 : 2), 1'000'002);
        WarpMachine machine(system, start);
        system.precision = Precision::double_;
        const auto engine = make_cpu_engine(system, start, {}, 1);
        machine.advance(4);
        engine->advance(4);
        const State a = machine.state(), b = engine->state();
        (precision == Precision::double_ ? exact
         : precision == Precision::mixed ? mixed
                                         : single)
            .see(std::max(relative_rms(a.positions_A, b.positions_A),
                          relative_rms(a.velocities_A_per_akma, b.velocities_A_per_akma)),
                 n);
        EXPECT_TRUE(machine.batch().blow_ups.empty());
        if (precision == Precision::double_) {
          // Sweeps that end near the tolerance may be one more or less.
          const auto iterations = static_cast<double>(engine->report().constraint_iterations);
          EXPECT_NEAR(static_cast<double>(machine.batch().iterations), iterations,
                      5e-3 * iterations);
        }
      }
    }
  }
  // Rounding of velocities that come from positions over h, as in the tests of devices; mixed
  // forces are good to 2e-6. In single precision the g of a bond is within eight roundings of 2 A^2
  // (unit/single_test), which makes an acceleration of g/(b h^2) in Z&Ss and of omega^2 g |2 d| in
  // Verlet: in four steps 2e-4 and 3e-4 A/akma, of velocities of 0.6.
  exact.expect_below(1e-12);
  mixed.expect_below(1e-5);
  if (supports_single_precision(integrator(GetParam().scheme))) single.expect_between(1e-7, 5e-4);
}

/// Bits do not depend on the batch or on restarts.
TEST_P(ClusterProgram, KeepsTheLaws) {
  for (Precision precision : precisions_of(GetParam().scheme)) {
    for (int n : {2, 7, 32}) {
      const System system = make_system(GetParam(), tip3p(), n, precision);
      const auto bits = [&](const State& s, std::int64_t id) {
        Bits b;
        for (std::size_t r = 0; r < s.replica_ids.size(); ++r) {
          if (s.replica_ids[r] != id) continue;
          append_bits({&s.positions_A[r * s.coordinates()], s.coordinates()}, b);
          append_bits({&s.velocities_A_per_akma[r * s.coordinates()], s.coordinates()}, b);
        }
        return b;
      };
      WarpMachine whole(system, start_state(system, spread_ids(5)));
      whole.advance(7);
      WarpMachine alone(system, start_state(system, {10}));
      alone.advance(3);
      alone.advance(4);
      EXPECT_TRUE(same_bits(bits(whole.state(), 10), bits(alone.state(), 10))) << n;
      WarpMachine before(system, start_state(system, spread_ids(5)));
      before.advance(3);
      WarpMachine resumed(system, before.state());
      resumed.advance(4);
      for (std::int64_t id : spread_ids(5)) {
        EXPECT_TRUE(same_bits(bits(whole.state(), id), bits(resumed.state(), id))) << n;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClusterProgram, ::testing::ValuesIn(warp_cases()), EngineCaseName());

/// A replica that flies apart is stopped and reported; its neighbours in the warp continue.
TEST(ClusterProgramBlowUp, LeavesTheOthersAlone) {
  for (Precision precision : precisions_of("zss_structured")) {
    const System system = make_system({"zss_structured", Bath::gla}, tip3p(), 7, precision);
    const State good = start_state(system, spread_ids(4));
    State start = good;
    for (std::size_t c = 0; c < 9; c += 3) {
      start.velocities_A_per_akma[start.coordinates() + 9 + c] = 200.0;
    }
    WarpMachine machine(system, start), untouched(system, good);
    machine.advance(5);
    untouched.advance(5);
    ASSERT_EQ(machine.batch().blow_ups.size(), 1u);
    EXPECT_EQ(machine.batch().blow_ups[0].replica, 10);
    EXPECT_EQ(machine.batch().blow_ups[0].step, 1);
    EXPECT_EQ(machine.batch().blow_ups[0].molecule, 1);
    const State a = machine.state(), b = untouched.state();
    for (std::size_t r : {0u, 2u, 3u}) {
      for (std::size_t c = 0; c < a.coordinates(); ++c) {
        EXPECT_EQ(a.positions_A[r * a.coordinates() + c], b.positions_A[r * a.coordinates() + c]);
      }
    }
  }
}

}  // namespace
}  // namespace tarn
