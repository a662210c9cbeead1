#include "quench_group.hpp"

#include <algorithm>

#include "layout.hpp"

namespace tarn::cpu {

QuenchGroup::QuenchGroup(int molecules, const QuenchRules& rules, const KernelTable& kernels)
    : kernels_(kernels),
      rules_(rules),
      packs_(is_small_cluster(molecules) ? molecules
                                         : (molecules + kernels.lanes - 1) / kernels.lanes),
      small_(is_small_cluster(molecules)) {
  const auto lanes = static_cast<std::size_t>(kernels_.lanes);
  const std::size_t slots = static_cast<std::size_t>(packs_) * lanes;
  for (auto* numbers : {&x_, &trial_, &f_}) numbers->resize(9 * slots);
  energies_.resize(lanes);
  rows_.resize(static_cast<std::size_t>(QuenchRow::kRows * rules_.unknowns()) * slots);
  numbers_.resize(QuenchNumber::kNumbers * lanes);
  // Lanes without a cluster, and molecules after the last one: any molecule, without forces.
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const std::size_t pack = slot / lanes, lane = slot % lanes;
    for (const int c : {3, 7}) {
      trial_[pack_index(kernels_.lanes, pack, c, static_cast<int>(lane))] = rules_.r_oh_A;
    }
  }
  x_ = trial_;
  std::fill_n(&numbers_[QuenchNumber::kStatus * lanes], lanes, double{kQuenchEnded});
}

std::size_t QuenchGroup::at(int cluster, std::size_t molecule) const {
  const auto lanes = static_cast<std::size_t>(kernels_.lanes);
  return small_
             ? pack_index(kernels_.lanes, molecule, 0, cluster)
             : pack_index(kernels_.lanes, molecule / lanes, 0, static_cast<int>(molecule % lanes));
}
void QuenchGroup::get(const AlignedVector<double>& from, int cluster, std::span<double> to) const {
  const auto lanes = static_cast<std::size_t>(kernels_.lanes);
  for (std::size_t m = 0; m < to.size() / 9; ++m) {
    for (std::size_t c = 0; c < 9; ++c) to[9 * m + c] = from[at(cluster, m) + c * lanes];
  }
}
void QuenchGroup::put(std::span<const double> from, int cluster, AlignedVector<double>& to) {
  const auto lanes = static_cast<std::size_t>(kernels_.lanes);
  for (std::size_t m = 0; m < from.size() / 9; ++m) {
    for (std::size_t c = 0; c < 9; ++c) to[at(cluster, m) + c * lanes] = from[9 * m + c];
  }
}

void QuenchGroup::begin(int cluster, std::span<const double> positions_A,
                        double tolerance_kcal_per_mol_A, int most_iterations) {
  put(positions_A, cluster, x_);
  put(positions_A, cluster, trial_);
  const auto lanes = static_cast<std::size_t>(kernels_.lanes);
  const std::size_t step = small_ ? lanes : 1;
  const auto lane = static_cast<std::size_t>(cluster);
  for (std::size_t k = lane; k < rows_.size(); k += step) rows_[k] = 0.0;
  for (std::size_t k = lane; k < numbers_.size(); k += step) numbers_[k] = 0.0;
  begin_quench(tolerance_kcal_per_mol_A, most_iterations, [&](int number, double value) {
    double* const to = &numbers_[static_cast<std::size_t>(number) * lanes];
    for (std::size_t k = lane; k < lanes; k += step) to[k] = value;
  });
}
void QuenchGroup::get_trial(int cluster, std::span<double> positions_A) const {
  get(trial_, cluster, positions_A);
}
void QuenchGroup::put_forces(int cluster, double energy_kcal_per_mol,
                             std::span<const double> forces_kcal_per_mol_A) {
  put(forces_kcal_per_mol_A, cluster, f_);
  if (small_) {
    energies_[static_cast<std::size_t>(cluster)] = energy_kcal_per_mol;
  } else {
    std::ranges::fill(energies_, energy_kcal_per_mol);
  }
}
void QuenchGroup::compute_forces(SmallClusterForces& forces) {
  forces.compute_packs(trial_.data(), energies_.data(), f_.data());
}
void QuenchGroup::step() {
  kernels_.quench_step[small_]({x_.data(), trial_.data(), f_.data(), energies_.data(), rows_.data(),
                                numbers_.data(), packs_},
                               rules_, pair_);
  pair_ = (pair_ + 1) % kQuenchPairs;
}
void QuenchGroup::end(int cluster) {
  const auto lanes = static_cast<std::size_t>(kernels_.lanes);
  double* const status = &numbers_[QuenchNumber::kStatus * lanes];
  std::fill_n(status + cluster, small_ ? 1 : lanes, double{kQuenchEnded});
}
double QuenchGroup::number(int cluster, int k) const {
  return numbers_[static_cast<std::size_t>(k * kernels_.lanes + cluster)];
}
void QuenchGroup::get_positions(int cluster, std::span<double> positions_A) const {
  get(x_, cluster, positions_A);
}

}  // namespace tarn::cpu
