#include "tarn/serve.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <poll.h>
#include <span>
#include <sys/socket.h>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/text.hpp"
#include "physics/penalty.hpp"
#include "sockets.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/force_field.hpp"
#include "tarn/physics/parameters.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn {
namespace {

using ipi::Outgoing;
using ipi::Socket;
using units::angstrom_per_bohr;
using units::kcal_per_mol_per_hartree;

/// A larger deviation of a distance within a molecule means a wrong atom order, or bonds without
/// forces or constraints [A].
constexpr double kBrokenBond_A = 0.3;
/// The same for flexible molecules. Beads of ring polymers deviate by 0.3 A within a few ps. With O
/// and H exchanged the first positions, also those of a restart, deviate by 0.57 A; an atom that is
/// wrapped into a cell deviates by several A.
constexpr double kBrokenFlexibleStart_A = 0.5;
constexpr double kBrokenFlexibleBond_A = 1.0;
/// Velocity Verlet with a penalty is stable for steps below this number divided by omega.
constexpr double kVerletLimit_fs = 21.6;

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// Energy and forces for one set of positions, in the atom order of the other program and in atomic
/// units.
struct Answer {
  double energy_hartree = 0.0;
  std::vector<double> forces;
  std::array<double, 9> virial_hartree{};
  std::string extra;
};

class ForceServer {
 public:
  explicit ForceServer(const ServeOptions& options)
      : options_(options),
        force_field_(options.model, options.molecules),
        bonds_(bond_reference(options.model)),
        positions_A_(9 * static_cast<std::size_t>(options.molecules)),
        forces_(positions_A_.size()) {
    check_atom_order();
  }

  std::size_t atoms() const { return positions_A_.size() / 3; }

  /// @param positions_bohr in the atom order of the other program
  Answer evaluate(std::span<const double> positions_bohr) {
    if (!all_finite(positions_bohr)) {
      throw NumericalError("the other program sent positions that are not finite numbers");
    }
    for (std::size_t theirs = 0; theirs < atoms(); ++theirs) {
      for (std::size_t k = 0; k < 3; ++k) {
        positions_A_[3 * atom_index(theirs) + k] =
            angstrom_per_bohr * positions_bohr[3 * theirs + k];
      }
    }
    check_bonds();
    const ClusterEnergy e = force_field_.energy_and_forces(positions_A_, forces_);
    const double penalty = add_penalty();
    const double energy = e.total_kcal_per_mol() + penalty;
    if (!std::isfinite(energy) || !all_finite(forces_)) {
      const auto failures = force_field_.details().failures;
      const bool is_known = !failures.empty() && failures[0] != ImageFailure::none;
      throw NumericalError(fmt::format(
          "the forces are not finite: {}",
          is_known ? failure_text(failures[0]) : "some atoms are at the same position"));
    }
    Answer a;
    a.energy_hartree = energy / kcal_per_mol_per_hartree;
    const double to_atomic = angstrom_per_bohr / kcal_per_mol_per_hartree;
    a.forces.resize(forces_.size());
    for (std::size_t theirs = 0; theirs < atoms(); ++theirs) {
      for (std::size_t k = 0; k < 3; ++k) {
        a.forces[3 * theirs + k] = to_atomic * forces_[3 * atom_index(theirs) + k];
      }
    }
    std::array<double, 3> dipole_e_A{};
    const std::span<const double> known_e_A = force_field_.details().dipoles_e_A;
    if (!known_e_A.empty()) std::ranges::copy(known_e_A, dipole_e_A.begin());
    for (std::size_t atom = 0; atom < atoms(); ++atom) {
      for (std::size_t k = 0; k < 3; ++k) {
        if (known_e_A.empty()) dipole_e_A[k] += charge_e(atom) * positions_A_[3 * atom + k];
        for (std::size_t l = 0; l < 3; ++l) {
          a.virial_hartree[3 * k + l] +=
              positions_A_[3 * atom + k] * forces_[3 * atom + l] / kcal_per_mol_per_hartree;
        }
      }
    }
    if (!options_.extra) return a;
    const std::string between =
        options_.model.is_many_body()
            ? fmt::format("\"potential_kcal_per_mol\": {}", e.potential_kcal_per_mol)
            : fmt::format("\"coulomb_kcal_per_mol\": {}, \"lj_kcal_per_mol\": {}",
                          e.coulomb_kcal_per_mol, e.lj_kcal_per_mol);
    a.extra = fmt::format("{{\"dipole\": [{}, {}, {}], {}, \"{}_kcal_per_mol\": {}}}",
                          dipole_e_A[0] / angstrom_per_bohr, dipole_e_A[1] / angstrom_per_bohr,
                          dipole_e_A[2] / angstrom_per_bohr, between,
                          options_.model.is_flexible() ? "intramolecular" : "penalty",
                          penalty + e.intramolecular_kcal_per_mol);
    return a;
  }

