#include <algorithm>

#include <fmt/format.h>

#include "deck.hpp"
#include "deck/key_table.hpp"
#include "io/words.hpp"

namespace tarn::papers {
namespace {

using io::words_of;

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
       decks::joined({words_of(kChain), words_of(kVariational)}), 2, 2},
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
       decks::joined({words_of(kVariational), words_of("rattle")}), 3, 1}};
  return table;
}

const SystemKind& kind_of(const Deck& deck) {
  static const SystemKind none{};
  for (const SystemKind& kind : system_kinds()) {
    if (kind.name == deck.system.kind) return kind;
  }
  return none;
}

std::vector<decks::Choice> schemes() {
  std::vector<decks::Choice> choices{
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
  for (decks::Choice& choice : choices) {
    choice.with.path = "system.kind";
    for (const SystemKind& k : system_kinds()) {
      if (std::ranges::count(k.schemes, choice.text) > 0) choice.with.choices.push_back(k.name);
    }
  }
  return choices;
}

std::string trajectory_column_text(std::string_view kind, std::string_view scheme) {
  for (const Columns& c : columns()) {
    if (c.kind != kind || !scheme.starts_with(c.schemes)) continue;
    return fmt::format("q: {}; v: {}", c.q, c.v);
  }
  return {};
}

std::string trajectory_columns_table() {
  std::string text = "| kind | schemes | `q0`... | `v0`... |\n|---|---|---|---|\n";
  for (const Columns& c : columns()) {
    const std::string names = c.schemes.empty() ? "" : fmt::format("`{}`", c.schemes);
    text += fmt::format("| `{}` | {} | {} | {} |\n", c.kind, names, c.q, c.v);
  }
  return text;
}

}  // namespace tarn::papers
