#include "tarn/mechanics_deck.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>
#include <fmt/format.h>

#include "checker.hpp"
#include "schema_row.hpp"

namespace tarn {
namespace decks {
namespace {

using Words = std::vector<std::string_view>;

const Words kPendula{"double-pendulum", "pendulum-chain", "double-spherical-pendulum"};
const Words kPenalised{"double-pendulum", "pendulum-chain", "three-body-plane", "double-spring"};
const Words kPenaltySchemes{"verlet",
                            "zs",
                            "zss",
                            "zss-stiff",
                            "pushforward-newmark",
                            "newmark",
                            "newmark-one-step",
                            "variational-euler",
                            "midpoint",
                            "rk4",
                            "rk4-projected"};

/// The schemes that a kind of system goes with.
struct KindOfSystem {
  std::string_view name;
  Words schemes;
};

const std::vector<KindOfSystem>& kinds_of_systems() {
  static const Words in_space{"verlet",
                              "zs",
                              "zss",
                              "zss-stiff",
                              "pushforward-newmark",
                              "newmark",
                              "newmark-one-step",
                              "variational-euler",
                              "midpoint",
                              "rk4",
                              "shake",
                              "rattle"};
  static const std::vector<KindOfSystem> table{
      {"double-pendulum", in_space},
      {"pendulum-chain", in_space},
      {"three-body-plane", in_space},
      {"dna", {"verlet", "zs", "zss", "newmark", "pushforward-newmark", "rk4"}},
      {"magnet", {"so3-linearised", "cayley-variational-euler", "rk4"}},
      {"double-spring", {"slow-manifold", "rattle", "verlet", "rk4", "rk4-projected"}},
      {"free-body", {"moser-veselov", "rk4"}},
      {"heavy-top", {"rattle", "constrained-euler", "rk4"}},
      {"double-spherical-pendulum", {"rattle", "midpoint", "midpoint-hamilton"}},
      {"spherical-pendulum",
       {"variational-of:euler", "variational-of:rk2", "variational-of:rk4", "rattle"}}};
  return table;
}

std::vector<Section> make_sections() {
  return {
      {.name = "system", .meaning = "Which system, and where it starts."},
      {.name = "integrator", .meaning = "The step."},
      {.name = "run", .meaning = "How long."},
      optional_section<&MechanicsDeck::trajectory>(
          {.name = "observe.trajectory",
           .meaning = "Writes `trajectory.csv`: step, time, the scheme's own positions `q0`... and "
                      "velocities `v0`..., or [what stands there](#what-trajectorycsv-holds), and "
                      "with constraints the multipliers `lambda0`..., M q'' = -∇V - Gᵀλ."}),
      optional_section<&MechanicsDeck::energies>(
          {.name = "observe.energies",
           .meaning =
               "Writes `energies.csv` and its picture, at the positions that the scheme takes its "
               "forces at; of `dna` also the mean angle."}),
      optional_section<&MechanicsDeck::conservation>(
          {.name = "observe.conservation",
           .meaning = "Writes `conservation.csv` and its picture: energy, momenta where the system "
                      "keeps them, worst constraint."}),
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
  std::vector<Word> words{
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
      {"midpoint-hamilton", code(S::midpoint_hamilton),
       "of ½ vᵀMv + V + g·λ(q, v); symplectic, and it drifts off the constraints"},
      {"shake", code(S::shake), "rigid constraints; multipliers of order 2"},
      {"rattle", code(S::rattle), "rigid constraints, velocities on them; multipliers of order 1"},
      {"rk4", code(S::rk4),
       "the classical Runge-Kutta method, of a penalised system or of a body that turns"},
      {"rk4-projected", code(S::rk4_projected), "every stage projected onto the slow manifold"},
      {"slow-manifold", code(S::slow_manifold),
       "no steps in time: projects the start onto the slow manifold and writes each iterate"},
      {"so3-linearised", code(S::so3_linearised), "Z&S on matrices with a penalty"},
      {"cayley-variational-euler", code(S::cayley_variational_euler), "on rotations"},
      {"moser-veselov", code(S::moser_veselov), "integrable, order 2"},
      {"constrained-euler", code(S::constrained_euler), "order 1"},
      {"variational-of:euler", code(S::variational_of_euler),
       "the variational method of an explicit Euler step"},
      {"variational-of:rk2", code(S::variational_of_rk2), "of the explicit midpoint rule"},
      {"variational-of:rk4", code(S::variational_of_rk4), "of the classical Runge-Kutta method"}};
  for (Word& word : words) {
    word.with.path = "system.kind";
    for (const KindOfSystem& k : kinds_of_systems()) {
      if (std::count(k.schemes.begin(), k.schemes.end(), word.text) > 0) {
        word.with.words.push_back(k.name);
      }
    }
  }
  return words;
}

constexpr Range kAny{};
constexpr Range kPositive{.low = 0.0, .low_open = true};

Key list_row(std::string_view name, Range range, std::string_view fallback,
             std::string_view meaning, Condition used_with, std::vector<Condition> also_with = {}) {
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
                              .range = from_to(1, kMostSteps),
                              .meaning = "Interval; step 0 is written."});
}

std::vector<Key> make_keys() {
  using M = MechanicsDeck;
  using S = MechanicsSystemSection;
  using I = MechanicsIntegratorSection;
  const Condition pendula{"system.kind", kPendula};
  const Condition dna{"system.kind", {"dna"}};
  const Condition weighted{
      "system.kind",
      {"double-pendulum", "pendulum-chain", "double-spherical-pendulum", "spherical-pendulum"}};
  const Condition penalised{"system.kind", kPenalised};
  const Condition with_omega{
      "system.kind",
      {"double-pendulum", "pendulum-chain", "three-body-plane", "double-spring", "magnet"}};
  const Condition spring{"system.kind", {"double-spring"}};
  const Condition magnet{"system.kind", {"magnet"}};
  const Condition top{"system.kind", {"heavy-top"}};
  const Condition with_start{"system.kind",
                             {"double-pendulum", "pendulum-chain", "dna", "three-body-plane",
                              "double-spring", "double-spherical-pendulum", "spherical-pendulum"}};
  const Condition with_beta{"integrator.scheme",
                            {"zs", "zss", "zss-stiff", "pushforward-newmark", "newmark",
                             "newmark-one-step", "so3-linearised"}};
  const Condition penalty{"integrator.scheme", kPenaltySchemes};
  Words omega_words = kPenaltySchemes;
  omega_words.insert(omega_words.end(), {"slow-manifold", "so3-linearised"});
  const Condition stiff{"integrator.scheme", omega_words};
  // The other equations of a magnet have no penalty.
  const Condition of_a_magnet{"integrator.scheme", {"so3-linearised"}, "system.kind", {"magnet"}};
  Words stepping;  // every scheme but the projection
  static const std::vector<Word> all = schemes();
  for (const Word& word : all) {
    if (word.text != "slow-manifold") stepping.push_back(word.text);
  }
  const Condition with_time{"integrator.scheme", stepping};
  const Condition projected{"integrator.scheme", {"slow-manifold", "rk4-projected"}};
  const Condition linearised{"integrator.scheme", {"so3-linearised"}};
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
                                    .meaning = "V = gravity Σ m y, or m z in space.",
                                    .used_with = weighted}),
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
           .also_with = {{"system.xi"}, {"system.position"}}}),
      row<&M::system, &S::seed>({.section = "system",
                                 .name = "seed",
                                 .type = Type::integer,
                                 .range = at_least(0),
                                 .meaning = "Seed of ξ.",
                                 .used_with = dna,
                                 .also_with = {{"system.xi"}, {"system.position"}}}),
      row<&M::system, &S::xi>(
          list_row("xi", kAny, "drawn", "ξ of each base.", dna, {{"system.position"}})),
      row<&M::system, &S::position>(
          list_row("position", kAny, "the paper's, along rods of the given `lengths`",
                   "Positions at the start, as `q0`... of `trajectory.csv`. A "
                   "`spherical-pendulum` is as long as this vector.",
                   with_start)),
      row<&M::system, &S::velocity>(list_row("velocity", kAny, "the paper's",
                                             "Velocities at the start, of the same.", with_start)),
      row<&M::system, &S::omega>(
          {.section = "system",
           .name = "omega",
           .type = Type::number,
           .range = above_to(0.0, 1e8),
           .fallback = "that of `[integrator]`",
           .meaning = "Strength of the springs; one of the two sections may have it.",
           .used_with = spring,
           .also_with = {stiff}}),
      row<&M::system, &S::b_mu>({.section = "system",
                                 .name = "b_mu",
                                 .type = Type::number,
                                 .meaning = "Field times dipole moment, V = b_mu R33.",
                                 .used_with = magnet}),
      row<&M::system, &S::rotation>(list_row("rotation", kAny, "1",
                                             "Rotation matrix at the start, row by row.",
                                             {"system.kind", {"magnet", "free-body"}})),
      row<&M::system, &S::angular_velocity>(list_row("angular_velocity", kAny, "1, 0.2, 0.1",
                                                     "Angular velocity in the body at the start.",
                                                     magnet)),
      row<&M::system, &S::alpha>(list_row("alpha", kPositive, "0.44, 0.5, 1",
                                          "Diagonal of J; a free body of n dimensions has n.",
                                          {"system.kind", {"free-body", "heavy-top"}})),
      row<&M::system, &S::chi>(
          list_row("chi", kAny, "0, 0, 1",
                   "Direction from the fixed point to the centre of mass, of length 1.", top)),
      row<&M::system, &S::c>({.section = "system",
                              .name = "c",
                              .type = Type::number,
                              .meaning = "Weight times that distance, V = c v·chi.",
                              .used_with = top}),
      row<&M::system, &S::momentum>(
          list_row("momentum", kAny,
                   "m_ij = cos(i + 2j); of `heavy-top` m_12 = 1.1195, m_23 = -1, which is on "
                   "H = 1 with the other defaults",
                   "Angular momentum in the body at the start, an antisymmetric matrix row by row.",
                   {"system.kind", {"free-body", "heavy-top"}})),
      row<&M::system, &S::direction>(
          list_row("direction", kAny, "0, 1, 0",
                   "Direction v of gravity in the body at the start, of length 1.", top)),

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
                                     .meaning = "Time step h.",
                                     .used_with = with_time}),
      row<&M::integrator, &I::omega>({.section = "integrator",
                                      .name = "omega",
                                      .type = Type::number,
                                      .range = above_to(0.0, 1e8),
                                      .fallback = "20, 2, 1000 or 10",
                                      .meaning = "Strength of the penalty ½ ω² |g|²: 20 for "
                                                 "pendula, 2 for `three-body-plane`, 1000 for "
                                                 "`double-spring`, 10 for `magnet`.",
                                      .used_with = with_omega,
                                      .also_with = {stiff, of_a_magnet}}),
      row<&M::integrator, &I::beta>({.section = "integrator",
                                     .name = "beta",
                                     .type = Type::number,
                                     .range = above_to(0.0, 10.0),
                                     .fallback = "0.4, or 0.3 for `dna` and `three-body-plane`",
                                     .meaning = "Scheme parameter β.",
                                     .used_with = with_beta}),
      row<&M::integrator, &I::hessian>(
          {.section = "integrator",
           .name = "hessian",
           .type = Type::word,
           .words = {{"full", code(PenaltyHessian::full), "all of it, as in the paper"},
                     {"gauss-newton", code(PenaltyHessian::gauss_newton),
                      "without second derivatives of the constraints: a matrix that is always "
                      "positive definite"}},
           .meaning = "Hessian of the penalty in the linear solve.",
           .used_with = {"integrator.scheme", {"zss-stiff"}}}),
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
                     {"yoshida4", code(Composition::yoshida4), "three steps of it: order 4"},
                     {"suzuki4", code(Composition::suzuki4),
                      "five steps of it, none longer than `step`: order 4, with smaller errors"}},
           .meaning = "Composition of a symmetric scheme. In place of `shake` take `rattle`, whose "
                      "positions are the same.",
           .used_with = {"integrator.scheme",
                         {"verlet", "zs", "zss", "zss-stiff", "pushforward-newmark", "newmark",
                          "midpoint", "rattle"}},
           .also_with = {{"system.kind",
                          {"double-pendulum", "pendulum-chain", "three-body-plane", "dna",
                           "double-spring", "double-spherical-pendulum", "spherical-pendulum"}}}}),
      row<&M::integrator, &I::quadrature>(
          {.section = "integrator",
           .name = "quadrature",
           .type = Type::word,
           .words = {{"first-order", code(MagnetQuadrature::first_order), "one kick a step"},
                     {"trapezoidal", code(MagnetQuadrature::trapezoidal), "half a kick twice"}},
           .meaning = "Quadrature of the action.",
           .used_with = linearised}),
      row<&M::integrator, &I::a_mass>(
          {.section = "integrator",
           .name = "a_mass",
           .type = Type::word,
           .words = {{"paper", code(MagnetAMass::paper), "1, as printed"},
                     {"consistent", code(MagnetAMass::consistent), "½, the mass of the matrix"}},
           .meaning = "Factor of a in its equation.",
           .used_with = linearised}),
      row<&M::integrator, &I::tolerance>(
          {.section = "integrator",
           .name = "tolerance",
           .type = Type::number,
           .range = from_to(1e-15, 0.1),
           .meaning = "Change of the constraints and of their rates at which the projection stops.",
           .used_with = projected}),
      row<&M::integrator, &I::bias>(
          {.section = "integrator",
           .name = "bias",
           .type = Type::number,
           .range = from_to(0.0, 0.5),
           .meaning = "0, or 0.5 for a method that is its own adjoint.",
           .used_with = {"integrator.scheme",
                         {"variational-of:euler", "variational-of:rk2", "variational-of:rk4"}}}),

      row<&M::run, &MechanicsRunSection::steps>({.section = "run",
                                                 .name = "steps",
                                                 .type = Type::integer,
                                                 .range = from_to(0, kMostSteps),
                                                 .fallback = "from `duration`",
                                                 .meaning = "Number of steps.",
                                                 .used_with = with_time,
                                                 .instead_of = "duration",
                                                 .may_change_on_resume = true}),
      [&] {
        Key key{.section = "run",
                .name = "duration",
                .type = Type::number,
                .range = {.low = 0.0},
                .fallback = "from `steps`",
                .meaning = "Length of the run; rounded up to whole steps.",
                .used_with = with_time,
                .instead_of = "steps",
                .may_change_on_resume = true};
        key.get = [](const Key&, const Deck&) -> Value { return {}; };
        key.set = [](const Key&, const Value&, Deck&) {};
        return key;
      }(),
      row<&Deck::run, &RunSection::device>(
          {.section = "run",
           .name = "device",
           .type = Type::word,
           .words = {{"auto", 0, "the CPU"},
                     {"cpu", 1},
                     {"cuda", kRefused, "mechanical systems run on the CPU"}},
           .meaning = "Where it runs.",
           .may_change_on_resume = true}),
      threads_row("As in decks of water; a step is too short for more than one."),
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
           .used_with = penalised,
           .also_with = {penalty}}),
      every_row<&M::energies, &ObserveMechanicsEnergies::every>("observe.energies"),
      every_row<&M::conservation, &ObserveMechanicsConservation::every>("observe.conservation"),
      row<&Deck::checkpoint, &CheckpointSection::every>(
          {.section = "checkpoint",
           .name = "every",
           .type = Type::integer,
           .unit = "steps",
           .range = from_to(1, kMostSteps),
           .fallback = "none",
           .meaning = "Interval between checkpoints during the run.",
           .zero_means_absent = true,
           .may_change_on_resume = true}),
      every_minutes_row(),
  };
}

