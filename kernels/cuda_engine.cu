#include "kernels/cuda_engine.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "interface/exchange_places.hpp"
#include "interface/measure.hpp"
#include "interface/moments.hpp"
#include "kernels/arithmetic_bound.hpp"
#include "kernels/bulk.hpp"
#include "kernels/dense_solver.hpp"
#include "kernels/device_buffer.hpp"
#include "kernels/device_probe.hpp"
#include "kernels/launch.hpp"
#include "kernels/many_body.hpp"
#include "kernels/replica_memory.hpp"
#include "kernels/ring_polymers.hpp"
#include "kernels/row_frames.hpp"
#include "kernels/step_stream.hpp"
#include "tarn/core/error.hpp"
#include "tarn/exchange.hpp"

namespace tarn::gpu {
namespace {

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

/// Whether kernels of a step may be launched before the preceding ones have ended, in graphs too:
/// from compute capability 9 and CUDA 12.3 drivers on.
bool can_launch_early(int device) {
  int capability = 0, driver = 0;
  cuda_check(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, device));
  cuda_check(cudaDriverGetVersion(&driver));
  return capability >= 9 && driver >= 12030 && tile_kernels_support_early_launch();
}

/// 32 hexadecimal digits that identify a device, also in other processes.
std::string device_uuid(int device) {
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, device));
  std::string text;
  for (const char byte : properties.uuid.bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(byte);
    text += {kDigits[value / 16], kDigits[value % 16]};
  }
  return text;
}

class CudaEngine final : public Engine {
 public:
  CudaEngine(const System& model_system, const State& start, const PairCountRequest& counts,
             int device, int threads)
      : device_(device),
        threads_(threads),
        many_body_(model_system.model.is_many_body()),
        system_(many_body_ ? without_model_forces(model_system) : model_system),
        measure_(system_),
        measure_numbers_(measure_numbers(system_)),
        n_(system_.molecules),
        dense_(uses_dense_solver(system_.integrator)),
        newmark_(system_.integrator.scheme == Scheme::pushforward_newmark),
        path_(path_of(n_, dense_ || newmark_ || many_body_ || !system_.biases.empty(),
                      system_.path_integral.beads)),
        precision_(pair_force_precision(system_)),
        m_site_(system_.model.has_m_site()),
        step_(start.step),
        first_step_(start.step),
        timed_step_(start.step),
        blow_ups_(system_),
        rows_(system_, start.replica_ids, device),
        states_(device),
        stream_(device) {
    use_device();
    const System& system = system_;
    const IssueRate rate = issue_rate(device);
    most_steps_ = most_steps_in_launch(path_, n_, start.replicas(), rate, start.beads);
    block_rows_ = block_rows(n_, start.replicas(), rate.multiprocessors);
    cluster_.step = step_parameters(system);
    cluster_.passes = step_passes(system);
    cluster_.thermostat = system.thermostat.kind;
    cluster_.outside = outside_forces(system);
    if (many_body_) cluster_.outside = {};  // the stage adds it to its forces
    cluster_.biases = biases_of(system);
    if (!system.biases.empty()) {
      bias_ = arrays_.make<double>(3 * static_cast<std::size_t>(start.replicas() * n_));
    }
    cluster_.pair = pair_parameters<double>(system.model);
    cluster_.molecules = n_;
    replicas_ = ReplicaMemory(system, start, path_);
    const bool has_rings = gpu::has_rings(path_) && !replica_ids().empty();
    if (has_rings) {
      rings_.emplace(system, replicas_.device(), replica_ids(), rate.multiprocessors);
    }
    if (many_body_ && !replica_ids().empty()) {
      stage_.emplace(model_system, start.replicas() * start.beads, device);
    }
    counts_ =
        PairCountMemory(counts, rings_ ? rings_->bead_ids() : start.replica_ids, cluster_.step.bh2);
    const bool tiles = path_ == Path::tiles && !replica_ids().empty();
    if (tiles) make_tiles(rate.multiprocessors);
    if (dense_ && tiles) {
      dense_solver_.emplace(replicas_.device(), cluster_, system.integrator, m_site_,
                            stream_.stream());
    }
    if (newmark_ && tiles) newmark_solver_.emplace(replicas_.device());
    wait_for_copies();
    if (rings_) {
      prepare_rings();
    } else if (dense_solver_ || newmark_solver_) {
      solved_step(step_, true);
    } else {
      prepare(Prepare::accelerations, cluster_, precision_);
    }
    stream_.wait();
    if (tiles && !dense_ && !newmark_) {
      load_tile_step(clusters());
      stream_.capture([&] { launch_tile_step(clusters(), tiles_, true); });
    }
    if (path_ == Path::ring_memory && has_rings) {
      load_ring_step(replicas_.device());
      stream_.capture([&] { ring_step(true); });
    }
  }

