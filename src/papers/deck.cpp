#include "deck.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "deck/checker.hpp"
#include "deck/deck_paths.hpp"
#include "deck/key_table.hpp"
#include "deck/system_limits.hpp"
#include "io/words.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_text.hpp"

/// @file
/// The sections and rules of the decks, and decks read by them.

namespace tarn::papers {
namespace {

using namespace decks;
using M = Keys;
using S = SystemKeys;
using I = IntegratorKeys;

constexpr std::string_view kPenaltySchemes =
    "verlet zs zss zss-stiff pushforward-newmark newmark newmark-one-step variational-euler "
    "midpoint rk4 rk4-projected dormand-prince";

Condition of_kinds(std::string_view names) { return {"system.kind", io::words_of(names)}; }
Condition with_schemes(std::string_view names) {
  return {"integrator.scheme", io::words_of(names)};
}

/// The schemes that have a penalty strength.
Condition schemes_with_omega() {
  return {"integrator.scheme",
          joined({io::words_of(kPenaltySchemes), io::words_of("slow-manifold so3-linearised")})};
}

/// The schemes that advance in time: all but the projection.
Condition schemes_with_steps() {
  static const std::vector<Choice> all = schemes();
  Condition condition{"integrator.scheme"};
  for (const Choice& scheme : all) {
    if (scheme.text != "slow-manifold") condition.choices.push_back(scheme.text);
  }
  return condition;
}

constexpr Range kPositive = above(0.0);
/// Of masses, lengths and moments of inertia. Outside, coordinates overflow within a few steps.
constexpr Range kMagnitude = from_to(1e-6, 1e6);

std::vector<KeyOf<S>> point_keys() {
  const Condition pendula = of_kinds("double-pendulum pendulum-chain double-spherical-pendulum");
  const Condition weighted =
      of_kinds("double-pendulum pendulum-chain double-spherical-pendulum spherical-pendulum");
  return {
      key(&S::n, "n", from_to(1, static_cast<double>(kMaxSize)), "Number of points or bases.",
          {.default_text = "2, 10 or 200",
           .used_with = {of_kinds("double-pendulum pendulum-chain dna")},
           .zero_means_absent = true}),
      key(&S::masses, "masses", kMagnitude, "Mass of each point.",
          {.default_text = "all 1", .used_with = {pendula}}),
      key(&S::lengths, "lengths", kMagnitude, "Length of each rod.",
          {.default_text = "1 and √2, or all √5", .used_with = {pendula}}),
      key(&S::gravity, "gravity", kAny, "V = gravity Σ m y (spherical pendula: gravity Σ m z).",
          {.used_with = {weighted}}),
  };
}

std::vector<KeyOf<S>> dna_keys() {
  const Condition dna = of_kinds("dna");
  return {
      key(&S::a, "a", at_least(0), "U(θ) = (exp(-a [1 - cos θ - x0]) - 1)².", {.used_with = {dna}}),
      key(&S::x0, "x0", kAny, "Parameter of U, see `a`.", {.used_with = {dna}}),
      key(&S::epsilon, "epsilon", at_least(0), "V = Σ ½ (θ_{k+1} - θ_k)² + epsilon U(θ_k).",
          {.default_text = "1/1400", .used_with = {dna}}),
      key(&S::ends, "ends",
          {{"periodic", DnaEnds::periodic, "the last base is a neighbour of the first"},
           {"free", DnaEnds::free, "both ends are free"}},
          "Boundary condition of the strand.", {.used_with = {dna}}),
      key(&S::noise, "noise", {{"normal", DnaNoise::normal, "standard normal random numbers"}},
          "ξ of the start θ_k = 0.8 + 0.1 ξ_k.",
          {.used_with = {dna, {"system.xi"}, {"system.position"}}}),
      key(&S::seed, "seed", at_least(0), "Seed of ξ.",
          {.used_with = {dna, {"system.xi"}, {"system.position"}}}),
      key(&S::xi, "xi", kAny, "ξ of each base.",
          {.default_text = "random", .used_with = {dna, {"system.position"}}}),
  };
}

std::vector<KeyOf<S>> start_keys() {
  const Condition with_start = of_kinds(
      "double-pendulum pendulum-chain dna three-body-plane double-spring double-spherical-pendulum "
      "spherical-pendulum");
  return {
      key(&S::position, "position", kAny,
          "Positions at the start, in the order of `q0`... in `trajectory.csv`. The length of a "
          "`spherical-pendulum` is that of this vector.",
          {.default_text = "those of the paper, along rods of the given `lengths`",
           .used_with = {with_start}}),
      key(&S::velocity, "velocity", kAny, "Velocities at the start, in the same order.",
          {.default_text = "those of the paper", .used_with = {with_start}}),
      key(&S::omega, "omega", above_to(0.0, 1e8),
          "Strength of the springs; set it in one of the two sections.",
          {.default_text = "that of `[integrator]`",
           .used_with = {of_kinds("double-spring"), schemes_with_omega()}}),
  };
}

std::vector<KeyOf<S>> body_keys() {
  const Condition magnet = of_kinds("magnet");
  const Condition top = of_kinds("heavy-top");
  return {
      key(&S::b_mu, "b_mu", kAny, "Field times dipole moment, V = b_mu R33.",
          {.used_with = {magnet}}),
      key(&S::rotation, "rotation", kAny, "Rotation matrix at the start, row by row.",
          {.default_text = "the identity", .used_with = {of_kinds("magnet free-body")}}),
      key(&S::angular_velocity, "angular_velocity", kAny,
          "Angular velocity in the body frame at the start.",
          {.default_text = "1, 0.2, 0.1", .used_with = {magnet}}),
      key(&S::alpha, "alpha", kMagnitude,
          "Diagonal of J; n numbers for a free body in n dimensions.",
          {.default_text = "0.44, 0.5, 1", .used_with = {of_kinds("free-body heavy-top")}}),
      key(&S::chi, "chi", kAny, "Unit vector from the fixed point to the centre of mass.",
          {.default_text = "0, 0, 1", .used_with = {top}}),
      key(&S::c, "c", kAny,
          "Weight times the distance of the centre of mass from the fixed point, V = c v·chi.",
          {.used_with = {top}}),
      key(&S::momentum, "momentum", kAny,
          "Angular momentum in the body frame at the start: an antisymmetric matrix, row by row.",
          {.default_text = "m_ij = cos(i + 2j); for `heavy-top` m_12 = 1.1195, m_23 = -1, which "
                           "gives H = 1 with the other defaults",
           .used_with = {of_kinds("free-body heavy-top")}}),
      key(&S::direction, "direction", kAny,
          "Unit vector v of gravity in the body frame at the start.",
          {.default_text = "0, 1, 0", .used_with = {top}}),
  };
}

std::vector<KeyOf<I>> scheme_keys() {
  const Condition with_omega =
      of_kinds("double-pendulum pendulum-chain three-body-plane double-spring magnet");
  const Condition with_beta =
      with_schemes("zs zss zss-stiff pushforward-newmark newmark newmark-one-step so3-linearised");
  // The other equations of a magnet have no penalty.
  const Condition of_a_magnet{"integrator.scheme", {"so3-linearised"}, "system.kind", {"magnet"}};
  return {
      key(&I::scheme, "scheme", schemes(), "Integration scheme.", {.default_text = "required"}),
      key(&I::step, "step", kPositive, "Time step h.",
          {.default_text = "required", .used_with = {schemes_with_steps()}}),
      key(&I::omega, "omega", above_to(0.0, 1e8),
          "Strength of the penalty ½ ω² |g|²: 20 for pendula, 2 for `three-body-plane`, 1000 for "
          "`double-spring`, 10 for `magnet`.",
          {.default_text = "20, 2, 1000 or 10",
           .used_with = {with_omega, schemes_with_omega(), of_a_magnet}}),
      key(&I::beta, "beta", above_to(0.0, 10.0), "Scheme parameter β.",
          {.default_text = "0.4, or 0.3 for `dna` and `three-body-plane`",
           .used_with = {with_beta}}),
      key(&I::hessian, "hessian",
          {{"full", Hessian::stiff, "the full Hessian, as in the paper"},
           {"gauss-newton", Hessian::gauss_newton,
            "without second derivatives of the constraints; always positive definite"}},
          "Hessian of the penalty in the linear solve.",
          {.used_with = {with_schemes("zss-stiff")}}),
  };
}

std::vector<KeyOf<I>> method_keys() {
  const Condition projected = with_schemes("slow-manifold rk4-projected dormand-prince");
  const Condition adaptive = with_schemes("dormand-prince");
  const Condition linearised = with_schemes("so3-linearised");
  return {
      key(&I::acceleration, "acceleration",
          {{"linearised", NewmarkOneStep::Acceleration::linearised, "from the Newton iteration"},
           {"force", NewmarkOneStep::Acceleration::force,
            "from the force at the new positions; unstable for stiff forces"}},
          "Acceleration in the update of the velocity.",
          {.used_with = {with_schemes("newmark-one-step")}}),
      key(&I::compose, "compose",
          {{"none", Composition::none, "no composition"},
           {"yoshida4", Composition::yoshida4, "three steps of the scheme: order 4"},
           {"suzuki4", Composition::suzuki4,
            "five steps of the scheme, none longer than `step`: order 4, with smaller errors"}},
          "Composition of a symmetric scheme. Use `rattle` instead of `shake`: its positions are "
          "the same.",
          {.used_with = {with_schemes("verlet zs zss zss-stiff pushforward-newmark newmark "
                                      "midpoint rattle"),
                         of_kinds("double-pendulum pendulum-chain three-body-plane dna "
                                  "double-spring double-spherical-pendulum spherical-pendulum")}}),
      key(&I::quadrature, "quadrature",
          {{"first-order", LinearisedSo3::Quadrature::first_order, "one kick per step"},
           {"trapezoidal", LinearisedSo3::Quadrature::trapezoidal, "two half kicks per step"}},
          "Quadrature of the action.", {.used_with = {linearised}}),
      key(&I::a_mass, "a_mass",
          {{"paper", LinearisedSo3::AMass::paper, "1, as printed"},
           {"consistent", LinearisedSo3::AMass::consistent, "½, the mass of the matrix"}},
          "Factor of a in its equation.", {.used_with = {linearised}}),
      key(&I::tolerance, "tolerance", from_to(1e-15, 0.1),
          "The projection stops when the constraints and their rates change by less than this.",
          {.used_with = {projected}}),
      key(&I::relative_tolerance, "relative_tolerance", from_to(1e-14, 0.1),
          "Estimated error of every coordinate and velocity in a step, relative to its size; the "
          "absolute tolerance is a thousandth of it.",
          {.used_with = {adaptive}}),
      key(&I::projections, "projections", from_to(0, kStepLimit),
          "Number of steps, from the first, that begin with a projection onto the slow manifold.",
          {.used_with = {adaptive}}),
      key(&I::bias, "bias", from_to(0.0, 0.5), "0, or 0.5 for a self-adjoint method.",
          {.used_with = {with_schemes(
               "variational-of:euler variational-of:rk2 variational-of:rk4")}}),
  };
}

/// `[system] kind`
KeyOf<SystemSection> kind_of_system_key() {
  std::vector<Choice> kinds;
  for (const SystemKind& kind : system_kinds()) kinds.push_back({kind.name, 0, kind.description});
  return key(&SystemSection::kind, "kind", kinds,
             "The system. TO, AST, MS and PCSZ denote papers; see [equations.md](equations.md) and "
             "[equations-mechanics.md](equations-mechanics.md).",
             {.default_text = "required"});
}

SectionTable system_section() {
  return {
      {"system", "The system and its start."},
      joined({keys_of(&Deck::system, {kind_of_system_key()}),
              keys_of(&M::system, joined({point_keys(), dna_keys(), start_keys(), body_keys()}))})};
}

SectionTable integrator_section() {
  return section(&M::integrator, "integrator", "The integration step.",
                 joined({scheme_keys(), method_keys()}));
}

SectionTable run_section() {
  using R = RunKeys;
  return section(&M::run, "run", "Length of the run.",
                 {key(&R::steps, "steps", from_to(0, kStepLimit), "Number of steps.",
                      {.default_text = "from `duration`",
                       .used_with = {schemes_with_steps()},
                       .excludes = {"duration"},
                       .may_change_on_resume = true}),
                  duration_key<R>("duration", at_least(0.0), {schemes_with_steps()})});
}

SectionTable trajectory_section() {
  return section(
      &M::trajectory, "observe.trajectory",
      "Writes `trajectory.csv`: step, time, the scheme's internal positions `q0`... and velocities "
      "`v0`..., or the [quantities listed below](#columns-of-trajectorycsv), and with constraints "
      "the multipliers `lambda0`..., M q'' = -∇V - Gᵀλ.",
      {
          every_key<TrajectoryKeys>(),
          key(&TrajectoryKeys::format, "format",
              {{"csv", TableFormat::csv, "comma-separated values"}}, "File format."),
          key(&TrajectoryKeys::window, "window", at_least(0),
              "Averaging time of the multiplier ω² g of a penalty, centred on each row and limited "
              "to the run; 0: ω² g itself.",
              {.used_with = {of_kinds(
                                 "double-pendulum pendulum-chain three-body-plane double-spring"),
                             with_schemes(kPenaltySchemes)}}),
      });
}

SectionTable energies_section() {
  return section(&M::energies, "observe.energies",
                 "Writes `energies.csv` and a picture, at the positions at which the scheme "
                 "evaluates its forces; for `dna` also the mean angle.",
                 {every_key<EnergyKeys>()});
}

SectionTable conservation_section() {
  using C = ConservationKeys;
  return section(&M::conservation, "observe.conservation",
                 "Writes `conservation.csv` and a picture: energy, momenta that the system "
                 "conserves, largest constraint violation.",
                 {every_key<C>(),
                  key(&C::place, "place",
                      {{"forces", EnergyPlace::forces,
                        "where the scheme evaluates its forces: what it conserves up to its order"},
                       {"positions", EnergyPlace::positions, "at `q0`... of `trajectory.csv`"}},
                      "Place of the energy; a system on a manifold has one.",
                      {.may_change_on_resume = true})});
}

// --- rules ---------------------------------------------------------------------------------------

const PaperDeck& deck_of(const Checker& checker) {
  return static_cast<const PaperDeck&>(checker.deck());
}

bool projects_only(const Checker& checker) {
  return deck_of(checker).own.integrator.scheme == "slow-manifold";
}

void step_and_scheme_are_given(Checker& checker) {
  if (!projects_only(checker)) require_keys(checker, {"integrator.scheme", "integrator.step"});
}

void length_is_given(Checker& checker) {
  if (projects_only(checker)) return;
  require_one_of(checker, {"run.steps", "run.duration"}, "run.steps",
                 "[run] needs steps or duration");
}

void length_is_possible(Checker& checker) {
  const auto duration = checker.number("run.duration");
  const auto step = checker.number("integrator.step");
  if (!duration || !step || *duration / *step <= kStepLimit) return;
  checker.problem("run.duration",
                  fmt::format("duration = {} exceeds {} steps of {}", number_text(*duration),
                              kMaxSteps, number_text(*step)));
}

void scheme_goes_with_the_kind(Checker& checker) {
  if (!checker.is_reliable({"integrator.scheme"}) || !checker.has("integrator.scheme")) return;
  const SystemKind& kind = kind_of(checker.deck());
  const std::string& scheme = deck_of(checker).own.integrator.scheme;
  if (kind.name.empty() || std::ranges::count(kind.schemes, scheme) > 0) return;
  checker.problem("integrator.scheme",
                  fmt::format("scheme = \"{}\" does not support kind = \"{}\"; expected one of {}",
                              scheme, kind.name, comma_list(kind.schemes, true)));
}

void one_omega(Checker& checker) {
  if (!checker.has("system.omega") || !checker.has("integrator.omega")) return;
  checker.problem("integrator.omega", "omega is also set in [system]; remove one of them");
}

void bias_is_none_or_half(Checker& checker) {
  const auto bias = checker.number("integrator.bias");
  if (!bias || *bias == 0.0 || *bias == 0.5) return;
  checker.problem("integrator.bias",
                  fmt::format("bias = {}; expected 0 or 0.5", number_text(*bias)));
}

/// Number of points, bases or dimensions of the system.
std::int64_t count_of(const PaperDeck& deck) {
  const SystemKeys& system = deck.own.system;
  const bool is_body = deck.system.kind == "free-body" && !system.alpha.empty();
  if (is_body) return static_cast<std::int64_t>(system.alpha.size());
  const bool has_n = system.n > 0 && schema().is_used(*schema().find_key("system.n"), deck);
  return has_n ? system.n : kind_of(deck).count;
}

void number_goes_with_the_kind(Checker& checker) {
  const std::string& kind = checker.deck().system.kind;
  const std::int64_t count = count_of(deck_of(checker));
  if (kind == "free-body" && (count < 2 || count > 50)) {
    checker.problem("system.alpha", fmt::format("alpha has {} number{}; expected 2 to 50", count,
                                                count == 1 ? "" : "s"));
  }
  if (!checker.has("system.n")) return;
  const std::int64_t n = deck_of(checker).own.system.n;
  if (kind == "double-pendulum" && n != 2) {
    checker.problem(
        "system.n",
        fmt::format(
            "n = {}: a double pendulum has 2 points; for more use kind = \"pendulum-chain\"", n));
  }
  if (kind == "dna" && n < 4) {
    checker.problem("system.n",
                    fmt::format("n = {} is out of range; expected at least 4 bases", n));
  }
}

/// Deviations below this are the rounding of numbers written with ten digits.
constexpr double kWrittenAccuracy = 1e-9;

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('.') + 1); }