// --- rules ---------------------------------------------------------------------------------------

bool projects_only(const Checker& checker) {
  return checker.deck().mechanics.integrator.scheme == MechanicsScheme::slow_manifold;
}

void step_and_scheme_are_given(Checker& checker) {
  for (const char* key : {"integrator.scheme", "integrator.step"}) {
    if (!checker.trusted({key}) || checker.has(key)) continue;
    if (projects_only(checker)) continue;
    checker.problem(key, std::string("[integrator] needs ") + (key + sizeof("integrator.") - 1));
  }
}

void length_is_given(Checker& checker) {
  if (!checker.trusted({"run.steps", "run.duration"})) return;
  if (projects_only(checker) || checker.has("run.steps") || checker.has("run.duration")) return;
  checker.problem("run.steps", "[run] needs steps or duration");
}

void length_is_possible(Checker& checker) {
  const auto duration = checker.number("run.duration");
  const auto step = checker.number("integrator.step");
  if (!duration || !step || *duration / *step <= kMostSteps) return;
  checker.problem("run.duration",
                  fmt::format("duration = {} is more than {} steps of {}", number_text(*duration),
                              kMaxSteps, number_text(*step)));
}

void scheme_goes_with_the_kind(Checker& checker) {
  if (!checker.trusted({"integrator.scheme"}) || !checker.has("integrator.scheme")) return;
  const std::string& kind = checker.deck().system.kind;
  const std::string_view scheme = scheme_name(checker.deck().mechanics.integrator.scheme);
  for (const KindOfSystem& k : kinds_of_systems()) {
    if (k.name != kind || std::count(k.schemes.begin(), k.schemes.end(), scheme) > 0) continue;
    checker.problem("integrator.scheme",
                    fmt::format("scheme = \"{}\" does not go with kind = \"{}\"; want one of {}",
                                scheme, kind, comma_list(k.schemes, true)));
  }
}

