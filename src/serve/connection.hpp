#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "tarn/serve.hpp"

namespace tarn::serve {

/// Thrown where somebody asks for the end.
struct Interruption {};

/// A connection to a program that listens; what goes through it has the byte order of this machine.
class Connection {
 public:
  /// Tries until somebody listens.
  /// @param interrupted may be empty @throws InputError, IoError, Interruption
  Connection(const ServeAddress& address, double wait_seconds, std::function<bool()> interrupted,
             const std::function<void(const std::string&)>& on_wait);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Fills the bytes. @return false where the other side closed the connection before the first of
  /// them @throws IoError where it did so later, Interruption
  bool receive_or_end(std::span<std::byte> bytes);
  /// @throws IoError where the connection was closed, Interruption
  void receive(std::span<std::byte> bytes);
  /// @throws IoError
  void send(std::span<const std::byte> bytes);
  /// @return false where the other side has closed the connection
  bool send_or_end(std::span<const std::byte> bytes);

  /// Numbers, and arrays of them.
  template <class T>
  T receive_number() {
    T value{};
    receive(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  template <class T>
  void send_number(T value) {
    send(std::as_bytes(std::span(&value, 1)));
  }

 private:
  int socket_ = -1;
  std::function<bool()> interrupted_;
};

}  // namespace tarn::serve
