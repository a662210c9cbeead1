#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "tarn/potential.hpp"

/// @file
/// One call of a potential for the images of many minimisations.

namespace tarn::start {

/// Largest number of tasks that run at a time, and of images that minimisations without saddle
/// points have in a call.
inline constexpr int kMostTasks = 64;

/// Thrown by the potential of a task, to end it, when the results of all tasks are lost.
struct TaskEnded {};

/// Calls task(i, potential) for i = 0 .. n-1. Each task has its own potential and its own
/// thread. When all running tasks wait for their potentials, the calling thread makes one call of
/// `potential` for all of them, in the order of i. The calls do not depend on the speeds of the
/// threads: the first kMostTasks tasks begin at once, and the next ones as soon as others end.
///
/// A single task runs in the calling thread. No thread is left after the call.
///
/// An exception of `potential` or of a task ends all tasks and is rethrown; if several tasks throw
/// between two calls, that of the lowest i.
/// @param ids [i], distinct modulo `stride`: image k of a task has the id ids[i] + stride k
void share_calls(
    Potential& potential, std::span<const std::int64_t> ids, std::int64_t stride,
    const std::function<void(std::int64_t i, const std::shared_ptr<Potential>&)>& task);

}  // namespace tarn::start
