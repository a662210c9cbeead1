#include "small_cluster_forces.hpp"

#include <algorithm>

#include "layout.hpp"
#include "physics/flexible.hpp"
#include "tarn/state.hpp"

namespace tarn::cpu {

SmallClusterForces::SmallClusterForces(const WaterModel& model, int molecules,
                                       const KernelTable& kernels)
    : kernels_(kernels),
      pair_(pair_parameters<double>(model)),
      bonds_(flexible_parameters(model)),
      flexible_(model.is_flexible()),
      m_site_(model.has_m_site()),
      molecules_(molecules),
      packs_((molecules + kernels.lanes - 1) / kernels.lanes) {
  const auto lanes = static_cast<std::size_t>(kernels_.lanes);
  const auto n = static_cast<std::size_t>(molecules);
  const auto row = static_cast<std::size_t>(narrow_row_length(molecules, kernels_.lanes));
  x_.resize(kCoordinatesPerMolecule * n * lanes);
  f_.resize(x_.size());
  sites_.resize(kSiteComponents * n * lanes);
  work_.resize(std::max(kSiteForceComponents * (n + n / 2) * lanes,
                        (kSiteComponents + kSiteForceComponents) * row));
  terms_.resize(2 * (n / 2) * static_cast<std::size_t>(packs_) * lanes);
  energies_.resize(lanes);
  bond_energies_.resize(lanes);
}

void SmallClusterForces::compute(int clusters, const double* positions_A,
                                 double* energies_kcal_per_mol, double* forces_kcal_per_mol_A) {
  if (!takes_one_by_one(clusters)) {
    return compute_together(clusters, positions_A, energies_kcal_per_mol, forces_kcal_per_mol_A);
  }
  const int numbers = kCoordinatesPerMolecule * molecules_;
  for (int c = 0; c < clusters; ++c) {
    energies_kcal_per_mol[c] =
        compute_alone(positions_A + c * numbers, forces_kcal_per_mol_A + c * numbers);
  }
}

double SmallClusterForces::compute_alone(const double* positions_A, double* forces_kcal_per_mol_A) {
  const int n = molecules_, lanes = kernels_.lanes, padded = packs_ * lanes;
  const auto for_each_lane = [&](const auto& op) {
    for (int m = 0, pack = 0; m < padded; m += lanes, pack += kCoordinatesPerMolecule * lanes) {
      for (int lane = 0; lane < lanes; ++lane) op(m + lane, pack + lane);
    }
  };
  for_each_lane([&](int m, int at) {
    // Unused lanes repeat the first molecule.
    const double* from = positions_A + (m < n ? m : 0) * kCoordinatesPerMolecule;
    double* to = x_.data() + at;
    for (int c = 0; c < kCoordinatesPerMolecule; ++c) to[c * lanes] = from[c];
  });
  const NarrowPairs pairs{sites_.data(), work_.data(), f_.data(), n, narrow_row_length(n, lanes)};
  kernels_.build_sites[m_site_][0]({x_.data(), sites_.data(), nullptr, n, padded, 1, 0, 0, 1},
                                   pair_, 0, packs_);
  kernels_.narrow_pairs[m_site_][0](pairs, pair_);
  double energy = kernels_.narrow_energy[m_site_](pairs, pair_, terms_.data());
  if (flexible_) {
    kernels_.rings.add_bond_forces(bonds_, x_.data(), packs_, f_.data());
    double bond_energy = 0.0;
    for (int p = 0; p < packs_; ++p) {
      kernels_.rings.bond_energies(bonds_, x_.data() + p * kCoordinatesPerMolecule * lanes, 1,
                                   energies_.data());
      for (int l = 0; l < std::min(lanes, n - p * lanes); ++l) {
        bond_energy += energies_[l];
      }
    }
    energy += bond_energy;
  }
  for_each_lane([&](int m, int at) {
    if (m >= n) return;
    const double* from = f_.data() + at;
    double* to = forces_kcal_per_mol_A + m * kCoordinatesPerMolecule;
    for (int c = 0; c < kCoordinatesPerMolecule; ++c) to[c] = from[c * lanes];
  });
  return energy;
}

void SmallClusterForces::compute_together(int clusters, const double* positions_A,
                                          double* energies_kcal_per_mol,
                                          double* forces_kcal_per_mol_A) {
  const auto lanes = static_cast<std::size_t>(kernels_.lanes);
  const std::size_t numbers = x_.size() / lanes;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    // Unused lanes repeat the last cluster.
    const std::size_t cluster = std::min(lane, static_cast<std::size_t>(clusters) - 1);
    const double* from = positions_A + cluster * numbers;
    for (std::size_t k = 0; k < numbers; ++k) x_[k * lanes + lane] = from[k];
  }
  compute_packs(x_.data(), energies_.data(), f_.data());
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(clusters); ++lane) {
    double* to = forces_kcal_per_mol_A + lane * numbers;
    for (std::size_t k = 0; k < numbers; ++k) to[k] = f_[k * lanes + lane];
    energies_kcal_per_mol[lane] = energies_[lane];
  }
}

bool SmallClusterForces::takes_one_by_one(int clusters) const {
  return molecule_lanes_are_faster(molecules_, clusters, kernels_.lanes, 1);
}
void SmallClusterForces::compute_packs(const double* x, double* energies, double* f) {
  kernels_.small_pairs[m_site_][0]({x, sites_.data(), work_.data(), f, molecules_}, pair_);
  kernels_.measure.potential_energies[m_site_](pair_, x, molecules_, energies);
  if (!flexible_) return;
  kernels_.rings.add_bond_forces(bonds_, x, molecules_, f);
  kernels_.rings.bond_energies(bonds_, x, molecules_, bond_energies_.data());
  for (int lane = 0; lane < kernels_.lanes; ++lane) energies[lane] += bond_energies_[lane];
}

}  // namespace tarn::cpu
