#include "tarn/force_field.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/aligned.hpp"
#include "kernel_table.hpp"
#include "layout.hpp"
#include "physics/bias.hpp"
#include "physics/flexible.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"
#include "tarn/many_body.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn {

void add_intramolecular_forces(const WaterModel& model, std::span<const double> positions_A,
                               std::span<double> forces_kcal_per_mol_A) {
  const FlexibleParameters<double> bonds = flexible_parameters(model);
  double* f = forces_kcal_per_mol_A.data();
  for (std::size_t m = 0; m < positions_A.size() / 9; ++m) {
    const Triple<double> own = intramolecular_force(molecule_at(positions_A.data(), m), bonds);
    put_molecule(molecule_at(f, m) + own, f, m);
  }
}

double add_field_forces(const WaterModel& model, std::span<const double> positions_A,
                        std::span<double> forces_kcal_per_mol_A) {
  System system;
  system.model = model;
  const OutsideForces<double> field = outside_forces(system);
  double energy = 0.0;
  for (std::size_t m = 0; m < positions_A.size() / 9; ++m) {
    energy += field_energy(molecule_at(positions_A.data(), m), field);
    if (forces_kcal_per_mol_A.empty()) continue;
    double* const f = forces_kcal_per_mol_A.data();
    put_molecule(with_field(molecule_at(f, m), field), f, m);
  }
  return energy;
}

struct ForceField::Impl {
  WaterModel model;
  int molecules;
  std::shared_ptr<Potential> given;      ///< null: the model's energies and forces
  std::shared_ptr<Potential> potential;  ///< the same, or that of a many-body model
  const cpu::KernelTable& kernels = cpu::best_kernels();
  PairParameters<double> parameters = pair_parameters<double>(model);
  FlexibleParameters<double> bonds = flexible_parameters(model);
  int padded = cpu::padded_molecules(molecules);
  AlignedVector<double> x, sites, block_f, f;
  std::vector<double> unused_forces;

  Impl(const WaterModel& m, int n, std::shared_ptr<Potential> p)
      : model(m), molecules(n), given(p), potential(std::move(p)) {
    if (!potential && model.is_many_body()) {
      potential = many_body_potential(model.many_body, false, 1, {}, model.field_kcal_per_mol_e_A);
    }
    if (n < 1) throw InputError("a ForceField is for 1 molecule or more, not " + std::to_string(n));
    if (potential) return;
    const std::size_t padded_size = static_cast<std::size_t>(padded);
    x.resize(9 * padded_size);
    f.resize(9 * padded_size);
    sites.resize(cpu::kSiteComponents * padded_size);
    block_f.resize(cpu::block_force_size(padded, 1));
  }

