#include <unistd.h>

#include "engine_fixtures.hpp"
#include "io/xyz.hpp"
#include "program.hpp"
#include "tarn/force_field.hpp"
#include "tarn/physics/parameters.hpp"
#include "tarn/socket_potential.hpp"

/// @file
/// Forces from other programs over sockets: `tarn serve`, ASE and LAMMPS. Tests of programs that
/// are not installed are skipped.

namespace tarn {
namespace {

constexpr int kMolecules = 5;

/// Relative difference between results of two programs, due to their values of constants.
struct Difference {
  double energy = 0.0, force = 0.0;
};

class SocketClients : public ::testing::Test {
 protected:
  explicit SocketClients(const char* model = "tip3p") : model_(*find_water_model(model)) {
    for (std::int64_t i = 0; i < 6; ++i) {
      const std::vector<double> x =
          test::lattice_cluster(model_, kMolecules, static_cast<std::uint64_t>(i + 1));
      positions_A_.insert(positions_A_.end(), x.begin(), x.end());
      ids_.push_back(i);
    }
    options_.address.unix_name = fmt::format("tarn-test-{}", ::getpid());
    options_.molecules = kMolecules;
    options_.timeout_s = 60.0;
    options_.on_message = [this](const Message& message) { messages_.push_back(message); };
  }

  std::string path(const std::string& name) const { return folder_.file(name); }
  /// Computes the images by such a program, twice, and compares with tarn's own forces.
  /// @param exit_code of the program after EXIT
  Difference compare(const std::vector<std::string>& words, int exit_code) {
    std::optional<test::Program> program;
    std::vector<double> energies(ids_.size()), forces(positions_A_.size());
    {
      const auto potential = make_socket_potential(options_);
      program.emplace(words, path("output"), path("output"), [&] {
        if (::chdir(folder_.path().c_str()) != 0) ::_exit(126);
      });
      try {
        for (int call = 0; call < 2; ++call) {
          potential->compute(positions_A_, ids_, energies, forces);
        }
      } catch (const IoError& error) {
        ADD_FAILURE() << error.what() << '\n' << test::read_text(path("output"));
        return {1.0, 1.0};
      }
    }
    EXPECT_EQ(program->wait().code, exit_code) << test::read_text(path("output"));
    EXPECT_TRUE(texts_of(Level::warning, messages_).empty());
    Difference largest;
    ForceField force_field(model_, kMolecules);
    std::vector<double> expected(9 * kMolecules);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const std::span<const double> x(&positions_A_[i * expected.size()], expected.size());
      const double energy = force_field.energy_and_forces(x, expected).total_kcal_per_mol();
      largest.energy = std::max(largest.energy, std::abs(energies[i] / energy - 1.0));
      double force = 0.0, difference = 0.0;
      for (std::size_t k = 0; k < expected.size(); ++k) {
        force = std::max(force, std::abs(expected[k]));
        difference = std::max(difference, std::abs(forces[i * expected.size() + k] - expected[k]));
      }
      largest.force = std::max(largest.force, difference / force);
    }
    return largest;
  }

  WaterModel model_;
  test::ScratchFolder folder_;
  SocketPotentialOptions options_;
  std::vector<double> positions_A_;
  std::vector<std::int64_t> ids_;
  Messages messages_;
};

TEST_F(SocketClients, TarnServe) {
  const std::span<const double> first(positions_A_.data(), 9 * kMolecules);
  test::write_text(path("water.xyz"), io::xyz_frame(first, {}, ""));
  const Difference d = compare({TARN_BINARY, "serve", path("water.xyz"), "--model", "tip3p",
                                "--unix", options_.address.unix_name, "--extra"},
                               0);
  EXPECT_LT(d.energy, 1e-10);
  EXPECT_LT(d.force, 1e-10);
}

/// The TIP3P of ASE, with a cutoff outside of the cluster.
TEST_F(SocketClients, Ase) {
  if (std::system("/usr/bin/python3 -c 'import ase' 2>/dev/null") != 0) {
    GTEST_SKIP() << "python3-ase is not installed";
  }
  test::write_text(path("client.py"), fmt::format(R"(
from ase import Atoms
from ase.calculators.socketio import SocketClient
from ase.calculators.tip3p import TIP3P
atoms = Atoms("OHH" * {}, calculator=TIP3P(rc=100.0))
SocketClient(unixsocket="{}").run(atoms, use_stress=False)
)",
                                                  kMolecules, options_.address.unix_name));
  const Difference d = compare({"/usr/bin/python3", path("client.py")}, 0);
  // ASE has sigma = 3.15061 A and epsilon = 0.1521 kcal/mol instead of A and C, which differ by
  // 1e-5, and a Coulomb constant that differs by 1e-6. Forces of several signs add up.
  EXPECT_LT(d.energy, 1e-3);
  EXPECT_LT(d.force, 1e-3);
}

class FlexibleSocketClients : public SocketClients {
 protected:
  FlexibleSocketClients() : SocketClients("spcfw") {}
};

/// SPC/Fw, without lattice sums.
TEST_F(FlexibleSocketClients, Lammps) {
  if (std::system("lmp -h 2>/dev/null | grep -qw ipi") != 0) {
    GTEST_SKIP() << "lmp with fix ipi is not installed";
  }
  std::string data = fmt::format(
      "water\n\n{} atoms\n{} bonds\n{} angles\n2 atom types\n1 bond types\n1 angle types\n\n"
      "-500 500 xlo xhi\n-500 500 ylo yhi\n-500 500 zlo zhi\n\nAtoms # full\n\n",
      3 * kMolecules, 2 * kMolecules, kMolecules);
  std::string bonds, angles;
  for (int m = 0; m < kMolecules; ++m) {
    for (int a = 0; a < 3; ++a) {
      const double* x = &positions_A_[static_cast<std::size_t>(9 * m + 3 * a)];
      data += fmt::format("{} {} {} {} {} {} {}\n", 3 * m + a + 1, m + 1, a == 0 ? 1 : 2,
                          a == 0 ? -0.82 : 0.41, x[0], x[1], x[2]);
      if (a > 0) bonds += fmt::format("{} 1 {} {}\n", 2 * m + a, 3 * m + 1, 3 * m + a + 1);
    }
    angles += fmt::format("{} 1 {} {} {}\n", m + 1, 3 * m + 2, 3 * m + 1, 3 * m + 3);
  }
  test::write_text(path("water.data"), data + "\nBonds\n\n" + bonds + "\nAngles\n\n" + angles);
  test::write_text(path("client.in"), fmt::format(R"(
units real
atom_style full
boundary p p p
pair_style lj/cut/coul/cut 100
bond_style harmonic
angle_style harmonic
special_bonds lj/coul 0 0 0
read_data water.data
mass 1 15.9994
mass 2 1.008
pair_coeff 1 1 0.1554253 3.165492
pair_coeff * 2 0 0
bond_coeff 1 529.581 1.012
angle_coeff 1 37.95 113.24
neighbor 2 bin
neigh_modify delay 0 every 1 check yes
fix 1 all ipi {} 31415 unix
run 1000000
)",
                                                  options_.address.unix_name));
  // LAMMPS treats EXIT as an error.
  const Difference d = compare({"/usr/bin/env", "lmp", "-in", "client.in", "-log", "none"}, 1);
  // The Bohr radius of LAMMPS differs by 2e-9, and its Coulomb constant by 3e-8.
  EXPECT_LT(d.energy, 1e-6);
  EXPECT_LT(d.force, 1e-6);
}

}  // namespace
}  // namespace tarn
