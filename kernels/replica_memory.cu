#include "kernels/replica_memory.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "kernels/bulk.hpp"
#include "kernels/cluster_program.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/layout.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/core/number.hpp"
#include "tarn/many_body.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn::gpu {

ReplicaMemory::ReplicaMemory(const System& system, const State& start, Path path)
    : ids_(start.replica_ids) {
  const int n = system.molecules;
  device_.replicas = start.replicas();
  device_.molecules = n;
  device_.copies = start.beads;
  device_.per_warp = path == Path::warp ? clusters_per_warp(n) : 0;
  device_.adjacent = path == Path::ring_memory ? start.beads : 1;
  device_.slots = slots_for(path, device_.replicas * device_.copies, n);
  device_.mass_o_Da = system.model.mass_o_Da;
  device_.mass_h_Da = system.model.mass_h_Da;
  upload_coordinates(start, system.thermostat.kind == Thermostat::baoab);
  upload_replicas(start, system);
}

std::array<double, kStages> ReplicaMemory::stage_cycles() const {
  std::array<double, kStages> cycles{};
  const std::vector<unsigned long long> counts = downloaded(device_.stage_cycles, kStages);
  std::transform(counts.begin(), counts.end(), cycles.begin(),
                 [](unsigned long long count) { return static_cast<double>(count); });
  return cycles;
}

double* ReplicaMemory::in_slots(const DeviceBuffer<double>& from, int numbers,
                                bool fill_with_first) {
  double* const to = arrays_.make<double>(static_cast<std::size_t>(numbers * device_.slots));
  copy_to_slots(from.get(),
                {device_.slots, device_.replicas * device_.copies, device_.molecules,
                 device_.per_warp, device_.adjacent, numbers, fill_with_first},
                to, nullptr);
  return to;
}

void ReplicaMemory::upload_coordinates(const State& start, bool baoab) {
  const std::size_t size = 9 * static_cast<std::size_t>(device_.slots);
  // Slots without a molecule hold molecule 0 of the first replica, at rest. Each array of the State
  // is freed before the memory of the engine is complete.
  {
    const DeviceBuffer<double> x(start.positions_A);
    device_.x = in_slots(x, 9, true);
    device_.kept_x = in_slots(x, 9, true);
  }
  {
    const DeviceBuffer<double> v(start.velocities_A_per_akma);
    device_.v = in_slots(v, 9, false);
    device_.kept_v = in_slots(v, 9, false);
  }
  device_.a = arrays_.make<double>(size, 0);
  if (device_.copies == 1) device_.f = arrays_.make<double>(size, 0);
  if (!start.heat_kcal_per_mol.empty()) {
    const DeviceBuffer<double> heat(start.heat_kcal_per_mol);
    device_.heat = in_slots(heat, 1, false);
    device_.kept_heat = in_slots(heat, 1, false);
  }
  if (!baoab) return;
  device_.v_thermal = arrays_.make<double>(size);
  fill(device_.v_thermal, size, kNoNumber, nullptr);
}

void ReplicaMemory::upload_replicas(const State& start, const System& system) {
  std::vector<std::uint64_t> ids;
  std::vector<double> scales;
  for (std::int64_t id : start.replica_ids) {
    ids.push_back(static_cast<std::uint64_t>(id));
    scales.push_back(kick_scale_of(system.thermostat, id));
  }
  std::vector<double> centres;
  for (const BiasSpec& bias : system.biases) {
    for (const std::int64_t id : start.replica_ids) centres.push_back(bias.centre(id));
  }
  device_.bias_centres = arrays_.upload(centres);
  device_.ids = arrays_.upload(ids);
  device_.kick_scale = arrays_.upload(scales);
  device_.stopped = arrays_.make<int>(ids.size(), 0);
  device_.blow_step = arrays_.make<long long>(ids.size());
  fill(device_.blow_step, ids.size(), kNoStep, nullptr);
  device_.blow_molecule = arrays_.make<int>(ids.size());
  fill(device_.blow_molecule, ids.size(), kNoMolecule, nullptr);
  device_.iterations = arrays_.make<unsigned long long>(2, 0);
  device_.indefinite = device_.iterations + 1;
  device_.stage_cycles = arrays_.make<unsigned long long>(kStages, 0);
}

