#include "connection.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/error.hpp"

namespace tarn::serve {
namespace {

constexpr int kPoll_ms = 200;
constexpr const char* kClosedInMessage = "the other program closed the connection within a message";

}  // namespace

Connection::Connection(const ServeAddress& address, double wait_seconds,
                       std::function<bool()> interrupted,
                       const std::function<void(const std::string&)>& on_wait)
    : interrupted_(std::move(interrupted)) {
  using Clock = std::chrono::steady_clock;
  if (!(wait_seconds >= 0.0 && wait_seconds < 1e9)) {
    throw InputError("the waiting time must be a number of seconds from 0 to 1e9");
  }
  const auto end = Clock::now() + std::chrono::duration<double>(wait_seconds);
  for (bool reported = false;; reported = true) {
    socket_ = connect_to(address);
    if (socket_) return;
    const int number = errno;
    // With these errors the other program may not listen yet; others are permanent.
    const bool is_temporary = number == ENOENT || number == ECONNREFUSED || number == EINTR ||
                              number == EHOSTUNREACH || number == ETIMEDOUT;
    if (!is_temporary || Clock::now() >= end) {
      throw IoError(fmt::format(
          "cannot connect to {}: {}{}", address.text(), error_text(number),
          is_temporary ? fmt::format(". No program listened within {:g} s: start the program that "
                                     "moves the atoms",
                                     wait_seconds)
                       : ""));
    }
    if (!reported && on_wait) on_wait("waiting for a program to listen at " + address.text());
    if (interrupted_ && interrupted_()) throw Interruption();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

bool Connection::try_receive(std::span<std::byte> bytes) {
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
    const ssize_t n = receive_some(socket_, received_);
    if (n > 0) {
      begin_ = 0;
      end_ = static_cast<std::size_t>(n);
      continue;
    }
    if (n < 0 && errno != ECONNRESET)
      throw IoError("the connection was lost: " + error_text(errno));
    if (done == 0) return false;
    throw IoError(kClosedInMessage);
  }
}

void Connection::receive(std::span<std::byte> bytes) {
  if (!try_receive(bytes)) throw IoError(kClosedInMessage);
}

bool Connection::try_send(std::span<const std::byte> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n =
        ::send(socket_.descriptor(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) return false;
    if (n < 0) throw IoError("the connection was lost: " + error_text(errno));
    done += static_cast<std::size_t>(n);
  }
  return true;
}

void Connection::send(std::span<const std::byte> bytes) {
  if (!try_send(bytes)) {
    throw IoError("the other program closed the connection before it received the answer");
  }
}

}  // namespace tarn::serve
