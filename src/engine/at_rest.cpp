#include "at_rest.hpp"

#include <cstddef>
#include <numeric>
#include <utility>

#include "device_engine.hpp"

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

}  // namespace

AtRest::AtRest(int molecules, std::span<const double> positions_A, DeviceRequest device)
    : device_(std::move(device)) {
  at_.molecules = molecules;
  at_.replica_ids.resize(positions_A.size() / at_.coordinates());
  std::iota(at_.replica_ids.begin(), at_.replica_ids.end(), 0);
  at_.positions_A.assign(positions_A.begin(), positions_A.end());
  at_.velocities_A_per_akma.assign(positions_A.size(), 0.0);
}

/// With this scheme the positions equal the reported positions.
std::vector<Energies> AtRest::energies(const WaterModel& model) const {
  const System system = system_of(model, at_.molecules, Scheme::verlet);
  Frame frame;
  make_device_engine(system, at_, {}, device_)->snapshot(kEnergies, frame);
  return std::move(frame.energies);
}

/// Forces of a rigid model from the reported positions of Z&Ss, q = x + b h^2 F/m. b h^2 is so
/// large that the rounding of x is negligible.
std::vector<double> AtRest::forces_kcal_per_mol_A(const WaterModel& model) const {
  WaterModel rigid = model;
  rigid.intramolecular = {};
  System system = system_of(rigid, at_.molecules, Scheme::zss_stiff);
  system.integrator.beta = 0.25;
  system.integrator.timestep_akma = 0x1p11;
  constexpr double kBh2 = 0x1p20;
  Frame frame;
  make_device_engine(system, at_, {}, device_)->snapshot(kPositions, frame);
  std::vector<double> forces(at_.positions_A.size());
  for (std::size_t k = 0; k < forces.size(); ++k) {
    const double mass_Da = rigid.mass_Da(static_cast<int>(k % 9 / 3));
    forces[k] = mass_Da * (frame.positions_A.at(k) - at_.positions_A[k]) / kBh2;
  }
  return forces;
}

}  // namespace tarn
