#include "checkpointer.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "parallel/frame_parts.hpp"
#include "run_observers.hpp"
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

/// The temperature line of a section; empty if there is none.
std::string temperature_line(const Sections& deck, const std::string& section) {
  const auto found = deck.find(section);
  if (found == deck.end()) return {};
  for (const std::string& line : found->second) {
    if (line.starts_with("temperature_K = ")) return line;
  }
  return {};
}

/// Removes defaults that follow from another key: without its own temperature, [system] uses
/// that of the bath for the start velocities.
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
struct Difference {
  std::string text;
  std::string restored{};  ///< the old key and value for --set; empty if a key was added or removed
};

/// "section.key=value" of an old line, if only its value has changed.
std::string restored(const std::string& section, const std::string& then, const std::string& now) {
  const std::size_t equals = then.find(" = ");
  if (equals == std::string::npos || !now.starts_with(then.substr(0, equals + 3))) return {};
  std::string value = then.substr(equals + 3);
  // A word needs no quotes.
  if (value.find_first_of(" '[\\") == std::string::npos) std::erase(value, '"');
  return fmt::format("{}.{}={}", section.substr(1, section.size() - 2), then.substr(0, equals),
                     value);
}

Difference first_difference(const std::string& then, const std::string& now) {
  Sections before = sections_of(then), after = sections_of(now);
  leave_out_temperatures_of_baths(before, after);
  for (const auto& [section, lines] : before) {
    if (!after.contains(section)) return {fmt::format("{} was removed", section)};
  }
  for (const auto& [section, lines] : after) {
    const auto old = before.find(section);
    if (old == before.end()) return {fmt::format("{} was added", section)};
    const auto [a, b] =
        std::mismatch(old->second.begin(), old->second.end(), lines.begin(), lines.end());
    const std::string gap = section.empty() ? "" : " ";
    if (a == old->second.end() && b == lines.end()) continue;
    const std::string was = a == old->second.end() ? "nothing" : *a;
    const std::string is = b == lines.end() ? "nothing" : *b;
    return {fmt::format("{}{}was '{}', is '{}'", section, gap, was, is),
            section.empty() ? "" : restored(section, was, is)};
  }
  return {"the order of its lines changed"};
}

/// Record of the observer with this name, or null.
const io::ObserverRecord* record_of(const io::Checkpoint& checkpoint, const std::string& name) {
  const auto record = std::ranges::find(checkpoint.observers, name, &io::ObserverRecord::name);
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
  for (const Observer* observer : observers_) fields |= observer->accumulated();
  return fields;
}

void Checkpointer::observe(const Frame& frame) {
  for (Observer* observer : observers_) {
    if (observer->accumulated() != kNoFields) observer->catch_up(frame);
  }
  start_writing();
}

double Checkpointer::age_seconds() const {
  if (writing_.valid()) return 0.0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - written_).count();
}

void Checkpointer::start_writing() {
  // Before the observers flush their files: these are then at most one checkpoint ahead of the
  // last complete one.
  finish_writing();
  std::vector<io::ObserverRecord> records;
  for (Observer* observer : observers_) {
    std::ostringstream bytes;
    observer->save(bytes);
    records.push_back({observer->name(), std::move(bytes).str()});
  }
  std::vector<BlowUp> blow_ups = parallel::joined(std::array{before_.blow_ups, engine_.blow_ups()});
  step_ = engine_.step();
  auto task = [this, state = engine_.begin_state(), all = std::move(blow_ups),
               saved = std::move(records)]() mutable {
    io::write_checkpoint(path_, {before_.tarn_version, before_.physics, before_.device,
                                 join(state(), before_.state), std::move(all), std::move(saved)});
  };
  // Without another thread the task is deferred to finish_writing().
  writing_ = std::async(std::launch::async | std::launch::deferred, std::move(task));
}

void Checkpointer::poll() {
  if (!writing_.valid()) return;
  if (writing_.wait_for(std::chrono::seconds(0)) != std::future_status::timeout) finish_writing();
}

void Checkpointer::finish_writing() {
  if (!writing_.valid()) return;
  writing_.get();
  written_ = std::chrono::steady_clock::now();
  if (on_written_) on_written_(step_);
}

void Checkpointer::write() {
  start_writing();
  finish_writing();
}

void refuse_new_observers(const std::string& path, const io::Checkpoint& checkpoint,
                          const std::vector<std::unique_ptr<Observer>>& observers) {
  for (const auto& observer : observers) {
    if (record_of(checkpoint, observer->name())) continue;
    throw InputError(
        fmt::format("cannot resume from '{}': the observer '{}' is new and missed the earlier "
                    "steps. Remove it, or restart the run with --overwrite.",
                    path, observer->name()));
  }
}

void refuse_other_observers(const std::string& path, const io::Checkpoint& checkpoint,
                            const std::vector<std::unique_ptr<Observer>>& observers) {
  for (const io::ObserverRecord& record : checkpoint.observers) {
    const auto is_it = [&](const auto& observer) { return observer->name() == record.name; };
    if (std::ranges::any_of(observers, is_it)) continue;
    throw InputError(fmt::format(
        "cannot resume from '{}': the run had an observer '{}', which is missing now. Resume with "
        "the program that started the run and the same RunOptions::observers, or restart it with "
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
        fmt::format("it was written by tarn {}, but this is tarn {}, whose results may differ "
                    "bitwise. Resume with the old version, or restart the run with --overwrite.",
                    checkpoint.tarn_version, kVersion));
  }
  if (checkpoint.physics != physics) {
    const Difference difference = first_difference(checkpoint.physics, physics);
    const std::string cure = difference.restored.empty()
                                 ? ""
                                 : fmt::format(
                                       " To continue the old run, add --set '{}', or write "
                                       "this key in the deck.",
                                       difference.restored);
    refuse(
        fmt::format("the deck has changed: {}. Only steps (or duration_ps), device, threads and "
                    "[checkpoint] may change.{} To continue with another deck, set [system] state "
                    "to this folder and choose a new one with --out; to restart, use --overwrite.",
                    difference.text, cure));
  }
  if (steps < checkpoint.state.step) {
    refuse(
        fmt::format("the deck requests {} steps, but {} are already done. Increase steps, or "
                    "restart the run with --overwrite.",
                    steps, checkpoint.state.step));
  }
  return checkpoint;
}

}  // namespace tarn
