#include "checker.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <ranges>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "system_limits.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/io/structure.hpp"
#include "water_keys.hpp"

namespace tarn::decks {
namespace {

/// True for sections, and for "observe", which contains sections and no keys.
bool has_section(const Schema& schema, std::string_view name) {
  return std::ranges::any_of(schema.sections, [&](const Section& section) {
    return section.name.starts_with(name) &&
           (section.name == name || section.name[name.size()] == '.');
  });
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string_view parent_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

std::string bracket_list(const std::vector<std::string_view>& names) {
  return fmt::format("[{}]", fmt::join(names, "], ["));
}

std::string all_sections(const Schema& schema) {
  return fmt::format("[{}]",
                     fmt::join(schema.sections | std::views::transform(&Section::name), "], ["));
}

/// The keys of a section that this kind of system has.
std::vector<std::string_view> key_names(const Schema& schema, std::string_view section,
                                        const Deck& deck) {
  const auto goes_with_kind = [&](const Condition& condition) {
    return condition.path != "system.kind" || schema.is_met(condition, deck);
  };
  std::vector<std::string_view> names;
  for (const Key& key : schema.keys) {
    if (key.section != section || !std::ranges::all_of(key.used_with, goes_with_kind)) continue;
    names.push_back(key.name);
  }
  return names;
}

std::vector<std::string_view> sections_with(const Schema& schema, std::string_view key_name) {
  std::vector<std::string_view> names;
  for (const Key& key : schema.keys) {
    if (key.name == key_name) names.push_back(key.section);
  }
  return names;
}

/// The last value that a source and overrides give a key of [system]; null: none.
template <class Entries>
auto* last_in_system(Entries& entries, Entries& overrides, std::string_view name) {
  decltype(&entries.front()) given = nullptr;
  for (Entries* list : {&entries, &overrides}) {
    for (auto& entry : *list) {
      if (entry.section == "system" && entry.name == name) given = &entry;
    }
  }
  return given;
}

}  // namespace

Checker::Checker(const std::string& path, bool read_files) : Checker(path, water_schema(), water_) {
  read_files_ = read_files;
}

Checker::Checker(const std::string& path, const Schema& schema, Deck& deck)
    : schema_(&schema), path_(path), deck_(deck) {
  deck_.path = path;
  deck_.name = std::filesystem::path(path).stem().string();
}

std::optional<double> Checker::number(std::string_view path) const {
  const auto given = values_.find(path);
  if (given == values_.end()) return std::nullopt;
  if (const auto* integer = std::get_if<std::int64_t>(&given->second.first)) {
    return static_cast<double>(*integer);
  }
  if (const auto* number = std::get_if<double>(&given->second.first)) return *number;
  return std::nullopt;
}

std::int64_t Checker::molecules() const {
  return start_molecules_ ? *start_molecules_ : deck_.system.molecules;
}

bool Checker::is_reliable(const std::vector<std::string_view>& paths) const {
  return std::none_of(paths.begin(), paths.end(), [&](std::string_view path) {
    return unreliable_.find(path) != unreliable_.end();
  });
}

void Checker::problem(std::string_view path, std::string message) {
  const auto given = values_.find(path);
  if (given != values_.end()) return add_problem(given->second.second, std::move(message));
  const auto section = sections_.find(parent_of(path));
  if (section != sections_.end()) return add_problem(section->second, std::move(message));
  add_problem({path_, 0, 0}, std::move(message));
}

void Checker::add_problem(const Place& place, std::string message) {
  problems_.push_back({place.file, place.line, place.column, std::move(message)});
}

void Checker::add_problems(const InputError& error) {
  problems_.insert(problems_.end(), error.problems().begin(), error.problems().end());
}

void Checker::mark_section_unreliable(std::string_view section) {
  for (const Key& key : schema_->keys) {
    if (key.section == section) mark_unreliable(key.path());
  }
}

void Checker::throw_problems() {
  // The problems of the deck by line, then those of the command line in its order.
  const auto order = [&](const Problem& problem) {
    return std::tuple(problem.file != path_, problem.line, problem.column);
  };
  std::stable_sort(problems_.begin(), problems_.end(),
                   [&](const Problem& a, const Problem& b) { return order(a) < order(b); });
  throw InputError(std::move(problems_));
}

Deck Checker::check(const std::string& text, const std::vector<Override>& overrides,
                    const std::vector<Override>& removals) {
  Source given;
  const auto wants_text = [](std::string_view path) {  // only water has such keys
    const Key* key = water_schema().find_key(path);
    return key != nullptr && (key->type == Type::file || key->type == Type::text);
  };
  for (const Override& override_ : overrides) {
    has_set_ = has_set_ || override_.label.starts_with("--set ");
    try {
      const Source one = read_override(override_, wants_text);
      given.sections.insert(given.sections.end(), one.sections.begin(), one.sections.end());
      given.entries.insert(given.entries.end(), one.entries.begin(), one.entries.end());
    } catch (const InputError& error) {
      add_problems(error);
    }
  }
  try {
    Source source = read_source(text, path_);
    problems_.insert(problems_.end(), source.problems.begin(), source.problems.end());
    apply_removals(removals, source);
    if (is_water()) {
      refuse_paper_systems(source, given.entries);
      read_model_file(source, given.entries);
    }
    read_sections(source);
  } catch (const InputError& error) {  // without valid TOML there is nothing else to check
    add_problems(error);
    throw_problems();
  }
  apply_overrides(std::move(given));
  read_entries();
  check_conditions();
  if (is_water()) {
    if (read_files_) {
      for (const StructureSource& one : structure_sources(deck_)) read_structure_file(one);
    }
    read_start_state();
    if (read_files_ && potential_kind(deck_) == PotentialKind::library && deck_.potential->path) {
      check_file("potential.path", *potential_path(deck_), *deck_.potential->path);
    }
    set_steps_from_duration();
  }
  for (const Rule& rule : schema_->rules) rule.check(*this);
  if (!problems_.empty()) throw_problems();
  if (is_water()) fill_defaults();
  return deck_;
}

Deck Checker::check_model(const std::string& text) {
  Source source = read_source(text, path_);
  problems_ = source.problems;
  std::vector<Entry> no_overrides;
  refuse_paper_systems(source, no_overrides);
  const auto defines_model = [](const Entry& entry) {
    return entry.section == "model" ||
           (entry.section == "system" &&
            (entry.name == "model" || entry.name.find("_mass") != std::string::npos));
  };
  std::erase_if(source.entries, std::not_fn(defines_model));
  std::erase_if(source.sections, [](const SourceSection& section) {
    return section.path != "model" && section.path != "system";
  });
  read_model_file(source, no_overrides);
  read_sections(source);
  read_entries();
  check_conditions();
  if (!has("system.model") && sections_.find("model") == sections_.end() && problems_.empty()) {
    add_problem({path_, 0, 0},
                "this file names no water model; write its parameters in a section [model], or "
                "[system] model");
  }
  for (const Rule& rule : model_rules()) rule.check(*this);
  if (!problems_.empty()) throw_problems();
  return deck_;
}

/// All removals apply to the original source: their order does not matter.
void Checker::apply_removals(const std::vector<Override>& removals, Source& source) {
  const auto is_in = [](std::string_view section, const std::string& path) {
    return section == path || section.starts_with(path + '.');
  };
  std::vector<std::string> found;
  for (const SourceSection& section : source.sections) found.push_back(section.path);
  for (const Entry& entry : source.entries) found.push_back(entry.path());
  for (const Override& removal : removals) {
    if (std::find(found.begin(), found.end(), removal.text) != found.end()) continue;
    const auto depth = [](std::string_view path) { return std::ranges::count(path, '.'); };
    std::vector<std::string_view> alike;
    for (const std::string& path : found) {
      if (depth(path) == depth(removal.text)) alike.push_back(path);
    }
    std::string meant = nearest(removal.text, alike).name;
    for (const std::string& path : found) {
      if (meant.empty() && last_part(path) == removal.text) meant = path;
    }
    add_problem({removal.label, 0, 0},
                "the deck has no such section or key{}; expected section or section.key",
                meant.empty() ? meant : fmt::format(" (did you mean {}?)", meant));
  }
  const auto is_out = [&](const std::string& section, const std::string& key) {
    return std::any_of(removals.begin(), removals.end(), [&](const Override& removal) {
      return removal.text == key || is_in(section, removal.text);
    });
  };
  std::erase_if(source.entries,
                [&](const Entry& entry) { return is_out(entry.section, entry.path()); });
  std::erase_if(source.sections,
                [&](const SourceSection& section) { return is_out(section.path, section.path); });
}

void Checker::read_model_file(Source& source, std::vector<Entry>& overrides) {
  Entry* given = last_in_system(source.entries, overrides, "model");
  if (given == nullptr || !given->value.string.ends_with(".toml")) return;
  const Place place = given->value.place;
  const std::string path =
      (std::filesystem::path(path_).parent_path() / given->value.string).string();
  const std::string as_written = given->value.text;
  given->value.string = kOwnModel;
  const auto is_model = [](const SourceSection& section) { return section.path == "model"; };
  const auto fail = [&](const std::string& message) {
    add_problem(place, message);
    mark_unreliable("system.model");
  };
  if (std::ranges::any_of(source.sections, is_model)) {
    return fail(
        fmt::format("model = {} and [model] exclude each other; remove one of them", as_written));
  }
  try {
    const Source file = read_source(read_toml_text(path, kModelFile), path);
    problems_.insert(problems_.end(), file.problems.begin(), file.problems.end());
    const auto section = std::ranges::find_if(file.sections, is_model);
    if (section == file.sections.end()) {
      return fail(fmt::format("model = {}: {} has no section [model]", as_written, path));
    }
    source.sections.push_back(*section);
    std::ranges::copy_if(file.entries, std::back_inserter(source.entries),
                         [](const Entry& entry) { return entry.section == "model"; });
  } catch (const InputError& error) {
    add_problems(error);
    mark_unreliable("system.model");
  } catch (const IoError& error) {
    fail(fmt::format("model = {}: {}", as_written, error.what()));
  }
}

/// Considers the last `kind`.
void Checker::refuse_paper_systems(const Source& source,
                                   const std::vector<Entry>& overrides) const {
  const Entry* given = last_in_system(source.entries, overrides, "kind");
  if (given == nullptr ||
      std::ranges::find(kPaperSystems, given->value.string) == kPaperSystems.end()) {
    return;
  }
  const Place& place = given->value.place;
  throw InputError(std::vector{
      Problem{place.file, place.line, place.column,
              fmt::format("kind = {} is a system of the papers; run it with: tarn-papers run {}",
                          toml_string(given->value.string), path_)}});
}

void Checker::open_section(const std::string& name, const Place& place) {
  sections_.emplace(name, place);
  const Section* section = schema_->find_section(name);
  if (section != nullptr && section->enable != nullptr) section->enable(deck_);
}

std::string Checker::unknown_section(const std::string& name, const std::string& as_written,
                                     const Place& place) {
  if (const Key* key = schema_->find_key(name)) {
    add_problem(place, "{} is a key of [{}] and not a section; expected {}", key->name,
                key->section, expected_text(*key));
    mark_unreliable(key->path());
    return {};
  }
  std::vector<std::string_view> known;
  if (name.find('.') == std::string::npos) known.push_back("observe");
  std::string meant;
  for (const Section& section : schema_->sections) {
    known.push_back(section.name);
    if (last_part(section.name) == name) meant = section.name;  // [rdf] for [observe.rdf]
  }
  if (meant.empty()) meant = nearest(name, known).name;
  const std::string hint = meant.empty() ? meant : fmt::format(" (did you mean [{}]?)", meant);
  add_problem(place, "unknown section [{}]{}; known: {}", as_written, hint, all_sections(*schema_));
  return meant;
}

void Checker::read_sections(const Source& source) {
  const auto is_in_source = [&](const std::string& name) {
    return std::any_of(source.sections.begin(), source.sections.end(),
                       [&](const SourceSection& section) { return section.path == name; });
  };
  // From the path in the file to the name that was probably meant; empty: unknown.
  std::map<std::string, std::string> meant;
  for (const SourceSection& section : source.sections) {
    std::string name = section.name;
    if (!section.parent.empty()) {
      const std::string& meant_parent = meant[section.parent];
      if (meant_parent.empty()) {
        meant[section.path] = {};
        continue;
      }
      name = meant_parent + '.' + name;
    }
    if (!has_section(*schema_, name)) {
      name = unknown_section(name, section.path, section.place);
      if (is_in_source(name)) name.clear();  // both sections exist: not a typing error
    }
    meant[section.path] = name;
    if (!name.empty()) open_section(name, section.place);
  }
  for (const Entry& entry : source.entries) {
    if (entry.section.empty()) {
      key_outside_sections(entry);
    } else if (const std::string& name = meant[entry.section]; !name.empty()) {
      entries_.push_back(entry);
      entries_.back().section = name;
    }
  }
}

void Checker::section_as_key(const std::string& path, const Place& place) {
  add_problem(place, "{0} is a section; write [{0}], in single brackets, and its keys below it",
              path);
  mark_section_unreliable(path);
}

void Checker::key_outside_sections(const Entry& entry) {
  if (entry.value.is_unreadable) return mark_section_unreliable(entry.name);
  if (has_section(*schema_, entry.name)) return section_as_key(entry.name, entry.place);
  const std::vector<std::string_view> homes = sections_with(*schema_, entry.name);
  add_problem(entry.place, "{} is outside any section; {} {}", toml_string(entry.name),
              homes.empty() ? "known:" : "it belongs in",
              homes.empty() ? all_sections(*schema_) : bracket_list(homes));
  for (std::string_view home : homes) mark_unreliable(std::string(home) + '.' + entry.name);
}

void Checker::apply_overrides(Source overrides) {
  const auto remove = [&](std::string_view section, std::string_view name, bool from_deck_only) {
    std::erase_if(entries_, [&](const Entry& entry) {
      return entry.section == section && entry.name == name &&
             (!from_deck_only || entry.place.file == path_);
    });
  };
  for (const SourceSection& section : overrides.sections) {
    if (schema_->find_section(section.path) != nullptr) {
      open_section(section.path, section.place);
    } else if (!has_section(*schema_, section.path)) {
      unknown_section(section.path, section.path, section.place);
      std::erase_if(overrides.entries,
                    [&](const Entry& entry) { return entry.section == section.path; });
    }
  }
  for (Entry& entry : overrides.entries) {
    if (!has_section(*schema_, entry.section)) {
      unknown_section(entry.section, entry.section, entry.place);
      continue;
    }
    if (sections_.find(entry.section) == sections_.end()) open_section(entry.section, entry.place);
    remove(entry.section, entry.name, false);
    const Key* key = schema_->find_key(entry.section, entry.name);
    if (key != nullptr) {
      for (const std::string_view other : key->excludes) remove(entry.section, other, true);
    }
    entries_.push_back(std::move(entry));
  }
}

void Checker::read_entries() {
  // The kind first, because other keys depend on it.
  std::stable_partition(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.section == "system" && entry.name == "kind";
  });
  for (const Entry& entry : entries_) read_entry(entry);
}

void Checker::read_entry(const Entry& entry) {
  const Key* key = schema_->find_key(entry.section, entry.name);
  if (key == nullptr) return unknown_key(entry);
  if (entry.value.is_unreadable) return mark_unreliable(key->path());
  const std::optional<Value> value = read_value(*key, entry.value, *schema_, deck_, problems_);
  if (!value) return mark_unreliable(key->path());
  values_[key->path()] = {*value, entry.value.place};
  key->set(*value, deck_);
}

void Checker::unknown_key(const Entry& entry) {
  const std::string path = entry.path();
  if (schema_->find_section(path) != nullptr) return section_as_key(path, entry.place);
  if (schema_->find_section(entry.section) == nullptr) {
    add_problem(entry.place, "[{}] contains sections and no keys; known: {}", entry.section,
                all_sections(*schema_));
    return;
  }
  const std::vector<std::string_view> known = key_names(*schema_, entry.section, deck_);
  NameSuggestion here = nearest(entry.name, known);
  std::vector<std::string_view> all;
  for (const Key& key : schema_->keys) all.push_back(key.name);
  const NameSuggestion anywhere = nearest(entry.name, all);
  std::string hint;
  if (!anywhere.name.empty() && (here.name.empty() || anywhere.distance < here.distance)) {
    const std::vector<std::string_view> homes = sections_with(*schema_, anywhere.name);
    const std::string where = bracket_list(homes);
    hint = anywhere.name == entry.name
               ? fmt::format(" (it belongs in {})", where)
               : fmt::format(" (did you mean {} in {}?)", toml_string(anywhere.name), where);
    for (std::string_view home : homes) mark_unreliable(std::string(home) + '.' + anywhere.name);
  } else if (!here.name.empty()) {
    hint = did_you_mean(here.name);
    mark_unreliable(entry.section + '.' + here.name);
  }
  add_problem(entry.place, "unknown key {} in [{}]{}; known: {}", toml_string(entry.name),
              entry.section, hint, comma_list(known));
}

/// Defaults that other keys depend on.
void Checker::choose_scheme_and_thermostat() {
  if (!has("integrator.scheme")) deck_.integrator.scheme = default_scheme(deck_);
  // Problems that follow from a default for the wrong model are not reported.
  if (!has("integrator.scheme") && !is_reliable({"system.model", "model.stretch"})) {
    mark_unreliable("integrator.scheme");
  }
  if (is_reliable({"integrator.scheme"}) && !has("integrator.timestep_fs") && moves_bonds(deck_) &&
      deck_.integrator.scheme == Scheme::verlet) {
    deck_.integrator.timestep_fs = kFlexibleVerletStep_fs;
  }
  if (!has("thermostat.kind") && sections_.contains("thermostat")) {
    deck_.thermostat.kind = kDefaultThermostat;
  }
  if (deck_.path_integral && !has("path_integral.frequencies") &&
      deck_.path_integral->method != RingMethod::pimd) {
    deck_.path_integral->frequencies = RingFrequencies::trotter;
  }
  if (deck_.cluster && deck_.exchange && !has("observe.cluster.lindemann")) {
    deck_.cluster->lindemann = false;
  }
}

void Checker::check_conditions() {
  if (deck_.model && !has("system.model") && is_reliable({"system.model"})) {
    deck_.system.model = kOwnModel;
  }
  if (is_water()) choose_scheme_and_thermostat();
  // Default velocities: those of the state, or zero without a temperature.
  if (has("system.state") && is_reliable({"system.velocities"}) && !has("system.velocities")) {
    deck_.system.velocities = VelocityKind::state;
  }
  if (is_water() && !has("system.state") &&
      is_reliable({"system.velocities", "system.temperature_K", "thermostat.kind"}) &&
      !has("system.velocities") && !has("system.temperature_K") &&
      deck_.thermostat.kind == Thermostat::none) {
    deck_.system.velocities = VelocityKind::zero;
  }
  for (const Key& key : schema_->keys) {
    const auto given = values_.find(key.path());
    if (given == values_.end()) continue;
    const Place& place = given->second.second;
    for (const std::string_view excluded : key.excludes) {
      const auto other = values_.find(std::string(key.section) + '.' + std::string(excluded));
      const auto order = [](const Place& p, std::string_view name) {
        return std::tuple(p.line, p.column, name);
      };
      // Reported once, at the later of the two keys.
      if (other == values_.end() ||
          order(other->second.second, key.name) >= order(place, excluded)) {
        continue;
      }
      add_problem(place, "{} and {} exclude each other; remove one of them", key.name, excluded);
    }
    // Report only the first condition that is not met.
    for (const Condition& condition : key.used_with) {
      if (!check_condition(key, condition)) break;
    }
  }
}

bool Checker::check_condition(const Key& key, const Condition& condition) {
  if (schema_->is_met(condition, deck_)) return true;
  std::string why;
  if (!condition.section.empty()) {
    why = fmt::format("without a section [{}]", condition.section);
  } else if (!is_reliable({condition.path, condition.where})) {
    return true;
  } else if (const Key& other = *schema_->find_key(condition.path); condition.choices.empty()) {
    why = fmt::format("with {}; remove one of them", other.name);
  } else {
    why = fmt::format("with [{}] {} = {}{}{}; it requires {}", other.section, other.name,
                      toml_text(other, other.get(deck_)), has(other.path()) ? "" : " (the default)",
                      condition.where.empty()
                          ? ""
                          : fmt::format(" of {} = {}", schema_->find_key(condition.where)->name,
                                        comma_list(condition.where_choices, true)),
                      comma_list(condition.choices, true));
  }
  const Place& place = values_.find(key.path())->second.second;
  // A key of the deck may be unused because of --set.
  const std::string hint = has_set_ && place.file == path_
                               ? fmt::format(" (--unset {} removes it from the deck)", key.path())
                               : "";
  add_problem(place, "{} is not used {}{}", key.name, why, hint);
  return false;
}

void Checker::read_structure_file(const StructureSource& source) {
  const std::string key = "system." + source.key, &path = source.path;
  if (!check_file(key, path, source.written)) return;
  try {
    const io::Structure structure = io::read_structure(path, {source.frame});
    if (start_molecules_ && *start_molecules_ != structure.molecules) {
      problem(key, "{} has {} molecules, and the structure before it {}",
              toml_string(source.written), structure.molecules, *start_molecules_);
    }
    start_molecules_ = structure.molecules;
    if (deck_.system.velocities == VelocityKind::file && structure.velocities_A_per_akma.empty()) {
      problem("system.velocities", missing_velocities_message(path));
    }
    if (!is_reliable({"system.model", "model.oh_A", "model.hoh_degrees"})) return;
    if (deck_.system.model == kOwnModel && !(has("model.oh_A") && has("model.hoh_degrees"))) return;
    const WaterModel model = water_model(deck_);
    std::ranges::move(
        io::bond_length_problems(model, model.is_flexible(), structure.positions_A, path),
        std::back_inserter(problems_));
  } catch (const InputError& error) {
    if (error.problems().empty()) problem(key, error.what());
    add_problems(error);
  } catch (const IoError&) {  // reported when the run reads the structure
  }
}

bool Checker::check_file(const std::string& key, const std::string& path,
                         const std::string& written) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return true;
  problem(key, "{} = {}: there is no file {}{}", last_part(key), toml_string(written), path,
          missing_path_hint(deck_, written));
  return false;
}

