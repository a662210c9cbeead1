#pragma once

#include <functional>
#include <memory>

#include "tarn/core/message.hpp"
#include "tarn/potential.hpp"
#include "tarn/serve.hpp"

namespace tarn {

struct SocketPotentialOptions {
  ServeAddress address;    ///< at which tarn listens; the host is the interface of this machine
  int clients = 1;         ///< most that compute at a time; further clients wait for one to leave
  double timeout_s = 600;  ///< longest time without a client, and without an answer of a client
  int molecules = 1;       ///< of each image
  /// Called about five times per second while compute() waits; returning true ends the call with
  /// PotentialInterrupted. May be empty.
  std::function<bool()> interrupted{};
  std::function<void(const Message&)> on_message{};  ///< in the thread of compute(); may be empty
  /// Edge of the cubic cell that is sent with the positions, around the origin. The cluster is in
  /// vacuum; clients with a grid or a cutoff use the cell. Clusters that have drifted are shifted
  /// by half edges towards the origin.
  double cell_A = 1000;
};

/// Energies and forces from the clients of the protocol of i-PI (Kapil et al. 2019): other programs
/// connect and receive one image at a time. All clients compute at once, and the results do not
/// depend on which client computes an image unless a client uses its earlier results.
///
/// Listens from the call on, so that clients can be started before the first step. compute() starts
/// with the first client and uses others as soon as they connect. The image of a client that closes
/// the connection, or does not answer for `timeout_s`, goes to another client, with a warning.
/// The destructor sends EXIT to the clients. The name of the potential does not contain the
/// address, because a resumed run may use another one.
///
/// Programs that do not answer STATUS are ignored. compute() throws IoError if no client is
/// connected for `timeout_s` and, unless another connected client has computed an image, if an
/// image is lost by three clients, and for messages that the protocol does not allow.
/// @throws InputError for invalid options
/// @throws IoError if the address cannot be used, for example because another program uses it
std::shared_ptr<Potential> make_socket_potential(const SocketPotentialOptions& options);

}  // namespace tarn