  void check_size(const char* what, std::size_t size) const {
    const std::size_t expected = 9 * static_cast<std::size_t>(molecules);
    if (size == expected) return;
    throw InputError("a ForceField of " + std::to_string(molecules) + " molecules has " +
                     std::to_string(expected) + " " + what + ", not " + std::to_string(size));
  }
  /// The forces are NaN before the call, so that missing ones are found.
  ClusterEnergy call_potential(std::span<const double> positions_A,
                               std::span<double> forces_kcal_per_mol_A) {
    check_size("coordinates", positions_A.size());
    const std::int64_t id = 0;
    ClusterEnergy e;
    e.potential_kcal_per_mol = kNoNumber;
    std::ranges::fill(forces_kcal_per_mol_A, kNoNumber);
    potential->compute(positions_A, {&id, 1}, {&e.potential_kcal_per_mol, 1},
                       forces_kcal_per_mol_A);
    const bool is_good = std::isfinite(e.potential_kcal_per_mol) &&
                         std::ranges::all_of(forces_kcal_per_mol_A,
                                             [](double force) { return std::isfinite(force); });
    if (!is_good) e.potential_kcal_per_mol = kNoNumber;
    if (const auto within = potential->details().bond_energies_kcal_per_mol; !within.empty()) {
      e.intramolecular_kcal_per_mol = within[0];
      e.potential_kcal_per_mol -= within[0];
    }
    if (const auto field = potential->details().field_energies_kcal_per_mol; !field.empty()) {
      e.field_kcal_per_mol = field[0];
      e.potential_kcal_per_mol -= field[0];
    }
    return e;
  }
  /// All molecules in one block, for one thread.
  cpu::LargePairs load(std::span<const double> positions_A) {
    check_size("coordinates", positions_A.size());
    for (int m = 0; m < padded; ++m) {
      const int source = m < molecules ? m : 0;
      for (int c = 0; c < 9; ++c) {
        x[cpu::pack_index(kernels.lanes, m / kernels.lanes, c, m % kernels.lanes)] =
            positions_A[static_cast<std::size_t>(source) * 9 + c];
      }
    }
    return {x.data(), sites.data(), block_f.data(), molecules, padded, 1, 0, 0, 1};
  }
  ClusterEnergy energy(const cpu::LargePairs& args, std::span<const double> positions_A) {
    ClusterEnergy e;
    if (model.is_flexible()) {
      for (std::size_t m = 0; m < static_cast<std::size_t>(molecules); ++m) {
        e.intramolecular_kcal_per_mol +=
            intramolecular_energy(molecule_at(positions_A.data(), m), bonds);
      }
    }
    if (model.has_field()) e.field_kcal_per_mol = add_field_forces(model, positions_A, {});
    const bool m_site = model.has_m_site();
    kernels.build_sites[m_site][0](args, parameters, 0, padded / kernels.lanes);
    kernels.large_energy[m_site](args, parameters, &e.coulomb_kcal_per_mol, &e.lj_kcal_per_mol);
    return e;
  }
};

ForceField::ForceField(const WaterModel& model, int molecules)
    : ForceField(model, molecules, nullptr) {}
ForceField::ForceField(const WaterModel& model, int molecules, std::shared_ptr<Potential> potential)
    : impl_(std::make_unique<Impl>(model, molecules, std::move(potential))) {}
ForceField::~ForceField() = default;
ForceField::ForceField(ForceField&&) noexcept = default;
ForceField& ForceField::operator=(ForceField&&) noexcept = default;
int ForceField::molecules() const { return impl_->molecules; }
const WaterModel& ForceField::model() const { return impl_->model; }
const std::shared_ptr<Potential>& ForceField::potential() const { return impl_->given; }

PotentialDetails ForceField::details() const {
  return impl_->potential ? impl_->potential->details() : PotentialDetails{};
}

ClusterEnergy ForceField::energy(std::span<const double> positions_A) {
  if (impl_->potential) {
    impl_->unused_forces.resize(positions_A.size());
    return impl_->call_potential(positions_A, impl_->unused_forces);
  }
  return impl_->energy(impl_->load(positions_A), positions_A);
}

ClusterEnergy ForceField::energy_and_forces(std::span<const double> positions_A,
                                            std::span<double> forces_kcal_per_mol_A) {
  Impl& s = *impl_;
  s.check_size("forces", forces_kcal_per_mol_A.size());
  if (s.potential) return s.call_potential(positions_A, forces_kcal_per_mol_A);
  const cpu::LargePairs args = s.load(positions_A);
  const ClusterEnergy e = s.energy(args, positions_A);
  const bool m_site = s.model.has_m_site();
  const int lanes = s.kernels.lanes;
  s.kernels.large_pairs[m_site][0](args, s.parameters);
  s.kernels.sum_blocks[m_site][0](args, s.parameters.m_weight, 0, s.padded / lanes, s.f.data());
  for (int m = 0; m < s.molecules; ++m) {
    for (int c = 0; c < 9; ++c) {
      forces_kcal_per_mol_A[static_cast<std::size_t>(m) * 9 + c] =
          s.f[cpu::pack_index(lanes, m / lanes, c, m % lanes)];
    }
  }
  if (s.model.is_flexible()) {
    add_intramolecular_forces(s.model, positions_A, forces_kcal_per_mol_A);
  }
  if (s.model.has_field()) add_field_forces(s.model, positions_A, forces_kcal_per_mol_A);
  return e;
}

}  // namespace tarn
