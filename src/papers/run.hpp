#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deck/schema.hpp"
#include "dynamics.hpp"
#include "tarn/deck.hpp"

/// @file
/// Decks of the papers' systems, and their runs. All quantities are dimensionless.

namespace tarn::papers {

enum class TableFormat { csv };

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
std::string trajectory_column_text(const PaperDeck& deck);

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

struct Options {
  std::string out_dir;  ///< empty: out/<name of the deck>
  bool overwrite = false;
  bool pictures = true;
  /// Time for repetitions of all steps, without tables, whose shortest core time run.json contains;
  /// 0: none.
  double timing_s = 0.0;
};

/// Runs a deck and writes its tables, pictures and run.json to a folder.
/// @return text for the terminal
/// @throws InputError, IoError; NumericalError if the scheme fails, after writing all rows up to
///         the failure and the last good state, blow-up-0000.csv
std::string run_deck(const PaperDeck& deck, const Options& options);

}  // namespace tarn::papers
