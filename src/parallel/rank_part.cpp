#include "rank_part.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <new>

#include "interface/measure.hpp"
#include "kernels/device_probe.hpp"
#include "launcher.hpp"
#include "messages.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/potential.hpp"

namespace tarn::parallel {
namespace {

// --- the ranks that add up rows -----------------------------------------------------------------

/// Moments of a group of replicas are sums in the order of the ids, so one rank adds up all rows of
/// a group. Rank 0 has other work if there are other ranks.
int adding_ranks(int groups, int ranks) { return std::clamp(ranks - 1, 1, groups); }
int adding_rank(int number, int groups, int ranks) {
  return ranks == 1 ? 0 : 1 + number * (ranks - 1) / adding_ranks(groups, ranks);
}
bool adds_up(int number, int group, int groups, int ranks) {
  return group % adding_ranks(groups, ranks) == number;
}

template <class T>
void append_at(const std::vector<T>& from, std::size_t place, std::vector<T>& to) {
  if (!from.empty()) to.push_back(from[place]);
}

/// The rows from which moments are made.
constexpr unsigned kRowsOfMoments = kEnergies | kExchangeEnergies | kShape | kGeometry | kLindemann;

/// The rows of the replicas in groups that another rank adds up.
Frame rows_for(int number, const Frame& frame, int groups, int ranks) {
  Frame rows;
  for (std::size_t r = 0; r < frame.live(); ++r) {
    if (!adds_up(number, sample_group(frame.replica_ids[r], groups), groups, ranks)) continue;
    append_at(frame.replica_ids, r, rows.replica_ids);
    for_each_field([&](const auto& f) {
      if (f.bit & kRowsOfMoments) append_at(frame.*f.member, r, rows.*f.member);
    });
  }
  return rows;
}

constexpr GroupMoments Frame::*kMomentMembers[] = {&Frame::energy_moments, &Frame::shape_moments,
                                                   &Frame::geometry_moments,
                                                   &Frame::lindemann_moments};

template <class T>
void copy_rows(const std::vector<T>& from, std::size_t from_row, std::vector<T>& to,
               std::size_t to_row, int numbers) {
  const auto size = static_cast<std::size_t>(numbers);
  if (to.size() < (to_row + 1) * size) to.resize((to_row + 1) * size);
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(from_row * size), size,
              to.begin() + static_cast<std::ptrdiff_t>(to_row * size));
}
/// Copies the groups that one rank adds up: from all groups to those only, or back.
void copy_added(const GroupMoments& from, bool from_all, int number, int ranks, GroupMoments& to) {
  if (from.numbers == 0) return;
  to.groups = from.groups;
  to.numbers = from.numbers;
  std::size_t in_all = 0, in_some = 0;
  for (; in_all < static_cast<std::size_t>(from.groups); ++in_all) {
    if (!adds_up(number, static_cast<int>(in_all), from.groups, ranks)) continue;
    const std::size_t source = from_all ? in_all : in_some, place = from_all ? in_some : in_all;
    ++in_some;
    copy_rows(from.counts, source, to.counts, place, from.numbers);
    copy_rows(from.pivots, source, to.pivots, place, from.numbers);
    copy_rows(from.sums, source, to.sums, place, from.numbers);
    copy_rows(from.squares, source, to.squares, place, from.numbers);
    copy_rows(from.products, source, to.products, place, 1);
  }
}

/// Adds a vector of 64-bit integers over all ranks.
template <class T>
void add_up(Transport& transport, std::vector<T>& values) {
  static_assert(sizeof(T) == sizeof(std::uint64_t));
  transport.add_up({reinterpret_cast<std::uint64_t*>(values.data()), values.size()});
}

// --- exceptions as messages ---------------------------------------------------------------------

enum class Failure : std::int32_t { input, io, numerical, device, memory, interruption, other };

Words words_of(const std::exception_ptr& failure) {
  Failure kind = Failure::other;
  std::string text;
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    text = error.what();
    kind = error.code() == ExitCode::bad_input   ? Failure::input
           : error.code() == ExitCode::io        ? Failure::io
           : error.code() == ExitCode::numerical ? Failure::numerical
                                                 : Failure::device;
  } catch (const std::bad_alloc&) {
    text = "not enough memory; use fewer replicas or molecules, or fewer ranks per node";
    kind = Failure::memory;
  } catch (const PotentialInterrupted&) {
    kind = Failure::interruption;
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    text = "an unknown exception";
  }
  return packed(kind, text);
}