 private:
  /// The index in positions_A_ of an atom of the other program.
  std::size_t atom_index(std::size_t theirs) const {
    return options_.atom_order.empty() ? theirs
                                       : static_cast<std::size_t>(options_.atom_order[theirs]);
  }
  /// @throws InputError unless each atom occurs once
  void check_atom_order() const {
    std::vector<int> sorted = options_.atom_order;
    if (sorted.empty()) return;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < std::max(sorted.size(), atoms()); ++i) {
      if (i < sorted.size() && i < atoms() && sorted[i] == static_cast<int>(i)) continue;
      throw InputError(
          fmt::format("the atom order of {} must contain each number from 0 to {} once",
                      count_text(options_.molecules, "molecule"), atoms() - 1));
    }
  }
  /// Adds the forces of the penalty. @return its energy
  double add_penalty() {
    if (options_.omega == 0.0) return 0.0;
    double energy = 0.0;
    for (std::size_t m = 0; m < atoms() / 3; ++m) {
      const Triple<double> x = molecule_at(positions_A_.data(), m);
      energy += penalty_energy(x, bonds_, options_.omega);
      put_molecule(molecule_at(forces_.data(), m) + penalty_force(x, bonds_, options_.omega),
                   forces_.data(), m);
    }
    return energy;
  }
  /// Warns once about broken bonds. @throws InputError if they are broken in the first positions
  void check_bonds() {
    const bool first = std::exchange(is_first_, false);
    if (has_warned_) return;
    const double limit_A = !options_.model.is_flexible() ? kBrokenBond_A
                           : first                       ? kBrokenFlexibleStart_A
                                                         : kBrokenFlexibleBond_A;
    for (std::size_t m = 0; m < atoms() / 3; ++m) {
      const BondValues<double> length2 = bonds(molecule_at(positions_A_.data(), m)).length2;
      const double deviation_A =
          std::max({std::abs(std::sqrt(length2.oh1) - std::sqrt(bonds_.oh2)),
                    std::abs(std::sqrt(length2.oh2) - std::sqrt(bonds_.oh2)),
                    std::abs(std::sqrt(length2.hh) - std::sqrt(bonds_.hh2))});
      if (!(deviation_A > limit_A)) continue;
      const std::string problem =
          fmt::format("molecule {} deviates by up to {:.2g} A from the geometry of {}", m,
                      deviation_A, options_.model.name);
      if (first) {
        throw InputError(
            problem +
            ": the other program must have the atoms of the structure file, in the same order");
      }
      has_warned_ = true;
      if (!options_.on_message) return;
      options_.on_message(Message::warning(
          problem + (options_.model.is_flexible()
                         ? ". Reduce the step of the other program (velocity Verlet: 0.5 fs), and "
                           "do not let it wrap atoms into a cell"
                     : options_.omega > 0.0
                         ? fmt::format(". Reduce the step of the other program (velocity Verlet: "
                                       "below {:.2g} fs), and do not let it wrap atoms into a cell",
                                       kVerletLimit_fs / options_.omega)
                         : ". Let the other program constrain the bonds or give an omega for bond "
                           "forces, and do not let it wrap atoms into a cell")));
      return;
    }
  }
  double charge_e(std::size_t atom) const {
    return (atom % 3 == 0 ? -2.0 : 1.0) * options_.model.dipole_charge_e();
  }

