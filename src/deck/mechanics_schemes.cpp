#include "mechanics_schemes.hpp"

#include <algorithm>

#include "key_table.hpp"
#include "tarn/mechanics_deck.hpp"

namespace tarn {
namespace decks {

const std::vector<SystemKind>& system_kind_table() {
  static const std::vector<std::string_view> spatial_schemes{"verlet",
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
  static const std::vector<SystemKind> table{
      {"double-pendulum", spatial_schemes},
      {"pendulum-chain", spatial_schemes},
      {"three-body-plane", spatial_schemes},
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

std::vector<Choice> mechanics_schemes() {
  using S = MechanicsScheme;
  std::vector<Choice> choices{
      {"verlet", S::verlet, "velocity Verlet"},
      {"zs", S::zs, "Zhang & Skeel: symplectic, one linear solve per step"},
      {"zss", S::zss, "`zs` without the third derivative"},
      {"zss-stiff", S::zss_stiff, "`zss` with the Hessian of the penalty only"},
      {"pushforward-newmark", S::pushforward_newmark,
       "the implicit equations that `zs` linearises, solved to round-off"},
      {"newmark", S::newmark, "Newmark's method, solved to round-off"},
      {"newmark-one-step", S::newmark_one_step,
       "Newmark's method with a single Newton iteration; it drifts"},
      {"variational-euler", S::variational_euler, "symplectic Euler, order 1"},
      {"midpoint", S::midpoint, "the implicit midpoint rule"},
      {"midpoint-hamilton", S::midpoint_hamilton,
       "the implicit midpoint rule for ½ vᵀMv + V + g·λ(q, v); symplectic, but drifts off the "
       "constraints"},
      {"shake", S::shake, "rigid constraints; multipliers of order 2"},
      {"rattle", S::rattle, "rigid constraints with projected velocities; multipliers of order 1"},
      {"rk4", S::rk4,
       "the classical Runge-Kutta method, for a penalised system or a rotating body"},
      {"rk4-projected", S::rk4_projected,
       "`rk4` with every stage projected onto the slow manifold"},
      {"slow-manifold", S::slow_manifold,
       "no time steps: projects the start onto the slow manifold and writes each iterate"},
      {"so3-linearised", S::so3_linearised, "Zhang & Skeel on matrices with a penalty"},
      {"cayley-variational-euler", S::cayley_variational_euler,
       "variational Euler method on rotations"},
      {"moser-veselov", S::moser_veselov, "integrable, order 2"},
      {"constrained-euler", S::constrained_euler, "order 1"},
      {"variational-of:euler", S::variational_of_euler,
       "the variational method of an explicit Euler step"},
      {"variational-of:rk2", S::variational_of_rk2,
       "the variational method of an explicit midpoint step"},
      {"variational-of:rk4", S::variational_of_rk4,
       "the variational method of a classical Runge-Kutta step"}};
  for (Choice& choice : choices) {
    choice.with.path = "system.kind";
    for (const SystemKind& k : system_kind_table()) {
      if (std::count(k.schemes.begin(), k.schemes.end(), choice.text) > 0) {
        choice.with.choices.push_back(k.name);
      }
    }
  }
  return choices;
}

}  // namespace decks

bool is_mechanical(std::string_view kind) {
  if (kind == "water") return false;
  for (const decks::Choice& choice : decks::system_kinds()) {
    if (choice.text == kind) return choice.value >= 0;
  }
  return false;
}

std::string_view scheme_name(MechanicsScheme scheme) {
  static const std::vector<decks::Choice> choices = decks::mechanics_schemes();
  for (const decks::Choice& choice : choices) {
    if (choice.value == static_cast<int>(scheme)) return choice.text;
  }
  return {};
}

}  // namespace tarn
