#include <fmt/format.h>

#include "checker.hpp"
#include "tarn/analysis/cluster.hpp"
#include "water_keys.hpp"

/// @file
/// Observers that write a row per replica at an interval.

namespace tarn::decks {
namespace {

/// An observer with a table of rows at an interval, for chosen replicas.
SectionTable table(std::optional<ObserveTable> Deck::*member, std::string_view name,
                   std::string_view description, std::vector<Rule> rules = {}) {
  return section(member, name, description,
                 {every_key<ObserveTable>(), all_or_mean_key<ObserveTable>()}, std::move(rules));
}

void path_integral_table_needs_rings(Checker& checker) {
  if (!checker.deck().path_integral_table || checker.deck().path_integral) return;
  checker.problem("observe.path_integral.every",
                  "[observe.path_integral] needs a section [path_integral]");
}

void bias_table_needs_bias(Checker& checker) {
  if (!checker.deck().bias_table || checker.deck().bias) return;
  checker.problem("observe.bias.every", "[observe.bias] needs a section [bias]");
}

void heat_needs_thermostat(Checker& checker) {
  if (!checker.deck().heat || !checker.is_reliable({"thermostat.kind"})) return;
  if (checker.deck().thermostat.kind != Thermostat::none) return;
  checker.problem(
      "observe.heat.every",
      "[observe.heat] needs a thermostat; at constant energy use [observe.conservation]");
}

void exchange_excludes_path_observables(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.exchange) return;
  if (deck.heat) {
    checker.problem("observe.heat.every",
                    "[observe.heat] does not support [exchange]: exchanged states change the "
                    "energy by neither heat nor work");
  }
  if (deck.evaporation) {
    checker.problem("observe.evaporation.every",
                    "[observe.evaporation] does not support [exchange], which moves evaporated "
                    "clusters between temperatures");
  }
  if (deck.cluster && deck.cluster->lindemann && checker.has("observe.cluster.lindemann") &&
      checker.is_reliable({"observe.cluster.lindemann"})) {
    checker.problem("observe.cluster.lindemann",
                    "the Lindemann index follows the molecules of one replica, which [exchange] "
                    "replaces; write lindemann = false");
  }
  if (deck.multipliers && deck.multipliers->window_steps > 1) {
    checker.problem("observe.multipliers.window_steps",
                    "a mean over several steps does not support [exchange], which replaces the "
                    "molecules; write window_steps = 1");
  }
}

std::optional<std::string> lindemann_problem(const Deck& deck, std::int64_t molecules) {
  if (!deck.cluster || !deck.cluster->lindemann) return std::nullopt;
  const std::int64_t pairs = molecules * (molecules - 1) / 2 * deck.system.replicas;
  if (pairs <= analysis::LindemannIndex::kMostPairs) return std::nullopt;
  return fmt::format(
      "the Lindemann index of {} pairs of molecules exceeds the limit of {}; write lindemann = "
      "false",
      pairs, analysis::LindemannIndex::kMostPairs);
}

void lindemann_fits_memory(Checker& checker) {
  if (!checker.is_reliable({"system.molecules", "system.replicas", "observe.cluster.lindemann"})) {
    return;
  }
  // With [exchange] it is off by default.
  if (checker.deck().exchange && !checker.has("observe.cluster.lindemann")) return;
  const auto message = lindemann_problem(checker.deck(), checker.molecules());
  if (message) checker.problem("observe.cluster.lindemann", *message);
}

void multipliers_need_rigid_model(Checker& checker) {
  if (!checker.deck().multipliers || !checker.is_reliable({"system.model", "model.stretch"}))
    return;
  if (!is_flexible(checker.deck())) return;
  checker.problem(
      "observe.multipliers.every",
      fmt::format("[observe.multipliers] needs a rigid model: {}", rigid_model_names()));
}

void multipliers_need_constraints(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.multipliers || potential_kind(deck) == PotentialKind::model) return;
  if (!checker.is_reliable({"potential.kind", "integrator.scheme"})) return;
  if (is_rigid(deck.integrator.scheme)) return;
  checker.problem("observe.multipliers.every",
                  "[observe.multipliers] with a potential needs a rigid scheme: \"shake\", "
                  "\"rattle\" or \"settle\"");
}

void multiplier_window_is_odd(Checker& checker) {
  const auto& multipliers = checker.deck().multipliers;
  if (!multipliers || !checker.is_reliable({"observe.multipliers.window_steps"})) return;
  if (multipliers->window_steps % 2 == 1) return;
  checker.problem("observe.multipliers.window_steps",
                  fmt::format("window_steps = {} must be odd", multipliers->window_steps));
}

void cluster_messages(const Deck& deck, Messages& messages) {
  if (potential_kind(deck) == PotentialKind::model) return;
  messages.push_back(Message::note(
      "[observe.cluster] cluster.csv has no dipole moments: a potential has no charges"));
}

