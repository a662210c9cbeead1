#include <filesystem>
#include <new>
#include <string_view>

#include <fmt/format.h>

#include "core/text.hpp"
#include "io/json.hpp"
#include "run_messages.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

using io::json;

/// Fractions of the time spent in each stage.
std::string stages(const EngineReport& report) {
  const double all =
      report.pair_seconds + report.bond_seconds + report.noise_seconds + report.rest_seconds;
  const auto share = [&](double seconds) { return json(all > 0.0 ? seconds / all : 0.0); };
  io::JsonObject object;
  object.add("pair", share(report.pair_seconds))
      .add("bond", share(report.bond_seconds))
      .add("noise", share(report.noise_seconds))
      .add("rest", share(report.rest_seconds));
  return object.text();
}

std::string slow_start(const std::optional<SlowManifoldStart>& slow) {
  if (!slow) return "null";
  io::JsonObject object;
  object.add("fast_energy_before_kcal_per_mol", json(slow->fast_before_kcal_per_mol))
      .add("fast_energy_after_kcal_per_mol", json(slow->fast_after_kcal_per_mol))
      .add("iterations", json(std::int64_t{slow->iterations}));
  return object.text();
}

std::string average_list(const std::vector<AveragedQuantity>& averages) {
  std::vector<std::string> values;
  for (const AveragedQuantity& a : averages) {
    const std::string bath = a.bath_K ? fmt::format("\"bath_K\": {}, ", json(*a.bath_K)) : "";
    values.push_back(fmt::format(
        "{{\"table\": {}, \"quantity\": {}, {}\"mean\": {}, \"error\": {}, \"autocorrelation_ps\": "
        "{}, \"independent_samples\": {}, \"samples\": {}, \"converged\": {}}}",
        json(a.table), json(a.quantity), bath, json(a.mean), json(a.error),
        a.autocorrelation_ps ? json(*a.autocorrelation_ps) : "null", json(a.independent_samples),
        json(a.samples), a.converged));
  }
  return io::json_array(values);
}

std::string exchange(const std::optional<ExchangeSummary>& summary) {
  if (!summary) return "null";
  std::vector<std::string> pairs;
  for (const ExchangePair& p : summary->pairs) {
    pairs.push_back(
        fmt::format("{{\"lower_bath_K\": {}, \"upper_bath_K\": {}, \"attempts\": {}, \"accepted\": "
                    "{}, \"acceptance\": {}, \"error\": {}}}",
                    json(p.lower_bath_K), json(p.upper_bath_K), json(p.attempts), json(p.accepted),
                    json(p.acceptance), json(p.error)));
  }
  std::string even = "null";
  if (summary->equal_acceptance_ladder) {
    std::vector<std::string> temperatures_K;
    for (const double t_K : summary->equal_acceptance_ladder->temperatures_K)
      temperatures_K.push_back(json(t_K));
    even = fmt::format("{{\"acceptance\": {}, \"temperatures_K\": [{}]}}",
                       json(summary->equal_acceptance_ladder->acceptance),
                       fmt::join(temperatures_K, ", "));
  }
  return fmt::format(
      "{{\"round_trips\": {}, \"round_trips_per_ns\": {}, \"structure_changes_per_walker\": {}, "
      "\"structure_change\": {}, \"pairs\": [{}], \"even\": {}}}",
      json(summary->round_trips), json(summary->round_trips_per_ns),
      json(summary->structure_changes.per_walker),
      json(std::string_view(summary->structure_changes.what)), fmt::join(pairs, ", "), even);
}

std::string list_of(const MoleculeEvents& events, bool with_length) {
  std::vector<std::string> values;
  for (const MoleculeEvent& e : events) {
    io::JsonObject object;
    object.add("replica", json(e.replica))
        .add("step", json(e.step))
        .add("molecule", json(std::int64_t{e.molecule}));
    if (with_length) object.add("length_A", json(e.length_A));
    values.push_back(object.line());
  }
  return io::json_array(values);
}

std::string list_of_blow_ups(const RunRecord& record, const Deck& deck) {
  std::vector<std::string> values;
  for (const BlowUp& blow_up : record.result.blow_ups) {
    io::JsonObject object;
    add_to(object, blow_up, describe(blow_up, deck, record.indefinite_hessians, record.molecules));
    values.push_back(object.line());
  }
  return io::json_array(values);
}

