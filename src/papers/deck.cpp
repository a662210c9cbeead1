#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "deck/checker.hpp"
#include "deck/key_table.hpp"
#include "deck/system_limits.hpp"
#include "io/words.hpp"
#include "run.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_text.hpp"

/// @file
/// The sections and rules of the decks, and decks read by them.

namespace tarn::papers {
namespace {

using namespace decks;
using io::words_of;
using M = Keys;
using S = SystemKeys;
using I = IntegratorKeys;

/// The schemes that have a penalty strength.
constexpr std::string_view kOmegaSchemes =
    "verlet zs zss zss-stiff pushforward-newmark newmark newmark-one-step variational-euler "
    "midpoint rk4 rk4-projected dormand-prince slow-manifold so3-linearised";
/// Those that integrate a system in R^n with the penalty.
constexpr std::string_view kPenaltySchemes =
    kOmegaSchemes.substr(0, kOmegaSchemes.find(" slow-manifold"));

Condition kinds(std::string_view names) { return {"system.kind", words_of(names)}; }
Condition with(std::string_view schemes) { return {"integrator.scheme", words_of(schemes)}; }

/// The schemes that advance in time: all but the projection.
Condition advancing() {
  Condition condition{"integrator.scheme"};
  for (const Choice& scheme : schemes()) {
    if (scheme.text != "slow-manifold") condition.choices.push_back(scheme.text);
  }
  return condition;
}

constexpr Range kPositive = above(0.0);
/// Of masses, lengths and moments of inertia. Outside, coordinates overflow within a few steps.
constexpr Range kMagnitude = from_to(1e-6, 1e6);

std::vector<KeyOf<S>> system_keys() {
  const Condition pendula = kinds("double-pendulum pendulum-chain double-spherical-pendulum");
  const Condition weighted =
      kinds("double-pendulum pendulum-chain double-spherical-pendulum spherical-pendulum");
  const Condition dna = kinds("dna"), magnet = kinds("magnet"), top = kinds("heavy-top");
  const Condition with_start = kinds(
      "double-pendulum pendulum-chain dna three-body-plane double-spring double-spherical-pendulum "
      "spherical-pendulum");
  return {
      key(&S::n, "n", from_to(1, static_cast<double>(kMaxSize)), "Number of points or bases.",
          {.default_text = "2, 10 or 200",
           .used_with = {kinds("double-pendulum pendulum-chain dna")},
           .zero_means_absent = true}),
      key(&S::masses, "masses", kMagnitude, "Mass of each point.",
          {.default_text = "all 1", .used_with = {pendula}}),
      key(&S::lengths, "lengths", kMagnitude, "Length of each rod.",
          {.default_text = "1 and √2, or all √5", .used_with = {pendula}}),
      key(&S::gravity, "gravity", kAny, "V = gravity Σ m y (spherical pendula: gravity Σ m z).",
          {.used_with = {weighted}}),
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
           .used_with = {kinds("double-spring"), with(kOmegaSchemes)}}),
      key(&S::b_mu, "b_mu", kAny, "Field times dipole moment, V = b_mu R33.",
          {.used_with = {magnet}}),
      key(&S::rotation, "rotation", kAny, "Rotation matrix at the start, row by row.",
          {.default_text = "the identity", .used_with = {kinds("magnet free-body")}}),
      key(&S::angular_velocity, "angular_velocity", kAny,
          "Angular velocity in the body frame at the start.",
          {.default_text = "1, 0.2, 0.1", .used_with = {magnet}}),
      key(&S::alpha, "alpha", kMagnitude,
          "Diagonal of J; n numbers for a free body in n dimensions.",
          {.default_text = "0.44, 0.5, 1", .used_with = {kinds("free-body heavy-top")}}),
      key(&S::chi, "chi", kAny, "Unit vector from the fixed point to the centre of mass.",
          {.default_text = "0, 0, 1", .used_with = {top}}),
      key(&S::c, "c", kAny,
          "Weight times the distance of the centre of mass from the fixed point, V = c v·chi.",
          {.used_with = {top}}),
      key(&S::momentum, "momentum", kAny,
          "Angular momentum in the body frame at the start: an antisymmetric matrix, row by row.",
          {.default_text = "m_ij = cos(i + 2j); for `heavy-top` m_12 = 1.1195, m_23 = -1, which "
                           "gives H = 1 with the other defaults",
           .used_with = {kinds("free-body heavy-top")}}),
      key(&S::direction, "direction", kAny,
          "Unit vector v of gravity in the body frame at the start.",
          {.default_text = "0, 1, 0", .used_with = {top}}),
  };
}

