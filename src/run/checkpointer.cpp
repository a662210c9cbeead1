#include "checkpointer.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "blow_up.hpp"
#include "replicas.hpp"
#include "tarn/core/error.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

using Sections = std::map<std::string, std::vector<std::string>>;

/// The lines of each section of a deck.
Sections sections_of(const std::string& deck) {
  Sections sections;
  std::istringstream lines(deck);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line[0] == '[') {
      section = line;
      sections[section];
    } else {
      sections[section].push_back(line);
    }
  }
  return sections;
}

/// The line of a temperature in a section; empty: there is none.
std::string temperature_line(const Sections& deck, const std::string& section) {
  const auto found = deck.find(section);
  if (found == deck.end()) return {};
  for (const std::string& line : found->second) {
    if (line.starts_with("temperature_K = ")) return line;
  }
  return {};
}

/// Takes out what may only follow from another key: start velocities have the temperature of the
/// bath where a deck does not give them theirs.
void leave_out_temperatures_of_baths(Sections& before, Sections& after) {
  for (const Sections* deck : {&before, &after}) {
    const std::string line = temperature_line(*deck, "[system]");
    if (line.empty() || line != temperature_line(*deck, "[thermostat]")) return;
  }
  for (Sections* deck : {&before, &after}) {
    std::erase(deck->at("[system]"), temperature_line(*deck, "[system]"));
  }
}

/// The first line in which two decks differ.
std::string first_difference(const std::string& then, const std::string& now) {
  Sections before = sections_of(then), after = sections_of(now);
  leave_out_temperatures_of_baths(before, after);
  for (const auto& [section, lines] : before) {
    if (!after.contains(section)) return fmt::format("{} was there, and is not now", section);
  }
  for (const auto& [section, lines] : after) {
    const auto old = before.find(section);
    if (old == before.end()) return fmt::format("{} is new", section);
    const auto [a, b] =
        std::mismatch(old->second.begin(), old->second.end(), lines.begin(), lines.end());
    const std::string gap = section.empty() ? "" : " ";
    if (a == old->second.end() && b == lines.end()) continue;
    return fmt::format("{}{}was '{}', is '{}'", section, gap,
                       a == old->second.end() ? "nothing" : *a, b == lines.end() ? "nothing" : *b);
  }
  return "the order of its lines is another one";
}

/// What an observer of that name saved, or null.
const io::ObserverRecord* record_of(const io::Checkpoint& checkpoint, const std::string& name) {
  const auto record = std::find_if(checkpoint.observers.begin(), checkpoint.observers.end(),
                                   [&](const io::ObserverRecord& r) { return r.name == name; });
  return record == checkpoint.observers.end() ? nullptr : &*record;
}

}  // namespace

Checkpointer::Checkpointer(std::string path, std::int64_t every, const Engine& engine,
                           const std::vector<std::unique_ptr<Observer>>& observers,
                           io::Checkpoint before, std::function<void(std::int64_t)> on_written)
    : path_(std::move(path)),
      every_(every),
      engine_(engine),
      before_(std::move(before)),
      on_written_(std::move(on_written)) {
  for (const auto& observer : observers) observers_.push_back(observer.get());
}

unsigned Checkpointer::fields() const {
  unsigned fields = kNoFields;
  for (const Observer* observer : observers_) fields |= observer->fields() & kPairCounts;
  return fields;
}

void Checkpointer::observe(const Frame& frame) {
  for (Observer* observer : observers_) {
    if (observer->fields() & kPairCounts) observer->catch_up(frame);
  }
  write();
}

double Checkpointer::age_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - written_).count();
}

void Checkpointer::write() {
  io::Checkpoint checkpoint = before_;
  checkpoint.state = join(engine_.state(), before_.state);
  checkpoint.blow_ups = merged(before_.blow_ups, engine_.blow_ups());
  for (Observer* observer : observers_) {
    std::ostringstream bytes;
    observer->save(bytes);
    checkpoint.observers.push_back({observer->name(), std::move(bytes).str()});
  }
  io::write_checkpoint(path_, checkpoint);
  written_ = std::chrono::steady_clock::now();
  if (on_written_) on_written_(checkpoint.state.step);
}

void refuse_new_observers(const std::string& path, const io::Checkpoint& checkpoint,
                          const std::vector<std::unique_ptr<Observer>>& observers) {
  for (const auto& observer : observers) {
    if (record_of(checkpoint, observer->name())) continue;
    throw InputError(
        fmt::format("cannot resume from '{}': the observer '{}' is new, and has not seen what was "
                    "before. Go on without it, or begin anew with --overwrite.",
                    path, observer->name()));
  }
}

void refuse_other_observers(const std::string& path, const io::Checkpoint& checkpoint,
                            const std::vector<std::unique_ptr<Observer>>& observers) {
  for (const io::ObserverRecord& record : checkpoint.observers) {
    if (std::any_of(observers.begin(), observers.end(),
                    [&](const auto& observer) { return observer->name() == record.name; })) {
      continue;
    }
    throw InputError(fmt::format(
        "cannot resume from '{}': the run had an observer '{}', and now has none of that name. Go "
        "on by the program that began it, with the same RunOptions::observers; or begin anew with "
        "--overwrite.",
        path, record.name));
  }
  refuse_new_observers(path, checkpoint, observers);
}

void restore(const io::Checkpoint& checkpoint,
             const std::vector<std::unique_ptr<Observer>>& observers) {
  for (const auto& observer : observers) {
    io::read_record(*record_of(checkpoint, observer->name()),
                    [&](std::istream& bytes) { observer->load(bytes); });
  }
}

io::Checkpoint checkpoint_for(const std::string& path, const std::string& physics,
                              std::int64_t steps) {
  io::Checkpoint checkpoint = io::read_checkpoint(path);
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("cannot resume from '{}': {}", path, why));
  };
  if (checkpoint.tarn_version != kVersion) {
    refuse(
        fmt::format("it was written by tarn {}, this is {}, and the two need not give the same "
                    "bits. Go on with that version or begin anew with --overwrite.",
                    checkpoint.tarn_version, kVersion));
  }
  if (checkpoint.physics != physics) {
    refuse(
        fmt::format("the deck has changed since: {}. Only steps (or duration_ps), device, "
                    "threads and [checkpoint] may change. Go on with another deck from where "
                    "this run is by [system] state, in another folder with --out; or begin anew "
                    "with --overwrite.",
                    first_difference(checkpoint.physics, physics)));
  }
  if (steps < checkpoint.state.step) {
    refuse(
        fmt::format("the deck asks for {} steps, and {} are done already. Ask for more, or "
                    "begin anew with --overwrite.",
                    steps, checkpoint.state.step));
  }
  return checkpoint;
}

}  // namespace tarn