std::string list_of(const std::vector<EnginePart>& parts) {
  std::vector<std::string> values;
  for (const EnginePart& part : parts) {
    io::JsonObject object;
    object.add("rank", json(std::int64_t{part.rank}))
        .add("host", json(part.host))
        .add("device", json(part.device))
        .add("replicas", json(part.replicas))
        .add("first_replica", json(part.first_replica))
        .add("last_replica", json(part.last_replica));
    values.push_back(object.line());
  }
  return io::json_array(values);
}

}  // namespace

void write_record(const std::string& path, const Deck& deck, const RunRecord& record) {
  const EngineReport& engine = record.engine;
  const RunResult& result = record.result;
  const auto speed = [&](double rate) { return record.has_replicas ? json(rate) : "null"; };
  io::JsonObject object;
  object.add("status", json(record.status));
  if (!record.error.empty()) object.add("error", json(record.error));
  object.add("tarn_version", json(kVersion))
      .add("deck_path", json(deck.path))
      .add("deck", json(resolved_deck(deck)))
      .add("physics", json(fmt::format("{:016x}", io::checksum(physics_fingerprint(deck)))));
  if (const std::string name = potential_text(deck); !name.empty())
    object.add("potential", json(name));
  object.add("device", json(result.device))
      .add("parts", record.parts.size() > 1 ? list_of(record.parts) : "[]")
      .add("seed", fmt::to_string(deck.system.seed))
      .add("molecules", json(std::int64_t{record.molecules}))
      .add("replicas", json(std::int64_t{deck.system.replicas}))
      .add("first_step", json(record.first_step))
      .add("steps_done", json(result.steps_done))
      .add("wall_seconds", json(result.wall_seconds))
      .add("steps_per_second", speed(result.steps_per_second))
      .add("ns_per_day_per_replica", speed(result.ns_per_day_per_replica))
      .add("ns_per_day_total", speed(result.ns_per_day_total))
      .add("stage_shares", stages(engine))
      .add("constraint_iterations_per_molecule_step",
           json(engine.molecule_steps > 0 ? static_cast<double>(engine.constraint_iterations) /
                                                static_cast<double>(engine.molecule_steps)
                                          : 0.0))
      .add("slow_start", slow_start(record.slow_start))
      .add("notes", io::json_strings(texts_of(Level::note, record.messages)))
      .add("warnings", io::json_strings(texts_of(Level::warning, record.messages)))
      .add("averages", average_list(result.averages))
      .add("exchange", exchange(result.exchange))
      .add("departures", list_of(record.departures, false))
      .add("broken_bonds", list_of(record.broken_bonds, true))
      .add("indefinite_hessians", json(record.indefinite_hessians))
      .add("blow_ups", list_of_blow_ups(record, deck))
      .add("pictures", io::json_strings(result.pictures));
  io::write_file(path, object.text() + "\n");
}

/// Value of a deck key in run.json, as written there; empty without run.json.
static std::string deck_value(const std::string& folder, std::string_view section,
                              std::string_view key) {
  const std::string record = folder + "/run.json";
  if (!std::filesystem::exists(record)) return {};
  const std::string text = io::read_file(record);
  // The deck is a JSON string: its lines end with a backslash and an n.
  const std::size_t at = text.find(fmt::format("[{}]\\n", section));
  if (at == std::string::npos) return {};
  const std::string line = fmt::format("\\n{} = ", key);
  const std::size_t begin = text.find(line, at);
  if (begin == std::string::npos || begin > text.find("\\n[", at)) return {};
  const std::size_t value = begin + line.size();
  return text.substr(value, text.find("\\n", value) - value);
}

std::string failure_reason(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) {
    return "not enough memory; use fewer replicas or molecules";
  }
  return error.what();
}

std::optional<Message> note_on_other_length(const std::string& folder, const Deck& deck) {
  const auto before = number_in<std::int64_t>(deck_value(folder, "run", "steps"));
  if (!before || *before == deck.run.steps) return std::nullopt;
  const auto length = [&](std::int64_t steps) {
    return fmt::format("{} steps ({:.6g} ps)", steps,
                       1e-3 * deck.integrator.timestep_fs * static_cast<double>(steps));
  };
  return Message::note(
      fmt::format("this run now has {}, and had {} before; --set run.steps={} keeps that length",
                  length(deck.run.steps), length(*before), *before));
}

bool record_is_finished(const std::string& path) {
  return std::filesystem::exists(path) &&
         io::read_file(path).starts_with("{\n  \"status\": \"finished\"");
}

}  // namespace tarn
