#include "kernels/replica_memory.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/bulk.hpp"
#include "kernels/cluster_program.hpp"
#include "kernels/layout.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/core/number.hpp"
#include "tarn/flat_coordinates.hpp"
#include "tarn/many_body.hpp"

namespace tarn::gpu {

ReplicaMemory::ReplicaMemory(const System& system, const State& start, Path path)
    : ids_(start.replica_ids) {
  const int n = system.molecules;
  device_.replicas = start.replicas();
  device_.molecules = n;
  device_.copies = start.beads;
  device_.per_warp = path == Path::warp ? clusters_per_warp(n) : 0;
  device_.slots = slots_for(path, device_.replicas * device_.copies, n);
  upload_coordinates(start, system.thermostat.kind == Thermostat::baoab);
  if (!start.heat_kcal_per_mol.empty()) upload_heat(start);
  upload_replicas(start, system);
  device_ = {device_.slots,
             device_.replicas,
             n,
             device_.copies,
             device_.per_warp,
             x_.get(),
             v_.get(),
             a_.get(),
             v_thermal_.get(),
             kept_x_.get(),
             kept_v_.get(),
             f_.get(),
             noise_ids_.get(),
             kick_scale_.get(),
             stopped_.get(),
             blow_step_.get(),
             blow_molecule_.get(),
             sums_.get(),
             sums_.get() + 1,
             heat_.get(),
             kept_heat_.get(),
             system.model.mass_o_Da,
             system.model.mass_h_Da,
             stage_cycles_.get(),
             bias_centres_.get()};
}

std::array<double, kStages> ReplicaMemory::stage_cycles() const {
  std::array<double, kStages> cycles{};
  const std::vector<unsigned long long> counts = stage_cycles_.download();
  std::transform(counts.begin(), counts.end(), cycles.begin(),
                 [](unsigned long long count) { return static_cast<double>(count); });
  return cycles;
}

std::int64_t ReplicaMemory::slot(std::size_t copy, int molecule) const {
  return slot_of(static_cast<std::int64_t>(copy), molecule, device_.molecules, device_.per_warp);
}

DeviceBuffer<double> ReplicaMemory::in_slots(const DeviceBuffer<double>& from, int numbers,
                                             bool fill_with_first) const {
  DeviceBuffer<double> to(static_cast<std::size_t>(numbers * device_.slots));
  copy_to_slots(from.get(),
                {device_.slots, device_.replicas * device_.copies, device_.molecules,
                 device_.per_warp, numbers, fill_with_first},
                to.get(), nullptr);
  return to;
}

void ReplicaMemory::upload_coordinates(const State& start, bool baoab) {
  const std::size_t size = 9 * static_cast<std::size_t>(device_.slots);
  // Slots without a molecule hold molecule 0 of the first replica, at rest. Each array of the State
  // is freed before the memory of the engine is complete.
  {
    const DeviceBuffer<double> x(start.positions_A);
    x_ = in_slots(x, 9, true);
    kept_x_ = in_slots(x, 9, true);
  }
  {
    const DeviceBuffer<double> v(start.velocities_A_per_akma);
    v_ = in_slots(v, 9, false);
    kept_v_ = in_slots(v, 9, false);
  }
  a_ = DeviceBuffer<double>(size, 0);
  f_ = DeviceBuffer<double>(size, 0);
  if (!baoab) return;
  v_thermal_ = DeviceBuffer<double>(size);
  fill(v_thermal_.get(), size, kNoNumber, nullptr);
}

void ReplicaMemory::upload_heat(const State& start) {
  const DeviceBuffer<double> heat(start.heat_kcal_per_mol);
  heat_ = in_slots(heat, 1, false);
  kept_heat_ = in_slots(heat, 1, false);
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
  bias_centres_ = DeviceBuffer<double>(centres);
  noise_ids_ = DeviceBuffer<std::uint64_t>(ids);
  kick_scale_ = DeviceBuffer<double>(scales);
  stopped_ = DeviceBuffer<int>(ids.size(), 0);
  blow_step_ = DeviceBuffer<long long>(ids.size());
  fill(blow_step_.get(), ids.size(), kNoStep, nullptr);
  blow_molecule_ = DeviceBuffer<int>(ids.size());
  fill(blow_molecule_.get(), ids.size(), kNoMolecule, nullptr);
  sums_ = DeviceBuffer<unsigned long long>(2, 0);
  stage_cycles_ = DeviceBuffer<unsigned long long>(kStages, 0);
}

void ReplicaMemory::gather(std::span<const double> from, std::size_t copy, double* out) const {
  for (int m = 0; m < device_.molecules; ++m) {
    const std::int64_t at = slot(copy, m);
    for (int k = 0; k < 9; ++k) {
      out[9 * m + k] = from[k * device_.slots + at];
    }
  }
}

void ReplicaMemory::gather_heat(std::span<const double> from, std::size_t copy, double* out) const {
  for (int m = 0; m < device_.molecules; ++m) {
    out[m] = from[slot(copy, m)];
  }
}

State ReplicaMemory::download(std::int64_t step) const {
  State s;
  s.molecules = device_.molecules;
  s.beads = device_.copies;
  s.step = step;
  s.replica_ids = ids_;
  const std::vector<int> is_stopped = stopped();
  const std::vector<double> x = x_.download(), v = v_.download();
  std::vector<double> kept_x, kept_v;
  if (std::find(is_stopped.begin(), is_stopped.end(), 1) != is_stopped.end()) {
    kept_x = kept_x_.download();
    kept_v = kept_v_.download();
  }
  s.positions_A.resize(ids_.size() * s.ring_coordinates());
  s.velocities_A_per_akma.resize(s.positions_A.size());
  const std::vector<double> heat = heat_.download(), kept_heat = kept_heat_.download();
  if (!heat.empty()) s.heat_kcal_per_mol.resize(s.positions_A.size() / 9);
  const auto copies = static_cast<std::size_t>(device_.copies);
  for (std::size_t k = 0; k < ids_.size() * copies; ++k) {
    const std::size_t at = k * s.coordinates();
    const bool kept = is_stopped[k / copies] != 0;
    gather(kept ? kept_x : x, k, &s.positions_A[at]);
    gather(kept ? kept_v : v, k, &s.velocities_A_per_akma[at]);
    if (!heat.empty()) gather_heat(kept ? kept_heat : heat, k, &s.heat_kcal_per_mol[at / 9]);
  }
  return s;
}

namespace {

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
    if (kept.empty()) kept = replicas.kept_positions();
    // The centroids of ring polymers.
    const int copies = replicas.device().copies;
    replicas.gather(kept, r * static_cast<std::size_t>(copies), x.data());
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

}  // namespace tarn::gpu
