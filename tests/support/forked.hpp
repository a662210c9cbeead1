#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace tarn::test {

/// @return the exit status of a forked process: 0 if f() returns true there. A signal ends a
///         process that hangs
template <class F>
int status_of_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(f() ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child ? status : -1;
}

}  // namespace tarn::test
