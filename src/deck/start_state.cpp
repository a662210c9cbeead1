#include "tarn/start_state.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "io/checkpoint.hpp"
#include "schema.hpp"
#include "source.hpp"
#include "tarn/core/error.hpp"

namespace tarn {
namespace {

namespace fs = std::filesystem;

/// @throws InputError if there is no such file
void check_path(const Deck& deck, const std::string& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return;
  const std::string given = decks::toml_string(*deck.system.state);
  const fs::path folder = fs::path(path).parent_path();
  if (fs::path(*deck.system.state).filename() != fs::path(path).filename() &&
      fs::is_directory(folder, ignored)) {
    throw InputError(
        fmt::format("state = {}: there is no checkpoint.bin in {}; name the folder of a run of "
                    "water, which contains one from its start",
                    given, folder.string()));
  }
  throw InputError(fmt::format("state = {}: there is no run and no checkpoint {}{}", given, path,
                               decks::missing_path_hint(deck, *deck.system.state)));
}

/// The deck of the run that wrote the checkpoint.
Deck deck_of(const io::Checkpoint& checkpoint, const std::string& path) {
  // Remove the observers, which this build may not support, and set a length, which the fingerprint
  // does not contain.
  const std::string text = checkpoint.physics.substr(0, checkpoint.physics.find("\n[observe."));
  try {
    return parse_deck(text, path, {fmt::format("run.steps={}", kMaxSteps)});
  } catch (const InputError&) {
    throw InputError(
        fmt::format("cannot start from '{}': tarn {} wrote it, with a deck that this version "
                    "cannot read. Write [observe.final] with that version, and start from "
                    "final.xyz with file and velocities = \"file\"",
                    path, checkpoint.tarn_version));
  }
}

}  // namespace

StartState read_start_state(const Deck& deck) {
  StartState start;
  start.path = *state_path(deck);
  check_path(deck, start.path);
  io::Checkpoint checkpoint = io::read_checkpoint(start.path);
  start.deck = deck_of(checkpoint, start.path);
  std::vector<std::int64_t>& ids = checkpoint.state.replica_ids;
  for (std::size_t r = 0; r < ids.size(); ++r) {
    if (ids[r] != static_cast<std::int64_t>(r)) ids.clear();
  }
  if (checkpoint.state.molecules < 1 || ids.empty()) {
    throw InputError(
        fmt::format("cannot start from '{}': it is not the state of a run of water", start.path));
  }
  start.state = std::move(checkpoint.state);
  start.blow_ups = std::move(checkpoint.blow_ups);
  return start;
}

std::vector<KeyProblem> start_state_problems(const Deck& deck, const StartState& start) {
  std::vector<KeyProblem> problems;
  const int given = start.state.replicas();
  const int wanted = deck.system.replicas;
  if (given != 1 && given != wanted) {
    problems.push_back(
        {"system.replicas", fmt::format("replicas = {}, but the state has {}; write replicas = {}. "
                                        "Only a state of one replica starts any number",
                                        wanted, given, given)});
  }
  if (!start.blow_ups.empty()) {
    const BlowUp& first = start.blow_ups.front();
    problems.push_back(
        {"system.state",
         fmt::format(
             "{} of {} replicas of the state failed, the first of them replica {} at step "
             "{}. Correct that run first, or start from the [observe.final] of another replica",
             start.blow_ups.size(), given, first.replica, first.step)});
  }
  if (deck.thermostat.kind != Thermostat::none && start.deck.thermostat.kind != Thermostat::none &&
      start.state.step > 0 && deck.system.seed == start.deck.system.seed) {
    problems.push_back({"system.seed", fmt::format("seed = {} is that of the run of the state, and "
                                                   "would repeat its noise; use another one",
                                                   deck.system.seed)});
  }
  return problems;
}

std::string missing_velocities_message(const std::string& path) {
  return fmt::format(
      "velocities = \"file\": {} does not contain velocities for every atom. Extended XYZ has them "
      "as vel_A_per_akma:R:3, GRO in three more columns, TRR and H5MD in some frames; omit "
      "velocities to draw them",
      path);
}

}  // namespace tarn
