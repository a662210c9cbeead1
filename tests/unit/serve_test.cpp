#include "tarn/serve.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include "engine_fixtures.hpp"
#include "json_reader.hpp"
#include "raw_socket.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/cluster_forces.hpp"
#include "tarn/force_field.hpp"
#include "tarn/physics/parameters.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;

/// What came back for one set of positions, in atomic units.
struct Forces {
  double energy = 0.0;
  std::vector<double> forces;
  std::array<double, 9> virial{};
  std::string extra;
};

/// The program that moves the atoms: it listens, and says what the protocol has it say.
class Listener : public RawSocket {
 public:
  /// On the loopback, at a port that is free.
  Listener() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listen(at, AF_INET);
    socklen_t size = sizeof(at);
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
  }
  explicit Listener(const std::string& path) { listen(unix_address(path), AF_UNIX); }
  ~Listener() { ::close(listening_); }

  int port() const { return port_; }
  void accept() { descriptor_ = ::accept(listening_, nullptr, nullptr); }
  void receive(void* bytes, std::size_t size) { EXPECT_TRUE(receive_all(bytes, size)); }
  template <class T>
  T number() {
    T value{};
    receive(&value, sizeof(value));
    return value;
  }
  std::string header() {
    std::string text(12, '\0');
    receive(text.data(), text.size());
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }
  std::string status() {
    say("STATUS");
    return header();
  }
  void send_positions(const std::vector<double>& positions_bohr) {
    say("POSDATA");
    const std::array<double, 18> cell{};
    send(cell.data(), sizeof(cell));
    send_number(static_cast<std::int32_t>(positions_bohr.size() / 3));
    send(positions_bohr.data(), positions_bohr.size() * sizeof(double));
  }
  Forces forces() {
    say("GETFORCE");
    EXPECT_EQ(header(), "FORCEREADY");
    Forces f;
    f.energy = number<double>();
    f.forces.resize(3 * static_cast<std::size_t>(number<std::int32_t>()));
    receive(f.forces.data(), f.forces.size() * sizeof(double));
    receive(f.virial.data(), sizeof(f.virial));
    f.extra.resize(static_cast<std::size_t>(number<std::int32_t>()));
    receive(f.extra.data(), f.extra.size());
    return f;
  }
  Forces evaluate(const std::vector<double>& positions_bohr) {
    EXPECT_EQ(status(), "READY");
    send_positions(positions_bohr);
    EXPECT_EQ(status(), "HAVEDATA");
    return forces();
  }

 private:
  template <class Address>
  void listen(const Address& at, int family) {
    listening_ = ::socket(family, SOCK_STREAM, 0);
    EXPECT_EQ(::bind(listening_, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0);
    EXPECT_EQ(::listen(listening_, 1), 0);
  }
  int listening_ = -1, port_ = 0;
};

std::vector<double> in_bohr(const std::vector<double>& positions_A) {
  std::vector<double> bohr = positions_A;
  for (double& x : bohr) x /= units::angstrom_per_bohr;
  return bohr;
}

class Serve : public ::testing::Test {
 protected:
  static constexpr int kMolecules = 4;

  Serve() {
    options_.molecules = kMolecules;
    options_.wait_seconds = 10.0;
  }
  ServeAddress address() const { return {folder_.file("socket")}; }
  /// Serves while `talk` is the other side.
  ServeResult serve(const std::function<void(Listener&)>& talk) {
    std::filesystem::remove(folder_.file("socket"));  // of the program before
    Listener listener(folder_.file("socket"));
    return serve(listener, address(), talk);
  }
  ServeResult serve(Listener& listener, const ServeAddress& address,
                    const std::function<void(Listener&)>& talk) {
    const std::jthread other([&] {
      listener.accept();
      talk(listener);
      listener.hang_up();
    });
    return serve_forces(address, options_);
  }

  /// The answer for positions [bohr], of a program that then ends.
  Forces forces_at(const std::vector<double>& positions_bohr) {
    Forces forces;
    serve([&](Listener& l) {
      forces = l.evaluate(positions_bohr);
      l.say("EXIT");
    });
    return forces;
  }
  /// Energies of the model itself, and its forces [kcal/mol/A].
  ClusterEnergy model_forces(std::vector<double>& forces) const {
    forces.resize(positions_A_.size());
    return ForceField(options_.model, kMolecules).energy_and_forces(positions_A_, forces);
  }
  /// Messages of a program that evaluates these positions.
  std::vector<std::string> notes_of(const std::vector<std::vector<double>>& positions_bohr) {
    std::vector<std::string> notes;
    options_.on_message = [&](const Message& message) { notes.push_back(message.text); };
    serve([&](Listener& l) {
      for (const std::vector<double>& x : positions_bohr) l.evaluate(x);
      l.say("EXIT");
    });
    options_.on_message = {};
    return notes;
  }

