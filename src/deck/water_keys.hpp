#pragma once

#include <vector>

#include "key_table.hpp"
#include "schema.hpp"

/// @file
/// The sections of decks of water, in the order of the resolved deck and of the reference.

namespace tarn::decks {

SectionTable system_section();
SectionTable model_section();
SectionTable integrator_section();
SectionTable thermostat_section();
SectionTable path_integral_section();
SectionTable exchange_section();
SectionTable confinement_section();
SectionTable field_section();
std::vector<SectionTable> bias_sections();
SectionTable potential_section();
SectionTable run_section();
SectionTable checkpoint_section();

/// @name The sections [observe.*], in three files observe_*.cpp
/// @{
std::vector<SectionTable> table_sections();
std::vector<SectionTable> curve_sections();
std::vector<SectionTable> structure_sections();
/// @}

constexpr double kLargestTemperature_K = 1e6;

/// For keys that need the forces of the water model.
inline Condition with_forces_of_the_model() {
  return {"potential.kind", {"model"}, {}, {}, "no other potential"};
}

/// The names of rigid models, and "own".
std::vector<std::string_view> rigid_models();
/// For keys of penalised bonds, which flexible models and other potentials do not have.
/// @param other another condition of the key
inline std::vector<Condition> with_rigid_molecules(Condition other) {
  constexpr std::string_view text = "a rigid model";
  return {with_forces_of_the_model(),
          std::move(other),
          {"system.model", rigid_models(), {}, {}, text},
          {"model.stretch", {"rigid"}, "system.model", {kOwnModel}, text}};
}

/// The schemes that hold the bonds by a penalty.
inline Condition penalty_schemes() {
  return {"integrator.scheme", {"zss-stiff", "pushforward-newmark", "newmark-one-step", "verlet"}};
}

/// The rules of the water model alone.
std::vector<Rule> model_rules();
/// The rules of the other sections but [observe.*], grouped by section.
std::vector<Rule> start_rules();
std::vector<Rule> scheme_rules();
std::vector<Rule> run_rules();

/// The keys of the length of a run, and others.
inline std::vector<std::string_view> with_length_and(std::vector<std::string_view> keys) {
  keys.insert(keys.end(), {"run.steps", "run.duration_ps", "integrator.timestep_fs"});
  return keys;
}

/// True for a penalty scheme with omega = "infinite".
bool has_infinite_penalty(const Checker& checker);

inline constexpr std::string_view kAllOrFirst =
    "Replicas to write: all, or the first n (all if there are fewer).";
inline constexpr std::string_view kAllOrFirstAveraged =
    "Replicas to average over: all, or the first n (all if there are fewer).";

inline std::vector<Choice> every_replica() { return {{"all", ReplicaSelection::Kind::all}}; }
inline std::vector<Choice> all_or_mean() {
  return {{"all", ReplicaSelection::Kind::all}, {"mean", ReplicaSelection::Kind::mean}};
}

/// `replicas` of a table with means.
template <class S>
KeyOf<S> all_or_mean_key() {
  return replicas_key<S>(all_or_mean(),
                         "Replicas to write: all, their mean with its standard error, or the first "
                         "n (all if there are fewer).");
}

}  // namespace tarn::decks
