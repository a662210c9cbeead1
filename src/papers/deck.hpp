#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deck/schema.hpp"
#include "dynamics.hpp"
#include "methods.hpp"
#include "tarn/deck.hpp"

/// @file
/// Decks of the papers' systems. All quantities are dimensionless.

namespace tarn::papers {

enum class DnaEnds { periodic, free };
enum class DnaNoise { normal };
enum class TableFormat { csv };

/// Empty lists have the values of the paper. Numbers in brackets are equations of
/// docs/equations.md.
struct SystemKeys {
  std::int64_t n = 0;           ///< points or bases; 0: that of the paper
  std::vector<double> masses;   ///< of each point (44)
  std::vector<double> lengths;  ///< of each rod (44)
  double gravity = 1.0;         ///< V = gravity sum m y, or m z in space (44, 51)
  double a = 7.0;               ///< base pair energy U = (exp(-a [1 - cos theta - x0]) - 1)^2 (45)
  double x0 = 0.3;              ///< minimum of U: 1 - cos theta = x0
  double epsilon = 1.0 / 1400.0;  ///< strength of U relative to the springs between bases (45)
  DnaEnds ends = DnaEnds::periodic;
  DnaNoise noise = DnaNoise::normal;
  std::uint64_t seed = 1;        ///< seed of xi
  std::vector<double> xi;        ///< per base, theta = 0.8 + 0.1 xi at the start; empty: drawn
  std::vector<double> position;  ///< at the start: x, y (and z) of each point, or angles
  std::vector<double> velocity;  ///< at the start, in the same order
  std::optional<double> omega;   ///< of the double spring, unless given in [integrator]
  double b_mu = 1.0;             ///< field times dipole moment, V = b_mu R33 (46, 47)
  std::vector<double> rotation;  ///< rotation matrix at the start, row by row
  std::vector<double> angular_velocity;  ///< of the magnet in the body frame at the start (47)
  std::vector<double> alpha;             ///< diagonal of J of a free body or top (49, 50)
  std::vector<double> chi;               ///< top: direction from fixed point to centre of mass (50)
  double c = 1.0;                        ///< top: weight times distance, V = c v.chi
  /// Angular momentum in the body frame at the start: antisymmetric matrix, row by row (49, 50).
  std::vector<double> momentum;
  std::vector<double>
      direction;  ///< top: direction v of gravity in the body frame at the start (50)
};

struct IntegratorKeys {
  std::string scheme = "zs";
  double step = 0.0;                 ///< time step h
  std::optional<double> omega;       ///< strength of the penalty, omega^2 |g|^2 / 2
  std::optional<double> beta;        ///< scheme parameter of the Newmark family
  Hessian hessian = Hessian::stiff;  ///< of the penalty
  NewmarkOneStep::Acceleration acceleration = NewmarkOneStep::Acceleration::linearised;
  Composition compose = Composition::none;
  LinearisedSo3::Quadrature quadrature = LinearisedSo3::Quadrature::trapezoidal;
  LinearisedSo3::AMass a_mass = LinearisedSo3::AMass::paper;
  double tolerance = 1e-9;           ///< of g and its rate, for projections (48)
  double relative_tolerance = 1e-6;  ///< of the steps of Dormand & Prince (66)
  std::int64_t projections = 0;      ///< steps of Dormand & Prince that begin with a projection
  double bias = 0.0;                 ///< of variational methods; 0.5: self-adjoint
};

struct RunKeys {
  std::int64_t steps = 0;  ///< given, or computed from the duration
};

struct TrajectoryKeys {
  std::int64_t every = 1;
  TableFormat format = TableFormat::csv;
  double window = 0.2;  ///< averaging time of penalty multipliers
};
struct EnergyKeys {
  std::int64_t every = 1;
};
/// The positions of the conserved energy: where the scheme evaluates its forces, or those of
/// trajectory.csv.
enum class EnergyPlace { forces, positions };
struct ConservationKeys {
  std::int64_t every = 1;
  EnergyPlace place = EnergyPlace::forces;
};

struct Keys {
  SystemKeys system;
  IntegratorKeys integrator;
  RunKeys run;
  std::optional<TrajectoryKeys> trajectory;
  std::optional<EnergyKeys> energies;
  std::optional<ConservationKeys> conservation;
};

/// A deck of a system of the papers. It uses path, name and system.kind of tarn's decks, whose
/// checker reads it, and its own keys instead of all others.
struct PaperDeck : Deck {
  Keys own;
};

/// Largest number of coordinates of a system.
inline constexpr std::int64_t kMaxSize = 100'000;

/// Schemes with rigid constraints.
inline bool is_rigid(std::string_view scheme) { return scheme == "shake" || scheme == "rattle"; }

/// A kind of system, what it is, the schemes that integrate it, and its defaults.
struct SystemKind {
  std::string_view name, description;
  std::vector<std::string_view> schemes;
  std::int64_t dimensions = 2;  ///< coordinates of each point
  std::int64_t count = 200;     ///< points, bases, or dimensions of a body
  double omega = 20.0, beta = 0.4;
};
const std::vector<SystemKind>& system_kinds();
/// That of a deck; the defaults above if it has none.
const SystemKind& kind_of(const Deck& deck);

/// The choices of `[integrator] scheme`.
std::vector<decks::Choice> schemes();

/// Contents of the columns of trajectory.csv: "q: ...; v: ...".
std::string trajectory_column_text(std::string_view kind, std::string_view scheme);
/// The same for all kinds, as a table for the reference.
std::string trajectory_columns_table();

/// The sections, keys and rules of these decks.
const decks::Schema& schema();

/// Reads and checks a deck. @param overrides, removals as for tarn::load_deck()
/// @throws InputError with every problem found; IoError if the deck cannot be read
PaperDeck load_deck(const std::string& path, const std::vector<std::string>& overrides = {},
                    const std::vector<std::string>& removals = {});
PaperDeck parse_deck(const std::string& text, const std::string& path,
                     const std::vector<std::string>& overrides = {},
                     const std::vector<std::string>& removals = {});
/// The deck with another scheme, "scheme" or "scheme:key=value:..." with keys of [integrator], and
/// without the keys that this scheme does not use. With another step, the run has the same length.
PaperDeck with_scheme(const PaperDeck& deck, const std::string& scheme);

/// The page docs/papers.md: all systems, schemes, sections and keys.
std::string reference();

/// A member of the deck, for the tables of keys.
template <class Member>
auto& member_of(auto& deck, Member Keys::*member) {
  using Base = std::remove_reference_t<decltype(deck)>;
  using Own = std::conditional_t<std::is_const_v<Base>, const PaperDeck, PaperDeck>;
  return static_cast<Own&>(deck).own.*member;
}

}  // namespace tarn::papers
