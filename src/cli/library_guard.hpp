#pragma once

namespace tarn::cli {

/// From now on, shared libraries that end or crash the program are reported: exit() and _exit()
/// in a function of a library become an exception, and a signal is reported before the program
/// ends. Not caught: other programs that the library starts, exec(), SIGKILL, and overflows of the
/// stacks of the library's own threads.
void guard_libraries();

}  // namespace tarn::cli
