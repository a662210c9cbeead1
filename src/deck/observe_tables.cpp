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

void exchange_excludes_path_observables(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.exchange) return;
  checker.problem_if(deck.heat.has_value(), "observe.heat.every",
                     "[observe.heat] does not support [exchange]: exchanged states change the "
                     "energy by neither heat nor work");
  checker.problem_if(deck.evaporation.has_value(), "observe.evaporation.every",
                     "[observe.evaporation] does not support [exchange], which moves evaporated "
                     "clusters between temperatures");
  checker.problem_if(deck.cluster && deck.cluster->lindemann, "observe.cluster.lindemann",
                     "the Lindemann index follows the molecules of one replica, which [exchange] "
                     "replaces; write lindemann = false");
  checker.problem_if(deck.multipliers && deck.multipliers->window_steps > 1,
                     "observe.multipliers.window_steps",
                     "a mean over several steps does not support [exchange], which replaces the "
                     "molecules; write window_steps = 1");
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
      {limit("With `lindemann = true`, all replicas together have at most 10⁷ pairs of molecules.",
             lindemann_problem, "observe.cluster.lindemann",
             {"system.molecules", "system.replicas", "observe.cluster.lindemann"})},
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
      {rule("`[observe.multipliers]` requires a rigid model.", "observe.multipliers.every",
            {"system.model", "model.stretch"},
            fmt::format("[observe.multipliers] needs a rigid model: {}", rigid_model_names()),
            [](const Checker& c) { return c.deck().multipliers && is_flexible(c.deck()); }),
       rule(
           "`[observe.multipliers]` with a potential other than the model requires a rigid scheme.",
           "observe.multipliers.every", {"potential.kind", "integrator.scheme"},
           "[observe.multipliers] with a potential needs a rigid scheme: \"shake\", \"rattle\" or "
           "\"settle\"",
           [](const Checker& c) {
             return c.deck().multipliers && potential_kind(c.deck()) != PotentialKind::model &&
                    !is_rigid(c.deck().integrator.scheme);
           }),
       rule("`window_steps` is odd.", "observe.multipliers.window_steps",
            {"observe.multipliers.window_steps"}, [](const Checker& c) -> std::string {
              const auto& multipliers = c.deck().multipliers;
              if (!multipliers || multipliers->window_steps % 2 == 1) return {};
              return fmt::format("window_steps = {} must be odd", multipliers->window_steps);
            })});
}

}  // namespace

std::vector<SectionTable> table_sections() {
  return {
      table(&Deck::energies, "observe.energies",
            "Writes `energies.csv` and, with several temperatures and classical nuclei, "
            "`heat_capacity.csv`."),
      section(&Deck::bias_table, "observe.bias",
              "Writes `bias.csv`: the coordinate of [`[bias]`](#bias) and the energy of the bias, "
              "for all replicas. With windows, also `free_energy.csv` at the end: the free energy "
              "along the coordinate by MBAR (equations 99 and 100), with errors from the replicas "
              "of each window or, with one, from blocks of time.",
              {every_key<ObserveBias>(), key(&ObserveBias::bin_width, "bin_width", above_to(0, 100),
                                             "Width of the bins of the free energy, in the unit of "
                                             "the coordinate; their middles are multiples of it.")},
              {rule("`[observe.bias]` requires `[bias]`.", "observe.bias.every", {},
                    "[observe.bias] needs a section [bias]",
                    [](const Checker& c) { return c.deck().bias_table && !c.deck().bias; })}),
      table(&Deck::path_integral_table, "observe.path_integral",
            "Writes `path_integral.csv`: total energy by the primitive and by the centroid-virial "
            "estimator, kinetic energy of an oxygen and of a hydrogen, energies between and within "
            "molecules, spring energy, squared radii of gyration of the rings, and temperatures of "
            "centroids and internal modes. With a thermostat it also writes `heat_capacity.csv`. "
            "Requires `[path_integral]`.",
            {rule("`[observe.path_integral]` requires `[path_integral]`.",
                  "observe.path_integral.every", {},
                  "[observe.path_integral] needs a section [path_integral]",
                  [](const Checker& c) {
                    return c.deck().path_integral_table && !c.deck().path_integral;
                  })}),
      table(&Deck::conservation, "observe.conservation",
            "Writes `conservation.csv`: conserved energy, momenta, largest constraint violation."),
      table(
          &Deck::heat, "observe.heat",
          "Writes `heat.csv`: heat from the thermostat, shadow work, conserved quantity.",
          {rule("`[observe.heat]` requires a thermostat other than `none`.", "observe.heat.every",
                {"thermostat.kind"},
                "[observe.heat] needs a thermostat; at constant energy use [observe.conservation]",
                [](const Checker& c) {
                  return c.deck().heat && c.deck().thermostat.kind == Thermostat::none;
                }),
           {"`[exchange]` does not support `[observe.heat]`, `[observe.evaporation]`, `lindemann = "
            "true` or `window_steps` above 1.",
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
