// Rigid TIP3P water in vacuum with OpenMM. bench/peers/run writes the input, builds and runs this.
//
// usage: openmm_run version
//        openmm_run INPUT energy    PLATFORM CUTOFF_NM THREADS
//        openmm_run INPUT positions PLATFORM CUTOFF_NM THREADS TEMPERATURE_K FRICTION_PER_PS STEPS
//        openmm_run INPUT time      PLATFORM CUTOFF_NM THREADS TEMPERATURE_K FRICTION_PER_PS STEPS
//
// A cutoff of 0 is no cutoff. `time` runs a quarter of the steps before its clock starts.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <OpenMM.h>

namespace {

struct Input {
  int molecules = 0;
  double charge_o_e = 0, charge_h_e = 0, sigma_nm = 0, epsilon_kj_per_mol = 0;
  double mass_o_Da = 0, mass_h_Da = 0, r_oh_nm = 0, r_hh_nm = 0;
  std::vector<OpenMM::Vec3> positions_nm;
};

Input read(const std::string& path) {
  std::ifstream file(path);
  Input in;
  file >> in.molecules >> in.charge_o_e >> in.charge_h_e >> in.sigma_nm >> in.epsilon_kj_per_mol >>
      in.mass_o_Da >> in.mass_h_Da >> in.r_oh_nm >> in.r_hh_nm;
  for (int atom = 0; atom < 3 * in.molecules; ++atom) {
    OpenMM::Vec3 r;
    file >> r[0] >> r[1] >> r[2];
    in.positions_nm.push_back(r);
  }
  if (!file) throw std::runtime_error("cannot read " + path);
  return in;
}

/// Charges, Lennard-Jones and constraints.
void fill(OpenMM::System& system, const Input& in, double cutoff_nm) {
  auto force = std::make_unique<OpenMM::NonbondedForce>();
  for (int m = 0; m < in.molecules; ++m) {
    const int o = 3 * m;
    system.addParticle(in.mass_o_Da);
    force->addParticle(in.charge_o_e, in.sigma_nm, in.epsilon_kj_per_mol);
    for (int h = 0; h < 2; ++h) {
      system.addParticle(in.mass_h_Da);
      force->addParticle(in.charge_h_e, in.sigma_nm, 0.0);
    }
    // OpenMM uses SETTLE for three distances of three atoms.
    system.addConstraint(o, o + 1, in.r_oh_nm);
    system.addConstraint(o, o + 2, in.r_oh_nm);
    system.addConstraint(o + 1, o + 2, in.r_hh_nm);
    force->addException(o, o + 1, 0.0, 1.0, 0.0);
    force->addException(o, o + 2, 0.0, 1.0, 0.0);
    force->addException(o + 1, o + 2, 0.0, 1.0, 0.0);
  }
  force->setNonbondedMethod(cutoff_nm > 0 ? OpenMM::NonbondedForce::CutoffNonPeriodic
                                          : OpenMM::NonbondedForce::NoCutoff);
  if (cutoff_nm > 0) force->setCutoffDistance(cutoff_nm);
  // Dielectric 1: the reaction field is a constant, which cancels for neutral molecules.
  force->setReactionFieldDielectric(1.0);
  force->setUseSwitchingFunction(false);
  force->setUseDispersionCorrection(false);
  system.addForce(force.release());
}

std::map<std::string, std::string> properties(const std::string& platform, const char* threads) {
  if (platform == "CPU") return {{"Threads", threads}};
  return {};
}

/// Energies [kJ/mol] with and without charges, forces [kJ/mol/nm].
void energy(const Input& in, OpenMM::Platform& platform,
            const std::map<std::string, std::string>& with, double cutoff_nm) {
  const auto point = [&](const Input& input, bool with_forces) {
    OpenMM::System system;
    fill(system, input, cutoff_nm);
    OpenMM::VerletIntegrator integrator(0.001);
    OpenMM::Context context(system, integrator, platform, with);
    context.setPositions(input.positions_nm);
    const OpenMM::State state = context.getState(OpenMM::State::Energy | OpenMM::State::Forces);
    std::printf("%.17g\n", state.getPotentialEnergy());
    if (!with_forces) return;
    for (const OpenMM::Vec3& f : state.getForces()) {
      std::printf("%.17g %.17g %.17g\n", f[0], f[1], f[2]);
    }
  };
  Input uncharged = in;
  uncharged.charge_o_e = uncharged.charge_h_e = 0.0;
  point(uncharged, false);
  point(in, true);
}

/// Positions [nm] after the steps, or the time of the steps [s].
void steps(const Input& in, OpenMM::Platform& platform,
           const std::map<std::string, std::string>& with, double cutoff_nm, bool timed,
           double temperature_K, double friction_per_ps, int count) {
  OpenMM::System system;
  fill(system, in, cutoff_nm);
  OpenMM::LangevinMiddleIntegrator integrator(temperature_K, friction_per_ps, 0.002);
  integrator.setRandomNumberSeed(1);
  OpenMM::Context context(system, integrator, platform, with);
  context.setPositions(in.positions_nm);
  context.setVelocitiesToTemperature(temperature_K, 1);
  if (timed) integrator.step(count / 4 + 10);
  const auto start = std::chrono::steady_clock::now();
  integrator.step(count);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const OpenMM::State state = context.getState(OpenMM::State::Energy | OpenMM::State::Positions);
  if (!std::isfinite(state.getPotentialEnergy())) throw std::runtime_error("the run blew up");
  if (timed) {
    std::printf("%.9g\n", seconds.count());
    return;
  }
  for (const OpenMM::Vec3& r : state.getPositions()) {
    std::printf("%.17g %.17g %.17g\n", r[0], r[1], r[2]);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 2 && std::string(argv[1]) == "version") {
    std::printf("%s\n", OpenMM::Platform::getOpenMMVersion().c_str());
    return 0;
  }
  if (argc != 6 && argc != 9) throw std::runtime_error("wrong number of arguments");
  const std::string task = argv[2], name = argv[3];
  const double cutoff_nm = std::stod(argv[4]);
  OpenMM::Platform::loadPluginsFromDirectory(OpenMM::Platform::getDefaultPluginsDirectory());
  OpenMM::Platform& platform = OpenMM::Platform::getPlatformByName(name);
  const Input in = read(argv[1]);
  if (task == "energy") {
    energy(in, platform, properties(name, argv[5]), cutoff_nm);
  } else {
    steps(in, platform, properties(name, argv[5]), cutoff_nm, task == "time", std::stod(argv[6]),
          std::stod(argv[7]), std::stoi(argv[8]));
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "openmm_run: %s\n", error.what());
  return 1;
}