  /// Members free memory of this device.
  ~CudaEngine() override { cudaSetDevice(device_); }

  void advance(std::int64_t n_steps) override {
    begin_advance(n_steps);
    wait();
  }

  void begin_advance(std::int64_t n_steps) override {
    if (n_steps <= 0) return;
    if (replica_ids().empty()) {
      step_ += n_steps;
      return;
    }
    use_device();
    if (!is_busy_) busy_since_ = Clock::now();
    is_busy_ = true;
    if (step_ == 0) count_if_due();
    for (std::int64_t left = n_steps; left > 0;) {
      const std::int64_t n = steps_per_launch(left);
      if (path_ == Path::warp) {
        launch_warp_advance(clusters(), step_, n);
      } else if (path_ == Path::block) {
        launch_block_advance(clusters(), step_, n);
      } else if (path_ == Path::ring_block) {
        launch_ring_advance(clusters(), rings_->tables(), step_, n);
      } else if (path_ == Path::ring_memory) {
        ring_steps(n);
      } else if (dense_solver_ || newmark_solver_) {
        for (std::int64_t k = 0; k < n; ++k) solved_step(step_ + k, false);
      } else {
        tile_steps(n);
      }
      step_ += n;
      left -= n;
      count_if_due();
      if (is_due(rows_.lindemann(), step_)) add_distances();
    }
  }

  void wait() override {
    if (!is_busy_) return;
    use_device();
    stream_.wait();
    is_busy_ = false;
    seconds_ += std::chrono::duration<double>(Clock::now() - busy_since_).count();
    stage_times_.take(step_ - timed_step_);
    timed_step_ = step_;
  }

  void measure_with(const MeasureSettings& settings) override {
    use_device();
    rows_.measure_with(settings);
    if (rings_ && settings.exchange_every > 0) rings_->prepare_exchanges(system_);
    if (!rows_.has_samples() && is_due(rows_.lindemann(), step_) && !replica_ids().empty()) {
      add_distances();
    }
  }

  std::int64_t step() const override { return step_; }

