#include "kernels/cuda_engine.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "interface/exchange_places.hpp"
#include "interface/measure.hpp"
#include "kernels/arithmetic_bound.hpp"
#include "kernels/dense_solver.hpp"
#include "kernels/device_buffer.hpp"
#include "kernels/device_probe.hpp"
#include "kernels/launch.hpp"
#include "kernels/launch_length.hpp"
#include "kernels/newmark_solver.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"
#include "tarn/flat_coordinates.hpp"

namespace tarn {
namespace gpu {
namespace {

/// Steps of the larger graph, the rest goes one by one: of the steps from one kept state to the
/// next the last is no graph.
constexpr std::int64_t kStepsInGraph = 21;
static_assert((kKeptSteps - 1) % kStepsInGraph == 0);

IssueRate issue_rate(int device) {
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    cuda_check(cudaDeviceGetAttribute(&value, which, device));
    return value;
  };
  const std::string capability = std::to_string(attribute(cudaDevAttrComputeCapabilityMajor)) +
                                 "." + std::to_string(attribute(cudaDevAttrComputeCapabilityMinor));
  IssueRate rate;
  rate.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  rate.double_lanes = std::max(rate.double_lanes, lanes_of(capability, false));
  rate.clock_Hz = clock_Hz_of(attribute(cudaDevAttrClockRate));
  return rate;
}

/// Whether a kernel of a step may be launched before the one before it has ended, in graphs too:
/// from compute capability 9 and drivers of CUDA 12.3 on.
bool can_launch_early(int device) {
  int capability = 0, driver = 0;
  cuda_check(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, device));
  cuda_check(cudaDriverGetVersion(&driver));
  return capability >= 9 && driver >= 12030 && tile_kernels_support_early_launch();
}

/// A stream and, on the tile path, the graphs of one step and of several.
class StreamAndGraph {
 public:
  explicit StreamAndGraph(int device) {
    cuda_check(cudaSetDevice(device));
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  StreamAndGraph(const StreamAndGraph&) = delete;
  StreamAndGraph& operator=(const StreamAndGraph&) = delete;
  ~StreamAndGraph() {
    cudaStreamSynchronize(stream_);
    for (cudaGraphExec_t graph : {one_step_, steps_}) {
      if (graph != nullptr) cudaGraphExecDestroy(graph);
    }
    cudaStreamDestroy(stream_);
  }

  cudaStream_t stream() const { return stream_; }
  /// @param step launches one step. Who sets CUDA_LAUNCH_BLOCKING wants to know which kernel fails,
  /// which graphs do not tell: then each is launched by itself.
  void capture(const std::function<void()>& step) {
    const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
    if (blocking != nullptr && std::string(blocking) == "1") {
      step_ = step;
      return;
    }
    one_step_ = captured(step);
    steps_ = captured([&] {
      for (std::int64_t k = 0; k < kStepsInGraph; ++k) step();
    });
  }
  void replay(std::int64_t steps) {
    for (; step_ && steps > 0; --steps) step_();
    for (; steps >= kStepsInGraph; steps -= kStepsInGraph) {
      cuda_check(cudaGraphLaunch(steps_, stream_));
    }
    for (; steps > 0; --steps) cuda_check(cudaGraphLaunch(one_step_, stream_));
  }
  void wait() { cuda_check(cudaStreamSynchronize(stream_)); }

 private:
  template <class Launches>
  cudaGraphExec_t captured(const Launches& launches) {
    cudaGraph_t graph = nullptr;
    cuda_check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    try {
      launches();
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    cuda_check(cudaStreamEndCapture(stream_, &graph));
    cudaGraphExec_t ready = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphDestroy(graph);
    cuda_check(error);
    return ready;
  }

  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t one_step_ = nullptr, steps_ = nullptr;
  std::function<void()> step_;  ///< in place of the graphs
};

/// Non-bonded forces of one cluster on the host, for what is known of a blow-up.
template <bool kMSite>
void forces_on_host(const PairParameters<double>& pair, const std::vector<double>& x,
                    std::vector<double>& f) {
  const std::size_t n = x.size() / 9;
  std::vector<SiteForces<double>> on_sites(n, no_site_forces<double>());
  for (std::size_t i = 0; i < n; ++i) {
    const Triple<double> xi = molecule_at(x.data(), i);
    for (std::size_t j = i + 1; j < n; ++j) {
      const Triple<double> xj = molecule_at(x.data(), j);
      add_pair_forces<kMSite>(pair, xi.o - xj.o, site_offsets<kMSite>(xi, pair.m_weight),
                              site_offsets<kMSite>(xj, pair.m_weight), AllLanes{}, on_sites[i],
                              on_sites[j]);
    }
  }
  for (std::size_t m = 0; m < n; ++m) {
    put_molecule(forces_on_atoms<kMSite>(on_sites[m], pair.m_weight), f.data(), m);
  }
}

class CudaEngine final : public Engine {
 public:
  CudaEngine(const System& system, const State& start, const PairCountRequest& counts, int device,
             int threads)
      : device_(device),
        threads_(threads),
        system_(system),
        measure_(system),
        n_(system.molecules),
        dense_(uses_dense_solver(system.integrator)),
        newmark_(system.integrator.scheme == Scheme::pushforward_newmark),
        path_(path_of(system.molecules, dense_ || newmark_)),
        precision_(pair_force_precision(system)),
        m_site_(system.model.has_m_site()),
        step_(start.step),
        first_step_(start.step),
        replica_ids_(start.replica_ids),
        counting_(counts),
        stream_(device) {
    use_device();
    const IssueRate rate = issue_rate(device);
    most_steps_ = most_steps_in_launch(path_, n_, start.replicas(), rate);
    block_rows_ = block_rows(n_, start.replicas(), rate.multiprocessors);
    cluster_.step = step_parameters(system);
    cluster_.passes = step_passes(system);
    cluster_.thermostat = system.thermostat.kind;
    cluster_.wall = {system.confinement.radius_A, system.confinement.stiffness_kcal_per_mol_A2};
    cluster_.pair = pair_parameters<double>(system.model);
    cluster_.molecules = n_;
    upload(start);
    make_counts();
    const bool tiles = path_ == Path::tiles && !replica_ids_.empty();
    if (tiles) make_tiles(rate.multiprocessors);
    if (dense_ && tiles) {
      dense_solver_.emplace(device_state_, cluster_, system.integrator, m_site_, stream_.stream());
    }
    if (newmark_ && tiles) newmark_solver_.emplace(device_state_);
    wait_for_copies();
    if (dense_solver_ || newmark_solver_) {
      solved_step(step_, true);
    } else {
      prepare(Prepare::accelerations, cluster_, precision_);
    }
    stream_.wait();
    if (tiles && !dense_ && !newmark_) {
      load_tile_step(device_state_, precision_, m_site_);
      stream_.capture([&] {
        launch_tile_step(device_state_, cluster_, precision_, m_site_, tiles_, true,
                         stream_.stream());
      });
    }
  }

  /// What the members give back lies on this device.
  ~CudaEngine() override { cudaSetDevice(device_); }

  void advance(std::int64_t n_steps) override {
    if (n_steps <= 0) return;
    if (replica_ids_.empty()) {
      step_ += n_steps;
      return;
    }
    use_device();
    const auto begin = std::chrono::steady_clock::now();
    std::int64_t left = n_steps;
    while (left > 0) {
      const std::int64_t n = steps_per_launch(left);
      if (path_ == Path::warp) {
        launch_warp_advance(device_state_, cluster_, precision_, m_site_, counts_, step_, n,
                            stream_.stream());
      } else if (path_ == Path::block) {
        launch_block_advance(device_state_, cluster_, precision_, m_site_, block_rows_, step_, n,
                             stream_.stream());
      } else if (dense_solver_ || newmark_solver_) {
        for (std::int64_t k = 0; k < n; ++k) solved_step(step_ + k, false);
      } else {
        tile_steps(n);
      }
      step_ += n;
      left -= n;
      if (path_ != Path::warp && is_due(step_)) {
        launch_count(device_state_, counts_, stream_.stream());
      }
    }
    stream_.wait();
    report_.rest_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  std::int64_t step() const override { return step_; }

  void exchange(std::span<const StateExchange> pairs) override {
    if (pairs.empty()) return;
    use_device();
    const std::vector<int> stopped = stopped_.download();
    ReplicaPlaces<std::int64_t> live;
    live.reserve(replica_ids_.size());
    for (std::size_t r = 0; r < replica_ids_.size(); ++r) {
      if (!stopped[r]) live.add(replica_ids_[r], static_cast<std::int64_t>(r));
    }
    const auto places = exchange_places(pairs, std::move(live));
    std::vector<PlacedExchange> placed;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      placed.push_back({places[k].first, places[k].second, pairs[k].to_first, pairs[k].to_second});
    }
    const DeviceBuffer<PlacedExchange> on_device(placed);
    wait_for_copies();
    launch_exchange(device_state_, newmark_solver_ ? newmark_solver_->solution() : nullptr,
                    on_device.get(), static_cast<std::int64_t>(placed.size()),
                    system_.precision == Precision::single, stream_.stream());
    stream_.wait();
  }

  State state() const override {
    use_device();
    State s;
    s.molecules = n_;
    s.step = step_;
    s.replica_ids = replica_ids_;
    const std::vector<int> stopped = stopped_.download();
    const std::vector<double> x = x_.download(), v = v_.download();
    std::vector<double> kept_x, kept_v;
    if (std::find(stopped.begin(), stopped.end(), 1) != stopped.end()) {
      kept_x = kept_x_.download();
      kept_v = kept_v_.download();
    }
    s.positions_A.resize(replica_ids_.size() * s.coordinates());
    s.velocities_A_per_akma.resize(s.positions_A.size());
    const std::vector<double> heat = heat_.download(), kept_heat = kept_heat_.download();
    if (!heat.empty()) s.heat_kcal_per_mol.resize(s.positions_A.size() / 9);
    for (std::size_t r = 0; r < replica_ids_.size(); ++r) {
      const std::size_t at = r * s.coordinates();
      gather(stopped[r] ? kept_x : x, r, &s.positions_A[at]);
      gather(stopped[r] ? kept_v : v, r, &s.velocities_A_per_akma[at]);
      if (!heat.empty()) {
        gather_heat(stopped[r] ? kept_heat : heat, r, &s.heat_kcal_per_mol[at / 9]);
      }
    }
    return s;
  }

  void snapshot(unsigned fields, Frame& frame) override {
    use_device();
    frame.step = step_;
    frame.time_ps =
        units::ps_from_akma(static_cast<double>(step_) * system_.integrator.timestep_akma);
    frame.molecules = n_;
    frame.replica_ids.clear();
    std::vector<std::size_t> live;
    const std::vector<int> stopped = stopped_.download();
    for (std::size_t r = 0; r < replica_ids_.size(); ++r) {
      if (stopped[r]) continue;
      live.push_back(r);
      frame.replica_ids.push_back(replica_ids_[r]);
    }
    measure_.prepare(fields, live.size(), frame);
    if (fields & ~static_cast<unsigned>(kPairCounts)) fill(fields, live, frame);
    if (fields & kPairCounts) fill_counts(frame);
  }

  std::vector<BlowUp> blow_ups() const override {
    use_device();
    const std::vector<int> stopped = stopped_.download(), molecules = blow_molecule_.download();
    const std::vector<long long> steps = blow_step_.download();
    std::vector<BlowUp> all;
    if (std::find(stopped.begin(), stopped.end(), 1) == stopped.end()) return all;
    std::vector<double> kept;
    std::vector<double> x(static_cast<std::size_t>(n_) * 9);
    for (std::size_t r = 0; r < replica_ids_.size(); ++r) {
      if (!stopped[r]) continue;
      // What was known once does not change: the kept state of a stopped replica stays.
      if (const auto known = found_blow_ups_.find(r); known != found_blow_ups_.end()) {
        all.push_back(known->second);
        continue;
      }
      if (kept.empty()) kept = kept_x_.download();
      BlowUp blow_up;
      blow_up.replica = replica_ids_[r];
      blow_up.step = steps[r];
      blow_up.molecule = molecules[r];
      // The positions at which it was noticed are gone: the device has put it back to rest.
      gather(kept, r, x.data());
      measure_.record_extremes(
          x, x,
          [&](const std::vector<double>& at, std::vector<double>& f) {
            m_site_ ? forces_on_host<true>(cluster_.pair, at, f)
                    : forces_on_host<false>(cluster_.pair, at, f);
          },
          blow_up);
      blow_up.seen_in_last_good_state = true;
      found_blow_ups_.emplace(r, blow_up);
      all.push_back(blow_up);
    }
    std::sort(all.begin(), all.end(),
              [](const BlowUp& a, const BlowUp& b) { return a.replica < b.replica; });
    return all;
  }

  /// Stages of fused steps are not known apart: all of the time is under `rest`.
  EngineReport report() const override {
    use_device();
    EngineReport report = report_;
    const std::vector<unsigned long long> sums = sums_.download();
    const std::vector<int> stopped = stopped_.download();
    const std::vector<long long> stopped_at = blow_step_.download();
    for (std::size_t r = 0; r < replica_ids_.size(); ++r) {
      report.molecule_steps += ((stopped[r] ? stopped_at[r] : step_) - first_step_) * n_;
    }
    report.constraint_iterations = static_cast<std::int64_t>(sums[0]);
    report.indefinite_hessians = static_cast<std::int64_t>(sums[1]);
    return report;
  }

  std::string description() const override {
    cudaDeviceProp properties{};
    cuda_check(cudaGetDeviceProperties(&properties, device_));
    return "CUDA, " + std::string(properties.name);
  }

 private:
  void use_device() const { cuda_check(cudaSetDevice(device_)); }

  int per_warp() const { return path_ == Path::warp ? clusters_per_warp(n_) : 0; }

  void gather(std::span<const double> c, std::size_t replica, double* out) const {
    for (int m = 0; m < n_; ++m) {
      const std::int64_t slot = slot_of(static_cast<std::int64_t>(replica), m, n_, per_warp());
      for (int k = 0; k < 9; ++k) {
        out[9 * m + k] = c[static_cast<std::size_t>(k * device_state_.slots + slot)];
      }
    }
  }

  void gather_heat(std::span<const double> heat, std::size_t replica, double* out) const {
    for (int m = 0; m < n_; ++m) {
      const std::int64_t slot = slot_of(static_cast<std::int64_t>(replica), m, n_, per_warp());
      out[m] = heat[static_cast<std::size_t>(slot)];
    }
  }

  void upload(const State& start) {
    const std::int64_t replicas = start.replicas();
    const std::int64_t slots = slots_for(path_, replicas, n_);
    upload_coordinates(start, slots);
    if (!start.heat_kcal_per_mol.empty()) upload_heat(start, slots);
    upload_replicas(start);
    device_state_ = {slots,
                     replicas,
                     n_,
                     per_warp(),
                     x_.get(),
                     v_.get(),
                     a_.get(),
                     v_thermal_.get(),
                     kept_x_.get(),
                     kept_v_.get(),
                     f_.get(),
                     ids_.get(),
                     kick_scale_.get(),
                     stopped_.get(),
                     blow_step_.get(),
                     blow_molecule_.get(),
                     sums_.get(),
                     sums_.get() + 1,
                     heat_.get(),
                     kept_heat_.get(),
                     system_.model.mass_o_Da,
                     system_.model.mass_h_Da};
  }

  void upload_coordinates(const State& start, std::int64_t slots) {
    const std::int64_t replicas = start.replicas();
    const std::size_t size = static_cast<std::size_t>(9 * slots);
    std::vector<double> x(size), v(size, 0.0);
    // Slots without a molecule hold molecule 0 of the first replica, at rest.
    if (replicas > 0) {
      for (int k = 0; k < 9; ++k) {
        std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(k * slots), slots,
                    start.positions_A[static_cast<std::size_t>(k)]);
      }
    }
    for (std::int64_t r = 0; r < replicas; ++r) {
      for (int m = 0; m < n_; ++m) {
        const std::int64_t slot = slot_of(r, m, n_, per_warp());
        const std::size_t from = static_cast<std::size_t>((r * n_ + m) * 9);
        for (std::size_t k = 0; k < 9; ++k) {
          const std::size_t to =
              k * static_cast<std::size_t>(slots) + static_cast<std::size_t>(slot);
          x[to] = start.positions_A[from + k];
          v[to] = start.velocities_A_per_akma[from + k];
        }
      }
    }
    x_ = DeviceBuffer<double>(x);
    v_ = DeviceBuffer<double>(v);
    a_ = DeviceBuffer<double>(size, 0);
    f_ = DeviceBuffer<double>(size, 0);
    kept_x_ = DeviceBuffer<double>(x);
    kept_v_ = DeviceBuffer<double>(v);
    if (system_.thermostat.kind == Thermostat::baoab) {
      v_thermal_ = DeviceBuffer<double>(std::vector<double>(v.size(), kNoNumber));
    }
  }

  void upload_heat(const State& start, std::int64_t slots) {
    std::vector<double> heat(static_cast<std::size_t>(slots), 0.0);
    for (std::int64_t r = 0; r < start.replicas(); ++r) {
      for (int m = 0; m < n_; ++m) {
        heat[static_cast<std::size_t>(slot_of(r, m, n_, per_warp()))] =
            start.heat_kcal_per_mol[static_cast<std::size_t>(r * n_ + m)];
      }
    }
    heat_ = DeviceBuffer<double>(heat);
    kept_heat_ = DeviceBuffer<double>(heat);
  }

  void upload_replicas(const State& start) {
    std::vector<std::uint64_t> ids;
    std::vector<double> scales;
    for (std::int64_t id : start.replica_ids) {
      ids.push_back(static_cast<std::uint64_t>(id));
      scales.push_back(kick_scale_of(system_.thermostat, id));
    }
    ids_ = DeviceBuffer<std::uint64_t>(ids);
    kick_scale_ = DeviceBuffer<double>(scales);
    stopped_ = DeviceBuffer<int>(ids.size(), 0);
    blow_step_ = DeviceBuffer<long long>(std::vector<long long>(ids.size(), kNoStep));
    blow_molecule_ = DeviceBuffer<int>(std::vector<int>(ids.size(), kNoMolecule));
    sums_ = DeviceBuffer<unsigned long long>(2, 0);
  }

  void make_counts() {
    if (!counting_.enabled) return;
    const std::size_t bins = static_cast<std::size_t>(counting_.bins);
    const std::size_t groups = static_cast<std::size_t>(counting_.groups);
    pair_counts_ = DeviceBuffer<unsigned long long>(groups * kPairClasses * bins, 0);
    pair_samples_ = DeviceBuffer<unsigned long long>(groups, 0);
    std::vector<int> group(replica_ids_.size());
    for (std::size_t r = 0; r < group.size(); ++r) {
      group[r] = static_cast<int>(replica_ids_[r] % counting_.groups);
    }
    count_group_ = DeviceBuffer<int>(group);
    counts_ = {true,
               {counting_.pairs[0], counting_.pairs[1], counting_.pairs[2]},
               cluster_.step.bh2,
               counting_.bins / counting_.r_max_A,
               counting_.bins,
               counting_.every,
               counting_.first_step,
               count_group_.get(),
               pair_counts_.get(),
               pair_samples_.get()};
  }

  void make_tiles(int multiprocessors) {
    const std::size_t slots = static_cast<std::size_t>(device_state_.slots);
    // Multipliers at infinite omega take forces in double, whatever the precision of the steps.
    const std::size_t replicas = replica_ids_.size();
    sites_ = DeviceBuffer<unsigned char>(slots * kMostSiteBytes);
    partial_ = DeviceBuffer<double>(9 * slots * static_cast<std::size_t>(force_rows(n_)));
    net_ = DeviceBuffer<double>(3 * replicas * static_cast<std::size_t>(pair_blocks(n_)));
    wall_ = DeviceBuffer<double>(replicas * kWallNumbers);
    device_step_ = DeviceBuffer<long long>(std::vector<long long>{step_});
    // Where the move is free nobody writes them, and who ends a step still loads them.
    begun_ = DeviceBuffer<unsigned>(static_cast<std::size_t>(device_state_.slots), 0);
    tiles_ = {sites_.get(),
              partial_.get(),
              net_.get(),
              wall_.get(),
              device_step_.get(),
              begun_.get(),
              sum_rows(n_, device_state_.replicas, multiprocessors),
              few_pair_blocks(n_, device_state_.replicas, multiprocessors),
              can_launch_early(device_)};
  }

  void prepare(Prepare what, const ClusterSystem& cluster, Precision precision) {
    if (replica_ids_.empty()) return;
    if (path_ == Path::warp) {
      launch_warp_prepare(device_state_, cluster, precision, m_site_, step_, what,
                          stream_.stream());
    } else if (path_ == Path::block) {
      launch_block_prepare(device_state_, cluster, precision, m_site_, block_rows_, step_, what,
                           stream_.stream());
    } else {
      launch_tile_prepare(device_state_, cluster, precision, m_site_, tiles_, step_, what,
                          stream_.stream());
    }
  }

  /// Steps up to the next state that is to be kept.
  void tile_steps(std::int64_t n) {
    launch_tile_begin(device_state_, cluster_, precision_, m_site_, tiles_, step_,
                      stream_.stream());
    stream_.replay(n - 1);
    launch_tile_step(device_state_, cluster_, precision_, m_site_, tiles_, false, stream_.stream());
    launch_tile_restore_stopped(device_state_, stream_.stream());
  }

  /// A step whose accelerations cuSOLVER solves or corrections do, or only these at the start. Not
  /// a graph: what cuSOLVER does between its kernels is its own business, and how many corrections
  /// it takes is seen as they are done.
  void solved_step(std::int64_t step, bool start) {
    cudaStream_t const stream = stream_.stream();
    if (start) {
      prepare(Prepare::forces, cluster_, precision_);
    } else {
      launch_tile_begin(device_state_, cluster_, precision_, m_site_, tiles_, step, stream);
      launch_tile_forces(device_state_, cluster_, precision_, m_site_, tiles_, stream);
    }
    if (newmark_solver_) {
      newmark_solver_->solve(device_state_, cluster_, m_site_, tiles_, !start, stream);
      launch_tile_kick(device_state_, cluster_, step, start, stream);
      return;
    }
    dense_solver_->solve(device_state_, cluster_, stream);
    launch_tile_solved(device_state_, cluster_, dense_solver_->solution(), step, start, stream);
  }

  bool is_due(std::int64_t step) const {
    return counting_.enabled && step >= counting_.first_step && step % counting_.every == 0;
  }
  /// The warp path counts by itself; the others stop at every step that is to be counted, and tiles
  /// at every state that is to be kept.
  std::int64_t steps_per_launch(std::int64_t left) const {
    if (path_ == Path::warp) return std::min(left, most_steps_);
    if (counting_.enabled) left = std::min(left, counting_.every - step_ % counting_.every);
    return std::min(left, path_ == Path::tiles ? kKeptSteps - step_ % kKeptSteps : most_steps_);
  }

  void fill(unsigned fields, const std::vector<std::size_t>& live, Frame& frame) {
    const std::size_t tiles = static_cast<std::size_t>(observed_tiles(n_));
    if ((fields & (kEnergies | kConservation)) && !replica_ids_.empty()) {
      if (energies_.size() == 0) energies_ = DeviceBuffer<double>(replica_ids_.size() * tiles);
      launch_energy(device_state_, cluster_, m_site_, energies_.get(), stream_.stream());
      host_.energies.copy_from(energies_, stream_.stream());
    }
    if ((fields & kMultipliers) && measure_.multipliers_need_forces()) {
      ClusterSystem without_wall = cluster_;
      without_wall.wall.stiffness = 0.0;
      if (newmark_solver_) {
        launch_tile_prepare(newmark_solver_->at_solution(device_state_), without_wall,
                            Precision::double_, m_site_, tiles_, step_, Prepare::forces,
                            stream_.stream());
      } else {
        prepare(Prepare::forces, without_wall, Precision::double_);
      }
      host_.f.copy_from(f_, stream_.stream());
    }
    host_.x.copy_from(x_, stream_.stream());
    host_.a.copy_from(a_, stream_.stream());
    const bool moving = Measure::needs_velocities(fields);
    if (moving) {
      host_.v.copy_from(v_, stream_.stream());
      host_.v_thermal.copy_from(v_thermal_, stream_.stream());
    }
    host_.heat.copy_from(heat_, stream_.stream());
    stream_.wait();
    const std::span<const double> energies = host_.energies.values(), f = host_.f.values();
    for_each_index(
        static_cast<std::int64_t>(live.size()), threads_, [&](int) { return Measure::Replica(n_); },
        [&](Measure::Replica& replica, std::int64_t at) {
          const auto k = static_cast<std::size_t>(at);
          const std::size_t r = live[k];
          gather(host_.x.values(), r, replica.x.data());
          gather(host_.a.values(), r, replica.a.data());
          if (moving) gather(host_.v.values(), r, replica.v.data());
          if (moving && v_thermal_.size() > 0) {
            gather(host_.v_thermal.values(), r, replica.v_thermal.data());
          }
          if (heat_.size() > 0) gather_heat(host_.heat.values(), r, replica.heat.data());
          for (std::size_t c = 0; c < replica.q.size(); ++c) {
            replica.q[c] = std::fma(cluster_.step.bh2, replica.a[c], replica.x[c]);
          }
          measure_.fill(
              fields, k, replica,
              [&](const std::vector<double>&) {
                double sum = 0.0;
                for (std::size_t t = 0; t < tiles; ++t) sum += energies[r * tiles + t];
                return sum;
              },
              [&](const std::vector<double>&, std::vector<double>& forces) {
                gather(f, r, forces.data());
              },
              frame);
        },
        16);
  }

  void fill_counts(Frame& frame) const {
    const std::size_t bins = static_cast<std::size_t>(counting_.bins);
    const std::size_t groups = static_cast<std::size_t>(counting_.groups);
    frame.pair_counts.assign(groups * kPairClasses * bins, 0);
    frame.pair_samples.assign(groups, 0);
    if (!counting_.enabled) return;
    const std::vector<unsigned long long> counts = pair_counts_.download();
    const std::vector<unsigned long long> samples = pair_samples_.download();
    std::copy(counts.begin(), counts.end(), frame.pair_counts.begin());
    for (std::size_t g = 0; g < samples.size(); ++g) {
      frame.pair_samples[g] = static_cast<std::int64_t>(samples[g]);
    }
  }

  int device_;
  int threads_;  ///< of the host, which measures
  System system_;
  Measure measure_;
  int n_;
  bool dense_, newmark_;
  Path path_;
  Precision precision_;
  bool m_site_;
  std::int64_t step_, first_step_;
  std::vector<std::int64_t> replica_ids_;
  std::int64_t most_steps_ = 1;  ///< of a launch, on the paths that take many
  int block_rows_ = 1;           ///< of threads of a block, on the block path
  PairCountRequest counting_;
  ClusterSystem cluster_{};
  EngineReport report_;
  mutable std::map<std::size_t, BlowUp> found_blow_ups_;  // by place in the batch

  DeviceBuffer<double> x_, v_, a_, f_, v_thermal_, kept_x_, kept_v_, heat_, kept_heat_, kick_scale_;
  DeviceBuffer<std::uint64_t> ids_;
  DeviceBuffer<int> stopped_, blow_molecule_, count_group_;
  DeviceBuffer<long long> blow_step_;
  DeviceBuffer<unsigned long long> sums_, pair_counts_, pair_samples_;
  DeviceBuffer<unsigned char> sites_;
  DeviceBuffer<double> partial_, net_, wall_;
  DeviceBuffer<long long> device_step_;
  DeviceBuffer<unsigned> begun_;
  DeviceBuffer<double> energies_;  ///< [replica][observed_tiles(N)], once they were asked for
  struct {
    HostCopy<double> x, v, a, v_thermal, heat, f, energies;
  } host_;  ///< of what the last Frame was made of
  DeviceState device_state_{};
  DeviceCounts counts_{};
  TileScratch tiles_{};
  StreamAndGraph stream_;
  std::optional<DenseSolver> dense_solver_;
  std::optional<NewmarkSolver> newmark_solver_;
};

}  // namespace
}  // namespace gpu

std::string cusolver_problem() { return gpu::cusolver_problem(); }

std::unique_ptr<Engine> make_cuda_engine(const System& system, const State& start,
                                         const PairCountRequest& counts, int device_index,
                                         int threads) {
  const DeviceProbe probe = probe_devices();
  if (probe.status != ProbeStatus::ok) throw DeviceError(probe.message);
  if (device_index < 0 || device_index >= static_cast<int>(probe.devices.size())) {
    throw DeviceError("there is no device cuda:" + std::to_string(device_index) +
                      "; the last one is cuda:" + std::to_string(probe.devices.size() - 1));
  }
  if (uses_dense_solver(system.integrator)) {
    const std::string problem = cusolver_problem();
    if (!problem.empty()) {
      throw DeviceError("solver = \"dense\", hessian = \"molecule\" and \"total\" need cuSOLVER: " +
                        problem);
    }
  }
  return std::make_unique<gpu::CudaEngine>(system, start, counts, device_index, threads);
}

}  // namespace tarn