void one_omega(Checker& checker) {
  if (!checker.has("system.omega") || !checker.has("integrator.omega")) return;
  checker.problem("integrator.omega", "omega stands in [system] too; remove one of them");
}

void bias_is_none_or_half(Checker& checker) {
  const auto bias = checker.number("integrator.bias");
  if (!bias || *bias == 0.0 || *bias == 0.5) return;
  checker.problem("integrator.bias", fmt::format("bias = {}; want 0 or 0.5", number_text(*bias)));
}

/// Number of points, bases or dimensions.
std::int64_t count_of(const Deck& deck) {
  const MechanicsSystemSection& system = deck.mechanics.system;
  const std::string& kind = deck.system.kind;
  if (kind == "three-body-plane" || kind == "heavy-top" || kind == "magnet") return 3;
  if (kind == "double-spring" || kind == "double-spherical-pendulum") return 2;
  if (kind == "spherical-pendulum") return 1;
  if (kind == "free-body") {
    return system.alpha.empty() ? 3 : static_cast<std::int64_t>(system.alpha.size());
  }
  if (system.n > 0) return system.n;
  return kind == "double-pendulum" ? 2 : kind == "pendulum-chain" ? 10 : 200;
}

void number_goes_with_the_kind(Checker& checker) {
  const std::string& kind = checker.deck().system.kind;
  if (kind == "free-body" && (count_of(checker.deck()) < 2 || count_of(checker.deck()) > 50)) {
    checker.problem("system.alpha",
                    fmt::format("alpha has {} number{}; want 2 to 50", count_of(checker.deck()),
                                count_of(checker.deck()) == 1 ? "" : "s"));
  }
  if (!checker.has("system.n")) return;
  const std::int64_t n = checker.deck().mechanics.system.n;
  if (kind == "double-pendulum" && n != 2) {
    checker.problem("system.n", fmt::format("n = {}: a double pendulum has 2 points; more are a "
                                            "\"pendulum-chain\"",
                                            n));
  }
  if (kind == "dna" && n < 4) {
    checker.problem("system.n", fmt::format("n = {} is out of range; want at least 4 bases", n));
  }
}