  ScratchFolder folder_;
  ServeOptions options_{*find_water_model("tip4p")};
  std::vector<double> positions_A_ = lattice_cluster(options_.model, kMolecules, 5);
};

TEST_F(Serve, GivesEnergyForcesVirialAndDipole) {
  std::vector<double> expected;
  const ClusterEnergy e = model_forces(expected);
  options_.extra = true;
  Forces first, again;
  const ServeResult result = serve([&](Listener& l) {
    l.say("INIT");
    l.send_number(std::int32_t{3});
    l.send_number(std::int32_t{5});
    l.send("hello", 5);
    first = l.evaluate(in_bohr(positions_A_));
    again = l.evaluate(in_bohr(positions_A_));
    l.say("EXIT");
  });
  EXPECT_EQ(result.evaluations, 2);
  EXPECT_FALSE(result.interrupted);
  // Positions that were turned into bohr and back are off by some roundings of 10 A; bonds are as
  // stiff as 2e3 kcal/mol/A^2 between molecules that overlap least.
  constexpr double kHartree = 627.5094740631;
  EXPECT_NEAR(first.energy * kHartree, e.total_kcal_per_mol(), 1e-11);
  ASSERT_EQ(first.forces.size(), expected.size());
  std::array<double, 9> virial{};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(first.forces[i] * kHartree / units::angstrom_per_bohr, expected[i], 1e-10);
    for (std::size_t k = 0; k < 3; ++k) {
      virial[3 * (i % 3) + k] += positions_A_[i] * expected[i - i % 3 + k];
    }
  }
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(first.virial[i] * kHartree, virial[i], 1e-9);
    EXPECT_NEAR(first.virial[i], first.virial[3 * (i % 3) + i / 3], 1e-12) << "no torque";
  }
  EXPECT_EQ(again.energy, first.energy);
  EXPECT_EQ(again.forces, first.forces);
  const Json extra = JsonReader(first.extra).read();
  double square = 0.0;
  for (const Json& part : extra["dipole"].items) square += part.number * part.number;
  EXPECT_NEAR(std::sqrt(square) * units::angstrom_per_bohr * units::debye_per_e_A,
              analysis::cluster_dipole(positions_A_, options_.model.dipole_charge_e()).cluster_D,
              1e-12);
  EXPECT_NEAR(extra["coulomb_kcal_per_mol"].number, e.coulomb_kcal_per_mol, 1e-11);
  EXPECT_NEAR(extra["lj_kcal_per_mol"].number, e.lj_kcal_per_mol, 1e-11);
}

/// dE = -(virial) : strain, for a stretch and a shear, with a penalty too.
TEST_F(Serve, TheVirialIsThatOfAStrain) {
  options_.omega = 20.0;
  constexpr double kStrain = 1e-5;
  const std::vector<double> here = in_bohr(positions_A_);
  serve([&](Listener& l) {
    const std::array<double, 9> virial = l.evaluate(here).virial;
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t m = 0; m < 3; ++m) {
        const auto energy = [&](double strain) {
          std::vector<double> x = here;
          for (std::size_t i = 0; i < x.size(); i += 3) x[i + m] += strain * here[i + k];
          return l.evaluate(x).energy;
        };
        const double slope = (energy(kStrain) - energy(-kStrain)) / (2.0 * kStrain);
        // Energies of 0.1 hartree are rounded to 1e-17 each, over 1e-5; the third derivative by the
        // strain is some 1e3 times the slope, over 6, times 1e-10.
        EXPECT_NEAR(-slope, virial[3 * k + m], 1e-9 + 1e-6 * std::abs(slope)) << k << ' ' << m;
      }
    }
    l.say("EXIT");
  });
}

TEST_F(Serve, WorksOverTcp) {
  Listener listener;
  const ServeAddress address{"", "127.0.0.1", listener.port()};
  Forces over_tcp;
  const ServeResult result = serve(listener, address, [&](Listener& l) {
    over_tcp = l.evaluate(in_bohr(positions_A_));
    l.say("EXIT");
  });
  EXPECT_EQ(result.evaluations, 1);
  const Forces over_unix = forces_at(in_bohr(positions_A_));
  EXPECT_EQ(over_tcp.energy, over_unix.energy);
  EXPECT_EQ(over_tcp.forces, over_unix.forces);
}

/// Who closes without reading the answer resets the connection.
TEST_F(Serve, EndsWhenTheOtherSideIsGone) {
  const ServeResult result = serve([](Listener& l) {
    l.say("STATUS");
    l.hang_up();
  });
  EXPECT_EQ(result.evaluations, 0);
  EXPECT_FALSE(result.interrupted);
}

