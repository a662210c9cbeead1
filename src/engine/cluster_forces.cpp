#include "tarn/cluster_forces.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "at_rest.hpp"
#include "core/parallel.hpp"
#include "cpu/layout.hpp"
#include "cpu/small_cluster_forces.hpp"
#include "tarn/core/error.hpp"
#include "tarn/flat_coordinates.hpp"
#include "tarn/force_field.hpp"
#include "tarn/physics/cluster_shape.hpp"

namespace tarn {
namespace {

/// Work space of one thread for clusters of one size.
class Worker {
 public:
  Worker(const WaterModel& model, int molecules) {
    if (cpu::is_small_cluster(molecules)) {
      small_.emplace(model, molecules);
    } else {
      large_.emplace(model, molecules);
    }
  }
  /// Clusters that compute() takes at a time.
  int lanes() const { return small_ ? small_->lanes() : 1; }
  /// @param clusters 1 to lanes()
  void compute(int clusters, std::span<const double> positions_A, double* energies_kcal_per_mol,
               std::span<double> forces_kcal_per_mol_A) {
    if (small_) {
      return small_->compute(clusters, positions_A.data(), energies_kcal_per_mol,
                             forces_kcal_per_mol_A.data());
    }
    *energies_kcal_per_mol =
        large_->energy_and_forces(positions_A, forces_kcal_per_mol_A).total_kcal_per_mol();
  }

 private:
  std::optional<cpu::SmallClusterForces> small_;
  std::optional<ForceField> large_;
};

void check_size(const char* what, std::size_t size, std::size_t expected) {
  if (size == expected) return;
  throw InputError(fmt::format("ClusterForces: {} {}, not {}", size, what, expected));
}

}  // namespace

struct ClusterForces::Impl {
  WaterModel model;
  int molecules;
  DeviceRequest device;
  std::optional<Worker> worker;  ///< of the calling thread

  std::size_t numbers() const {
    return static_cast<std::size_t>(molecules) * kCoordinatesPerMolecule;
  }

  void compute_on_cpu(std::span<const double> x, std::span<double> e, std::span<double> f) {
    if (!worker) worker.emplace(model, molecules);
    const auto lanes = static_cast<std::size_t>(worker->lanes());
    const std::size_t blocks = (e.size() + lanes - 1) / lanes;
    const auto compute_block = [&](Worker& own, std::int64_t block) {
      const std::size_t first = static_cast<std::size_t>(block) * lanes;
      const std::size_t count = std::min(lanes, e.size() - first);
      own.compute(static_cast<int>(count), x.subspan(first * numbers(), count * numbers()),
                  &e[first], f.subspan(first * numbers(), count * numbers()));
    };
    if (blocks <= 1 || device.threads == 1) {
      for (std::size_t b = 0; b < blocks; ++b) compute_block(*worker, static_cast<std::int64_t>(b));
      return;
    }
    constexpr std::int64_t kGrain = 8;
    for_each_index(
        static_cast<std::int64_t>(blocks), device.threads,
        [&](int) { return Worker(model, molecules); }, compute_block,
        cpu::is_small_cluster(molecules) ? kGrain : 1);
  }

  void compute_on_device(std::span<const double> x, std::span<double> e, std::span<double> f) {
    if (e.empty()) return;
    const AtRest clusters(molecules, x, device);
    const std::vector<Energies> energies = clusters.energies(model);
    std::transform(energies.begin(), energies.end(), e.begin(), [](const Energies& one) {
      return one.potential_kcal_per_mol + one.bond_kcal_per_mol;
    });
    const std::vector<double> forces = clusters.forces_kcal_per_mol_A(model);
    std::copy(forces.begin(), forces.end(), f.begin());
    if (model.is_flexible()) add_intramolecular_forces(model, x, f);
  }
};

ClusterForces::ClusterForces(const WaterModel& model, int molecules, const DeviceRequest& device)
    : impl_(std::make_unique<Impl>(Impl{model, molecules, device, {}})) {
  if (molecules < 1) {
    throw InputError(fmt::format("ClusterForces need 1 molecule or more, not {}", molecules));
  }
  if (device.name == "auto") impl_->device.name = "cpu";
}
ClusterForces::~ClusterForces() = default;
ClusterForces::ClusterForces(ClusterForces&&) noexcept = default;
ClusterForces& ClusterForces::operator=(ClusterForces&&) noexcept = default;
int ClusterForces::molecules() const { return impl_->molecules; }

void ClusterForces::compute(std::span<const double> positions_A,
                            std::span<double> energies_kcal_per_mol,
                            std::span<double> forces_kcal_per_mol_A) {
  const std::size_t expected = energies_kcal_per_mol.size() * impl_->numbers();
  check_size("coordinates", positions_A.size(), expected);
  check_size("forces", forces_kcal_per_mol_A.size(), expected);
  if (impl_->device.name == "cpu") {
    impl_->compute_on_cpu(positions_A, energies_kcal_per_mol, forces_kcal_per_mol_A);
  } else {
    impl_->compute_on_device(positions_A, energies_kcal_per_mol, forces_kcal_per_mol_A);
  }
}

std::vector<double> dipole_moments_e_A(const WaterModel& model, int molecules,
                                       std::span<const double> positions_A) {
  const std::size_t numbers = static_cast<std::size_t>(molecules) * kCoordinatesPerMolecule;
  if (molecules < 1 || positions_A.size() % numbers != 0) {
    throw InputError(fmt::format("dipole moments: {} coordinates are not whole clusters of {}",
                                 positions_A.size(), molecules));
  }
  const double charge_e = model.dipole_charge_e();
  std::vector<double> moments(positions_A.size() / numbers * 3, 0.0);
  for (std::size_t m = 0; m < positions_A.size() / 9; ++m) {
    const Vec3<double> moment = dipole_moment(molecule_at(positions_A.data(), m), charge_e);
    double* sum = &moments[9 * m / numbers * 3];
    sum[0] += moment.x;
    sum[1] += moment.y;
    sum[2] += moment.z;
  }
  return moments;
}

}  // namespace tarn