std::vector<KeyOf<I>> integrator_keys() {
  const Condition with_omega =
      kinds("double-pendulum pendulum-chain three-body-plane double-spring magnet");
  const Condition with_beta =
      with("zs zss zss-stiff pushforward-newmark newmark newmark-one-step so3-linearised");
  // The other equations of a magnet have no penalty.
  const Condition of_a_magnet{"integrator.scheme", {"so3-linearised"}, "system.kind", {"magnet"}};
  const Condition projected = with("slow-manifold rk4-projected dormand-prince");
  const Condition adaptive = with("dormand-prince"), linearised = with("so3-linearised");
  return {
      key(&I::scheme, "scheme", schemes(), "Integration scheme.", {.default_text = "required"}),
      key(&I::step, "step", kPositive, "Time step h.",
          {.default_text = "required", .used_with = {advancing()}}),
      key(&I::omega, "omega", above_to(0.0, 1e8),
          "Strength of the penalty ½ ω² |g|²: 20 for pendula, 2 for `three-body-plane`, 1000 for "
          "`double-spring`, 10 for `magnet`.",
          {.default_text = "20, 2, 1000 or 10",
           .used_with = {with_omega, with(kOmegaSchemes), of_a_magnet}}),
      key(&I::beta, "beta", above_to(0.0, 10.0), "Scheme parameter β.",
          {.default_text = "0.4, or 0.3 for `dna` and `three-body-plane`",
           .used_with = {with_beta}}),
      key(&I::hessian, "hessian",
          {{"full", Hessian::stiff, "the full Hessian, as in the paper"},
           {"gauss-newton", Hessian::gauss_newton,
            "without second derivatives of the constraints; always positive definite"}},
          "Hessian of the penalty in the linear solve.", {.used_with = {with("zss-stiff")}}),
      key(&I::acceleration, "acceleration",
          {{"linearised", Acceleration::linearised, "from the Newton iteration"},
           {"force", Acceleration::force,
            "from the force at the new positions; unstable for stiff forces"}},
          "Acceleration in the update of the velocity.", {.used_with = {with("newmark-one-step")}}),
      key(&I::compose, "compose",
          {{"none", Composition::none, "no composition"},
           {"yoshida4", Composition::yoshida4, "three steps of the scheme: order 4"},
           {"suzuki4", Composition::suzuki4,
            "five steps of the scheme, none longer than `step`: order 4, with smaller errors"}},
          "Composition of a symmetric scheme. Use `rattle` instead of `shake`: its positions are "
          "the same.",
          {.used_with = {with("verlet zs zss zss-stiff pushforward-newmark newmark "
                              "midpoint rattle"),
                         kinds("double-pendulum pendulum-chain three-body-plane dna "
                               "double-spring double-spherical-pendulum spherical-pendulum")}}),
      key(&I::quadrature, "quadrature",
          {{"first-order", Quadrature::first_order, "one kick per step"},
           {"trapezoidal", Quadrature::trapezoidal, "two half kicks per step"}},
          "Quadrature of the action.", {.used_with = {linearised}}),
      key(&I::a_mass, "a_mass",
          {{"paper", AMass::paper, "1, as printed"},
           {"consistent", AMass::consistent, "½, the mass of the matrix"}},
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
          {.used_with = {with("variational-of:euler variational-of:rk2 variational-of:rk4")}}),
  };
}

/// `[system] kind`
KeyOf<SystemSection> kind_of_system_key() {
  std::vector<Choice> all;
  for (const SystemKind& kind : system_kinds()) all.push_back({kind.name, 0, kind.description});
  return key(&SystemSection::kind, "kind", all,
             "The system. TO, AST, MS and PCSZ denote papers; see [equations.md](equations.md) and "
             "[equations-mechanics.md](equations-mechanics.md).",
             {.default_text = "required"});
}