void ReplicaMemory::gather(std::span<const double> from, int numbers, std::size_t copy,
                           double* out) const {
  for (int m = 0; m < device_.molecules; ++m) {
    const std::int64_t at = slot_of(static_cast<std::int64_t>(copy), m, device_.molecules,
                                    device_.per_warp, device_.adjacent);
    for (int k = 0; k < numbers; ++k) *out++ = from[k * device_.slots + at];
  }
}

State ReplicaMemory::download(std::int64_t step) const {
  State s;
  s.molecules = device_.molecules;
  s.beads = device_.copies;
  s.step = step;
  s.replica_ids = ids_;
  const std::vector<int> is_stopped = stopped();
  const std::vector<double> x = download(device_.x, 9), v = download(device_.v, 9);
  std::vector<double> kept_x, kept_v;
  if (std::find(is_stopped.begin(), is_stopped.end(), 1) != is_stopped.end()) {
    kept_x = download(device_.kept_x, 9);
    kept_v = download(device_.kept_v, 9);
  }
  s.positions_A.resize(ids_.size() * s.ring_coordinates());
  s.velocities_A_per_akma.resize(s.positions_A.size());
  const int heats = device_.heat != nullptr ? 1 : 0;
  const std::vector<double> heat = download(device_.heat, heats),
                            kept_heat = download(device_.kept_heat, heats);
  if (!heat.empty()) s.heat_kcal_per_mol.resize(s.positions_A.size() / 9);
  const auto copies = static_cast<std::size_t>(device_.copies);
  for (std::size_t k = 0; k < ids_.size() * copies; ++k) {
    const std::size_t at = k * s.coordinates();
    const bool kept = is_stopped[k / copies] != 0;
    gather(kept ? kept_x : x, 9, k, &s.positions_A[at]);
    gather(kept ? kept_v : v, 9, k, &s.velocities_A_per_akma[at]);
    if (!heat.empty()) gather(kept ? kept_heat : heat, 1, k, &s.heat_kcal_per_mol[at / 9]);
  }
  return s;
}

namespace {

constexpr int kThreads = 128;
/// Numbers that a host thread copies at a time.
constexpr std::size_t kPiece = std::size_t{1} << 16;

/// Copies the state in the order of State; one thread per molecule of each replica or mode. A
/// stopped replica has its kept state.
__global__ void __launch_bounds__(kThreads)
    copy_state_kernel(DeviceState d, double* x, double* v, double* heat) {
  const std::int64_t thread = thread_number();
  if (thread >= d.replicas * d.copies * d.molecules) return;
  const std::int64_t copy = thread / d.molecules;
  const std::int64_t slot =
      slot_of(copy, static_cast<int>(thread % d.molecules), d.molecules, d.per_warp, d.adjacent);
  const bool stopped = d.stopped[copy / d.copies] != 0;
  const double* const from_x = (stopped ? d.kept_x : d.x) + slot;
  const double* const from_v = (stopped ? d.kept_v : d.v) + slot;
  for (int k = 0; k < 9; ++k) {
    x[9 * thread + k] = from_x[k * d.slots];
    v[9 * thread + k] = from_v[k * d.slots];
  }
  if (d.heat != nullptr) heat[thread] = (stopped ? d.kept_heat : d.heat)[slot];
}

std::vector<double> copied(std::span<const double> from, int threads) {
  std::vector<double> to(from.size());
  const auto pieces = static_cast<std::int64_t>((from.size() + kPiece - 1) / kPiece);
  for_each_index(pieces, threads, [&](std::int64_t piece) {
    const std::size_t begin = static_cast<std::size_t>(piece) * kPiece;
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin),
                std::min(kPiece, from.size() - begin),
                to.begin() + static_cast<std::ptrdiff_t>(begin));
  });
  return to;
}

/// Non-bonded forces of one cluster on the host; blow-ups are rare.
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

}  // namespace