  const ServeOptions& options_;
  ForceField force_field_;
  BondReference<double> bonds_;
  std::vector<double> positions_A_, forces_;  // [molecule][O, H1, H2][x, y, z]
  bool is_first_ = true, has_warned_ = false;
};

// --- the connection ------------------------------------------------------------------------------

constexpr int kPoll_ms = 200;
constexpr const char* kClosedInMessage = "the other program closed the connection within a message";

/// Thrown if the `interrupted` callback returns true.
struct Interruption {};

/// A connection to a listening program, whose functions wait. Data have the byte order of this
/// machine.
class Connection {
 public:
  /// Retries until the other program listens, for at most `wait_seconds`.
  /// @param interrupted may be empty @throws InputError, IoError, Interruption
  Connection(const ServeAddress& address, double wait_seconds, std::function<bool()> interrupted,
             const std::function<void(const std::string&)>& on_wait)
      : interrupted_(std::move(interrupted)) {
    using Clock = std::chrono::steady_clock;
    if (!(wait_seconds >= 0.0 && wait_seconds < 1e9)) {
      throw InputError("the waiting time must be a number of seconds from 0 to 1e9");
    }
    const auto end = Clock::now() + std::chrono::duration<double>(wait_seconds);
    for (bool reported = false;; reported = true) {
      socket_ = ipi::connect_to(address);
      if (socket_) return;
      const int number = errno;
      // With these errors the other program may not listen yet; others are permanent.
      const bool is_temporary = number == ENOENT || number == ECONNREFUSED || number == EINTR ||
                                number == EHOSTUNREACH || number == ETIMEDOUT;
      if (!is_temporary || Clock::now() >= end) {
        throw IoError(fmt::format(
            "cannot connect to {}: {}{}", address.text(), ipi::error_text(number),
            is_temporary
                ? fmt::format(
                      ". No program listened within {:g} s: start the program that moves the atoms",
                      wait_seconds)
                : ""));
      }
      if (!reported && on_wait) on_wait("waiting for a program to listen at " + address.text());
      if (interrupted_ && interrupted_()) throw Interruption();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  /// Fills the bytes. @return false if the other program closed the connection before the first
  /// byte
  /// @throws IoError if it closed the connection later; Interruption
  bool try_receive(std::span<std::byte> bytes) {
    std::size_t done = 0;
    while (true) {
      const std::size_t n_ready = std::min(bytes.size() - done, end_ - begin_);
      std::copy_n(received_.begin() + static_cast<std::ptrdiff_t>(begin_), n_ready,
                  bytes.begin() + static_cast<std::ptrdiff_t>(done));
      done += n_ready;
      begin_ += n_ready;
      if (done == bytes.size()) return true;
      if (interrupted_ && interrupted_()) throw Interruption();
      pollfd waiting{socket_.descriptor(), POLLIN, 0};
      const int ready = ::poll(&waiting, 1, kPoll_ms);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      const ssize_t n = ipi::receive_some(socket_, received_);
      if (n > 0) {
        begin_ = 0;
        end_ = static_cast<std::size_t>(n);
        continue;
      }
      if (n < 0 && errno != ECONNRESET)
        throw IoError("the connection was lost: " + ipi::error_text(errno));
      if (done == 0) return false;
      throw IoError(kClosedInMessage);
    }
  }
  /// Fills the bytes. @throws IoError if the connection was closed; Interruption
  void receive(std::span<std::byte> bytes) {
    if (!try_receive(bytes)) throw IoError(kClosedInMessage);
  }
  /// @return false if the other program closed the connection
  bool try_send(std::span<const std::byte> bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n =
          ::send(socket_.descriptor(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) return false;
      if (n < 0) throw IoError("the connection was lost: " + ipi::error_text(errno));
      done += static_cast<std::size_t>(n);
    }
    return true;
  }

  template <class T>
  T receive_number() {
    T value{};
    receive(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

 private:
  Socket socket_;
  std::vector<std::byte> received_ = std::vector<std::byte>(1 << 16);
  std::size_t begin_ = 0, end_ = 0;  ///< of the bytes in received_ that were not requested yet
  std::function<bool()> interrupted_;
};

// --- the protocol --------------------------------------------------------------------------------

/// @return nothing if the other program closed the connection
std::optional<std::string> receive_header(Connection& connection) {
  std::array<std::byte, ipi::kHeaderLength> header{};
  if (!connection.try_receive(header)) return std::nullopt;
  return ipi::header_text(header);
}

/// Receives and ignores the number of a replica and a text.
void receive_init(Connection& connection) {
  connection.receive_number<std::int32_t>();
  const auto size = connection.receive_number<std::int32_t>();
  if (!ipi::is_text_size(size)) throw IoError(fmt::format("received INIT with {} bytes", size));
  std::vector<std::byte> text(static_cast<std::size_t>(size));
  connection.receive(text);
}

std::vector<double> receive_positions(Connection& connection, std::size_t atoms) {
  std::array<double, 18> cell_and_inverse{};
  connection.receive(std::as_writable_bytes(std::span(cell_and_inverse)));
  const auto count = connection.receive_number<std::int32_t>();
  if (count != static_cast<std::int64_t>(atoms)) {
    throw InputError(fmt::format("the other program has {}, but the structure file has {}",
                                 count_text(count, "atom"), atoms));
  }
  std::vector<double> positions_bohr(3 * atoms);
  connection.receive(std::as_writable_bytes(std::span(positions_bohr)));
  return positions_bohr;
}

void send_answer(Connection& connection, const Answer& a) {
  Outgoing message;
  message.put_header("FORCEREADY");
  message.put_number(a.energy_hartree);
  message.put_number(static_cast<std::int32_t>(a.forces.size() / 3));
  message.put(std::as_bytes(std::span(a.forces)));
  message.put(std::as_bytes(std::span(a.virial_hartree)));
  message.put_number(static_cast<std::int32_t>(a.extra.size()));
  message.put(std::as_bytes(std::span(a.extra)));
  if (connection.try_send(message.bytes())) return;
  throw IoError("the other program closed the connection before it received the answer");
}

void serve_connection(Connection& connection, const ServeOptions& options, ServeResult& result) {
  ForceServer server(options);
  std::optional<Answer> answer;
  while (const auto header = receive_header(connection)) {
    if (*header == "EXIT") return;
    if (*header == "STATUS") {
      // A program that needs no more forces may close the connection without reading the status.
      Outgoing status;
      status.put_header(answer ? "HAVEDATA" : "READY");
      if (!connection.try_send(status.bytes()) && !answer) return;
    } else if (*header == "INIT") {
      receive_init(connection);
    } else if (*header == "POSDATA") {
      answer = server.evaluate(receive_positions(connection, server.atoms()));
      ++result.evaluations;
    } else if (*header == "GETFORCE" && answer) {
      send_answer(connection, *answer);
      answer.reset();
    } else {
      throw IoError(fmt::format("received '{}'{}, which the i-PI protocol does not allow",
                                ipi::printable(*header),
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
  if (options.model.is_flexible() && options.omega != 0.0) {
    throw InputError(
        fmt::format("omega = {:g}: {} is a flexible model, which has no penalty. Omit omega, or "
                    "use a rigid model: {}",
                    options.omega, options.model.name, rigid_model_names()));
  }
  ServeResult result;
  try {
    Connection connection(address, options.wait_seconds, options.interrupted, options.on_wait);
    serve_connection(connection, options, result);
  } catch (const Interruption&) {
    result.interrupted = true;
  }
  return result;
}

}  // namespace tarn
