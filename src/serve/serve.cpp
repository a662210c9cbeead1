#include "tarn/serve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "connection.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/force_field.hpp"
#include "tarn/physics/parameters.hpp"
#include "tarn/physics/penalty.hpp"

namespace tarn {
namespace {

using serve::Connection;
using units::angstrom_per_bohr;
using units::kcal_per_mol_per_hartree;

/// A bond that is farther off than this is none, or is held by nothing [A].
constexpr double kBroken_A = 0.3;
/// Velocity Verlet with the penalty is stable for steps below this over omega.
constexpr double kVerlet_fs = 21.6;

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// What is answered to one set of positions, in the order of the other program and atomic units.
struct Answer {
  double energy_hartree = 0.0;
  std::vector<double> forces;
  std::array<double, 9> virial_hartree{};
  std::string extra;
};

class Server {
 public:
  Server(const ServeOptions& options)
      : options_(options),
        force_field_(options.model, options.molecules),
        bonds_(bond_reference(options.model)),
        positions_A_(9 * static_cast<std::size_t>(options.molecules)),
        forces_(positions_A_.size()) {
    std::vector<int> each = options.atoms;
    std::sort(each.begin(), each.end());
    for (std::size_t i = 0; !each.empty() && i < std::max(each.size(), atoms()); ++i) {
      if (i < each.size() && i < atoms() && each[i] == static_cast<int>(i)) continue;
      throw InputError(
          fmt::format("the order of the atoms of {} molecules names each of 0 to {} once",
                      options.molecules, atoms() - 1));
    }
  }

  std::size_t atoms() const { return positions_A_.size() / 3; }

  /// @param positions_bohr in the order of the other program
  Answer answer(std::span<const double> positions_bohr);

 private:
  std::size_t own_atom(std::size_t theirs) const {
    return options_.atoms.empty() ? theirs : static_cast<std::size_t>(options_.atoms[theirs]);
  }
  /// Adds the forces of the penalty. @return its energy
  double add_penalty();
  void look_at_bonds();

