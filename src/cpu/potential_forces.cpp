#include "potential_forces.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"

namespace tarn::cpu {
namespace {

/// Between a group and where it is saved.
template <class From, class To>
void copy_state(const From& from, To& to) {
  to.x = from.x;
  to.v = from.v;
  to.v_thermal = from.v_thermal;
  to.heat = from.heat;
}

}  // namespace

PotentialForces::PotentialForces(std::shared_ptr<Potential> potential, const System& system,
                                 int lanes, const std::vector<std::int64_t>& replica_ids)
    : calls_{{std::move(potential), {}, {}, {}, {}, {}}},
      layout_(system, lanes),
      copies_(static_cast<std::size_t>(layout_.copies())),
      size_(9 * static_cast<std::size_t>(layout_.molecules())),
      energies_(replica_ids.size() * copies_, kNoNumber),
      bad_(replica_ids.size(), -1),
      saved_(replica_ids.size()) {
  for (const std::int64_t id : replica_ids) {
    for (int copy = 0; copy < layout_.copies(); ++copy) {
      ids_.push_back(id * layout_.copies() + copy);
    }
  }
  positions_.resize(ids_.size() * size_);
  forces_.resize(positions_.size());
}

bool PotentialForces::begin(const std::vector<Group>& groups, const std::vector<char>& chosen) {
  std::vector<std::size_t>& batch = calls_.front().replicas;
  batch.clear();
  for (const Group& group : groups) {
    group.for_each_running([&](int, std::size_t replica) {
      if (chosen.empty() || chosen[replica]) batch.push_back(replica);
    });
  }
  return !batch.empty();
}

void PotentialForces::save(const Group& group) {
  copy_state(group, saved_[group.replica_of_state(0)]);
}
void PotentialForces::restore(std::vector<Group>& groups) const {
  for (Group& group : groups) {
    if (group.running_replicas > 0) copy_state(saved_[group.replica_of_state(0)], group);
  }
}

void PotentialForces::place(const Group& group, const AlignedVector<double>& x) {
  for (int r = 0; r < group.replicas; ++r) {
    layout_.gather(group, x, r, &positions_[image_of(group.first_replica + r, 0) * size_]);
  }
}

/// The results are NaN before the call, so that an image that the potential skips is not good.
void PotentialForces::run(Call& call) const {
  call.ids.clear();
  call.positions.clear();
  for (const std::size_t replica : call.replicas) {
    const std::size_t first = replica * copies_;
    call.ids.insert(call.ids.end(), &ids_[first], &ids_[first] + copies_);
    const double* const x = &positions_[first * size_];
    call.positions.insert(call.positions.end(), x, x + copies_ * size_);
  }
  call.energies.assign(call.ids.size(), kNoNumber);
  call.forces.assign(call.positions.size(), kNoNumber);
  if (call.ids.empty()) return;
  call.potential->compute(call.positions, call.ids, call.energies, call.forces);
}

void PotentialForces::compute(Call& call) {
  run(call);
  for (std::size_t k = 0; k < call.replicas.size(); ++k) {
    const std::size_t from = k * copies_, to = call.replicas[k] * copies_;
    std::copy_n(&call.energies[from], copies_, &energies_[to]);
    std::copy_n(&call.forces[from * size_], copies_ * size_, &forces_[to * size_]);
    bad_[call.replicas[k]] = first_bad_molecule(call.replicas[k]);
  }
  keep_details(call);
}

void PotentialForces::compute() { compute(calls_.front()); }

bool PotentialForces::divide(std::size_t threads) {
  for (std::size_t thread = 0; thread < threads; ++thread) {
    std::shared_ptr<Potential> own = calls_.front().potential->for_thread();
    if (!own) return false;
    calls_.push_back({std::move(own), {}, {}, {}, {}, {}});
  }
  return true;
}

void PotentialForces::compute(const Group& group, std::size_t thread) {
  Call& call = calls_[1 + thread];
  call.replicas.clear();
  group.for_each_running([&](int, std::size_t replica) { call.replicas.push_back(replica); });
  compute(call);
}

void PotentialForces::keep_details(const Call& call) {
  const PotentialDetails details = call.potential->details();
  // The first call is for all groups: later ones, of several threads, find the sizes.
  if (!details.bond_energies_kcal_per_mol.empty()) bonds_.resize(energies_.size());
  if (!details.field_energies_kcal_per_mol.empty()) fields_.resize(energies_.size());
  if (!details.dipoles_e_A.empty()) dipoles_.resize(3 * energies_.size());
  if (!details.failures.empty()) failures_.resize(bad_.size());
  for (std::size_t k = 0; k < call.replicas.size(); ++k) {
    const std::size_t from = k * copies_, to = call.replicas[k] * copies_;
    if (!failures_.empty()) failures_[call.replicas[k]] = ImageFailure::none;
    const auto separate = [&](std::span<const double> energies, std::vector<double>& kept) {
      for (std::size_t copy = 0; copy < copies_ && !kept.empty(); ++copy) {
        kept[to + copy] = energies[from + copy];
        energies_[to + copy] -= kept[to + copy];
      }
    };
    separate(details.bond_energies_kcal_per_mol, bonds_);
    separate(details.field_energies_kcal_per_mol, fields_);
    for (std::size_t copy = 0; copy < copies_; ++copy) {
      if (!failures_.empty() && details.failures[from + copy] != ImageFailure::none) {
        failures_[call.replicas[k]] = details.failures[from + copy];
      }
    }
    if (dipoles_.empty()) continue;
    std::copy_n(&details.dipoles_e_A[3 * from], 3 * copies_, &dipoles_[3 * to]);
  }
}

void PotentialForces::compute_rescaled() {
  Call& call = calls_.front();
  run(call);
  rescaled_.assign(energies_.size(), kNoNumber);
  for (std::size_t k = 0; k < call.energies.size(); ++k) {
    const double energy = call.energies[k];
    if (std::isfinite(energy))
      rescaled_[call.replicas[k / copies_] * copies_ + k % copies_] = energy;
  }
}

int PotentialForces::first_bad_molecule(std::size_t replica) const {
  const std::size_t first = replica * copies_;
  // Zero times a number is zero, and NaN else.
  double sum = 0.0;
  const double* const f = &forces_[first * size_];
  for (std::size_t k = 0; k < copies_ * size_; ++k) sum += 0.0 * f[k];
  for (std::size_t copy = 0; copy < copies_; ++copy) sum += 0.0 * energies_[first + copy];
  if (sum == 0.0) return -1;
  for (std::size_t k = 0; k < copies_ * size_; ++k) {
    if (!std::isfinite(f[k])) return static_cast<int>(k % size_ / 9);
  }
  return 0;
}

bool PotentialForces::any_is_bad(const Group& group) const {
  bool any = false;
  group.for_each_running([&](int r, std::size_t) { any = any || bad_molecule(group, r) >= 0; });
  return any;
}

void PotentialForces::put_forces(const Group& group, double* f) const {
  const int n = layout_.molecules(), lanes = layout_.lanes();
  const auto put_slot = [&](int slot, const double* from) {
    for (int m = 0; m < n; ++m) {
      double* const to = f + layout_.index(group, slot, m, 0);
      for (int c = 0; c < 9; ++c) to[c * lanes] = from == nullptr ? 0.0 : from[9 * m + c];
    }
  };
  const auto forces_of = [&](int r, int copy) {
    const bool is_good = !group.is_stopped(r) && bad_molecule(group, r) < 0;
    return is_good ? forces_on(group.first_replica + r, copy) : nullptr;
  };
  if (!group.lanes_are_replicas) std::fill_n(f, layout_.pack_doubles(group), 0.0);
  const int used = layout_.first_slot(group.replicas);
  for (int slot = 0; slot < used; ++slot) {
    put_slot(slot, forces_of(slot / layout_.copies(), slot % layout_.copies()));
  }
  for (int slot = used; slot < group.slots; ++slot) {
    put_slot(slot, layout_.has_rings() ? nullptr : forces_of(0, 0));
  }
}

void PotentialForces::swap(int first, int second) {
  const std::size_t a = image_of(first, 0), b = image_of(second, 0);
  const auto swap_images = [&](std::vector<double>& numbers, std::size_t size) {
    if (numbers.empty()) return;
    std::swap_ranges(&numbers[a * size], &numbers[a * size] + copies_ * size, &numbers[b * size]);
  };
  swap_images(energies_, 1);
  swap_images(bonds_, 1);
  swap_images(fields_, 1);
  swap_images(dipoles_, 3);
  swap_images(forces_, size_);
}

}  // namespace tarn::cpu