TEST_F(Serve, TakesEachAtomOnce) {
  for (const std::vector<int>& atoms : {std::vector{0, 1, 2},
                                        {0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                                        {-1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12}}) {
    options_.atom_order = atoms;
    expect_throws<InputError>({"must contain each number from 0 to 11 once"},
                              [&] { serve([](Listener&) {}); });
  }
}

TEST_F(Serve, TakesTheOrderOfTheOtherProgram) {
  // All oxygens first.
  for (int m = 0; m < kMolecules; ++m) options_.atom_order.push_back(3 * m);
  for (int m = 0; m < kMolecules; ++m) {
    options_.atom_order.insert(options_.atom_order.end(), {3 * m + 1, 3 * m + 2});
  }
  std::vector<double> theirs, expected;
  for (const int atom : options_.atom_order) {
    const auto first = positions_A_.begin() + 3 * atom;
    theirs.insert(theirs.end(), first, first + 3);
  }
  model_forces(expected);
  Forces f;
  serve([&](Listener& l) { f = l.evaluate(in_bohr(theirs)); });  // and hangs up without EXIT
  EXPECT_TRUE(f.extra.empty()) << "ASE cannot take any";
  ASSERT_EQ(f.forces.size(), expected.size());
  for (std::size_t i = 0; i < options_.atom_order.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(f.forces[3 * i + k] * units::kcal_per_mol_per_hartree / units::angstrom_per_bohr,
                  expected[3 * static_cast<std::size_t>(options_.atom_order[i]) + k], 1e-10);
    }
  }
}

/// With a penalty the forces are those of the energy along any direction.
TEST_F(Serve, ForcesOfThePenaltyMatchItsEnergy) {
  options_.omega = 20.0;
  options_.extra = true;
  std::vector<double> direction;
  for (std::size_t i = 0; i < positions_A_.size(); ++i) {
    positions_A_[i] += 0.02 * std::sin(3.0 * static_cast<double>(i));
    direction.push_back(std::cos(5.0 * static_cast<double>(i)));
  }
  const double h = 1e-4;  // bohr
  Forces here, ahead, behind;
  serve([&](Listener& l) {
    const auto at = [&](double s) {
      std::vector<double> x = in_bohr(positions_A_);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += s * direction[i];
      return l.evaluate(x);
    };
    here = at(0.0);
    ahead = at(h);
    behind = at(-h);
    l.say("EXIT");
  });
  double along = 0.0;
  for (std::size_t i = 0; i < direction.size(); ++i) along += here.forces[i] * direction[i];
  // The third derivative of omega^2 g^2/2 is 12 omega^2 d: some 10 hartree/bohr^3 along 36 numbers,
  // over 6 h^2, and the energy's rounding over h.
  EXPECT_NEAR((behind.energy - ahead.energy) / (2.0 * h), along, 1e-5 * std::abs(along) + 1e-7);
  EXPECT_GT(JsonReader(here.extra).read()["penalty_kcal_per_mol"].number, 0.1);
}

/// A flexible model has bond forces of its own, and no penalty.
TEST_F(Serve, FlexibleModelsHaveTheirOwnBonds) {
  options_.model = *find_water_model("qspcfw");
  options_.extra = true;
  std::vector<double> expected;
  const ClusterEnergy energy = model_forces(expected);
  const Forces f = forces_at(in_bohr(positions_A_));
  const double unit = units::kcal_per_mol_per_hartree;
  EXPECT_NEAR(f.energy * unit, energy.total_kcal_per_mol(), 1e-9);
  EXPECT_GT(energy.intramolecular_kcal_per_mol, 0.1);
  EXPECT_NEAR(JsonReader(f.extra).read()["intramolecular_kcal_per_mol"].number,
              energy.intramolecular_kcal_per_mol, 1e-9);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(f.forces[k] * unit / units::angstrom_per_bohr, expected[k], 1e-9);
  }
  options_.omega = 20.0;
  EXPECT_THROW(serve_forces({}, options_), InputError);
}

TEST_F(Serve, ManyBodyModelsHaveTheirOwnDipoles) {
  options_.model = *find_water_model("mbpol");
  options_.extra = true;
  ForceField force_field(options_.model, kMolecules);
  const ClusterEnergy energy = force_field.energy(positions_A_);
  const Forces f = forces_at(in_bohr(positions_A_));
  EXPECT_NEAR(f.energy * units::kcal_per_mol_per_hartree, energy.total_kcal_per_mol(), 1e-9);
  const Json extra = JsonReader(f.extra).read();
  EXPECT_NEAR(extra["potential_kcal_per_mol"].number, energy.potential_kcal_per_mol, 1e-9);
  const std::vector<double> dipole = dipole_moments_e_A(options_.model, kMolecules, positions_A_);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(extra["dipole"].items[k].number * units::angstrom_per_bohr, dipole[k], 1e-9);
  }
}