std::vector<SectionTable> sections() {
  using R = RunKeys;
  return {
      {{"system", "The system and its start."},
       joined(
           {keys_of(&Deck::system, {kind_of_system_key()}), keys_of(&M::system, system_keys())})},
      section(&M::integrator, "integrator", "The integration step.", integrator_keys()),
      section(&M::run, "run", "Length of the run.",
              {key(&R::steps, "steps", from_to(0, kStepLimit), "Number of steps.",
                   {.default_text = "from `duration`",
                    .used_with = {advancing()},
                    .excludes = {"duration"},
                    .may_change_on_resume = true}),
               duration_key<R>("duration", at_least(0.0), {advancing()})}),
      section(&M::trajectory, "observe.trajectory",
              "Writes `trajectory.csv`: step, time, the scheme's internal positions `q0`... and "
              "velocities `v0`..., or the [quantities listed below](#columns-of-trajectorycsv), "
              "and with constraints the multipliers `lambda0`..., M q'' = -∇V - Gᵀλ.",
              {
                  every_key<TrajectoryKeys>(),
                  key(&TrajectoryKeys::format, "format",
                      {{"csv", TableFormat::csv, "comma-separated values"}}, "File format."),
                  key(&TrajectoryKeys::window, "window", at_least(0),
                      "Averaging time of the multiplier ω² g of a penalty, centred on each row and "
                      "limited to the run; 0: ω² g itself.",
                      {.used_with =
                           {kinds("double-pendulum pendulum-chain three-body-plane double-spring"),
                            with(kPenaltySchemes)}}),
              }),
      section(&M::energies, "observe.energies",
              "Writes `energies.csv` and a picture, at the positions at which the scheme "
              "evaluates its forces; for `dna` also the mean angle.",
              {every_key<EnergyKeys>()}),
      section(&M::conservation, "observe.conservation",
              "Writes `conservation.csv` and a picture: energy, momenta that the system "
              "conserves, largest constraint violation.",
              {every_key<ConservationKeys>(),
               key(&ConservationKeys::place, "place",
                   {{"forces", EnergyPlace::forces,
                     "where the scheme evaluates its forces: what it conserves up to its order"},
                    {"positions", EnergyPlace::positions, "at `q0`... of `trajectory.csv`"}},
                   "Place of the energy; a system on a manifold has one.",
                   {.may_change_on_resume = true})})};
}

// --- rules ---------------------------------------------------------------------------------------

const PaperDeck& deck_of(const Checker& checker) {
  return static_cast<const PaperDeck&>(checker.deck());
}

bool projects_only(const Checker& checker) {
  return deck_of(checker).own.integrator.scheme == "slow-manifold";
}

std::string length_problem(const Checker& checker) {
  const auto duration = checker.number("run.duration");
  const auto step = checker.number("integrator.step");
  if (!duration || !step || *duration / *step <= kStepLimit) return {};
  return fmt::format("duration = {} exceeds {} steps of {}", number_text(*duration), kMaxSteps,
                     number_text(*step));
}

std::string scheme_problem(const Checker& checker) {
  const SystemKind& kind = kind_of(checker.deck());
  const std::string& scheme = deck_of(checker).own.integrator.scheme;
  const bool has_both = checker.has("integrator.scheme") && !kind.name.empty();
  if (!has_both || std::ranges::count(kind.schemes, scheme) > 0) return {};
  return fmt::format("scheme = \"{}\" does not support kind = \"{}\"; expected one of {}", scheme,
                     kind.name, comma_list(kind.schemes, true));
}

std::string bias_problem(const Checker& checker) {
  const double bias = checker.number("integrator.bias").value_or(0.0);
  if (bias == 0.0 || bias == 0.5) return {};
  return fmt::format("bias = {}; expected 0 or 0.5", number_text(bias));
}

bool uses(const PaperDeck& deck, std::string_view path) {
  return schema().is_used(*schema().find_key(path), deck);
}

