#include <fmt/format.h>

#include <cmath>

#include "checker.hpp"
#include "schema_row.hpp"
#include "tarn/mechanics_deck.hpp"

namespace tarn {
namespace decks {
namespace {

using Words = std::vector<std::string_view>;

const Words kPendula{"double-pendulum", "pendulum-chain"};
const Words kConstrained{"double-pendulum", "pendulum-chain", "three-body-plane"};
const Words kWithoutPenalty{"shake", "rattle"};

constexpr double kMaxSteps_ = static_cast<double>(kMaxSteps);

std::vector<Section> make_sections() {
  return {
      {.name = "system", .meaning = "Which system, and where it starts."},
      {.name = "integrator", .meaning = "The step."},
      {.name = "run", .meaning = "How long."},
      optional_section<&MechanicsDeck::trajectory>(
          {.name = "observe.trajectory",
           .meaning = "Writes `trajectory.csv`: step, time, the scheme's own positions `q0`... and "
                      "velocities `v0`..., and with constraints the multipliers `lambda0`..., "
                      "M q'' = -∇V - Gᵀλ."}),
      optional_section<&MechanicsDeck::energies>(
          {.name = "observe.energies",
           .meaning = "Writes `energies.csv` and its picture; of `dna` also the mean angle."}),
      optional_section<&MechanicsDeck::conservation>(
          {.name = "observe.conservation",
           .meaning = "Writes `conservation.csv`: energy, momenta where the system keeps them, "
                      "worst constraint."}),
      {.name = "checkpoint",
       .meaning = "A checkpoint is always written at the end of a run and when it is interrupted."},
  };
}

template <class Enum>
int code(Enum value) {
  return static_cast<int>(value);
}

std::vector<Word> schemes() {
  using S = MechanicsScheme;
  return {
      {"verlet", code(S::verlet), "velocity Verlet"},
      {"zs", code(S::zs), "Zhang & Skeel: one linear solve a step, symplectic"},
      {"zss", code(S::zss), "the same without the third derivative"},
      {"zss-stiff", code(S::zss_stiff), "the same with the Hessian of the penalty only"},
      {"pushforward-newmark", code(S::pushforward_newmark),
       "the implicit equations that `zs` linearises, solved to round-off"},
      {"newmark", code(S::newmark), "Newmark's method, solved to round-off"},
      {"newmark-one-step", code(S::newmark_one_step), "with one step of Newton's; it drifts"},
      {"variational-euler", code(S::variational_euler), "symplectic Euler, order 1"},
      {"midpoint", code(S::midpoint), "the implicit midpoint rule"},
      {"shake", code(S::shake), "rigid constraints; multipliers of order 2"},
      {"rattle", code(S::rattle), "rigid constraints, velocities on them; multipliers of order 1"}};
}

constexpr Range kAny{};
constexpr Range kPositive{.low = 0.0, .low_open = true};

Key list_row(std::string_view name, Range range, std::string_view fallback,
             std::string_view meaning, Condition used_with, Condition also_with = {}) {
  return {.section = "system",
          .name = name,
          .type = Type::numbers,
          .range = range,
          .fallback = fallback,
          .meaning = meaning,
          .used_with = std::move(used_with),
          .also_with = std::move(also_with)};
}

template <auto section, auto field>
Key every_row(std::string_view name) {
  return row<section, field>({.section = name,
                              .name = "every",
                              .type = Type::integer,
                              .unit = "steps",
                              .range = from_to(1, kMaxSteps_),
                              .meaning = "Interval; step 0 is written."});
}

std::vector<Key> make_keys() {
  using M = MechanicsDeck;
  using S = MechanicsSystemSection;
  using I = MechanicsIntegratorSection;
  const Condition pendula{"system.kind", kPendula};
  const Condition dna{"system.kind", {"dna"}};
  const Condition constrained{"system.kind", kConstrained};
  const Condition with_start{"system.kind",
                             {"double-pendulum", "pendulum-chain", "dna", "three-body-plane"}};
  const Condition with_beta{
      "integrator.scheme",
      {"zs", "zss", "zss-stiff", "pushforward-newmark", "newmark", "newmark-one-step"}};
  const Condition penalty{"integrator.scheme",
                          {"verlet", "zs", "zss", "zss-stiff", "pushforward-newmark", "newmark",
                           "newmark-one-step", "variational-euler", "midpoint"}};
  return {
      row<&Deck::system, &SystemSection::kind>(
          {.section = "system",
           .name = "kind",
           .type = Type::word,
           .words = kinds(),
           .meaning = "Which kind of system this is; it decides which keys there are."}),
      row<&M::system, &S::n>(
          {.section = "system",
           .name = "n",
           .type = Type::integer,
           .range = from_to(1, static_cast<double>(kMaxMechanicsSize)),
           .fallback = "2, 10 or 200",
           .meaning = "Number of points or bases.",
           .used_with = {"system.kind", {"double-pendulum", "pendulum-chain", "dna"}},
           .zero_means_absent = true}),
      row<&M::system, &S::masses>(
          list_row("masses", kPositive, "1 each", "Mass of each point.", pendula)),
      row<&M::system, &S::lengths>(
          list_row("lengths", kPositive, "1 and √2, or √5 each", "Length of each rod.", pendula)),
      row<&M::system, &S::gravity>({.section = "system",
                                    .name = "gravity",
                                    .type = Type::number,
                                    .meaning = "V = gravity Σ m y.",
                                    .used_with = pendula}),
      row<&M::system, &S::a>({.section = "system",
                              .name = "a",
                              .type = Type::number,
                              .range = {.low = 0.0},
                              .meaning = "U(θ) = (exp(-a [1 - cos θ - x0]) - 1)².",
                              .used_with = dna}),
      row<&M::system, &S::x0>({.section = "system",
                               .name = "x0",
                               .type = Type::number,
                               .meaning = "See `a`.",
                               .used_with = dna}),
      row<&M::system, &S::epsilon>({.section = "system",
                                    .name = "epsilon",
                                    .type = Type::number,
                                    .range = {.low = 0.0},
                                    .fallback = "1/1400",
                                    .meaning = "V = Σ ½ (θ_{k+1} - θ_k)² + epsilon U(θ_k).",
                                    .used_with = dna}),
      row<&M::system, &S::ends>({.section = "system",
                                 .name = "ends",
                                 .type = Type::word,
                                 .words = {{"periodic", code(DnaEnds::periodic),
                                            "the last base is the first's neighbour"},
                                           {"free", code(DnaEnds::free), "it is not"}},
                                 .meaning = "Ends of the strand.",
                                 .used_with = dna}),
      row<&M::system, &S::noise>(
          {.section = "system",
           .name = "noise",
           .type = Type::word,
           .words = {{"normal", code(DnaNoise::normal), "standard normal numbers from the seed"}},
           .meaning = "ξ of the start θ_k = 0.8 + 0.1 ξ_k.",
           .used_with = dna,
           .also_with = {"system.xi"}}),
      row<&M::system, &S::seed>({.section = "system",
                                 .name = "seed",
                                 .type = Type::integer,
                                 .range = at_least(0),
                                 .meaning = "Seed of ξ.",
                                 .used_with = dna,
                                 .also_with = {"system.xi"}}),
      row<&M::system, &S::xi>(
          list_row("xi", kAny, "drawn", "ξ of each base.", dna, {"system.position"})),
      row<&M::system, &S::position>(
          list_row("position", kAny, "the paper's",
                   "Positions at the start: x and y of each point, or the angles.", with_start)),
      row<&M::system, &S::velocity>(
          list_row("velocity", kAny, "the paper's", "Velocities at the start.", with_start)),

      row<&M::integrator, &I::scheme>({.section = "integrator",
                                       .name = "scheme",
                                       .type = Type::word,
                                       .words = schemes(),
                                       .fallback = "none: it must be given",
                                       .meaning = "Integration scheme."}),
      row<&M::integrator, &I::step>({.section = "integrator",
                                     .name = "step",
                                     .type = Type::number,
                                     .range = {.low = 0.0, .low_open = true},
                                     .fallback = "none: it must be given",
                                     .meaning = "Time step h."}),
      row<&M::integrator, &I::omega>({.section = "integrator",
                                      .name = "omega",
                                      .type = Type::number,
                                      .range = above_to(0.0, 1e8),
                                      .fallback = "20, or 2 for `three-body-plane`",
                                      .meaning = "Strength of the penalty ½ ω² |g|².",
                                      .used_with = constrained,
                                      .also_with = penalty}),
      row<&M::integrator, &I::beta>({.section = "integrator",
                                     .name = "beta",
                                     .type = Type::number,
                                     .range = above_to(0.0, 10.0),
                                     .fallback = "0.4, or 0.3 for `dna` and `three-body-plane`",
                                     .meaning = "Scheme parameter β.",
                                     .used_with = with_beta}),
      row<&M::integrator, &I::acceleration>(
          {.section = "integrator",
           .name = "acceleration",
           .type = Type::word,
           .words = {{"linearised", code(OneStepAcceleration::linearised),
                      "what the step of Newton's found"},
                     {"force", code(OneStepAcceleration::force),
                      "the force there; it blows up where forces are stiff"}},
           .meaning = "New acceleration in the update of the velocity.",
           .used_with = {"integrator.scheme", {"newmark-one-step"}}}),
      row<&M::integrator, &I::compose>(
          {.section = "integrator",
           .name = "compose",
           .type = Type::word,
           .words = {{"none", code(Composition::none), "the scheme as it is"},
                     {"yoshida4", code(Composition::yoshida4), "three steps of it: order 4"}},
           .meaning = "Composition of a symmetric scheme.",
           .used_with = {"integrator.scheme",
                         {"verlet", "zs", "zss", "zss-stiff", "pushforward-newmark", "newmark",
                          "midpoint", "rattle"}}}),

      row<&M::run, &MechanicsRunSection::steps>({.section = "run",
                                                 .name = "steps",
                                                 .type = Type::integer,
                                                 .range = from_to(0, kMaxSteps_),
                                                 .fallback = "from `duration`",
                                                 .meaning = "Number of steps.",
                                                 .instead_of = "duration",
                                                 .may_change_on_resume = true}),
      [] {
        Key key{.section = "run",
                .name = "duration",
                .type = Type::number,
                .range = {.low = 0.0},
                .fallback = "from `steps`",
                .meaning = "Length of the run; rounded up to whole steps.",
                .instead_of = "steps",
                .may_change_on_resume = true};
        key.get = [](const Key&, const Deck&) -> Value { return {}; };
        key.set = [](const Key&, const Value&, Deck&) {};
        return key;
      }(),
      every_row<&M::trajectory, &ObserveMechanicsTrajectory::every>("observe.trajectory"),
      row<&M::trajectory, &ObserveMechanicsTrajectory::format>(
          {.section = "observe.trajectory",
           .name = "format",
           .type = Type::word,
           .words = {{"csv", code(MechanicsTrajectoryFormat::csv), "comma-separated values"}},
           .meaning = "File format."}),
      row<&M::trajectory, &ObserveMechanicsTrajectory::window>(
          {.section = "observe.trajectory",
           .name = "window",
           .type = Type::number,
           .range = {.low = 0.0},
           .meaning = "The multiplier of a penalty is the mean of ω² g over this time about each "
                      "row, as far as it is in the run; 0: ω² g itself.",
           .used_with = constrained,
           .also_with = penalty}),
      every_row<&M::energies, &ObserveMechanicsEnergies::every>("observe.energies"),
      every_row<&M::conservation, &ObserveMechanicsConservation::every>("observe.conservation"),
      row<&Deck::checkpoint, &CheckpointSection::every>(
          {.section = "checkpoint",
           .name = "every",
           .type = Type::integer,
           .unit = "steps",
           .range = from_to(1, kMaxSteps_),
           .fallback = "none",
           .meaning = "Interval between checkpoints during the run.",
           .zero_means_absent = true,
           .may_change_on_resume = true}),
  };
}

// --- rules ---------------------------------------------------------------------------------------

void step_and_scheme_are_given(Checker& checker) {
  for (const char* key : {"integrator.scheme", "integrator.step"}) {
    if (!checker.trusted({key}) || checker.has(key)) continue;
    checker.problem(key, std::string("[integrator] needs ") + (key + sizeof("integrator.") - 1));
  }
}

void length_is_given(Checker& checker) {
  if (!checker.trusted({"run.steps", "run.duration"})) return;
  if (checker.has("run.steps") || checker.has("run.duration")) return;
  checker.problem("run.steps", "[run] needs steps or duration");
}

void length_is_possible(Checker& checker) {
  const auto duration = checker.number("run.duration");
  const auto step = checker.number("integrator.step");
  if (!duration || !step || *duration / *step <= kMaxSteps_) return;
  checker.problem("run.duration",
                  fmt::format("duration = {} is more than {} steps of {}", number_text(*duration),
                              kMaxSteps, number_text(*step)));
}

void scheme_goes_with_the_kind(Checker& checker) {
  if (!checker.trusted({"integrator.scheme"}) || !checker.has("integrator.scheme")) return;
  if (checker.deck().system.kind != "dna") return;
  const MechanicsScheme scheme = checker.deck().mechanics.integrator.scheme;
  using S = MechanicsScheme;
  for (S known : {S::verlet, S::zs, S::zss, S::newmark, S::pushforward_newmark}) {
    if (scheme == known) return;
  }
  checker.problem("integrator.scheme",
                  fmt::format("scheme = \"{}\" does not go with kind = \"dna\"; want one of "
                              "\"verlet\", \"zs\", \"zss\", \"newmark\", \"pushforward-newmark\"",
                              scheme_name(scheme)));
}

/// Number of points, bases or the like.
std::int64_t count_of(const Deck& deck) {
  const std::int64_t n = deck.mechanics.system.n;
  const std::string& kind = deck.system.kind;
  if (kind == "three-body-plane") return 3;
  if (n > 0) return n;
  return kind == "double-pendulum" ? 2 : kind == "pendulum-chain" ? 10 : 200;
}

void number_goes_with_the_kind(Checker& checker) {
  if (!checker.has("system.n")) return;
  const std::int64_t n = checker.deck().mechanics.system.n;
  if (checker.deck().system.kind == "double-pendulum" && n != 2) {
    checker.problem("system.n", fmt::format("n = {}: a double pendulum has 2 points; more are a "
                                            "\"pendulum-chain\"",
                                            n));
  }
  if (checker.deck().system.kind == "dna" && n < 4) {
    checker.problem("system.n", fmt::format("n = {} is out of range; want at least 4 bases", n));
  }
}

void lists_have_their_length(Checker& checker) {
  if (!checker.trusted({"system.n"})) return;
  const Deck& deck = checker.deck();
  const MechanicsSystemSection& system = deck.mechanics.system;
  const std::int64_t count = count_of(deck);
  const std::int64_t coordinates = deck.system.kind == "dna" ? count : 2 * count;
  const auto check = [&](const char* key, const std::vector<double>& list, std::int64_t wanted) {
    if (!checker.has(key) || static_cast<std::int64_t>(list.size()) == wanted) return;
    checker.problem(key, fmt::format("{} has {} numbers; want {}", key + sizeof("system.") - 1,
                                     list.size(), wanted));
  };
  check("system.masses", system.masses, count);
  check("system.lengths", system.lengths, count);
  check("system.xi", system.xi, count);
  check("system.position", system.position, coordinates);
  check("system.velocity", system.velocity, coordinates);
}

}  // namespace

void fill_mechanics_defaults(Checker& checker) {
  Deck& deck = checker.deck();
  MechanicsDeck& m = deck.mechanics;
  const std::string& kind = deck.system.kind;
  const bool bodies = kind == "three-body-plane";
  if (const auto duration = checker.number("run.duration")) {
    m.run.steps = static_cast<std::int64_t>(steps_in(*duration, 1e3 * m.integrator.step));
  }
  if (!bodies) m.system.n = count_of(deck);
  const auto fill = [&](const char* path, std::optional<double>& field, double value) {
    if (is_used(*mechanics_schema().find_key(path), deck) && !field) field = value;
  };
  fill("integrator.omega", m.integrator.omega, bodies ? 2.0 : 20.0);
  fill("integrator.beta", m.integrator.beta, bodies || kind == "dna" ? 0.3 : 0.4);
}

const Schema& mechanics_schema() {
  static const Schema schema{
      make_sections(),
      make_keys(),
      {},
      {{"`scheme` and `step` are needed.", step_and_scheme_are_given},
       {"One of `steps`, `duration` is needed.", length_is_given},
       {"A run has at most 10¹² steps.", length_is_possible},
       {"`dna` goes with `verlet`, `zs`, `zss`, `newmark` and `pushforward-newmark`.",
        scheme_goes_with_the_kind},
       {"`n` is 2 for `double-pendulum` and at least 4 for `dna`.", number_goes_with_the_kind},
       {"Lists have a number for each point, or two for `position` and `velocity`.",
        lists_have_their_length}}};
  return schema;
}

std::vector<Word> kinds() {
  return {{"water", 0, "a cluster of rigid or penalised water molecules in vacuum"},
          {"double-pendulum", 1, "TO 4.1"},
          {"pendulum-chain", 2, "TO 4.2"},
          {"dna", 3, "a strand of bases, TO 4.4"},
          {"three-body-plane", 4,
           "points of masses 1, 1.7, 0.6 in the plane; bonds of length 1 from the first to the "
           "second and on to the third; ½ (r - 1.2)² between the first and the third"},
          {"magnet", kNotYet},
          {"double-spring", kNotYet},
          {"free-body", kNotYet},
          {"heavy-top", kNotYet},
          {"double-spherical-pendulum", kNotYet},
          {"spherical-pendulum", kNotYet}};
}

}  // namespace decks

bool is_mechanical(std::string_view kind) {
  if (kind == "water") return false;
  for (const decks::Word& word : decks::kinds()) {
    if (word.text == kind) return word.value >= 0;
  }
  return false;
}

std::string_view scheme_name(MechanicsScheme scheme) {
  static const std::vector<decks::Word> words = decks::schemes();
  for (const decks::Word& word : words) {
    if (word.value == static_cast<int>(scheme)) return word.text;
  }
  return {};
}

}  // namespace tarn