/// @return whether the list has the length, or is not given
bool check_length(Checker& checker, std::string_view path, const std::vector<double>& list,
                  std::int64_t wanted) {
  if (!checker.has(path) || static_cast<std::int64_t>(list.size()) == wanted) return true;
  checker.problem(path, fmt::format("{} has {} number{}; expected {}", name_of(path), list.size(),
                                    list.size() == 1 ? "" : "s", wanted));
  return false;
}

void check_unit_vector(Checker& checker, std::string_view path, const std::vector<double>& list) {
  if (!checker.has(path) || list.size() != 3) return;
  const double length = std::hypot(list[0], list[1], list[2]);
  if (std::abs(length - 1.0) <= kWrittenAccuracy) return;
  checker.problem(path, fmt::format("{} has the length {:.10g}; expected a unit vector",
                                    name_of(path), length));
}

/// @return the n x n matrix that the deck lists row by row; none if it is not given or too short
std::optional<Matrix> matrix_at(Checker& checker, std::string_view path,
                                const std::vector<double>& list, std::int64_t n) {
  if (!checker.has(path) || !check_length(checker, path, list, n * n)) return std::nullopt;
  return matrix_of(Vector(Vector::Map(list.data(), n * n)));
}

void check_momentum(Checker& checker, const std::vector<double>& list, std::int64_t n) {
  const auto momentum = matrix_at(checker, "system.momentum", list, n);
  if (!momentum) return;
  const double worst = (*momentum + momentum->transpose()).lpNorm<Eigen::Infinity>();
  if (worst <= kWrittenAccuracy) return;
  checker.problem(
      "system.momentum",
      fmt::format("momentum is not antisymmetric: the largest deviation is {:.3g}", worst));
}

