#include "tarn/socket_potential.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/text.hpp"
#include "sockets.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"

namespace tarn {
namespace {

using ipi::kHeaderLength;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll(200);
/// An image that this number of clients lost ends the run: it may be the reason for the losses.
constexpr int kMaxLosses = 3;
/// Connections that have not answered STATUS; the oldest one is closed for a new one.
constexpr std::ptrdiff_t kMostStrangers = 64;
/// Longest time to send EXIT and to receive the answers to STATUS.
constexpr std::chrono::milliseconds kFarewell(2000);

/// What a client does. All but the first two states end with a message of the client. The requests
/// for an image are sent together, because an answer other than the expected one is an error.
enum class Activity : std::uint8_t {
  idle,          ///< has answered READY
  needs_init,    ///< has answered NEEDINIT
  asked,         ///< has not answered STATUS
  initialising,  ///< has not answered the STATUS after INIT
  computing,     ///< has not answered the STATUS after POSDATA
  sending        ///< has not sent the forces
};

/// The images of one call of compute().
struct Batch {
  std::span<const double> positions_A;
  std::span<const std::int64_t> ids;
  std::span<double> energies_kcal_per_mol, forces_kcal_per_mol_A;
  std::deque<std::size_t> waiting{};  ///< images that no client has
  std::vector<int> losses{};          ///< [image] clients that were lost while they had it
  std::size_t done = 0;
};

/// What a client did that the protocol does not allow.
struct Violation {
  std::string text;
};

struct Client {
  ipi::Accepted connection;
  /// Counts from 1, in the order of the first answers. 0: a stranger, which has not answered STATUS
  /// yet and may be a port scan or a browser.
  int number = 0;
  Activity activity = Activity::asked;
  Clock::time_point since{};           ///< of the activity
  std::optional<std::size_t> image{};  ///< none if the image belongs to an earlier batch
  bool has_computed = false;
  ipi::Outgoing to_send{};
  std::vector<std::byte> received{};

