#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tarn/physics/water_model.hpp"

namespace tarn {

/// Where a program listens that wants forces.
struct ServeAddress {
  /// A UNIX socket: `/tmp/ipi_<name>`, as i-PI and ASE have it, or a path where it has a slash.
  /// Empty: host and port.
  std::string unix_name{};
  std::string host = "localhost";
  int port = 31415;

  std::string text() const;  ///< for messages
};

struct ServeOptions {
  WaterModel model;
  int molecules = 1;
  /// Element i: the atom of the order O H H, O H H ... that is atom i of the other program; empty:
  /// it has that order. Each atom once.
  std::vector<int> atoms{};
  /// Strength of the penalty of the bonds, sqrt(kcal/mol)/A^2; 0: they have no forces of their own.
  double omega = 0.0;
  /// Whether a JSON object goes with the forces, with the dipole in atomic units, as i-PI reads it,
  /// and the parts of the energy. ASE cannot take any.
  bool extra = false;
  double wait_seconds = 60.0;  ///< how long for a program that does not listen yet
  /// Asked several times a second; true ends it. May be empty.
  std::function<bool()> interrupted{};
  std::function<void(const std::string&)> on_note{};  ///< may be empty
  /// Told once that nobody listens yet. May be empty.
  std::function<void(const std::string&)> on_wait{};
};

struct ServeResult {
  std::int64_t evaluations = 0;
  bool interrupted = false;
};

/// Computes energies and forces for a program that moves the atoms, by the protocol of i-PI
/// (Kapil et al. 2019), until it says that it is done or closes the connection. The cluster is in
/// vacuum: the cell of the other program is not looked at.
///
/// With each energy go the forces and the virial, the sum of r f^T over the positions as they came.
/// @throws InputError for another number of atoms than 3 N, for first positions that are not those
/// of such molecules, and for what is no address
/// @throws IoError where nobody listens, the connection breaks, or what comes is not the protocol
/// @throws NumericalError for positions or forces that are not numbers
ServeResult serve_forces(const ServeAddress& address, const ServeOptions& options);

}  // namespace tarn
