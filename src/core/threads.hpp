#pragma once

#include <string>

/// @file
/// Threads that are kept from one piece of work to the next.

namespace tarn {

/// Processors that this process may use: those it may run on, as far as the quota of its control
/// group goes.
int processors();

/// Threads that work is given to where no number is asked for: OMP_NUM_THREADS, as of programs with
/// OpenMP, or all processors.
int default_threads();

/// What the processor says it is, as "AMD EPYC (family 25, model 17)"; empty where it says nothing.
/// @param cpuinfo as /proc/cpuinfo; that of its first processor counts
std::string processor_name(const std::string& cpuinfo = "/proc/cpuinfo");

/// Processors by the quotas of a process's control group and those above it; 0: no quota.
/// @param groups as /proc/self/cgroup; only version 2 of control groups is read
/// @param root as /sys/fs/cgroup
double quota_of_control_group(const std::string& groups, const std::string& root);

/// What the threads of a team do. It must not throw.
struct TeamWork {
  void (*call)(const void* context, int rank, int team);
  const void* context;
};
/// Calls the work with ranks 0 to team-1 at once, rank 0 on this thread; returns when all are done.
/// The team is smaller where the system gives no more threads, and 1 inside the work of a team.
/// @throws std::bad_alloc before any work is begun
void run_team(int team, const TeamWork& work);

template <class F>
void run_team(int team, const F& f) {
  run_team(team, TeamWork{[](const void* context, int rank, int size) {
                            (*static_cast<const F*>(context))(rank, size);
                          },
                          &f});
}

/// How a thread waits for another: it looks for some ten microseconds and then sleeps, so that
/// where other programs want the processors too, it does not keep from them what the one it waits
/// for may need.
inline constexpr int kSpinsBeforeSleep = 1000;
inline constexpr int kSpinsIfOversubscribed = 10;
/// Between two looks.
inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" : : : "memory");
#endif
}

}  // namespace tarn