void check_rotation(Checker& checker, const std::vector<double>& list, std::int64_t n) {
  const auto rotation = matrix_at(checker, "system.rotation", list, n);
  if (!rotation) return;
  const Matrix square = *rotation * rotation->transpose();
  const double worst = (square - Matrix::Identity(n, n)).lpNorm<Eigen::Infinity>();
  if (worst > kWrittenAccuracy) {
    checker.problem(
        "system.rotation",
        fmt::format("rotation is not orthogonal: the largest deviation is {:.3g}", worst));
  } else if (rotation->determinant() < 0.0) {
    checker.problem("system.rotation", "rotation is a reflection: its determinant is -1");
  }
}

void lists_have_their_length(Checker& checker) {
  if (!checker.is_reliable({"system.n", "system.alpha"})) return;
  const std::string& kind = checker.deck().system.kind;
  const SystemKeys& system = deck_of(checker).own.system;
  const std::int64_t count = count_of(deck_of(checker));
  const std::int64_t dimensions = kind_of(checker.deck()).dimensions;
  check_length(checker, "system.masses", system.masses, count);
  check_length(checker, "system.lengths", system.lengths, count);
  check_length(checker, "system.xi", system.xi, count);
  check_length(checker, "system.position", system.position, dimensions * count);
  check_length(checker, "system.velocity", system.velocity, dimensions * count);
  check_length(checker, "system.angular_velocity", system.angular_velocity, 3);
  check_length(checker, "system.chi", system.chi, 3);
  check_length(checker, "system.direction", system.direction, 3);
  if (kind == "heavy-top") check_length(checker, "system.alpha", system.alpha, 3);
  check_unit_vector(checker, "system.chi", system.chi);
  check_unit_vector(checker, "system.direction", system.direction);
  check_momentum(checker, system.momentum, count);
  check_rotation(checker, system.rotation, count);
}

