#include "tarn/cluster_forces.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/parallel.hpp"
#include "cpu/layout.hpp"
#include "cpu/small_cluster_forces.hpp"
#include "device_engine.hpp"
#include "physics/cluster_shape.hpp"
#include "tarn/core/error.hpp"
#include "tarn/force_field.hpp"
#include "tarn/many_body.hpp"
#include "tarn/physics/triple.hpp"
#include "tarn/state.hpp"

namespace tarn {
namespace {

/// Bond strength so small that its forces are below the rounding of all others in double precision.
constexpr double kNoStrength = 1e-12;

System system_of(const WaterModel& model, int molecules, Scheme scheme) {
  System system;
  system.model = model;
  system.molecules = molecules;
  system.integrator.scheme = scheme;
  system.integrator.timestep_akma = 1.0;
  system.integrator.omega = kNoStrength;
  return system;
}

/// Clusters at rest, evaluated by the engine of a device.
class AtRest {
 public:
  /// @param positions_A [cluster][molecule][9]
  AtRest(int molecules, std::span<const double> positions_A, DeviceRequest device)
      : device_(std::move(device)) {
    at_.molecules = molecules;
    at_.replica_ids.resize(positions_A.size() / at_.coordinates());
    std::iota(at_.replica_ids.begin(), at_.replica_ids.end(), 0);
    at_.positions_A.assign(positions_A.begin(), positions_A.end());
    at_.velocities_A_per_akma.assign(positions_A.size(), 0.0);
  }

  /// Energies at the positions, of each cluster; the kinetic ones are 0. With this scheme the
  /// positions equal the reported positions.
  std::vector<Energies> energies(const WaterModel& model) const {
    return measured(system_of(model, at_.molecules, Scheme::verlet), kEnergies).energies;
  }
  /// Forces between molecules, of the size of the positions: those of a rigid model from the
  /// reported positions of Z&Ss, q = x + b h^2 F/m. b h^2 is so large that the rounding of x is
  /// negligible.
  std::vector<double> forces_kcal_per_mol_A(const WaterModel& model) const {
    WaterModel rigid = model;
    rigid.intramolecular = {};
    System system = system_of(rigid, at_.molecules, Scheme::zss_stiff);
    system.integrator.beta = 0.25;
    system.integrator.timestep_akma = 0x1p11;
    constexpr double kBh2 = 0x1p20;
    const Frame frame = measured(system, kPositions);
    std::vector<double> forces(at_.positions_A.size());
    for (std::size_t k = 0; k < forces.size(); ++k) {
      const double mass_Da = rigid.mass_Da(static_cast<int>(k % 9 / 3));
      forces[k] = mass_Da * (frame.positions_A.at(k) - at_.positions_A[k]) / kBh2;
    }
    return forces;
  }

 private:
  Frame measured(const System& system, unsigned fields) const {
    Frame frame;
    make_device_engine(system, at_, {}, device_)->snapshot(fields, frame);
    return frame;
  }

  State at_;
  DeviceRequest device_;
};

/// Work space of one thread for clusters of one size.
class Worker {
 public:
  Worker(const WaterModel& model, int molecules) : model_(model) {
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
      small_->compute(clusters, positions_A.data(), energies_kcal_per_mol,
                      forces_kcal_per_mol_A.data());
      const std::size_t size = positions_A.size() / static_cast<std::size_t>(clusters);
      for (std::size_t c = 0; model_.has_field() && c * size < positions_A.size(); ++c) {
        energies_kcal_per_mol[c] += add_field_forces(model_, positions_A.subspan(c * size, size),
                                                     forces_kcal_per_mol_A.subspan(c * size, size));
      }
      return;
    }
    *energies_kcal_per_mol =
        large_->energy_and_forces(positions_A, forces_kcal_per_mol_A).total_kcal_per_mol();
  }

 private:
  WaterModel model_;
  std::optional<cpu::SmallClusterForces> small_;
  std::optional<ForceField> large_;
};

/// AtRest takes the energy of a model apart into pairs and bonds.
void refuse_device_for_terms(const WaterModel& model, const DeviceRequest& device) {
  if (!model.is_many_body()) return;
  throw InputError(
      fmt::format("device '{}': single energies of many-body models need the CPU; use --device cpu",
                  device.name));
}

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
  std::shared_ptr<Potential> many_body{};

