#include "replica_frames.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "words.hpp"

namespace tarn::io {

void ReplicaClock::add(std::optional<std::int64_t> step, std::optional<double> time_ps) {
  has_steps_ = has_steps_ && step;
  has_times_ = has_times_ && time_ps;
  if (has_steps_) add_step(*step);
  if (has_times_) add_time(*time_ps);
  ++frames_;
}

void ReplicaClock::add_step(std::int64_t step) {
  if (frames_ == 0) first_step_ = last_step_ = step;
  if (frames_ == 1) every_ = std::max<std::int64_t>(step - first_step_, 1);
  if (frames_ > 0 && step - last_step_ != every_) even_steps_ = false;
  last_step_ = step;
  largest_step_ = std::max(largest_step_, step);
}

void ReplicaClock::add_time(double time_ps) {
  if (frames_ == 0) first_ps_ = time_ps;
  if (frames_ == 1) interval_ps_ = time_ps - first_ps_;
  if (!times_agree(time_ps, first_ps_ + static_cast<double>(frames_) * interval_ps_)) {
    even_times_ = false;
  }
}

bool times_agree(double a_ps, double b_ps) {
  constexpr double kSame = 1e-6;
  return std::abs(a_ps - b_ps) <= kSame * (1.0 + std::abs(b_ps));
}

std::optional<FrameIndex> ReplicaNumbering::next(const std::string& file, const std::string& name) {
  if (files_.empty() || files_.back().name != file) files_.push_back({file, {}, {}, {}});
  File& of = files_.back();
  auto found = of.next.find(name);
  if (found == of.next.end()) found = of.next.emplace(name, first_place(of, name)).first;
  const std::optional<FrameIndex> place = found->second;
  if (place) ++found->second->frame;
  return place;
}

std::optional<FrameIndex> ReplicaNumbering::next(const Structure& frame,
                                                 const FrameReader& reader) {
  const std::string name = frame.replica_name();
  if (name.empty() && !chosen_.empty()) {
    throw InputError(reader.path(), reader.line_of_atom(0),
                     "this frame does not name its replica; do not select replicas by number");
  }
  return next(reader.path(), name);
}

std::optional<FrameIndex> ReplicaNumbering::first_place(File& file, const std::string& name) {
  const std::optional<std::int64_t> own = number_at_end(name);
  std::int64_t number = own.value_or(0);
  if (!own || file.numbers.contains(number)) {
    number = static_cast<std::int64_t>(file.next.size());
    while (file.numbers.contains(number)) ++number;
    file.unnumbered.emplace_back(name, number);
  }
  file.numbers.insert(number);
  const bool counts =
      chosen_.empty() || std::find(chosen_.begin(), chosen_.end(), number) != chosen_.end();
  if (!counts) return std::nullopt;
  numbers_.insert(number);
  return FrameIndex{replicas_++, number, 0};
}

Messages ReplicaNumbering::messages() const {
  constexpr std::size_t kMostNamed = 5;
  Messages messages;
  for (const File& file : files_) {
    if (file.next.size() < 2 || file.unnumbered.empty()) continue;
    std::vector<std::string> named;
    for (const auto& [name, number] : file.unnumbered) {
      if (named.size() == kMostNamed) break;
      named.push_back(
          fmt::format("{} is {}", name.empty() ? "the one without a name" : name, number));
    }
    if (file.unnumbered.size() > kMostNamed) named.emplace_back("and so on");
    messages.push_back(
        Message::note(fmt::format("{}: replicas whose names do not end in a unique number are "
                                  "numbered in order of appearance: {}",
                                  file.name, fmt::join(named, ", "))));
  }
  return messages;
}

}  // namespace tarn::io