std::string_view schemes_text() {
  static const std::string text = [] {
    std::string t = "Kinds and their schemes:";
    for (const SystemKind& k : system_kinds()) {
      t += fmt::format(" `{}` with {};", k.name, comma_list(k.schemes));
    }
    t.back() = '.';
    return t;
  }();
  return text;
}

/// Sets the defaults that depend on other keys.
void fill_defaults(Checker& checker) {
  auto& deck = static_cast<PaperDeck&>(checker.deck());
  Keys& m = deck.own;
  if (const auto duration = checker.number("run.duration")) {
    m.run.steps = static_cast<std::int64_t>(whole_steps(*duration, 1e3 * m.integrator.step));
  }
  const auto used = [&](const char* path) {
    return schema().is_used(*schema().find_key(path), deck);
  };
  if (used("system.n")) m.system.n = count_of(deck);
  const auto fill = [&](const char* path, std::optional<double>& field, double value) {
    if (used(path) && !field) field = value;
  };
  if (!m.system.omega) fill("integrator.omega", m.integrator.omega, kind_of(deck).omega);
  fill("integrator.beta", m.integrator.beta, kind_of(deck).beta);
}

std::vector<Rule> rules() {
  return {
      {"`kind` is required.", [](Checker& c) { require_keys(c, {"system.kind"}); }, "system"},
      {"`scheme` and `step` are required.", step_and_scheme_are_given, "integrator"},
      {"Exactly one of `steps` and `duration` is required.", length_is_given, "run"},
      {"A run has at most 10¹² steps.", length_is_possible, "run"},
      {schemes_text(), scheme_goes_with_the_kind, "integrator"},
      {"`omega` of a double spring is set in one section only.", one_omega, "integrator"},
      {"`bias` is 0 or 0.5.", bias_is_none_or_half, "integrator"},
      {"`n` is 2 for `double-pendulum` and at least 4 for `dna`; `alpha` of a free body has 2 to "
       "50 numbers.",
       number_goes_with_the_kind, "system"},
      {"Lists have one number per point, dimension or coordinate; `rotation` is a rotation matrix, "
       "`momentum` is antisymmetric, and `chi` and `direction` have length 1.",
       lists_have_their_length, "system"}};
}