/// Number of points, bases or dimensions of the system.
std::int64_t count_of(const PaperDeck& deck) {
  const SystemKeys& system = deck.own.system;
  const bool is_body = deck.system.kind == "free-body" && !system.alpha.empty();
  if (is_body) return static_cast<std::int64_t>(system.alpha.size());
  return system.n > 0 && uses(deck, "system.n") ? system.n : kind_of(deck).count;
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

/// Checks the length of a list. @return the list; none if it is not given or has another length
std::optional<Vector> list_at(Checker& checker, std::string_view path, std::int64_t wanted) {
  if (!checker.has(path)) return std::nullopt;
  const Key& key = *schema().find_key(path);
  const auto list = std::get<std::vector<double>>(key.get(checker.deck()));
  if (std::ssize(list) == wanted) return vector_of(list);
  checker.problem(path, fmt::format("{} has {} number{}; expected {}", key.name, list.size(),
                                    list.size() == 1 ? "" : "s", wanted));
  return std::nullopt;
}

void check_unit_vector(Checker& checker, std::string_view path) {
  const auto list = list_at(checker, path, 3);
  if (!list) return;
  const double length = std::hypot((*list)[0], (*list)[1], (*list)[2]);
  checker.problem_if(std::abs(length - 1.0) > kWrittenAccuracy, path,
                     fmt::format("{} has the length {:.10g}; expected a unit vector",
                                 path.substr(path.rfind('.') + 1), length));
}

void lists_have_their_length(Checker& checker) {
  if (!checker.is_reliable({"system.n", "system.alpha"})) return;
  const std::int64_t n = count_of(deck_of(checker));
  const std::int64_t coordinates = kind_of(checker.deck()).dimensions * n;
  for (const char* path : {"system.masses", "system.lengths", "system.xi"}) {
    list_at(checker, path, n);
  }
  list_at(checker, "system.position", coordinates);
  list_at(checker, "system.velocity", coordinates);
  list_at(checker, "system.angular_velocity", 3);
  if (checker.deck().system.kind == "heavy-top") list_at(checker, "system.alpha", 3);
  check_unit_vector(checker, "system.chi");
  check_unit_vector(checker, "system.direction");
  if (const auto list = list_at(checker, "system.momentum", n * n)) {
    const Matrix momentum = matrix_of(*list);
    const double worst = (momentum + momentum.transpose()).lpNorm<Eigen::Infinity>();
    checker.problem_if(
        worst > kWrittenAccuracy, "system.momentum",
        fmt::format("momentum is not antisymmetric: the largest deviation is {:.3g}", worst));
  }
  if (const auto list = list_at(checker, "system.rotation", n * n)) {
    const Matrix rotation = matrix_of(*list);
    const Matrix square = rotation * rotation.transpose();
    const double worst = (square - Matrix::Identity(n, n)).lpNorm<Eigen::Infinity>();
    checker.problem_if(
        worst > kWrittenAccuracy, "system.rotation",
        fmt::format("rotation is not orthogonal: the largest deviation is {:.3g}", worst));
    checker.problem_if(worst <= kWrittenAccuracy && rotation.determinant() < 0.0, "system.rotation",
                       "rotation is a reflection: its determinant is -1");
  }
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
  if (uses(deck, "system.n")) m.system.n = count_of(deck);
  const auto fill = [&](const char* path, std::optional<double>& field, double value) {
    if (uses(deck, path) && !field) field = value;
  };
  if (!m.system.omega) fill("integrator.omega", m.integrator.omega, kind_of(deck).omega);
  fill("integrator.beta", m.integrator.beta, kind_of(deck).beta);
}

std::vector<Rule> rules() {
  return joined(
      {rules_of("system",
                {{"`kind` is required.", [](Checker& c) { require_keys(c, {"system.kind"}); }},
                 {"`n` is 2 for `double-pendulum` and at least 4 for `dna`; `alpha` of a free body "
                  "has 2 to 50 numbers.",
                  number_goes_with_the_kind},
                 {"Lists have one number per point, dimension or coordinate; `rotation` is a "
                  "rotation matrix, `momentum` is antisymmetric, and `chi` and `direction` have "
                  "length 1.",
                  lists_have_their_length}}),
       rules_of("integrator",
                {{"`scheme` and `step` are required.",
                  [](Checker& c) {
                    if (!projects_only(c))
                      require_keys(c, {"integrator.scheme", "integrator.step"});
                  }},
                 rule(schemes_text(), "integrator.scheme", {"integrator.scheme"}, scheme_problem),
                 rule("`omega` of a double spring is set in one section only.", "integrator.omega",
                      {}, "omega is also set in [system]; remove one of them",
                      [](const Checker& c) {
                        return c.has("system.omega") && c.has("integrator.omega");
                      }),
                 rule("`bias` is 0 or 0.5.", "integrator.bias", {}, bias_problem)}),
       rules_of("run",
                {{"Exactly one of `steps` and `duration` is required.",
                  [](Checker& c) {
                    if (projects_only(c)) return;
                    require_one_of(c, {"run.steps", "run.duration"}, "run.steps",
                                   "[run] needs steps or duration");
                  }},
                 rule("A run has at most 10¹² steps.", "run.duration", {}, length_problem)})});
}

PaperDeck checked(const std::string& text, const std::string& path,
                  const std::vector<Override>& overrides, const std::vector<Override>& removals) {
  PaperDeck deck;
  Checker checker(path, schema(), deck);
  checker.check(text, overrides, removals);
  fill_defaults(checker);
  return deck;
}

/// Contents of q0... and v0..., in ASCII: the header of trajectory.csv contains them.
struct Columns {
  std::string_view kind;
  std::string_view schemes;  ///< prefix of the names of schemes; empty: all, or all others
  std::string_view q;
  std::string_view v;
};

constexpr std::string_view kPoints = "x and y of each point";
constexpr std::string_view kVelocities = "their velocities";

const std::vector<Columns>& columns() {
  static const std::vector<Columns> table{
      {"double-pendulum", "variational-of:", kPoints, "the momentum along the constraints"},
      {"double-pendulum", "", kPoints, kVelocities},
      {"pendulum-chain", "", kPoints, kVelocities},
      {"dna", "", "the angle of each base", "their rates"},
      {"three-body-plane", "", kPoints, kVelocities},
      {"magnet", "cayley-variational-euler", "the rotation R, row by row",
       "the angular velocity in the body"},
      {"magnet", "rk4", "the rotation R, row by row", "the angular velocity in the body"},
      {"magnet", "", "the matrix R, row by row", "p = R'/2, row by row"},
      {"double-spring", "", kPoints, kVelocities},
      {"free-body", "", "the rotation, row by row", "the momentum m in the body, row by row"},
      {"heavy-top", "", "the momentum m in the body, row by row", "the direction of gravity there"},
      {"double-spherical-pendulum", "", "x, y, z of each point, the second relative to the first",
       kVelocities},
      {"spherical-pendulum", "variational-of:", "x, y, z", "mu, the momentum along the sphere"},
      {"spherical-pendulum", "", "x, y, z", "the velocity"}};
  return table;
}

}  // namespace