[[noreturn]] void rethrow(const Words& words, const RankPlace& place) {
  Failure kind{};
  std::string text;
  unpack(words, kind, text);
  text = "rank " + std::to_string(place.rank) + " on " + place.host + ": " + text;
  switch (kind) {
    case Failure::input:
      throw InputError(text);
    case Failure::io:
      throw IoError(text);
    case Failure::numerical:
      throw NumericalError(text);
    case Failure::device:
    case Failure::memory:
      throw DeviceError(text);
    case Failure::interruption:
      throw PotentialInterrupted();
    case Failure::other:
      break;
  }
  throw std::runtime_error(text);
}

}  // namespace

template <class F>
void RankPart::compute(const F& f) {
  transport_.is_computing = true;
  try {
    f();
  } catch (...) {
    failure_ = std::current_exception();
  }
  transport_.is_computing = false;
}

void RankPart::make(const System& system, const State& share, const PairCountRequest& counts,
                    const DeviceRequest& device) {
  flexible_ = system.model.is_flexible();
  threads_ = device.threads > 0 ? device.threads : place_.threads;
  counts_ = counts;
  known_ids_ = share.replica_ids;
  if (share.replica_ids.empty()) return;
  compute([&] {
    const int devices =
        device.name.starts_with("cuda") ? static_cast<int>(probe_devices().devices.size()) : 0;
    const std::string name =
        device_of_rank(device.name, devices, place_.rank_on_node, place_.ranks_on_node);
    engine_ = tarn::make_engine(system, share, counts, {name, threads_, device.potential});
  });
}

void RankPart::measure_with(const MeasureSettings& settings) {
  settings_ = settings;
  settings_.lindemann_sums = {};
  groups_ = ReplicaGroups(settings.moment_groups);
  attempt([&](Engine& engine) { engine.measure_with(settings); });
}

void RankPart::begin_advance(std::int64_t n_steps) {
  attempt([&](Engine& engine) {
    engine.begin_advance(n_steps);
    // On rank 0 the caller observes in the meantime, and wait() joins its threads.
    if (place_.rank != 0 && !engine.is_asynchronous()) engine.wait();
  });
}

void RankPart::wait() {
  attempt([](Engine& engine) { engine.wait(); });
}

void RankPart::begin_frame(unsigned fields) {
  has_begun_ = false;
  attempt([&](Engine& engine) {
    has_begun_ = engine.begin_snapshot(fields_of_parts(fields));
    if (has_begun_) return;
    engine.wait();
    engine.snapshot(fields_of_parts(fields), frame_);
  });
}

void RankPart::finish_frame() {
  if (!has_begun_) return;
  has_begun_ = false;
  attempt([&](Engine& engine) { engine.finish_snapshot(frame_); });
}

/// Rows of the groups go to the ranks that add them up, also from ranks without rows: these expect
/// one message from each.
void RankPart::reduce_rows(unsigned moments) {
  const int ranks = transport_.size, groups = settings_.moment_groups;
  const int adding = adding_ranks(groups, ranks);
  int mine = -1;
  Frame own_rows;
  for (int number = 0; number < adding; ++number) {
    Frame rows = rows_for(number, frame_, groups, ranks);
    const int to = adding_rank(number, groups, ranks);
    if (to == place_.rank) {
      mine = number;
      own_rows = std::move(rows);
      continue;
    }
    transport_.send(to, Tag::rows, packed(rows));
  }
  sums_ = {};
  if (mine < 0) return;
  std::vector<Frame> all(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != place_.rank) unpack(transport_.receive(rank, Tag::rows), all[rank]);
  }
  all[place_.rank] = std::move(own_rows);
  Frame whole;
  join_frames(all, moments, flexible_, groups_, threads_, whole);
  for (const auto member : kMomentMembers) {
    copy_added(whole.*member, true, mine, ranks, sums_.*member);
  }
}

