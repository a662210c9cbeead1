
#include <algorithm>
#include <cmath>

#include <Eigen/Core>
#include <Eigen/LU>
#include <fmt/format.h>

#include "deck.hpp"
#include "deck/checker.hpp"
#include "deck/defaults.hpp"
#include "deck/key_table.hpp"

namespace tarn::papers {
namespace {

using decks::Checker;
using decks::number_text;

const PaperDeck& deck_of(const Checker& checker) {
  return static_cast<const PaperDeck&>(checker.deck());
}

bool projects_only(const Checker& checker) {
  return deck_of(checker).own.integrator.scheme == Scheme::slow_manifold;
}

void kind_is_given(Checker& checker) { decks::require_keys(checker, {"system.kind"}); }

void step_and_scheme_are_given(Checker& checker) {
  if (!projects_only(checker))
    decks::require_keys(checker, {"integrator.scheme", "integrator.step"});
}

void length_is_given(Checker& checker) {
  if (projects_only(checker)) return;
  decks::require_one_of(checker, {"run.steps", "run.duration"}, "run.steps",
                        "[run] needs steps or duration");
}

void length_is_possible(Checker& checker) {
  const auto duration = checker.number("run.duration");
  const auto step = checker.number("integrator.step");
  if (!duration || !step || *duration / *step <= decks::kStepLimit) return;
  checker.problem("run.duration",
                  fmt::format("duration = {} exceeds {} steps of {}", number_text(*duration),
                              kMaxSteps, number_text(*step)));
}

void scheme_goes_with_the_kind(Checker& checker) {
  if (!checker.is_reliable({"integrator.scheme"}) || !checker.has("integrator.scheme")) return;
  const std::string& kind = checker.deck().system.kind;
  const std::string_view scheme = scheme_name(deck_of(checker).own.integrator.scheme);
  for (const SystemKind& k : system_kinds()) {
    if (k.name != kind || std::count(k.schemes.begin(), k.schemes.end(), scheme) > 0) continue;
    checker.problem(
        "integrator.scheme",
        fmt::format("scheme = \"{}\" does not support kind = \"{}\"; expected one of {}", scheme,
                    kind, decks::comma_list(k.schemes, true)));
  }
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
  if (kind == "free-body" && (count_of(deck_of(checker)) < 2 || count_of(deck_of(checker)) > 50)) {
    checker.problem("system.alpha", fmt::format("alpha has {} number{}; expected 2 to 50",
                                                count_of(deck_of(checker)),
                                                count_of(deck_of(checker)) == 1 ? "" : "s"));
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

/// A square matrix that the deck lists row by row.
Eigen::MatrixXd matrix_of(const std::vector<double>& rows, std::int64_t n) {
  return Eigen::Map<const Eigen::MatrixXd>(rows.data(), n, n).transpose();
}

void check_momentum(Checker& checker, const std::vector<double>& list, std::int64_t n) {
  if (!checker.has("system.momentum")) return;
  if (!check_length(checker, "system.momentum", list, n * n)) return;
  const Eigen::MatrixXd momentum = matrix_of(list, n);
  const Eigen::MatrixXd sum = momentum + momentum.transpose();
  const double worst = sum.lpNorm<Eigen::Infinity>();
  if (worst <= kWrittenAccuracy) return;
  checker.problem(
      "system.momentum",
      fmt::format("momentum is not antisymmetric: the largest deviation is {:.3g}", worst));
}

void check_rotation(Checker& checker, const std::vector<double>& list, std::int64_t n) {
  if (!checker.has("system.rotation")) return;
  if (!check_length(checker, "system.rotation", list, n * n)) return;
  const Eigen::MatrixXd rotation = matrix_of(list, n);
  const Eigen::MatrixXd difference =
      rotation * rotation.transpose() - Eigen::MatrixXd::Identity(n, n);
  const double worst = difference.lpNorm<Eigen::Infinity>();
  if (worst > kWrittenAccuracy) {
    checker.problem(
        "system.rotation",
        fmt::format("rotation is not orthogonal: the largest deviation is {:.3g}", worst));
  } else if (rotation.determinant() < 0.0) {
    checker.problem("system.rotation", "rotation is a reflection: its determinant is -1");
  }
}

void lists_have_their_length(Checker& checker) {
  if (!checker.is_reliable({"system.n", "system.alpha"})) return;
  const std::string& kind = checker.deck().system.kind;
  const SystemKeys& system = deck_of(checker).own.system;
  const std::int64_t count = count_of(deck_of(checker));
  const int dimensions = kind == "dna" ? 1 : kind.ends_with("spherical-pendulum") ? 3 : 2;
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
      t += fmt::format(" `{}` with {};", k.name, decks::comma_list(k.schemes));
    }
    t.back() = '.';
    return t;
  }();
  return text;
}

}  // namespace

void fill_defaults(Checker& checker) {
  auto& deck = static_cast<PaperDeck&>(checker.deck());
  Keys& m = deck.own;
  const std::string& kind = deck.system.kind;
  if (const auto duration = checker.number("run.duration")) {
    m.run.steps = static_cast<std::int64_t>(decks::whole_steps(*duration, 1e3 * m.integrator.step));
  }
  const auto used = [&](const char* path) {
    return schema().is_used(*schema().find_key(path), deck);
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

std::vector<decks::Rule> rules() {
  return {
      {"`kind` is required.", kind_is_given, "system"},
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

}  // namespace tarn::papers