  bool is_stranger() const { return number == 0; }
  bool is_free() const { return activity == Activity::idle || activity == Activity::needs_init; }
  bool has_image() const { return !is_free() && activity != Activity::asked; }
  int descriptor() const { return connection.socket.descriptor(); }
  void start(Activity next) {
    activity = next;
    since = Clock::now();
  }
};

/// Reads from the start of received bytes.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t position() const { return position_; }
  bool has(std::size_t bytes) const { return bytes_.size() - position_ >= bytes; }
  std::span<const std::byte> take(std::size_t bytes) {
    position_ += bytes;
    return bytes_.subspan(position_ - bytes, bytes);
  }
  template <class T>
  T number() {
    T value{};
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

const SocketPotentialOptions& checked(const SocketPotentialOptions& options) {
  if (options.clients < 1) throw InputError("clients must be at least 1");
  if (options.molecules < 1) throw InputError("there must be at least one molecule");
  if (!(options.timeout_s > 0.0 && options.timeout_s <= 1e9)) {
    throw InputError("timeout_s must be a number of seconds above 0, up to 1e9");
  }
  if (!(options.cell_A > 0.0 && options.cell_A < 1e9)) {
    throw InputError("cell_A must be a length above 0 and below 1e9");
  }
  return options;
}

class SocketPotential final : public Potential {
 public:
  explicit SocketPotential(const SocketPotentialOptions& options)
      : options_(checked(options)),
        timeout_(std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(options.timeout_s))),
        listener_(options.address) {}

  ~SocketPotential() override {
    const auto end = Clock::now() + kFarewell;
    const auto wait = [end](const Client& client, short events) {
      pollfd waiting{client.descriptor(), events, 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
      return left.count() > 0 && ::poll(&waiting, 1, static_cast<int>(left.count())) > 0;
    };
    for (Client& client : clients_) {
      client.to_send.put_header("EXIT");
      while (send(client) && !client.to_send.bytes().empty() && wait(client, POLLOUT)) continue;
    }
    // The answer to the last STATUS: a client that finds a closed connection reports an error.
    // Clients that still compute are not waited for.
    for (const Client& client : clients_) {
      std::array<std::byte, kHeaderLength> answer;
      if (client.activity != Activity::asked || !wait(client, POLLIN)) continue;
      [[maybe_unused]] const ssize_t n =
          ::recv(client.descriptor(), answer.data(), answer.size(), 0);
    }
  }

  void compute(std::span<const double> positions_A, std::span<const std::int64_t> image_ids,
               std::span<double> energies_kcal_per_mol,
               std::span<double> forces_kcal_per_mol_A) override {
    Batch batch{positions_A, image_ids, energies_kcal_per_mol, forces_kcal_per_mol_A};
    for (std::size_t i = 0; i < image_ids.size(); ++i) batch.waiting.push_back(i);
    batch.losses.assign(image_ids.size(), 0);
    // After a call that was interrupted, clients may still compute its images.
    for (Client& client : clients_) client.image.reset();
    without_since_ = Clock::now();
    handle_events(batch, kPoll * 0);
    while (true) {
      assign(batch);
      if (batch.done == image_ids.size()) return;
      check_times(batch);
      if (options_.interrupted && Clock::now() >= next_poll_) {
        if (options_.interrupted()) throw PotentialInterrupted();
        next_poll_ = Clock::now() + kPoll;
      }
      handle_events(batch, kPoll);
    }
  }
  std::string name() const override { return "i-PI clients"; }

 private:
  using Clients = std::list<Client>;

  std::size_t atoms() const { return 3 * static_cast<std::size_t>(options_.molecules); }
  /// Number of clients that have answered STATUS.
  std::ptrdiff_t known_clients() const {
    return std::ranges::count(clients_, false, &Client::is_stranger);
  }
  bool has_room() const { return known_clients() < options_.clients; }
  std::string name_of(const Client& client) const {
    const std::string& from = client.connection.from;
    return fmt::format(
        "{}{} at {}",
        client.is_stranger() ? "a connection" : fmt::format("client {}", client.number),
        from.empty() ? "" : " from " + from, options_.address.text());
  }
  void report(const Message& message) const {
    if (options_.on_message) options_.on_message(message);
  }

  /// Waits for messages and connections, and handles them.
  void handle_events(Batch& batch, std::chrono::milliseconds wait) {
    polled_.clear();
    for (const Client& client : clients_) {
      const int events = client.to_send.bytes().empty() ? POLLIN : POLLIN | POLLOUT;
      polled_.push_back({client.descriptor(), static_cast<short>(events), 0});
    }
    const bool accepts = has_room();
    if (accepts) polled_.push_back({listener_.descriptor(), POLLIN, 0});
    if (::poll(polled_.data(), polled_.size(), static_cast<int>(wait.count())) <= 0) return;
    std::size_t i = 0;
    for (auto client = clients_.begin(); client != clients_.end();) {
      const short events = polled_[i++].revents;
      try {
        // Data that were sent before the connection ended are read first.
        const bool is_open = events == 0 || (receive(batch, *client) && send(*client));
        client = is_open ? std::next(client) : lose(batch, client, "closed the connection");
      } catch (const Violation& violation) {
        client = lose(batch, client, violation.text, true);
      }
    }
    if (accepts && polled_.back().revents != 0) accept_client(batch);
  }
  void accept_client(Batch& batch) {
    std::optional<ipi::Accepted> connection = listener_.accept();
    if (!connection) return;
    if (std::ssize(clients_) - known_clients() == kMostStrangers) {
      lose(batch, std::ranges::find(clients_, true, &Client::is_stranger), "did not answer");
    }
    Client& client = clients_.emplace_back(Client{std::move(*connection)});
    client.to_send.put_header("STATUS");
    client.start(Activity::asked);
    send(client);  // a closed connection is found by the next poll
  }
  /// Sends the images that wait to the clients that are free.
  void assign(Batch& batch) {
    auto busy = std::ranges::count_if(clients_, &Client::has_image);
    for (auto client = clients_.begin();
         client != clients_.end() && !batch.waiting.empty() && busy < options_.clients;) {
      if (!client->is_free()) {
        ++client;
        continue;
      }
      ++busy;
      client->image = batch.waiting.front();
      batch.waiting.pop_front();
      if (client->activity == Activity::needs_init) {
        const std::int64_t id = batch.ids[*client->image];
        // As i-PI does, never an empty text, which some clients do not support.
        const std::string text = fmt::format("{}", id);
        client->to_send.put_header("INIT");
        client->to_send.put_number(static_cast<std::int32_t>(id & 0x7fffffff));
        client->to_send.put_number(static_cast<std::int32_t>(text.size()));
        client->to_send.put(std::as_bytes(std::span(text)));
        client->to_send.put_header("STATUS");
        client->start(Activity::initialising);
      } else {
        client->start(Activity::computing);
      }
      put_positions(batch, *client);
      client = send(*client) ? std::next(client) : lose(batch, client, "closed the connection");
    }
  }
  void put_positions(const Batch& batch, Client& client) const {
    std::array<double, 18> cell_and_inverse{};
    for (std::size_t k = 0; k < 9; k += 4) {
      cell_and_inverse[k] = options_.cell_A / units::angstrom_per_bohr;
      cell_and_inverse[9 + k] = units::angstrom_per_bohr / options_.cell_A;
    }
    client.to_send.put_header("POSDATA");
    client.to_send.put(std::as_bytes(std::span(cell_and_inverse)));
    client.to_send.put_number(static_cast<std::int32_t>(atoms()));
    const auto x_A = batch.positions_A.subspan(*client.image * 3 * atoms(), 3 * atoms());
    // Some clients fold atoms into the cell: a cluster that has drifted by more than a quarter of
    // the edge is shifted towards the origin.
    std::array<double, 3> shift_A{};
    for (std::size_t k = 0; k < x_A.size(); ++k) {
      shift_A[k % 3] += x_A[k] / static_cast<double>(atoms());
    }
    for (double& s : shift_A) s = options_.cell_A / 2 * std::round(s / (options_.cell_A / 2));
    for (std::size_t k = 0; k < x_A.size(); ++k) {
      client.to_send.put_number((x_A[k] - shift_A[k % 3]) / units::angstrom_per_bohr);
    }
    for (const char* header : {"STATUS", "GETFORCE", "STATUS"}) client.to_send.put_header(header);
  }
  /// @return false if the client closed the connection
  bool send(Client& client) {
    std::size_t done = 0;
    const std::span<const std::byte> bytes = client.to_send.bytes();
    while (done < bytes.size()) {
      const ssize_t n =
          ::send(client.descriptor(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno != EAGAIN) return false;
      if (n < 0) break;
      done += static_cast<std::size_t>(n);
    }
    client.to_send.remove(done);
    return true;
  }
  /// The same. This and the next three functions throw Violation.
  bool receive(Batch& batch, Client& client) {
    std::array<std::byte, 1 << 16> bytes;
    while (true) {
      const ssize_t n = ipi::receive_some(client.connection.socket, bytes);
      if (n < 0 && errno == EAGAIN) return true;
      if (n <= 0) return false;
      client.received.insert(client.received.end(), bytes.begin(), bytes.begin() + n);
      while (handle_message(batch, client)) continue;
      if (static_cast<std::size_t>(n) < bytes.size()) return true;
    }
  }
  /// Handles the first message received. @return false if it is not complete
  bool handle_message(Batch& batch, Client& client) {
    if (client.is_free()) {
      if (client.received.empty()) return false;
      throw Violation{fmt::format("sent {} without a request",
                                  count_text(std::ssize(client.received), "byte"))};
    }
    if (client.activity == Activity::sending) return handle_forces(batch, client);
    if (client.received.size() < kHeaderLength) return false;
    const std::string status = ipi::header_text(std::span(client.received).first(kHeaderLength));
    client.received.erase(client.received.begin(), client.received.begin() + kHeaderLength);
    handle_status(client, status);
    return true;
  }
  bool handle_forces(Batch& batch, Client& client) {
    Reader reader(client.received);
    if (!reader.has(kHeaderLength)) return false;
    const std::string header = ipi::header_text(reader.take(kHeaderLength));
    if (header != "FORCEREADY") {
      throw Violation{
          fmt::format("answered '{}' to GETFORCE; expected FORCEREADY", ipi::printable(header))};
    }
    if (!reader.has(sizeof(double) + sizeof(std::int32_t))) return false;
    const auto energy = reader.number<double>();
    const auto count = reader.number<std::int32_t>();
    if (count != static_cast<std::int64_t>(atoms())) {
      throw Violation{
          fmt::format("sent forces on {}; each image has {}", count_text(count, "atom"), atoms())};
    }
    constexpr std::size_t kVirial = 9 * sizeof(double);
    const std::size_t forces_size = 3 * atoms() * sizeof(double);
    if (!reader.has(forces_size + kVirial + sizeof(std::int32_t))) return false;
    Reader forces(reader.take(forces_size));
    reader.take(kVirial);
    const auto text_size = reader.number<std::int32_t>();
    if (!ipi::is_text_size(text_size)) {
      throw Violation{fmt::format("sent forces with a text of {} bytes", text_size)};
    }
    const auto text = static_cast<std::size_t>(text_size);
    if (!reader.has(text)) return false;
    reader.take(text);
    if (client.image) {
      const std::size_t image = *std::exchange(client.image, std::nullopt);
      batch.energies_kcal_per_mol[image] = energy * units::kcal_per_mol_per_hartree;
      constexpr double kUnit = units::kcal_per_mol_per_hartree / units::angstrom_per_bohr;
      for (double& f : batch.forces_kcal_per_mol_A.subspan(image * 3 * atoms(), 3 * atoms())) {
        f = forces.number<double>() * kUnit;
      }
      ++batch.done;
      client.has_computed = true;
    }
    client.received.erase(client.received.begin(),
                          client.received.begin() + static_cast<std::ptrdiff_t>(reader.position()));
    client.start(Activity::asked);
    return true;
  }
  void handle_status(Client& client, const std::string& status) {
    if (client.activity == Activity::computing) {
      if (status == "HAVEDATA") return client.start(Activity::sending);
      throw Violation{fmt::format("answered '{}' after it received positions; expected HAVEDATA",
                                  ipi::printable(status))};
    }
    const bool is_asked = client.activity == Activity::asked;
    if (status == "READY" || (is_asked && status == "NEEDINIT")) {
      is_absence_reported_ = false;
      if (client.is_stranger()) client.number = ++clients_so_far_;
      return client.start(!is_asked           ? Activity::computing
                          : status == "READY" ? Activity::idle
                                              : Activity::needs_init);
    }
    if (is_asked) {
      throw Violation{fmt::format("answered '{}' to STATUS; expected READY or NEEDINIT",
                                  ipi::printable(status))};
    }
    throw Violation{
        fmt::format("answered '{}' after INIT; expected READY", ipi::printable(status))};
  }
  /// Removes a client; its image waits again. @param what it did, "closed the connection"
  /// @throws IoError if no other client has computed and this one sent an invalid message, or the
  ///         image was lost too often
  Clients::iterator lose(Batch& batch, Clients::iterator client, const std::string& what,
                         bool is_invalid = false) {
    std::string text = fmt::format("{} {}", name_of(*client), what);
    const std::optional<std::size_t> image = client->image;
    const bool is_stranger = client->is_stranger();
    const auto next = clients_.erase(client);
    if (is_stranger) {
      if (!std::exchange(is_stranger_reported_, true)) {
        report(Message::note(text + "; further connections of other programs are not reported"));
      }
      return next;
    }
    const bool has_good_client = std::ranges::any_of(clients_, &Client::has_computed);
    if (is_invalid && !has_good_client) throw IoError(text);
    if (!image) {
      report({is_invalid ? Level::warning : Level::note, text});
      return next;
    }
    batch.waiting.push_front(*image);
    text +=
        fmt::format("{} image {}", is_invalid ? ", for" : " while it computed", batch.ids[*image]);
    if (++batch.losses[*image] >= kMaxLosses && !has_good_client) {
      throw IoError(
          fmt::format("{}. {} clients were lost with this image: check the output of the clients",
                      text, batch.losses[*image]));
    }
    report(Message::warning(text + ", which goes to another client"));
    return next;
  }
  /// Removes clients that do not answer, and reports that there are none. @throws IoError
  void check_times(Batch& batch) {
    const Clock::time_point now = Clock::now();
    for (auto client = clients_.begin(); client != clients_.end();) {
      const bool hangs = !client->is_free() && now - client->since > timeout_;
      client =
          hangs ? lose(batch, client, fmt::format("did not answer for {:g} s", options_.timeout_s))
                : std::next(client);
    }
    if (std::ranges::any_of(clients_, &Client::has_image)) {
      without_since_ = now;
      return;
    }
    const std::string address = options_.address.text();
    if (now - without_since_ > timeout_) {
      throw IoError(fmt::format(
          "no client computed at {} for {:g} s: {} connected, {} of {} computed, image {} is next. "
          "Start clients, or increase timeout_s",
          address, options_.timeout_s, count_text(known_clients(), "client"), batch.done,
          count_text(std::ssize(batch.ids), "image"), batch.ids[batch.waiting.front()]));
    }
    if (known_clients() > 0 || is_absence_reported_) return;
    is_absence_reported_ = true;
    report(clients_so_far_ == 0
               ? Message::note(fmt::format("waiting for {} at {}",
                                           count_text(options_.clients, "client"), address))
               : Message::warning(fmt::format("no client is left at {}; waiting for up to {:g} s",
                                              address, options_.timeout_s)));
  }

  SocketPotentialOptions options_;
  Clock::duration timeout_;
  ipi::Listener listener_;
  Clients clients_;
  int clients_so_far_ = 0;
  std::vector<pollfd> polled_;
  Clock::time_point next_poll_{};      ///< of options_.interrupted
  Clock::time_point without_since_{};  ///< since when no client has had an image
  bool is_absence_reported_ = false, is_stranger_reported_ = false;
};

}  // namespace

std::shared_ptr<Potential> make_socket_potential(const SocketPotentialOptions& options) {
  return std::make_shared<SocketPotential>(options);
}

}  // namespace tarn