/// Of an orthogonal matrix, row by row.
bool is_reflection(const std::vector<double>& rows, std::int64_t n) {
  return Eigen::Map<const Eigen::MatrixXd>(rows.data(), n, n).determinant() < 0.0;
}

void lists_have_their_length(Checker& checker) {
  if (!checker.trusted({"system.n", "system.alpha"})) return;
  const Deck& deck = checker.deck();
  const MechanicsSystemSection& system = deck.mechanics.system;
  const std::int64_t count = count_of(deck);
  const bool in_space = deck.system.kind.ends_with("spherical-pendulum");
  const std::int64_t coordinates = deck.system.kind == "dna" ? count
                                   : in_space                ? 3 * count
                                                             : 2 * count;
  const auto check = [&](const char* key, const std::vector<double>& list, std::int64_t wanted) {
    if (!checker.has(key) || static_cast<std::int64_t>(list.size()) == wanted) return true;
    checker.problem(key, fmt::format("{} has {} number{}; want {}", key + sizeof("system.") - 1,
                                     list.size(), list.size() == 1 ? "" : "s", wanted));
    return false;
  };
  check("system.masses", system.masses, count);
  check("system.lengths", system.lengths, count);
  check("system.xi", system.xi, count);
  check("system.position", system.position, coordinates);
  check("system.velocity", system.velocity, coordinates);
  check("system.angular_velocity", system.angular_velocity, 3);
  check("system.chi", system.chi, 3);
  check("system.direction", system.direction, 3);
  if (deck.system.kind == "heavy-top") check("system.alpha", system.alpha, 3);
  const auto at = [&](const std::vector<double>& list, std::int64_t i, std::int64_t j) {
    return list[static_cast<std::size_t>(i * count + j)];
  };
  // To what people write with ten digits.
  constexpr double kWritten = 1e-9;
  for (const auto& [key, list] :
       {std::pair("system.chi", system.chi), {"system.direction", system.direction}}) {
    if (!checker.has(key) || list.size() != 3) continue;
    const double length = std::hypot(list[0], list[1], list[2]);
    if (std::abs(length - 1.0) <= kWritten) continue;
    checker.problem(key, fmt::format("{} has the length {:.10g}; want a direction, of length 1",
                                     key + sizeof("system.") - 1, length));
  }
  if (checker.has("system.momentum") && check("system.momentum", system.momentum, count * count)) {
    double worst = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t j = 0; j < count; ++j) {
        worst = std::max(worst, std::abs(at(system.momentum, i, j) + at(system.momentum, j, i)));
      }
    }
    if (worst > kWritten) {
      checker.problem("system.momentum",
                      fmt::format("momentum is not antisymmetric, by {:.3g}", worst));
    }
  }
  if (checker.has("system.rotation") && check("system.rotation", system.rotation, count * count)) {
    double worst = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t j = 0; j < count; ++j) {
        double sum = i == j ? -1.0 : 0.0;
        for (std::int64_t k = 0; k < count; ++k) {
          sum += at(system.rotation, i, k) * at(system.rotation, j, k);
        }
        worst = std::max(worst, std::abs(sum));
      }
    }
    if (worst > kWritten) {
      checker.problem("system.rotation",
                      fmt::format("rotation is not orthogonal, by {:.3g}", worst));
    } else if (is_reflection(system.rotation, count)) {
      checker.problem("system.rotation", "rotation is a reflection: its determinant is -1");
    }
  }
}