  const ServeOptions& options_;
  ForceField force_field_;
  BondReference<double> bonds_;
  std::vector<double> positions_A_, forces_;  // [molecule][O, H1, H2][x, y, z]
  bool first_ = true, told_ = false;
};

Triple<double> molecule(const std::vector<double>& x, std::size_t m) {
  const double* p = &x[9 * m];
  return {{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}};
}

double Server::add_penalty() {
  if (options_.omega == 0.0) return 0.0;
  double energy = 0.0;
  for (std::size_t m = 0; m < atoms() / 3; ++m) {
    const Triple<double> x = molecule(positions_A_, m);
    energy += penalty_energy(x, bonds_, options_.omega);
    const Triple<double> f = penalty_force(x, bonds_, options_.omega);
    double* to = &forces_[9 * m];
    for (const Vec3<double>& atom : {f.o, f.h1, f.h2}) {
      *to++ += atom.x;
      *to++ += atom.y;
      *to++ += atom.z;
    }
  }
  return energy;
}

void Server::look_at_bonds() {
  const bool first = std::exchange(first_, false);
  if (told_) return;
  for (std::size_t m = 0; m < atoms() / 3; ++m) {
    const BondValues<double> length2 = bonds(molecule(positions_A_, m)).length2;
    const double off_A = std::max({std::abs(std::sqrt(length2.oh1) - std::sqrt(bonds_.oh2)),
                                   std::abs(std::sqrt(length2.oh2) - std::sqrt(bonds_.oh2)),
                                   std::abs(std::sqrt(length2.hh) - std::sqrt(bonds_.hh2))});
    if (!(off_A > kBroken_A)) continue;
    const std::string what =
        fmt::format("a distance within molecule {} (counted from 1) is {:.2g} A off that of {}",
                    m + 1, off_A, options_.model.name);
    if (first) {
      throw InputError(what +
                       ": the atoms of the other program must be those of the structure, in its "
                       "order");
    }
    told_ = true;
    if (!options_.on_note) return;
    options_.on_note(
        what + (options_.omega > 0.0
                    ? fmt::format("; is the step of the other program short enough ({:.2g} fs for "
                                  "velocity Verlet), or did it put atoms back into a cell?",
                                  kVerlet_fs / options_.omega)
                    : "; bonds have no forces of their own: let the other program hold them, or "
                      "give an omega. Or did it put atoms back into a cell?"));
    return;
  }
}

Answer Server::answer(std::span<const double> positions_bohr) {
  if (!all_finite(positions_bohr)) throw NumericalError("positions came that are no numbers");
  for (std::size_t theirs = 0; theirs < atoms(); ++theirs) {
    for (std::size_t k = 0; k < 3; ++k) {
      positions_A_[3 * own_atom(theirs) + k] = angstrom_per_bohr * positions_bohr[3 * theirs + k];
    }
  }
  look_at_bonds();
  const NonbondedEnergy e = force_field_.energy_and_forces(positions_A_, forces_);
  const double penalty = add_penalty();
  const double energy = e.total_kcal_per_mol() + penalty;
  if (!std::isfinite(energy) || !all_finite(forces_)) {
    throw NumericalError("forces are no numbers: some atoms are in one place");
  }
  Answer a;
  a.energy_hartree = energy / kcal_per_mol_per_hartree;
  const double to_atomic = angstrom_per_bohr / kcal_per_mol_per_hartree;
  a.forces.resize(forces_.size());
  for (std::size_t theirs = 0; theirs < atoms(); ++theirs) {
    for (std::size_t k = 0; k < 3; ++k) {
      a.forces[3 * theirs + k] = to_atomic * forces_[3 * own_atom(theirs) + k];
    }
  }
  std::array<double, 3> dipole_e_A{};
  const double charge_e = options_.model.dipole_charge_e();
  for (std::size_t atom = 0; atom < atoms(); ++atom) {
    const double charge = atom % 3 == 0 ? -2.0 * charge_e : charge_e;
    for (std::size_t k = 0; k < 3; ++k) {
      dipole_e_A[k] += charge * positions_A_[3 * atom + k];
      for (std::size_t l = 0; l < 3; ++l) {
        a.virial_hartree[3 * k + l] +=
            positions_A_[3 * atom + k] * forces_[3 * atom + l] / kcal_per_mol_per_hartree;
      }
    }
  }
  if (!options_.extra) return a;
  a.extra = fmt::format(
      "{{\"dipole\": [{}, {}, {}], \"coulomb_kcal_per_mol\": {}, \"lj_kcal_per_mol\": {}, "
      "\"penalty_kcal_per_mol\": {}}}",
      dipole_e_A[0] / angstrom_per_bohr, dipole_e_A[1] / angstrom_per_bohr,
      dipole_e_A[2] / angstrom_per_bohr, e.coulomb_kcal_per_mol, e.lj_kcal_per_mol, penalty);
  return a;
}

// --- the protocol --------------------------------------------------------------------------------

constexpr std::size_t kHeader = 12;
/// More is no string that a server would send.
constexpr std::int32_t kMostText = 1 << 20;

/// @return nothing where the other side closed the connection
std::optional<std::string> receive_header(Connection& connection) {
  std::array<char, kHeader> text{};
  if (!connection.receive_or_end(std::as_writable_bytes(std::span(text)))) return std::nullopt;
  const std::string_view whole(text.data(), text.size());
  return std::string(whole.substr(0, whole.find_last_not_of(' ') + 1));
}
std::string header_of(std::string_view text) { return fmt::format("{:<{}}", text, kHeader); }

std::string printable(std::string text) {
  for (char& c : text) c = c < ' ' || c > '~' ? '?' : c;
  return text;
}

/// The number of a replica, and a text: nothing of them is needed.
void receive_init(Connection& connection) {
  connection.receive_number<std::int32_t>();
  const auto size = connection.receive_number<std::int32_t>();
  if (size < 0 || size > kMostText) throw IoError(fmt::format("INIT with {} bytes", size));
  std::vector<std::byte> text(static_cast<std::size_t>(size));
  connection.receive(text);
}

std::vector<double> receive_positions(Connection& connection, std::size_t atoms) {
  std::array<double, 18> cell_and_inverse{};
  connection.receive(std::as_writable_bytes(std::span(cell_and_inverse)));
  const auto count = connection.receive_number<std::int32_t>();
  if (count != static_cast<std::int64_t>(atoms)) {
    throw InputError(fmt::format("the other program has {} atoms, and {} molecules have {}", count,
                                 atoms / 3, atoms));
  }
  std::vector<double> positions_bohr(3 * atoms);
  connection.receive(std::as_writable_bytes(std::span(positions_bohr)));
  return positions_bohr;
}

void send_answer(Connection& connection, const Answer& a) {
  const std::string ready = header_of("FORCEREADY");
  connection.send(std::as_bytes(std::span(ready)));
  connection.send_number(a.energy_hartree);
  connection.send_number(static_cast<std::int32_t>(a.forces.size() / 3));
  connection.send(std::as_bytes(std::span(a.forces)));
  connection.send(std::as_bytes(std::span(a.virial_hartree)));
  connection.send_number(static_cast<std::int32_t>(a.extra.size()));
  connection.send(std::as_bytes(std::span(a.extra)));
}

void serve_connection(Connection& connection, const ServeOptions& options, ServeResult& result) {
  Server server(options);
  std::optional<Answer> answer;
  while (const auto header = receive_header(connection)) {
    if (*header == "EXIT") return;
    if (*header == "STATUS") {
      // Who is done need not wait for what it hears.
      const std::string status = header_of(answer ? "HAVEDATA" : "READY");
      if (!connection.send_or_end(std::as_bytes(std::span(status))) && !answer) return;
    } else if (*header == "INIT") {
      receive_init(connection);
    } else if (*header == "POSDATA") {
      answer = server.answer(receive_positions(connection, server.atoms()));
      ++result.evaluations;
    } else if (*header == "GETFORCE" && answer) {
      send_answer(connection, *answer);
      answer.reset();
    } else {
      throw IoError(fmt::format("'{}' came{}, which the protocol of i-PI does not have",
                                printable(*header),
                                *header == "GETFORCE" ? " without positions" : ""));
    }
  }
}

}  // namespace

std::string ServeAddress::text() const {
  if (unix_name.empty()) return fmt::format("{}:{}", host, port);
  return unix_name.find('/') != std::string::npos ? unix_name : "/tmp/ipi_" + unix_name;
}

ServeResult serve_forces(const ServeAddress& address, const ServeOptions& options) {
  ServeResult result;
  try {
    Connection connection(address, options.wait_seconds, options.interrupted, options.on_wait);
    serve_connection(connection, options, result);
  } catch (const serve::Interruption&) {
    result.interrupted = true;
  }
  return result;
}

}  // namespace tarn
