#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/physics/water_model.hpp"

namespace tarn {

/// Address at which the program that requests forces listens.
struct ServeAddress {
  /// UNIX socket: a name for `/tmp/ipi_<name>`, as in i-PI and ASE, or a path with a slash. If
  /// empty, host and port are used.
  std::string unix_name{};
  std::string host = "localhost";
  int port = 31415;

  std::string text() const;  ///< for messages
};

struct ServeOptions {
  WaterModel model;
  int molecules = 1;
  /// Element i is the index, in the order O H H, O H H ..., of atom i of the other program. Empty
  /// if the other program has that order.
  std::vector<int> atom_order{};
  /// Penalty strength of the bonds [sqrt(kcal/mol)/A^2]; 0 for no penalty, as for flexible models,
  /// which have their own bond forces.
  double omega = 0.0;
  /// Whether to send a JSON object with the dipole in atomic units, as i-PI reads it, and the
  /// energy terms. Not supported by ASE.
  bool extra = false;
  double wait_seconds = 60.0;  ///< to wait for the other program to listen
  /// Called several times a second; returning true ends serve_forces(). May be empty.
  std::function<bool()> interrupted{};
  std::function<void(const Message&)> on_message{};  ///< may be empty
  /// Called once if the other program does not listen yet. May be empty.
  std::function<void(const std::string&)> on_wait{};
};

struct ServeResult {
  std::int64_t evaluations = 0;
  bool interrupted = false;
};

/// Computes energies and forces for a program that moves the atoms, by the protocol of i-PI
/// (Kapil et al. 2019), until that program ends or closes the connection. The cluster is in vacuum:
/// the cell of the other program is ignored.
///
/// Forces and the virial, the sum of r f^T over the positions as received, are sent with each
/// energy.
/// @throws InputError for a number of atoms other than 3 N, first positions that are not water
/// molecules of this model, invalid addresses, and a penalty with a flexible model
/// @throws IoError if no program listens, the connection breaks, or a message is invalid
/// @throws NumericalError for positions or forces that are not finite
ServeResult serve_forces(const ServeAddress& address, const ServeOptions& options);

}  // namespace tarn