const std::vector<SystemKind>& system_kinds() {
  static constexpr std::string_view kChain =
      "verlet zs zss zss-stiff pushforward-newmark newmark newmark-one-step variational-euler "
      "midpoint rk4 shake rattle";
  static constexpr std::string_view kVariational =
      "variational-of:euler variational-of:rk2 variational-of:rk4";
  static const std::vector<SystemKind> table{
      {"double-pendulum", "a planar double pendulum, TO 4.1",
       joined({words_of(kChain), words_of(kVariational)}), 2, 2},
      {"pendulum-chain", "a planar chain of pendula, TO 4.2", words_of(kChain), 2, 10},
      {"dna", "a strand of DNA bases, TO 4.4",
       words_of("verlet zs zss newmark pushforward-newmark rk4"), 1, 200, 20.0, 0.3},
      {"three-body-plane",
       "points with masses 1, 1.7 and 0.6 in the plane, with bonds of length 1 between the first "
       "and second and between the second and third, and ½ (r - 1.2)² between the first and third",
       words_of(kChain), 2, 3, 2.0, 0.3},
      {"magnet", "a magnetised rigid body, TO 4.5",
       words_of("so3-linearised cayley-variational-euler rk4"), 3, 3, 10.0},
      {"double-spring", "two stiff springs in the plane, AST 5.1",
       words_of("slow-manifold rattle verlet rk4 rk4-projected dormand-prince"), 2, 2, 1000.0},
      {"free-body", "a rigid body in n dimensions, MS 6.1", words_of("moser-veselov rk4"), 3, 3},
      {"heavy-top", "a rigid body with a fixed point under gravity, MS 6.2",
       words_of("rattle constrained-euler rk4"), 3, 3},
      {"double-spherical-pendulum", "a double spherical pendulum, MS 6.3",
       words_of("rattle midpoint midpoint-hamilton"), 3, 2},
      {"spherical-pendulum", "a spherical pendulum, PCSZ",
       joined({words_of(kVariational), words_of("rattle")}), 3, 1}};
  return table;
}