void Checker::read_start_state() {
  if (!read_files_ || !deck_.system.state) return;
  try {
    const StartState start = tarn::read_start_state(deck_);
    start_molecules_ = start.state.molecules;
    start_problems_ = start_state_problems(deck_, start);
  } catch (const Error& error) {
    problem("system.state", error.what());
  }
}

void Checker::set_steps_from_duration() {
  const auto duration_ps = number("run.duration_ps");
  if (!duration_ps) return;
  const double steps = whole_steps(*duration_ps, deck_.integrator.timestep_fs);
  // A rule reports larger numbers.
  if (steps <= static_cast<double>(kMaxSteps)) deck_.run.steps = static_cast<std::int64_t>(steps);
}

void Checker::fill_defaults() {
  if (!has("system.temperature_K") && deck_.thermostat.kind != Thermostat::none &&
      is_drawn(deck_.system.velocities)) {
    deck_.system.temperature_K = deck_.thermostat.temperature_K;
  }
  if (!has("system.relax")) {
    deck_.system.relax = default_relax(deck_);
  }
  if (!deck_.system.keep_molecule_mass && !deck_.system.oxygen_mass_Da) {
    deck_.system.oxygen_mass_Da = units::mass_oxygen_Da;
  }
  if (!has("system.recentre")) deck_.system.recentre = default_recentre(deck_);
  if (deck_.path_integral && deck_.path_integral->method == RingMethod::trpmd &&
      !has("path_integral.internal_friction")) {
    deck_.path_integral->internal_friction = 0.5;
  }
  if (deck_.path_integral && deck_.path_integral->frequencies == RingFrequencies::economised &&
      is_flexible(deck_) && !deck_.path_integral->highest_wavenumber_per_cm) {
    deck_.path_integral->highest_wavenumber_per_cm = default_highest_wavenumber_per_cm(deck_);
  }
}