SectionTable cluster_section() {
  return section(
      &Deck::cluster, "observe.cluster",
      "Writes `cluster.csv` and a picture: radius of gyration of the oxygens; hydrogen bonds (O-O "
      "below 3.5 Å, H-O...O below 30 degrees); the largest distance from an oxygen to its nearest "
      "other one, which reveals evaporated molecules; the largest distance of an oxygen from the "
      "centre of mass; dipole moment of the cluster and mean dipole moment of its molecules; "
      "Lindemann index.",
      {
          every_key<ObserveCluster>(),
          all_or_mean_key<ObserveCluster>(),
          key(&ObserveCluster::lindemann, "lindemann", kAny,
              "Also write the Lindemann index of each replica, accumulated from the end of the "
              "equilibration to each row. It stores data for every pair of molecules, at most 10⁷ "
              "pairs in all replicas.",
              {.default_text = "`true`; `false` with `[exchange]`"}),
      },
      {{"With `lindemann = true`, all replicas together have at most 10⁷ pairs of molecules.",
        lindemann_fits_memory,
        {},
        lindemann_problem}},
      cluster_messages);
}

SectionTable multipliers_section() {
  return section(
      &Deck::multipliers, "observe.multipliers",
      "Writes `multipliers.csv`: the multiplier λ of each bond, M a = F₀ + Jᵀλ. The `#` line "
      "contains the equation. For `zss-stiff` with a Hessian other than `gauss-newton`, λ = -ω²(g "
      "+ b h² J a), and a has additional terms. For rigid schemes, λ is that of rigid bonds at the "
      "positions and velocities of the row.",
      {
          every_key<ObserveMultipliers>("Interval between rows."),
          key(&ObserveMultipliers::window_steps, "window_steps", from_to(1, 100001),
              "Each row is the mean over this odd number of steps, centred on the row; 1: the "
              "value at that step."),
          replicas_key<ObserveMultipliers>(every_replica(), kAllOrFirst),
      },
      {{"`[observe.multipliers]` requires a rigid model.", multipliers_need_rigid_model},
       {"`[observe.multipliers]` with a potential other than the model requires a rigid scheme.",
        multipliers_need_constraints},
       {"`window_steps` is odd.", multiplier_window_is_odd}});
}

}  // namespace

std::vector<SectionTable> table_sections() {
  return {
      table(&Deck::energies, "observe.energies",
            "Writes `energies.csv` and, with several temperatures and classical nuclei, "
            "`heat_capacity.csv`."),
      section(
          &Deck::bias_table, "observe.bias",
          "Writes `bias.csv`: the coordinate of [`[bias]`](#bias) and the energy of the bias, for "
          "all replicas. With windows, also `free_energy.csv` at the end: the free energy along "
          "the coordinate by MBAR (equations 99 and 100), with errors from the replicas of each "
          "window or, with one, from blocks of time.",
          {every_key<ObserveBias>(),
           key(&ObserveBias::bin_width, "bin_width", above_to(0, 100),
               "Width of the bins of the free energy, in the unit of the coordinate; their "
               "middles are multiples of it.")},
          {{"`[observe.bias]` requires `[bias]`.", bias_table_needs_bias}}),
      table(&Deck::path_integral_table, "observe.path_integral",
            "Writes `path_integral.csv`: total energy by the primitive and by the centroid-virial "
            "estimator, kinetic energy of an oxygen and of a hydrogen, energies between and within "
            "molecules, spring energy, squared radii of gyration of the rings, and temperatures of "
            "centroids and internal modes. With a thermostat it also writes `heat_capacity.csv`. "
            "Requires `[path_integral]`.",
            {{"`[observe.path_integral]` requires `[path_integral]`.",
              path_integral_table_needs_rings}}),
      table(&Deck::conservation, "observe.conservation",
            "Writes `conservation.csv`: conserved energy, momenta, largest constraint violation."),
      table(&Deck::heat, "observe.heat",
            "Writes `heat.csv`: heat from the thermostat, shadow work, conserved quantity.",
            {{"`[observe.heat]` requires a thermostat other than `none`.", heat_needs_thermostat},
             {"`[exchange]` does not support `[observe.heat]`, `[observe.evaporation]`, `lindemann "
              "= true` or `window_steps` above 1.",
              exchange_excludes_path_observables, "exchange"}}),
      table(&Deck::temperatures, "observe.temperatures",
            "Writes `temperatures.csv`: kinetic temperatures of translation, rotation and bond "
            "vibration."),
      table(&Deck::geometry, "observe.geometry",
            "Writes `geometry.csv`: mean bond lengths and angles, and the shortest and longest O-H "
            "bond, at the reported positions (q) and at the scheme's internal positions (x)."),
      cluster_section(),
      multipliers_section(),
  };
}

}  // namespace tarn::decks
