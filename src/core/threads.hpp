#pragma once

/// @file
/// Teams of threads, which are kept from one call to the next.

namespace tarn {

/// The work of the threads of a team. It must not throw.
struct TeamWork {
  void (*call)(const void* context, int rank, int team);
  const void* context;
};
/// Calls the work with ranks 0 to team-1 concurrently, rank 0 on this thread, and waits for all.
/// The team is smaller if the system provides no more threads, and has one thread within another
/// team.
/// @throws std::bad_alloc before any work has started
void run_team(int team, const TeamWork& work);

/// Starts the work of ranks 1 to team-1 and returns. finish_team() must follow on this thread,
/// while the work still exists. A team that this thread runs in between finishes the work first.
/// @return the size of the team; with 1, nothing was started
int start_team(int team, const TeamWork& work);
/// Calls the work that was started with rank 0 and waits for the other ranks. Does nothing if the
/// work has been finished, or was started before a fork (see fork_count()).
void finish_team();

/// The number of forks between the first process of this program and this one. A fork copies the
/// memory but only the calling thread: work of other threads that was started under another number
/// will not be finished here.
unsigned fork_count();

template <class F>
void run_team(int team, const F& f) {
  run_team(team, TeamWork{[](const void* context, int rank, int size) {
                            (*static_cast<const F*>(context))(rank, size);
                          },
                          &f});
}

/// A waiting thread polls for about ten microseconds and then sleeps. If other programs use the
/// processors too, it must not occupy the one that the awaited thread needs.
inline constexpr int kSpinsBeforeSleep = 1000;
inline constexpr int kSpinsIfOversubscribed = 10;
/// Between two polls.
inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" : : : "memory");
#endif
}

}  // namespace tarn