void require_keys(Checker& checker, std::initializer_list<std::string_view> paths) {
  for (std::string_view path : paths) {
    if (!checker.is_reliable({path}) || checker.has(path)) continue;
    const std::size_t dot = path.rfind('.');
    checker.problem(path, "[{}] needs {}", path.substr(0, dot), path.substr(dot + 1));
  }
}

void require_one_of(Checker& checker, std::initializer_list<std::string_view> paths,
                    std::string_view at, const std::string& message) {
  if (!checker.is_reliable(paths)) return;
  if (std::any_of(paths.begin(), paths.end(), [&](auto path) { return checker.has(path); })) return;
  checker.problem(at, message);
}

Rule rule(std::string_view text, std::string_view at, std::vector<std::string_view> relies_on,
          std::function<std::string(const Checker&)> problem) {
  return {text, [=](Checker& checker) {
            if (!checker.is_reliable(relies_on)) return;
            const std::string message = problem(checker);
            checker.problem_if(!message.empty(), at, message);
          }};
}

Rule rule(std::string_view text, std::string_view at, std::vector<std::string_view> relies_on,
          std::string message, std::function<bool(const Checker&)> is_broken) {
  return rule(text, at, std::move(relies_on),
              [=](const Checker& checker) { return is_broken(checker) ? message : std::string(); });
}

Rule limit(std::string_view text,
           std::optional<std::string> (*problem)(const Deck&, std::int64_t molecules),
           std::string_view at, std::vector<std::string_view> relies_on) {
  Rule of_limit = rule(text, at, std::move(relies_on), [problem](const Checker& checker) {
    return problem(checker.deck(), checker.molecules()).value_or("");
  });
  of_limit.limit = problem;
  return of_limit;
}

std::vector<Rule> rules_of(std::string_view section, std::vector<Rule> rules) {
  for (Rule& one : rules) one.section = section;
  return rules;
}

}  // namespace tarn::decks