std::string_view schemes_text() {
  static const std::string text = [] {
    std::string t = "Kinds and their schemes:";
    for (const KindOfSystem& k : kinds_of_systems()) {
      t += fmt::format(" `{}` with {};", k.name, comma_list(k.schemes));
    }
    t.back() = '.';
    return t;
  }();
  return text;
}

}  // namespace

void fill_mechanics_defaults(Checker& checker) {
  Deck& deck = checker.deck();
  MechanicsDeck& m = deck.mechanics;
  const std::string& kind = deck.system.kind;
  if (const auto duration = checker.number("run.duration")) {
    m.run.steps = static_cast<std::int64_t>(steps_in(*duration, 1e3 * m.integrator.step));
    m.run.duration = duration;
  }
  const auto used = [&](const char* path) {
    return is_used(*mechanics_schema().find_key(path), deck);
  };
  if (used("system.n")) m.system.n = count_of(deck);
  const auto fill = [&](const char* path, std::optional<double>& field, double value) {
    if (used(path) && !field) field = value;
  };
  const bool bodies = kind == "three-body-plane";
  if (!m.system.omega) {
    fill("integrator.omega", m.integrator.omega,
         bodies                    ? 2.0
         : kind == "double-spring" ? 1000.0
         : kind == "magnet"        ? 10.0
                                   : 20.0);
  }
  fill("integrator.beta", m.integrator.beta, bodies || kind == "dna" ? 0.3 : 0.4);
}