Words RankPart::frame_reply(unsigned fields) {
  // Sizes of the counts that all ranks add up, also of those without an engine or with an error.
  const bool has_frame = engine_ != nullptr && failure_ == nullptr;
  if (!has_frame) frame_ = {};
  if (fields & kMoments) reduce_rows(fields & kMoments);
  if (has_frame) drop_rows(fields, frame_);
  if (fields & kRadialCounts) {
    RadialCounts& counts = frame_.radial_counts;
    if (!has_frame) clear_radial(settings_.radial, counts);
    for (auto* numbers : {&counts.replicas, &counts.oxygens, &counts.hydrogens, &counts.cosines}) {
      add_up(transport_, *numbers);
    }
  }
  if (fields & kPairCounts) {
    const auto groups = static_cast<std::size_t>(counts_.groups);
    frame_.pair_counts.resize(groups * kPairClasses * static_cast<std::size_t>(counts_.bins));
    frame_.pair_samples.resize(groups);
    add_up(transport_, frame_.pair_counts);
    add_up(transport_, frame_.pair_samples);
  }
  if (place_.rank == 0) return {};  // it has its own frame, and other ranks add up the rows
  // Frames of means have no rows, and rank 0 knows the running replicas.
  const bool has_rows =
      has_frame && ((fields & (kRowFields | kArrayFields | kLindemannSums)) != 0 ||
                    frame_.replica_ids != known_ids_);
  const bool has_moments = (fields & kMoments) != 0 &&
                           std::any_of(std::begin(kMomentMembers), std::end(kMomentMembers),
                                       [&](auto member) { return (sums_.*member).numbers > 0; });
  if (!has_rows && !has_moments) return {};
  Words words;
  Packer to(words);
  pack(to, has_rows, has_moments);
  if (has_rows) {
    known_ids_ = frame_.replica_ids;
    pack(to, frame_);
  }
  for (const auto member : kMomentMembers) {
    if (has_moments) pack(to, sums_.*member);
  }
  return words;
}

void join_replies(const std::vector<Words>& replies, unsigned fields,
                  const MeasureSettings& settings, Frame own,
                  std::vector<std::vector<std::int64_t>>& known_ids, Frame& whole) {
  const int ranks = static_cast<int>(replies.size());
  std::vector<Frame> parts(replies.size());
  Frame moments;
  std::map<int, int> number_of_rank;
  for (int n = 0; n < adding_ranks(settings.moment_groups, ranks); ++n) {
    number_of_rank[adding_rank(n, settings.moment_groups, ranks)] = n;
  }
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    bool has_rows = false, has_moments = false;
    Unpacker from(replies[rank]);
    if (!from.is_empty()) unpack(from, has_rows, has_moments);
    if (has_rows) {
      unpack(from, parts[rank]);
      known_ids[rank] = parts[rank].replica_ids;
    } else if (rank > 0) {
      parts[rank].replica_ids = known_ids[rank];
    }
    if (!has_moments) continue;
    for (const auto member : kMomentMembers) {
      GroupMoments some;
      unpack(from, some);
      copy_added(some, false, number_of_rank.at(static_cast<int>(rank)), ranks, moments.*member);
    }
  }
  parts[0] = std::move(own);
  ReplicaGroups none;
  join_frames(parts, fields & ~kMoments, false, none, 1, whole);
  for (const auto member : kMomentMembers) whole.*member = std::move(moments.*member);
}