  void exchange(std::span<const StateExchange> pairs) override {
    if (pairs.empty()) return;
    wait_for_stream();
    const auto places = exchange_places(pairs, live_places());
    std::vector<PlacedExchange> placed;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      placed.push_back({places[k].first, places[k].second, pairs[k].to_first, pairs[k].to_second,
                        ring_mode_factor(system_, pairs[k].second, pairs[k].first),
                        ring_mode_factor(system_, pairs[k].first, pairs[k].second)});
    }
    exchanges_.reserve(placed.size());
    host_exchanges_.copy_to(exchanges_.get(), placed, stream_.stream());
    launch_exchange(replicas_.device(), newmark_solution(), exchanges_.get(),
                    static_cast<std::int64_t>(placed.size()),
                    system_.precision == Precision::single, stream_.stream());
    compute_new_accelerations();
  }

  std::vector<double> take_coordinates(std::span<const std::int64_t> replica_ids) const override {
    std::vector<ReceivedCoordinates> replicas;
    for (const std::int64_t id : replica_ids) replicas.push_back({id, 1.0, id});
    if (replicas.empty()) return {};
    wait_for_stream();
    const DeviceBuffer<PlacedReplica> on_device(placed(replicas));
    const DeviceBuffer<double> numbers(replicas.size() * numbers_of_replica());
    wait_for_copies();
    launch_take_coordinates(replicas_.device(), newmark_solution(), on_device.get(),
                            static_cast<std::int64_t>(replicas.size()), numbers.get(),
                            stream_.stream());
    stream_.wait();
    return numbers.download();
  }

  void put_coordinates(std::span<const ReceivedCoordinates> replicas,
                       std::span<const double> numbers) override {
    check_received(replicas.size() * numbers_of_replica(), numbers.size());
    if (replicas.empty()) return;
    wait_for_stream();
    const DeviceBuffer<PlacedReplica> on_device(placed(replicas));
    const DeviceBuffer<double> received(numbers);
    wait_for_copies();
    launch_put_coordinates(replicas_.device(), newmark_solution(), on_device.get(),
                           static_cast<std::int64_t>(replicas.size()),
                           system_.precision == Precision::single, received.get(),
                           stream_.stream());
    compute_new_accelerations();
    stream_.wait();
  }

  State state() const override {
    wait_for_stream();
    return replicas_.download(step_);
  }

  std::function<State()> begin_state() const override {
    use_device();
    std::function<State()> copy = states_.begin(replicas_, step_, threads_, stream_.stream());
    return copy ? copy : Engine::begin_state();
  }

  std::unique_ptr<History> keep_history(const HistoryRequest& request) override {
    use_device();
    return make_history(
        request, measure_numbers_, replica_ids(), stream_.stream(), [this]() -> const DeviceState& {
          use_device();
          if (!rings_) return replicas_.device();
          launch_centroids(replicas_.device(), rings_->centroids(), stream_.stream());
          return rings_->centroids();
        });
  }

  bool begin_snapshot(unsigned fields) override {
    if ((fields & ~(kRowFields | kGroupFields)) != 0) return false;
    use_device();
    begin_rows(fields);
    return true;
  }

  void finish_snapshot(Frame& frame) override {
    use_device();
    name_frame(snapshot_step_, frame);
    measure_.prepare_arrays(kNoFields, 0, frame);
    finish_rows(frame);
  }

  void snapshot(unsigned fields, Frame& frame) override {
    use_device();
    name_frame(step_, frame);
    begin_rows(fields & (kRowFields | kGroupFields));
    finish_rows(frame);
    measure_.prepare_arrays(fields, frame.live(), frame);
    if (fields & kArrayFields) fill_arrays(fields, frame);
    if (fields & kLindemannSums) rows_.put_sums(rows_.live(), frame);
    if (fields & kPairCounts) counts_.download(frame);
  }

  std::vector<BlowUp> blow_ups() const override {
    wait_for_stream();
    return blow_ups_.find(replicas_, stage());
  }

  /// Kernels fuse the stages of a step. The warp and block paths count the cycles of each stage; on
  /// the tile path, `rest` contains all but the pairs and the solves for all molecules together.
  EngineReport report() const override {
    wait_for_stream();
    EngineReport report;
    divide_time(seconds_, has_graphs(path_) ? stage_times_.seconds() : replicas_.stage_cycles(),
                report);
    const std::vector<unsigned long long> sums = replicas_.sums();
    const DeviceState& d = replicas_.device();
    report.molecule_steps =
        n_ * replica_steps(d.stopped, d.blow_step, d.replicas, first_step_, step_, nullptr);
    report.constraint_iterations = static_cast<std::int64_t>(sums[0]);
    report.indefinite_hessians = static_cast<std::int64_t>(sums[1]);
    return report;
  }

  std::string description() const override {
    cudaDeviceProp properties{};
    cuda_check(cudaGetDeviceProperties(&properties, device_));
    return "CUDA, " + std::string(properties.name);
  }
  bool is_asynchronous() const override { return true; }
  std::vector<EnginePart> parts() const override {
    std::vector<EnginePart> parts = Engine::parts();
    parts[0].device += " (cuda:" + std::to_string(device_) + ")";
    parts[0].device_id = device_uuid(device_);
    return parts;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void use_device() const { cuda_check(cudaSetDevice(device_)); }
  const std::vector<std::int64_t>& replica_ids() const { return replicas_.ids(); }

  /// An exchange leaves work on the stream.
  void wait_for_stream() const {
    use_device();
    stream_.wait();
  }

  /// Places of the running replicas, kept until a frame has fewer of them.
  ReplicaPlaces<std::int64_t>& live_places() const {
    if (live_step_ == step_) return live_;
    const std::vector<int> stopped = replicas_.stopped();
    live_ = {};
    live_count_ = 0;
    for (std::size_t r = 0; r < replica_ids().size(); ++r) {
      if (stopped[r]) continue;
      live_.add(replica_ids()[r], static_cast<std::int64_t>(r));
      ++live_count_;
    }
    return live_;
  }
  std::vector<PlacedReplica> placed(std::span<const ReceivedCoordinates> replicas) const {
    auto& live = live_places();
    std::vector<PlacedReplica> all;
    for (const ReceivedCoordinates& r : replicas) {
      all.push_back({place_of(r.replica, live), r.velocity_factor,
                     ring_mode_factor(system_, r.from, r.replica)});
    }
    return all;
  }
  /// Positions that are exchanged with the state, or null.
  double* newmark_solution() const {
    return newmark_solver_ ? newmark_solver_->solution() : nullptr;
  }
  std::size_t numbers_of_replica() const {
    return static_cast<std::size_t>((newmark_solver_ ? 4 : 3) * 9 * n_ * replicas_.device().copies);
  }

  void make_tiles(int multiprocessors) {
    const std::size_t slots = static_cast<std::size_t>(replicas_.device().slots);
    const std::size_t replicas = replica_ids().size();
    // Multipliers at infinite omega need forces in double in all precisions.
    const std::size_t sums = 9 * slots * static_cast<std::size_t>(force_rows(n_));
    std::size_t free = 0, total = 0;
    cuda_check(cudaMemGetInfo(&free, &total));
    if (const std::size_t needed = sums / replicas * sizeof(double); needed > total) {
      throw DeviceError("CUDA: one replica of " + std::to_string(n_) + " molecules needs " +
                        std::to_string(needed >> 20) + " MiB for sums of forces, and the GPU has " +
                        std::to_string(total >> 20) + "; use --device cpu");
    }
    tiles_ = {arrays_.make<unsigned char>(slots * kMostSiteBytes), arrays_.make<double>(sums),
              arrays_.make<double>(3 * replicas * static_cast<std::size_t>(pair_blocks(n_))),
              arrays_.make<double>(replicas * kWallNumbers), bias_,
              arrays_.upload(std::vector<long long>{step_}),
              // Zeros: with Move::free no kernel writes them, but step_kernel reads them.
              arrays_.make<unsigned>(slots, 0),
              sum_rows(n_, replicas_.device().replicas, multiprocessors),
              few_pair_blocks(n_, replicas_.device().replicas, multiprocessors),
              can_launch_early(device_)};
  }

  ClusterLaunch clusters(const ClusterSystem& cluster, Precision precision) const {
    return {replicas_.device(), cluster,          precision, m_site_,
            block_rows_,        stream_.stream(), stage()};
  }
  ClusterLaunch clusters() const { return clusters(cluster_, precision_); }
  void prepare(Prepare what, const ClusterSystem& cluster, Precision precision) {
    if (replica_ids().empty()) return;
    const ClusterLaunch c = clusters(cluster, precision);
    if (path_ == Path::warp) {
      launch_warp_prepare(c, step_, what);
    } else if (path_ == Path::block) {
      launch_block_prepare(c, step_, what);
    } else {
      launch_tile_prepare(c, tiles_, step_, what);
    }
  }

  /// Launches n steps, at most up to the next kept state.
  void tile_steps(std::int64_t n) {
    launch_tile_begin(clusters(), tiles_, step_);
    stream_.replay(n - 1);
    cudaStream_t const stream = stream_.stream();
    stage_times_.begin(stream);
    launch_tile_step(clusters(), tiles_, false, [&] { stage_times_.end(Stage::pairs, stream); });
    stage_times_.end(Stage::rest, stream);
    launch_tile_restore_stopped(replicas_.device(), stream_.stream());
  }

  void bead_forces(long long* counter) {
    launch_bead_forces({rings_->beads(), cluster_, precision_, m_site_, rings_->block_rows(),
                        stream_.stream(), stage()},
                       counter);
    if (system_.biases.empty()) return;
    launch_biases(replicas_.device(), cluster_.biases, bias_, rings_->beads(), stream_.stream());
  }
  RingLaunch ring_launch() const { return rings_->launch(replicas_.device(), stream_.stream()); }
  void ring_accelerations(bool prepare) {
    launch_place_beads(ring_launch());
    bead_forces(nullptr);
    launch_ring_accelerations(ring_launch(), cluster_, prepare, step_);
  }
  /// Initial accelerations, on both paths of ring polymers.
  void prepare_rings() {
    ring_accelerations(true);
    launch_tile_restore_stopped(replicas_.device(), stream_.stream());
  }
  /// A step on the path ring_memory, after the launch that began it.
  void ring_step(bool begin_next) {
    bead_forces(rings_->counter());
    if (!begin_next) stage_times_.end(Stage::pairs, stream_.stream());
    launch_ring_step(ring_launch(), cluster_, true, begin_next, step_, rings_->counter());
  }
  /// Launches n steps, at most up to the next kept state.
  void ring_steps(std::int64_t n) {
    launch_ring_step(ring_launch(), cluster_, false, true, step_, rings_->counter());
    stream_.replay(n - 1);
    stage_times_.begin(stream_.stream());
    ring_step(false);
    stage_times_.end(Stage::rest, stream_.stream());
    launch_tile_restore_stopped(replicas_.device(), stream_.stream());
  }
  /// After an exchange: rescaled ring polymers, and replicas in other windows, have other forces
  /// than before.
  void compute_new_accelerations() {
    live_step_ = kNoStep;
    if (!rings_ && windows_of(system_) && !replica_ids().empty()) {
      dense_solver_ || newmark_solver_ ? solved_step(step_, true)
                                       : prepare(Prepare::accelerations, cluster_, precision_);
    }
    if (rings_) ring_accelerations(false);
  }
  const RingPolymers* rings() const { return rings_ ? &*rings_ : nullptr; }
  const ManyBodyStage* stage() const { return stage_ ? &*stage_ : nullptr; }
  void count_if_due() {
    if (!counts_.is_due(step_)) return;
    if (rings_) launch_place_beads(ring_launch());
    launch_count(rings_ ? rings_->beads() : replicas_.device(), counts_.device(), stream_.stream());
  }
  void add_distances() { rows_.add_distances(replicas_.device(), rings(), stream_.stream()); }

  /// A step whose accelerations are solved by cuSOLVER or by corrections; at the start only the
  /// accelerations. It is not captured as a graph: cuSOLVER may synchronise between its kernels,
  /// and the number of corrections depends on their results.
  void solved_step(std::int64_t step, bool start) {
    cudaStream_t const stream = stream_.stream();
    if (start) {
      prepare(Prepare::forces, cluster_, precision_);
    } else {
      stage_times_.begin(stream);
      launch_tile_begin(clusters(), tiles_, step);
      stage_times_.end(Stage::rest, stream);
      launch_tile_forces(clusters(), tiles_);
      stage_times_.end(Stage::pairs, stream);
    }
    if (newmark_solver_) {
      newmark_solver_->solve(replicas_.device(), cluster_, m_site_, tiles_, !start, stream);
    } else {
      dense_solver_->solve(replicas_.device(), cluster_, stream);
    }
    if (!start) stage_times_.end(Stage::bonds, stream);
    launch_tile_solved(replicas_.device(), cluster_,
                       newmark_solver_ ? DenseWork{} : dense_solver_->solution(), step, start,
                       stream);
    if (!start) stage_times_.end(Stage::rest, stream);
  }

  /// A launch ends at every step whose distances are counted; on the tile path, at every state that
  /// is to be kept.
  std::int64_t steps_per_launch(std::int64_t left) const {
    left = steps_to_lindemann(rows_.lindemann(), step_, left);
    const PairCountRequest& counting = counts_.request();
    if (counting.enabled) left = std::min(left, counting.every - step_ % counting.every);
    return std::min(left, has_graphs(path_) ? kKeptSteps - step_ % kKeptSteps : most_steps_);
  }

  void name_frame(std::int64_t step, Frame& frame) const {
    frame.step = step;
    frame.time_ps =
        units::ps_from_akma(static_cast<double>(step) * system_.integrator.timestep_akma);
    frame.molecules = n_;
  }

  /// The estimators of classical replicas follow from their energies.
  void begin_rows(unsigned fields) {
    snapshot_step_ = step_;
    row_fields_ = fields;
    if (!rings_ && (fields & kRings)) fields |= kEnergies;
    rows_.begin(fields, replicas_.device(), rings(), stage(), cluster_, m_site_, step_,
                stream_.stream());
  }
  void finish_rows(Frame& frame) {
    rows_.finish(frame);
    live_step_ = frame.live() == live_count_ ? snapshot_step_ : kNoStep;
    if (!rings_ && (row_fields_ & kRings)) {
      frame.rings.resize(frame.live());
      measure_.fill_classical_rings(frame);
    }
    drop_rows(row_fields_, frame);
  }

  /// Fills the fields of kArrayFields. Those of ring polymers are centroids, without multipliers;
  /// rows_ has computed the centroids and the beads.
  void fill_arrays(unsigned fields, Frame& frame) {
    if (replica_ids().empty()) return;
    fields &= rings_ ? ~static_cast<unsigned>(kMultipliers)
                     : ~static_cast<unsigned>(kBeads | kAtomKinetic);
    if ((fields & kMultipliers) && measure_numbers_.multipliers_need_forces) {
      if (newmark_solver_) {
        launch_tile_prepare({newmark_solver_->at_solution(replicas_.device()), cluster_,
                             Precision::double_, m_site_, 1, stream_.stream()},
                            tiles_, step_, Prepare::forces);
      } else {
        prepare(Prepare::forces, cluster_, Precision::double_);
      }
    }
    const std::size_t molecules = replica_ids().size() * static_cast<std::size_t>(n_);
    MoleculeFields out{};
    double *beads = nullptr, *atom_kinetic = nullptr;
    const auto copies = static_cast<std::size_t>(replicas_.device().copies);
    struct Part {
      unsigned field;
      std::size_t of_molecule;
      double** where;
      std::vector<double>* to;
      std::size_t begin = 0;
    };
    std::array<Part, 6> parts{
        {{kPositions, 9, &out.positions, &frame.positions_A},
         {kOwnPositions, 9, &out.own_positions, &frame.own_positions_A},
         {kVelocities, 9, &out.velocities, &frame.velocities_A_per_akma},
         {kMultipliers, 3, &out.multipliers, &frame.multipliers_kcal_per_mol_A2},
         {kBeads, 9 * copies, &beads, &frame.beads_A},
         {kAtomKinetic, 3, &atom_kinetic, &frame.atom_kinetic_kcal_per_mol}}};
    std::size_t size = 0;
    for (Part& part : parts) {
      part.begin = size;
      if (fields & part.field) size += part.of_molecule * molecules;
    }
    fields_.reserve(size);
    for (const Part& part : parts) {
      if (fields & part.field) *part.where = fields_.get() + part.begin;
    }
    launch_molecule_fields(rings_ ? rings_->centroids() : replicas_.device(), measure_numbers_, out,
                           stream_.stream());
    if (rings_) {
      launch_ring_arrays(replicas_.device(), *rings_, measure_numbers_, beads, atom_kinetic,
                         stream_.stream());
    }
    host_fields_.copy_from(fields_.get(), size, stream_.stream());
    stream_.wait();
    const std::vector<std::size_t>& live = rows_.live();
    for_each_index(static_cast<std::int64_t>(live.size()), threads_, [&](std::int64_t at) {
      const auto k = static_cast<std::size_t>(at);
      for (const Part& part : parts) {
        if (!(fields & part.field)) continue;
        const std::size_t of_replica = part.of_molecule * static_cast<std::size_t>(n_);
        std::copy_n(host_fields_.values().data() + part.begin + live[k] * of_replica, of_replica,
                    part.to->data() + k * of_replica);
      }
    });
  }

  int device_;
  int threads_;  ///< host threads for snapshots
  bool many_body_;
  System system_;
  Measure measure_;
  MeasureNumbers measure_numbers_;
  int n_;
  bool dense_, newmark_;
  Path path_;
  Precision precision_;
  bool m_site_;
  std::int64_t step_, first_step_;
  std::int64_t most_steps_ = 1;  ///< per launch, on paths with many steps per launch
  int block_rows_ = 1;           ///< thread rows per block, on the block path
  ClusterSystem cluster_{};
  double seconds_ = 0.0;         ///< time of all steps
  std::int64_t timed_step_ = 0;  ///< steps up to this one are in stage_times_
  ReplicaMemory replicas_;
  std::optional<RingPolymers> rings_;   ///< of several beads
  std::optional<ManyBodyStage> stage_;  ///< forces of a many-body model
  PairCountMemory counts_;
  BlowUpFinder blow_ups_;
  DeviceArrays arrays_;           ///< of tiles_ and bias_
  double* bias_ = nullptr;        ///< forces of biases
  DeviceBuffer<double> fields_;   ///< kArrayFields of a frame
  HostCopy<double> host_fields_;  ///< of them
  TileScratch tiles_{};
  RowFrames rows_;
  mutable StateCopies states_;
  DeviceBuffer<PlacedExchange> exchanges_;
  HostCopy<PlacedExchange> host_exchanges_;
  mutable ReplicaPlaces<std::int64_t> live_;
  mutable std::size_t live_count_ = 0;  ///< replicas in live_
  std::int64_t live_step_ = kNoStep;    ///< at this step, live_ contains the running replicas
  std::int64_t snapshot_step_ = 0;
  unsigned row_fields_ = kNoFields;  ///< of the last snapshot
  bool is_busy_ = false;             ///< steps were started and not waited for
  Clock::time_point busy_since_;
  StageTimes stage_times_;
  StepStream stream_;  ///< its destructor waits for the work on the memory above
  std::optional<DenseSolver> dense_solver_;
  std::optional<NewmarkSolver> newmark_solver_;
};

}  // namespace
}  // namespace tarn::gpu