std::vector<BlowUp> BlowUpFinder::find(const ReplicaMemory& replicas,
                                       const ManyBodyStage* stage) const {
  const std::vector<int> stopped = replicas.stopped(), molecules = replicas.blow_up_molecules();
  const std::vector<long long> steps = replicas.blow_up_steps();
  std::vector<BlowUp> all;
  if (std::find(stopped.begin(), stopped.end(), 1) == stopped.end()) return all;
  std::vector<double> kept;
  const std::vector<int> failures = stage != nullptr ? stage->failures() : std::vector<int>{};
  std::vector<double> x(static_cast<std::size_t>(replicas.device().molecules) * 9);
  for (std::size_t r = 0; r < stopped.size(); ++r) {
    if (!stopped[r]) continue;
    if (const auto known = found_.find(r); known != found_.end()) {
      all.push_back(known->second);
      continue;
    }
    if (kept.empty()) kept = replicas.download(replicas.device().kept_x, 9);
    // The centroids of ring polymers.
    const int copies = replicas.device().copies;
    replicas.gather(kept, 9, r * static_cast<std::size_t>(copies), x.data());
    for (double& c : x) c /= std::sqrt(static_cast<double>(copies));
    BlowUp blow_up;
    blow_up.replica = replicas.ids()[r];
    blow_up.step = steps[r];
    blow_up.molecule = molecules[r];
    const std::size_t images = failures.size() / stopped.size();
    for (std::size_t image = r * images; image < (r + 1) * images; ++image) {
      if (failures[image] != 0) blow_up.failure = static_cast<ImageFailure>(failures[image]);
    }
    blow_up.potential_was_not_finite = blow_up.failure != ImageFailure::none;
    // The positions at that step are lost: the device has restored the kept state.
    measure_.record_extremes(
        x, x,
        [&](const std::vector<double>& at, std::vector<double>& f) {
          if (stage != nullptr) {
            const int n = replicas.device().molecules;
            return ManyBody(model_.many_body, false, 1, {}, model_.field_kcal_per_mol_e_A)
                .compute(n, at, {{}, {}, f, {}, {}});
          }
          m_site_ ? forces_on_host<true>(pair_, at, f) : forces_on_host<false>(pair_, at, f);
        },
        blow_up);
    blow_up.seen_in_last_good_state = true;
    found_.emplace(r, blow_up);
    all.push_back(blow_up);
  }
  std::sort(all.begin(), all.end(),
            [](const BlowUp& a, const BlowUp& b) { return a.replica < b.replica; });
  return all;
}

/// Leaves as much memory free as it takes, for measurements that start later.
bool StateCopies::reserve(std::size_t numbers) {
  if (staged_.size() >= numbers) return true;
  std::size_t free = 0, total = 0;
  cuda_check(cudaMemGetInfo(&free, &total));
  if (free < 2 * numbers * sizeof(double)) return false;
  try {
    staged_ = DeviceBuffer<double>(numbers);
  } catch (const DeviceError&) {  // the free memory is in pieces, or in use by now
    return false;
  }
  return true;
}

std::function<State()> StateCopies::begin(const ReplicaMemory& replicas, std::int64_t step,
                                          int threads, cudaStream_t stream) {
  const DeviceState& d = replicas.device();
  const auto molecules = static_cast<std::size_t>(d.replicas * d.copies * d.molecules);
  const std::size_t heats = d.heat != nullptr ? molecules : 0;
  if (molecules == 0 || !*is_taken_ || !reserve(18 * molecules + heats)) return {};
  double* const x = staged_.get();
  // A copy that nothing waited for may still be under way.
  copies_.hold(stream);
  launch_threads(copy_state_kernel, static_cast<std::int64_t>(molecules), kThreads, stream, d, x,
                 x + 9 * molecules, x + 18 * molecules);
  copies_.copy(x, 18 * molecules + heats, host_, stream);

  *is_taken_ = false;
  const std::shared_ptr<void> taken(nullptr, [flag = is_taken_](void*) { *flag = true; });
  return [this, taken, step, threads, molecules, heats, n = d.molecules, beads = d.copies,
          &ids = replicas.ids()] {
    cuda_check(cudaSetDevice(device_));
    copies_.wait();
    const std::span<const double> all = host_.values();
    State s;
    s.molecules = n;
    s.beads = beads;
    s.step = step;
    s.replica_ids = ids;
    s.positions_A = copied(all.first(9 * molecules), threads);
    s.velocities_A_per_akma = copied(all.subspan(9 * molecules, 9 * molecules), threads);
    s.heat_kcal_per_mol = copied(all.subspan(18 * molecules, heats), threads);
    return s;
  };
}

}  // namespace tarn::gpu
