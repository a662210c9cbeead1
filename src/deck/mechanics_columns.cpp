#include "mechanics_columns.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tarn/mechanics_deck.hpp"

namespace tarn {
namespace {

/// Contents of q0... and v0..., in ASCII: the header of trajectory.csv contains them.
struct Columns {
  std::string_view kind;
  std::string_view schemes;  ///< prefix of the names of schemes; empty: all, or all others
  std::string_view q;
  std::string_view v;
};

constexpr std::string_view kPoints = "x and y of each point";
constexpr std::string_view kVelocities = "their velocities";

const std::vector<Columns>& table() {
  static const std::vector<Columns> columns{
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
  return columns;
}

}  // namespace

namespace decks {

std::string trajectory_columns_table() {
  std::string text = "| kind | schemes | `q0`... | `v0`... |\n|---|---|---|---|\n";
  for (const Columns& c : table()) {
    const std::string schemes = c.schemes.empty() ? "" : fmt::format("`{}`", c.schemes);
    text += fmt::format("| `{}` | {} | {} | {} |\n", c.kind, schemes, c.q, c.v);
  }
  return text;
}

}  // namespace decks

std::string trajectory_column_text(std::string_view kind, MechanicsScheme scheme) {
  for (const Columns& c : table()) {
    if (c.kind != kind || !scheme_name(scheme).starts_with(c.schemes)) continue;
    return fmt::format("q: {}; v: {}", c.q, c.v);
  }
  return {};
}

}  // namespace tarn
