#include "small_cluster_forces.hpp"

#include <algorithm>

#include "layout.hpp"
#include "tarn/physics/flexible.hpp"
#include "tarn/state.hpp"

namespace tarn::cpu {

SmallClusterForces::SmallClusterForces(const WaterModel& model, int molecules)
    : kernels_(best_kernels()),
      pair_(pair_parameters<double>(model)),
      bonds_(flexible_parameters(model)),
      flexible_(model.is_flexible()),
      m_site_(model.has_m_site()),
      molecules_(molecules) {
  const auto lanes = static_cast<std::size_t>(kernels_.lanes);
  const auto n = static_cast<std::size_t>(molecules);
  x_.resize(kCoordinatesPerMolecule * n * lanes);
  f_.resize(x_.size());
  sites_.resize(kSiteComponents * n * lanes);
  work_.resize(kSiteForceComponents * (n + n / 2) * lanes);
  energies_.resize(lanes);
  bond_energies_.resize(lanes);
}

void SmallClusterForces::compute(int clusters, const double* positions_A,
                                 double* energies_kcal_per_mol, double* forces_kcal_per_mol_A) {
  const auto lanes = static_cast<std::size_t>(kernels_.lanes);
  const std::size_t numbers = x_.size() / lanes;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    // Unused lanes repeat the last cluster.
    const std::size_t cluster = std::min(lane, static_cast<std::size_t>(clusters) - 1);
    const double* from = positions_A + cluster * numbers;
    for (std::size_t k = 0; k < numbers; ++k) x_[k * lanes + lane] = from[k];
  }
  kernels_.small_pairs[m_site_][0]({x_.data(), sites_.data(), work_.data(), f_.data(), molecules_},
                                   pair_);
  kernels_.measure.potential_energies[m_site_](pair_, x_.data(), molecules_, energies_.data());
  if (flexible_) {
    kernels_.rings.add_bond_forces(bonds_, x_.data(), molecules_, f_.data());
    kernels_.rings.bond_energies(bonds_, x_.data(), molecules_, bond_energies_.data());
  }
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(clusters); ++lane) {
    double* to = forces_kcal_per_mol_A + lane * numbers;
    for (std::size_t k = 0; k < numbers; ++k) to[k] = f_[k * lanes + lane];
    energies_kcal_per_mol[lane] = energies_[lane] + bond_energies_[lane];
  }
}

}  // namespace tarn::cpu
