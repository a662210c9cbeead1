#include "kernels/ring_polymers.hpp"

#include <algorithm>
#include <cstddef>

#include "physics/ring_polymer.hpp"
#include "tarn/exchange.hpp"

namespace tarn::gpu {

RingPolymers::RingPolymers(const System& system, const DeviceState& modes,
                           const std::vector<std::int64_t>& replica_ids, int multiprocessors)
    : replica_ids_(replica_ids) {
  const int p = modes.copies, n = modes.molecules;
  tables_.beads = p;
  make_transforms(p);
  make_modes(system, replica_ids);

  std::vector<std::uint64_t> ids;
  for (const std::int64_t id : replica_ids) {
    bead_ids_.insert(bead_ids_.end(), static_cast<std::size_t>(p), id);
    ids.insert(ids.end(), static_cast<std::size_t>(p), static_cast<std::uint64_t>(id));
  }
  const Path clusters = n <= kMostInWarp ? Path::warp : Path::block;
  beads_.replicas = modes.replicas * p;
  beads_.molecules = n;
  beads_.copies = 1;
  beads_.per_warp = clusters == Path::warp ? clusters_per_warp(n) : 0;
  beads_.slots = slots_for(clusters, beads_.replicas, n);
  const auto bead_size = 9 * static_cast<std::size_t>(beads_.slots);
  beads_.x = arrays_.make<double>(bead_size, 0);  // slots without a molecule too
  beads_.f = arrays_.make<double>(bead_size);
  beads_.ids = arrays_.upload(ids);
  beads_.stopped = arrays_.make<int>(ids.size(), 0);
  beads_.mass_o_Da = modes.mass_o_Da;
  beads_.mass_h_Da = modes.mass_h_Da;
  block_rows_ = gpu::block_rows(n, beads_.replicas, multiprocessors);

  const auto size = static_cast<std::size_t>(modes.replicas * n);
  centroids_ = modes;
  centroids_.copies = centroids_.adjacent = 1;
  centroids_.slots = modes.replicas * n;
  centroids_.x = arrays_.make<double>(9 * size);
  centroids_.v = arrays_.make<double>(9 * size);
  centroids_.a = nullptr;
  centroids_.f = nullptr;
  if (modes.v_thermal != nullptr) centroids_.v_thermal = arrays_.make<double>(9 * size);
  if (modes.heat != nullptr) centroids_.heat = arrays_.make<double>(size);
  counter_ = arrays_.make<long long>(1);
}

void RingPolymers::make_transforms(int beads) {
  const auto size = static_cast<std::size_t>(beads) * static_cast<std::size_t>(even_numbers(beads));
  std::vector<double> to_modes(size, 0.0), to_beads(size, 0.0);
  for (int to = 0; to < beads; ++to) {
    const RingInputs from_beads = inputs_of_modes(to, beads), modes = inputs_of_beads(to, beads);
    const auto at = [&](int k) {
      return static_cast<std::size_t>(k) * static_cast<std::size_t>(beads) +
             static_cast<std::size_t>(to);
    };
    // Folded beads stand for the first one of the two.
    const auto first_of_two = [&](int bead) { return std::min(bead, beads - 1 - bead); };
    for (int k = 0; k < from_beads.count; ++k) {
      const int bead = first_of_two(from_beads.first + k * from_beads.step);
      to_modes[at(k)] = mode_of_bead(to, bead, beads);
    }
    for (int k = 0; k < modes.count; ++k) {
      to_beads[at(k)] = mode_of_bead(modes.first + k * modes.step, first_of_two(to), beads);
    }
  }
  tables_.to_modes = arrays_.upload(to_modes);
  tables_.to_beads = arrays_.upload(to_beads);
}

/// Replicas at the same place of the ladder have the same constants.
void RingPolymers::make_modes(const System& system, const std::vector<std::int64_t>& replica_ids) {
  std::vector<DeviceMode> modes;
  std::vector<double> kT;
  std::vector<int> baths;
  // Without a list of temperatures there is one.
  std::vector<double> temperatures_K = system.thermostat.temperatures_K;
  if (temperatures_K.empty()) temperatures_K = {replica_temperature_K(system, 0)};
  const ReplicaMap map(temperatures_K.size());
  for (const std::int64_t id : replica_ids) baths.push_back(static_cast<int>(map.place(id)));
  for (const double temperature : temperatures_K) {
    for (const RingMode& m : ring_modes(system, temperature)) {
      modes.push_back({{m.cosine, m.sine_over_omega, m.omega_sine, m.ou}, m.spring});
    }
    kT.push_back(units::boltzmann_kcal_per_mol_K * temperature);
  }
  tables_.modes = arrays_.upload(modes);
  tables_.kT = arrays_.upload(kT);
  tables_.baths = arrays_.upload(baths);
}

void RingPolymers::prepare_exchanges(const System& system) {
  if (factors_[0].size() > 0) return;
  for (int odd = 0; odd < 2; ++odd) {
    std::vector<double> factors;
    for (const std::int64_t id : replica_ids_) {
      const auto partner = exchange_partner(id, system.thermostat.temperatures_K.size(), 1, odd);
      factors.push_back(partner ? ring_mode_factor(system, id, *partner) : 0.0);
    }
    factors_[odd] = DeviceBuffer<double>(factors);
  }
  wait_for_copies();
}

DeviceState RingPolymers::rescale(const DeviceState& modes, const double* factors,
                                  cudaStream_t stream) const {
  rescaled_x_.reserve(9 * static_cast<std::size_t>(modes.slots));
  launch_rescale(modes, factors, rescaled_x_.get(), stream);
  DeviceState rescaled = modes;
  rescaled.x = rescaled_x_.get();
  launch_place_beads(launch(rescaled, stream));
  return rescaled;
}

void RingPolymers::measure(const DeviceState& modes, cudaStream_t stream) const {
  launch_place_beads(launch(modes, stream));
  launch_centroids(modes, centroids_, stream);
}

}  // namespace tarn::gpu