const Schema& mechanics_schema() {
  static const Schema schema{
      make_sections(),
      make_keys(),
      {{"`scheme` and `step` are needed.", step_and_scheme_are_given},
       {"One of `steps`, `duration` is needed.", length_is_given},
       {"A run has at most 10¹² steps.", length_is_possible},
       {schemes_text(), scheme_goes_with_the_kind},
       {"`omega` of a double spring stands in one section only.", one_omega},
       {"`bias` is 0 or 0.5.", bias_is_none_or_half},
       {"`n` is 2 for `double-pendulum` and at least 4 for `dna`; `alpha` of a free body has 2 to "
        "50 numbers.",
        number_goes_with_the_kind},
       {"Lists have a number for each point, dimension or coordinate; `rotation` is a rotation, "
        "`momentum` antisymmetric, `chi` and `direction` have the length 1.",
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
          {"magnet", 5, "a magnetised rigid body, TO 4.5"},
          {"double-spring", 6, "two stiff springs in the plane, AST 5.1"},
          {"free-body", 7, "a rigid body in n dimensions, MS 6.1"},
          {"heavy-top", 8, "a rigid body with weight about a fixed point, MS 6.2"},
          {"double-spherical-pendulum", 9, "MS 6.3"},
          {"spherical-pendulum", 10, "a pendulum in space, PCSZ"}};
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
