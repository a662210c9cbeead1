#pragma once

#include <csetjmp>
#include <string>

/// @file
/// Calls of shared libraries, which may end the process. The handlers of a program use them to name
/// the library and its function.

namespace tarn::potentials {

/// A call by this thread, until the end of its scope, which restores the current folder.
class LibraryCall {
 public:
  /// @param what "potential: libmine.so ended the program in tarn_potential_compute"; must outlive
  ///        the call
  explicit LibraryCall(const std::string& what);
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

  /// The call of this thread; null: none.
  static LibraryCall* of_this_thread();
  /// `what` of the last call of any thread; null: none runs. For threads of the library.
  static const char* of_any_thread();

  /// @param what as above
  /// @throws NumericalError if the library ended the program, and a handler called return_from()
  template <class Function>
  static auto run(const std::string& what, const Function& function) {
    LibraryCall call(what);
    if (sigsetjmp(call.back_, 0) != 0) call.throw_ended();
    call.can_return_ = true;
    return function();
  }
  /// Leaves the call. Returns if that is not possible, as while the library is loaded.
  void return_from(int exit_status);

 private:
  [[noreturn]] void throw_ended() const;

  const std::string& what_;
  LibraryCall* const outer_;
  const int folder_;
  sigjmp_buf back_{};
  bool can_return_ = false;
  int exit_status_ = 0;
};

}  // namespace tarn::potentials
