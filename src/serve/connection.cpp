#include "connection.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/error.hpp"

namespace tarn::serve {
namespace {

constexpr int kPoll_ms = 200;
constexpr const char* kClosedInMessage = "the other program closed the connection within a message";

std::string error_text(int number) { return std::generic_category().message(number); }

/// Tries to connect once. @return the socket, or -1 with errno
int connect_unix(const ServeAddress& address) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const std::string path = address.text();
  if (path.size() >= sizeof(to.sun_path)) {
    throw InputError(fmt::format("the socket name '{}' exceeds {} bytes; choose a shorter one",
                                 path, sizeof(to.sun_path) - 1));
  }
  std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
  const int s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return -1;
  if (::connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return s;
  const int number = errno;
  ::close(s);
  errno = number;
  return -1;
}

/// Tries each address of the host once. @return the socket, or -1 with errno
int connect_inet(const ServeAddress& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int problem =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (problem != 0) {
    throw IoError(
        fmt::format("cannot find the host '{}': {}", address.host, ::gai_strerror(problem)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  int number = ECONNREFUSED;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    const int s = ::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (s < 0) continue;
    if (::connect(s, a->ai_addr, a->ai_addrlen) == 0) {
      // Messages are short and require an immediate answer.
      const int on = 1;
      ::setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      return s;
    }
    number = errno;
    ::close(s);
  }
  errno = number;
  return -1;
}

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
    socket_ = address.unix_name.empty() ? connect_inet(address) : connect_unix(address);
    if (socket_ >= 0) return;
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

Connection::~Connection() {
  if (socket_ >= 0) ::close(socket_);
}

bool Connection::try_receive(std::span<std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    if (interrupted_ && interrupted_()) throw Interruption();
    pollfd waiting{socket_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kPoll_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t n = ::recv(socket_, bytes.data() + done, bytes.size() - done, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n > 0) {
      done += static_cast<std::size_t>(n);
      continue;
    }
    if (n < 0 && errno != ECONNRESET)
      throw IoError("the connection was lost: " + error_text(errno));
    if (done == 0) return false;
    throw IoError(kClosedInMessage);
  }
  return true;
}

void Connection::receive(std::span<std::byte> bytes) {
  if (!try_receive(bytes)) throw IoError(kClosedInMessage);
}

bool Connection::try_send(std::span<const std::byte> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
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