void RankPart::exchange(const PartExchanges& exchanges) {
  const std::vector<std::int64_t> leaving = exchanges.leaving();
  std::vector<double> taken;
  attempt([&](Engine& engine) {
    if (!leaving.empty()) taken = engine.take_coordinates(leaving);
  });
  const std::size_t size = leaving.empty() ? 0 : taken.size() / leaving.size();
  // One message to each partner, in the order of the list; empty after an error.
  std::map<std::size_t, std::vector<std::size_t>> places_by_partner;
  for (std::size_t k = 0; k < leaving.size(); ++k) {
    places_by_partner[exchanges.sources[k].part].push_back(k);
  }
  for (const auto& [partner, places] : places_by_partner) {
    std::vector<double> numbers;
    for (const std::size_t k : places) append_part(taken, k, size, numbers);
    transport_.send(static_cast<int>(partner), Tag::exchange, packed(numbers));
  }
  attempt([&](Engine& engine) {
    if (!exchanges.within.empty()) engine.exchange(exchanges.within);
  });
  std::vector<double> received(taken.size());
  bool is_complete = true;
  for (const auto& [partner, places] : places_by_partner) {
    std::vector<double> numbers;
    unpack(transport_.receive(static_cast<int>(partner), Tag::exchange), numbers);
    // The lists of both ranks have their common pairs in the same order.
    is_complete = is_complete && numbers.size() == places.size() * size;
    for (std::size_t i = 0; i < places.size() && is_complete; ++i) {
      std::copy_n(&numbers[i * size], size, &received[places[i] * size]);
    }
  }
  // Otherwise the partner reports an error.
  if (is_complete && !leaving.empty()) {
    attempt([&](Engine& engine) { engine.put_coordinates(exchanges.across, received); });
  }
}

Words RankPart::parts_reply() const {
  std::vector<EnginePart> parts;
  if (engine_) {
    parts = engine_->parts();
  } else {
    parts.emplace_back().device = "not used";
  }
  for (EnginePart& part : parts) {
    part.rank = place_.rank;
    part.host = place_.host;
    if (parts.size() == 1) put_replicas(known_ids_, part);
  }
  return packed(parts, engine_ ? engine_->description() : std::string{},
                engine_ ? engine_->arithmetic() : std::string{}, is_asynchronous());
}

Words RankPart::reply_to(OrderKind query) {
  Words words;
  Packer to(words);
  attempt([&](Engine& engine) {
    if (query == OrderKind::state) pack(to, engine.state());
    if (query == OrderKind::blow_ups) pack(to, engine.blow_ups());
    if (query == OrderKind::report) pack(to, engine.report());
  });
  return words;
}

void RankPart::send_reply(Words reply) {
  const bool has_failed = failure_ != nullptr;
  if (has_failed) reply = words_of(std::exchange(failure_, nullptr));
  const auto size = static_cast<std::int64_t>(reply.size());
  transport_.gather(has_failed ? -size : size);
  if (size > 0) transport_.send(0, Tag::reply, std::move(reply));
  transport_.flush();
}

std::vector<Words> RankPart::take_replies(Words own, const std::vector<RankPlace>& places) {
  const std::exception_ptr own_failure = std::exchange(failure_, nullptr);
  const std::vector<std::int64_t> sizes = transport_.gather(0);
  std::vector<Words> replies(sizes.size());
  replies[0] = std::move(own);
  int failed = -1;
  for (std::size_t rank = 1; rank < sizes.size(); ++rank) {
    if (sizes[rank] != 0) replies[rank] = transport_.receive(static_cast<int>(rank), Tag::reply);
    if (sizes[rank] < 0 && failed < 0) failed = static_cast<int>(rank);
  }
  transport_.flush();
  transport_.awaits_replies = false;
  if (own_failure) std::rethrow_exception(own_failure);
  if (failed >= 0) rethrow(replies[failed], places[failed]);
  return replies;
}

}  // namespace tarn::parallel