TEST_F(Serve, WarnsOnceOfMissingBondForces) {
  std::vector<double> later = in_bohr(positions_A_);
  later[3 + 9] += 1.0;
  const std::vector<std::string> notes = notes_of({in_bohr(positions_A_), later, later});
  ASSERT_EQ(notes.size(), 1u);
  expect_parts_of(notes[0], {"molecule 1", "give an omega"});
}

/// Beads of a ring polymer are far from the geometry of the model; a wrong atom order and an atom
/// wrapped into a cell are farther.
TEST_F(Serve, FlexibleMoleculesMayBeFarFromTheirGeometry) {
  options_.model = *find_water_model("qtip4pf");
  const auto moved = [&](double distance_A) {
    std::vector<double> x = positions_A_;
    for (int k = 0; k < 3; ++k) {  // the first hydrogen, along its bond of 0.9572 A
      x[3 + k] += distance_A / 0.9572 * (positions_A_[3 + k] - positions_A_[k]);
    }
    return in_bohr(x);
  };
  EXPECT_TRUE(notes_of({moved(0.4), moved(0.8)}).empty());
  const std::vector<std::string> notes = notes_of({moved(0.4), moved(2.0), moved(2.0)});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(contains(notes[0], "do not let it wrap atoms into a cell"));
  std::vector<double> exchanged = positions_A_;
  std::swap_ranges(exchanged.begin(), exchanged.begin() + 3, exchanged.begin() + 3);
  expect_throws<InputError>({"in the same order"}, [&] {
    serve([&](Listener& l) { l.send_positions(in_bohr(exchanged)); });
  });
}

TEST_F(Serve, RejectsInvalidMessages) {
  const auto other = [&](const std::function<void(Listener&)>& talk) {
    return [this, talk] { serve(talk); };
  };
  std::vector<double> not_finite = in_bohr(positions_A_), coincident = not_finite;
  not_finite[4] = std::nan("");
  std::copy_n(coincident.begin(), 9, coincident.begin() + 9);
  expect_throws<InputError>({"the other program has 3 atoms, but the structure file has 12"},
                            other([&](Listener& l) { l.send_positions(std::vector<double>(9)); }));
  expect_throws<IoError>({"without positions"}, other([](Listener& l) { l.say("GETFORCE"); }));
  expect_throws<IoError>({"received 'HELLO'"}, other([](Listener& l) { l.say("HELLO"); }));
  expect_throws<IoError>({"within a message"}, other([](Listener& l) { l.send("STAT", 4); }));
  expect_throws<IoError>({"INIT with -1 bytes"}, other([](Listener& l) {
                           l.say("INIT");
                           l.send_number(std::int32_t{0});
                           l.send_number(std::int32_t{-1});
                         }));
  expect_throws<NumericalError>({"not finite numbers"},
                                other([&](Listener& l) { l.send_positions(not_finite); }));
  expect_throws<NumericalError>({"at the same position"},
                                other([&](Listener& l) { l.send_positions(coincident); }));
}

TEST_F(Serve, WaitsForAProgramThatDoesNotListenYet) {
  options_.wait_seconds = 0.0;
  expect_throws<IoError>({"cannot connect to " + folder_.file("socket")},
                         [&] { serve_forces(address(), options_); });
  options_.wait_seconds = std::nan("");
  expect_throws<InputError>({"number of seconds"}, [&] { serve_forces(address(), options_); });
  options_.wait_seconds = 10.0;
  std::string note;
  options_.on_wait = [&](const std::string& text) { note = text; };
  bool asked = false;
  options_.interrupted = [&] { return std::exchange(asked, true); };
  EXPECT_TRUE(serve_forces(address(), options_).interrupted);
  EXPECT_TRUE(contains(note, "waiting for a program to listen at " + folder_.file("socket")));
}

TEST_F(Serve, EndsOnRequest) {
  options_.interrupted = [] { return true; };
  const ServeResult result = serve([](Listener&) {});
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.evaluations, 0);
}

TEST(ServeAddresses, MatchOtherPrograms) {
  EXPECT_EQ((ServeAddress{"water"}.text()), "/tmp/ipi_water");
  EXPECT_EQ((ServeAddress{"./water"}.text()), "./water");
  EXPECT_EQ((ServeAddress{"", "node7", 4}.text()), "node7:4");
  const ServeOptions options{*find_water_model("tip3p")};
  EXPECT_THROW(serve_forces({std::string(200, 'a')}, options), InputError);
}

}  // namespace
}  // namespace tarn