  std::size_t numbers() const {
    return static_cast<std::size_t>(molecules) * kCoordinatesPerMolecule;
  }

  void compute_on_cpu(std::span<const double> x, std::span<double> e, std::span<double> f) {
    if (model.is_many_body()) {
      if (!many_body) {
        many_body = many_body_potential(model.many_body, false, device.threads, {},
                                        model.field_kcal_per_mol_e_A);
      }
      const std::vector<std::int64_t> ids(e.size());
      return many_body->compute(x, ids, e, f);
    }
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
    std::transform(energies.begin(), energies.end(), e.begin(),
                   [](const Energies& one) { return one.all_potential_kcal_per_mol(); });
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
  if (impl_->device.name != "cpu") refuse_device_for_terms(model, device);
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
  std::vector<double> moments(positions_A.size() / numbers * 3, 0.0);
  if (model.is_many_body()) {
    ManyBody(model.many_body, false, 0, {}, model.field_kcal_per_mol_e_A)
        .compute(molecules, positions_A, {{}, {}, {}, moments, {}});
    return moments;
  }
  const double charge_e = model.dipole_charge_e();
  for (std::size_t m = 0; m < positions_A.size() / 9; ++m) {
    const Vec3<double> moment = dipole_moment(molecule_at(positions_A.data(), m), charge_e);
    double* sum = &moments[9 * m / numbers * 3];
    sum[0] += moment.x;
    sum[1] += moment.y;
    sum[2] += moment.z;
  }
  return moments;
}

SinglePoint single_point(const WaterModel& model, std::span<const double> positions_A,
                         const DeviceRequest& device) {
  const auto molecules = static_cast<int>(positions_A.size() / kCoordinatesPerMolecule);
  SinglePoint result;
  if (device.name == "auto" || device.name == "cpu") {
    result.forces_kcal_per_mol_A.resize(positions_A.size());
    result.energy =
        ForceField(model, molecules).energy_and_forces(positions_A, result.forces_kcal_per_mol_A);
    if (model.is_many_body()) {
      ManyBody many_body(model.many_body, false, device.threads, {}, model.field_kcal_per_mol_e_A);
      std::vector<double> terms(many_body.terms().size());
      auto failure = ImageFailure::none;
      many_body.compute(molecules, positions_A, {{}, terms, {}, {}, {&failure, 1}});
      if (failure != ImageFailure::none) throw NumericalError(std::string(failure_text(failure)));
      for (std::size_t k = 0; k < terms.size(); ++k) {
        result.terms_kcal_per_mol.emplace_back(many_body.terms()[k], terms[k]);
      }
    }
    return result;
  }
  if (molecules == 0) throw InputError("a single point needs at least one molecule");
  refuse_device_for_terms(model, device);
  const AtRest cluster(molecules, positions_A, device);
  // Engines report the sum of both energies.
  WaterModel charges = model, spheres = model;
  charges.lj_a_kcal_A12_per_mol = charges.lj_c_kcal_A6_per_mol = 0.0;
  spheres.charge_o_e = spheres.charge_h_e = spheres.charge_m_e = 0.0;
  const Energies of_charges = cluster.energies(charges).at(0);
  result.energy.coulomb_kcal_per_mol = of_charges.potential_kcal_per_mol;
  result.energy.lj_kcal_per_mol = cluster.energies(spheres).at(0).potential_kcal_per_mol;
  result.forces_kcal_per_mol_A = cluster.forces_kcal_per_mol_A(model);
  if (model.is_flexible()) {
    result.energy.field_kcal_per_mol = of_charges.field_kcal_per_mol;
    result.energy.intramolecular_kcal_per_mol = of_charges.bond_kcal_per_mol;
    add_intramolecular_forces(model, positions_A, result.forces_kcal_per_mol_A);
  }
  return result;
}

}  // namespace tarn