PaperDeck checked(const std::string& text, const std::string& path,
                  const std::vector<Override>& overrides, const std::vector<Override>& removals) {
  PaperDeck deck;
  Checker checker(path, schema(), deck);
  checker.check(text, overrides, removals);
  fill_defaults(checker);
  return deck;
}

}  // namespace

const Schema& schema() {
  static const Schema all =
      make_schema({system_section(), integrator_section(), run_section(), trajectory_section(),
                   energies_section(), conservation_section()},
                  rules());
  return all;
}

PaperDeck load_deck(const std::string& path, const std::vector<std::string>& overrides,
                    const std::vector<std::string>& removals) {
  return parse_deck(read_deck_text(path), path, overrides, removals);
}

PaperDeck parse_deck(const std::string& text, const std::string& path,
                     const std::vector<std::string>& overrides,
                     const std::vector<std::string>& removals) {
  return checked(text, path, given_by("--set", overrides), given_by("--unset", removals));
}

PaperDeck with_scheme(const PaperDeck& deck, const std::string& scheme) {
  const std::string label = "--scheme " + scheme;
  std::vector<Override> changes = scheme_overrides(schema(), scheme, label);
  PaperDeck other = deck;
  bool other_step = false;
  for (const Override& change : changes) {
    for (const Choice& choice : schemes()) {
      if (change.text != fmt::format("integrator.scheme={}", choice.text)) continue;
      other.own.integrator.scheme = choice.text;
    }
    other_step = other_step || change.text.starts_with("integrator.step=");
  }
  const std::int64_t steps = deck.own.run.steps;
  if (other_step && steps > 0) {
    const double duration = static_cast<double>(steps) * deck.own.integrator.step;
    changes.push_back({fmt::format("run.duration={:.17g}", duration), label});
  }
  const std::string text = write_deck(schema(), deck, [&](const Key& key) {
    return schema().is_used(key, other) && !(other_step && key.path() == "run.steps");
  });
  return checked(text, deck.path, changes, {});
}

std::string reference() {
  std::string text = R"(# Decks of the papers' systems

<!-- Generated from the tables that check decks; do not edit. To update it:
     tarn-papers list --keys > docs/papers.md -->

This page lists all keys of the decks in `inputs/papers`, which `tarn-papers run DECK` runs.
[decks.md](decks.md) describes what applies to all decks, and the keys of water.

The systems of the papers are dimensionless; `system.kind` selects the system. The default initial
data are those of the papers; see [equations.md](equations.md).

```toml
[system]
kind = "double-pendulum"

[integrator]
scheme = "zs"
step = 0.1
omega = 20.0

[run]
duration = 50.0

[observe.trajectory]
every = 1
```

)";
  PaperDeck defaults;
  text += reference_text(schema(), defaults);
  text += "## Columns of `trajectory.csv`\n\nThe `#` line of the file contains the same text.\n\n" +
          trajectory_columns_table();
  return text;
}

}  // namespace tarn::papers