namespace tarn {

std::string cusolver_problem() { return gpu::cusolver_problem(); }

void check_cuda_device(int device_index) {
  const DeviceProbe probe = probe_devices();
  if (probe.status != ProbeStatus::ok) throw DeviceError(probe.message);
  if (device_index < 0 || device_index >= static_cast<int>(probe.devices.size())) {
    throw DeviceError("there is no device cuda:" + std::to_string(device_index) +
                      "; the last one is cuda:" + std::to_string(probe.devices.size() - 1));
  }
}

std::unique_ptr<Engine> make_cuda_engine(const System& system, const State& start,
                                         const PairCountRequest& counts, int device_index,
                                         int threads) {
  check_cuda_device(device_index);
  if (uses_dense_solver(system.integrator)) {
    const std::string problem = cusolver_problem();
    if (!problem.empty()) {
      throw DeviceError("solver = \"dense\", hessian = \"molecule\" and \"total\" need cuSOLVER: " +
                        problem);
    }
  }
  // With one thread per device, waiting threads sleep, so that observers have the cores.
  if (probe_devices().devices.size() > 1 && threads == 1 &&
      cudaSetDevice(device_index) == cudaSuccess &&
      cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync) != cudaSuccess) {
    cudaGetLastError();  // clear it: the flag is only a hint
  }
  return std::make_unique<gpu::CudaEngine>(system, start, counts, device_index, threads);
}

}  // namespace tarn