const SystemKind& kind_of(const Deck& deck) {
  static const SystemKind none{};
  for (const SystemKind& kind : system_kinds()) {
    if (kind.name == deck.system.kind) return kind;
  }
  return none;
}

std::vector<Choice> schemes() {
  std::vector<Choice> choices{
      {"verlet", 0, "velocity Verlet"},
      {"zs", 0, "Zhang & Skeel: symplectic, one linear solve per step"},
      {"zss", 0, "`zs` without the third derivative"},
      {"zss-stiff", 0, "`zss` with the Hessian of the penalty only"},
      {"pushforward-newmark", 0,
       "the implicit equations that `zs` linearises, solved to round-off"},
      {"newmark", 0, "Newmark's method, solved to round-off"},
      {"newmark-one-step", 0, "Newmark's method with a single Newton iteration; it drifts"},
      {"variational-euler", 0, "symplectic Euler, order 1"},
      {"midpoint", 0, "the implicit midpoint rule"},
      {"midpoint-hamilton", 0,
       "the implicit midpoint rule for ½ vᵀMv + V + g·λ(q, v); symplectic, but drifts off the "
       "constraints"},
      {"shake", 0, "rigid constraints; multipliers of order 2"},
      {"rattle", 0, "rigid constraints with projected velocities; multipliers of order 1"},
      {"rk4", 0, "the classical Runge-Kutta method, for a penalised system or a rotating body"},
      {"rk4-projected", 0, "`rk4` with every stage projected onto the slow manifold"},
      {"dormand-prince", 0,
       "the pair of orders 5 and 4 of Dormand & Prince, with as many steps as its tolerance needs "
       "in each `step`"},
      {"slow-manifold", 0,
       "no time steps: projects the start onto the slow manifold and writes each iterate"},
      {"so3-linearised", 0, "Zhang & Skeel on matrices with a penalty"},
      {"cayley-variational-euler", 0, "variational Euler method on rotations"},
      {"moser-veselov", 0, "integrable, order 2"},
      {"constrained-euler", 0, "order 1"},
      {"variational-of:euler", 0, "the variational method of an explicit Euler step"},
      {"variational-of:rk2", 0, "the variational method of an explicit midpoint step"},
      {"variational-of:rk4", 0, "the variational method of a classical Runge-Kutta step"}};
  for (Choice& choice : choices) {
    choice.with.path = "system.kind";
    for (const SystemKind& k : system_kinds()) {
      if (std::ranges::count(k.schemes, choice.text) > 0) choice.with.choices.push_back(k.name);
    }
  }
  return choices;
}

std::string trajectory_column_text(const PaperDeck& deck) {
  for (const Columns& c : columns()) {
    if (c.kind != deck.system.kind || !deck.own.integrator.scheme.starts_with(c.schemes)) continue;
    return fmt::format("q: {}; v: {}", c.q, c.v);
  }
  return {};
}

const Schema& schema() {
  static const Schema all = make_schema(sections(), rules());
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
  for (const Choice& choice : schemes()) {
    if (changes.front().text != fmt::format("integrator.scheme={}", choice.text)) continue;
    other.own.integrator.scheme = choice.text;
  }
  const bool other_step = std::ranges::any_of(
      changes, [](const Override& change) { return change.text.starts_with("integrator.step="); });
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
  text +=
      "## Columns of `trajectory.csv`\n\nThe `#` line of the file contains the same text.\n\n"
      "| kind | schemes | `q0`... | `v0`... |\n|---|---|---|---|\n";
  for (const Columns& c : columns()) {
    const std::string names = c.schemes.empty() ? "" : fmt::format("`{}`", c.schemes);
    text += fmt::format("| `{}` | {} | {} | {} |\n", c.kind, names, c.q, c.v);
  }
  return text;
}

}  // namespace tarn::papers
