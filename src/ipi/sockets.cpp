#include "sockets.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "tarn/core/error.hpp"

namespace tarn::ipi {
namespace {

/// @throws InputError for a path that is too long
sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    throw InputError(fmt::format("the socket name '{}' exceeds {} bytes; choose a shorter one",
                                 path, sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Socket connect_unix(const std::string& path, int flags = 0) {
  const sockaddr_un to = unix_address(path);
  Socket s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!s || ::connect(s.descriptor(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) {
    return s;
  }
  const int number = errno;
  s = Socket();
  errno = number;
  return s;
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

/// @throws IoError for an unknown host
Addresses find_host(const ServeAddress& address, int family, int flags) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int problem =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (problem != 0) {
    throw IoError(
        fmt::format("cannot find the host '{}': {}", address.host, ::gai_strerror(problem)));
  }
  return {found, &::freeaddrinfo};
}

/// Messages are short and require an immediate answer.
void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/// Tries each address of the host once.
Socket connect_inet(const ServeAddress& address) {
  const Addresses owner = find_host(address, AF_UNSPEC, 0);
  int number = ECONNREFUSED;
  for (const addrinfo* a = owner.get(); a != nullptr; a = a->ai_next) {
    Socket s(::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol));
    if (!s) continue;
    if (::connect(s.descriptor(), a->ai_addr, a->ai_addrlen) == 0) {
      send_at_once(s.descriptor());
      return s;
    }
    number = errno;
  }
  errno = number;
  return {};
}

[[noreturn]] void fail_to_listen(const ServeAddress& address, int number) {
  throw IoError(fmt::format("cannot listen at {}: {}", address.text(),
                            number == EADDRINUSE
                                ? "another program uses this address. End it, or choose another one"
                            : number == EADDRNOTAVAIL ? "this machine does not have this address"
                                                      : error_text(number)));
}

/// Removes the file of a program that has ended. @throws IoError for all other files
void remove_stale_socket(const ServeAddress& address, const std::string& path) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) == 0 && !S_ISSOCK(file.st_mode)) {
    throw IoError(fmt::format("cannot listen at {}: the file exists and is not a socket", path));
  }
  if (connect_unix(path, SOCK_NONBLOCK) || errno != ECONNREFUSED) {
    fail_to_listen(address, EADDRINUSE);
  }
  ::unlink(path.c_str());
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string error_text(int number) { return std::generic_category().message(number); }

Socket connect_to(const ServeAddress& address) {
  return address.unix_name.empty() ? connect_inet(address) : connect_unix(address.text());
}

ssize_t receive_some(const Socket& socket, std::span<std::byte> bytes) {
  ssize_t n = -1;
  do {
    n = ::recv(socket.descriptor(), bytes.data(), bytes.size(), 0);
  } while (n < 0 && errno == EINTR);
  // Many programs send a message in parts, and each part waits for the acknowledgement of the one
  // before, which TCP delays by 40 ms. The option lasts for one acknowledgement.
  const int on = 1;
  if (n > 0) ::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
  return n;
}

Listener::Listener(const ServeAddress& address) {
  if (address.unix_name.empty()) {
    listen_inet(address);
  } else {
    listen_unix(address);
  }
}

void Listener::listen_unix(const ServeAddress& address) {
  const std::string path = address.text();
  const sockaddr_un at = unix_address(path);
  socket_ = Socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto bind = [&] {
    return ::bind(descriptor(), reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0;
  };
  if (!bind()) {
    if (errno != EADDRINUSE) fail_to_listen(address, errno);
    remove_stale_socket(address, path);
    if (!bind()) fail_to_listen(address, errno);
  }
  struct stat file {};
  const bool is_ours = ::lstat(path.c_str(), &file) == 0;
  if (::listen(descriptor(), SOMAXCONN) != 0) {
    const int number = errno;
    if (is_ours) ::unlink(path.c_str());
    fail_to_listen(address, number);
  }
  path_ = path;
  device_ = file.st_dev;
  inode_ = file.st_ino;
}

void Listener::listen_inet(const ServeAddress& address) {
  if (address.port < 1 || address.port > 65535) {
    throw InputError(fmt::format("port {}: choose one from 1 to 65535", address.port));
  }
  // Some clients, for example LAMMPS and ASE, only use addresses of IPv4.
  Addresses owner(nullptr, &::freeaddrinfo);
  try {
    owner = find_host(address, AF_INET, AI_PASSIVE);
  } catch (const IoError&) {
    owner = find_host(address, AF_UNSPEC, AI_PASSIVE);
  }
  const addrinfo& a = *owner;
  socket_ =
      Socket(::socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a.ai_protocol));
  // Allows the port of a run that has just ended.
  const int on = 1;
  ::setsockopt(descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(descriptor(), a.ai_addr, a.ai_addrlen) != 0 ||
      ::listen(descriptor(), SOMAXCONN) != 0) {
    fail_to_listen(address, errno);
  }
}

Listener::~Listener() {
  struct stat file {};
  if (!path_.empty() && ::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ &&
      file.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

std::optional<Accepted> Listener::accept() const {
  sockaddr_storage from{};
  socklen_t size = sizeof(from);
  Socket s(::accept4(descriptor(), reinterpret_cast<sockaddr*>(&from), &size,
                     SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!s) {
    // Other errors are those of a connection that ended before it was accepted.
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      throw IoError("cannot accept a connection: " + error_text(errno));
    }
    return std::nullopt;
  }
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (!path_.empty() ||
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&from), size, host.data(), host.size(),
                    port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return Accepted{std::move(s), {}};
  }
  send_at_once(s.descriptor());
  return Accepted{std::move(s), fmt::format("{}:{}", host.data(), port.data())};
}

void Outgoing::put_header(std::string_view text) {
  const std::string header = fmt::format("{:<{}}", text, kHeaderLength);
  put(std::as_bytes(std::span(header)));
}

std::string header_text(std::span<const std::byte> header) {
  std::string text;
  for (const std::byte b : header) text.push_back(static_cast<char>(b));
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

std::string printable(std::string text) {
  for (char& c : text) c = c < ' ' || c > '~' ? '?' : c;
  return text;
}

}  // namespace tarn::ipi
