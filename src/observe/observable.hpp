#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/observer.hpp"

/// @file
/// The registry of the observers that decks turn on.

namespace tarn {

/// Draws the pictures of a table in a folder.
using DrawTable =
    std::function<Pictures(const std::string& folder, const io::PictureFormats& formats)>;

/// A panel of a picture against time: a column of the table and the label of its axis.
struct TimePanel {
  std::string name, y_label;
  bool optional = false;  ///< left out if the table lacks the column
};

/// Draws columns of a table with rows `step,time_ps,replica,...` against time. The line shows the
/// mean over the replicas, the band the minimum and maximum; both also cover all rows of a long run
/// that share one point of the picture. With several temperatures there is one line for each of at
/// most seven. No picture, but a message, if the table contains means over several temperatures.
/// @param fits_averages whether the axes show the averaged part of the run
DrawTable time_picture(const std::string& table, const std::string& title,
                       const std::vector<TimePanel>& panels, bool fits_averages = false);

/// What observers know about a run, in addition to their settings.
struct ObserverContext : RunInfo {
  System system{};
  WaterModel model{};  ///< with the masses of water_model()
  PairCountRequest pair_counts{};
  bool recentre = false;  ///< see SystemSection
  DrawTable draw{};       ///< of their row
};

/// A row of the registry: one kind of observer.
struct Observable {
  /// Files that it may write. "foo.*" stands for a table and its pictures, and a name that ends
  /// with '-' for all names that continue with a replica number. The first one is the table of the
  /// picture.
  std::vector<std::string> files;
  DrawTable draw{};           ///< empty: no picture
  std::string_view remark{};  ///< end of the provenance for ring polymers
  /// Null without its section, or if it does not apply; empty if the run makes it.
  std::function<std::unique_ptr<Observer>(const Deck&, const ObserverContext&)> make{};
};

/// Makes an observer of class T.
template <class T, class Settings>
std::unique_ptr<Observer> construct(const Settings& section, const ObserverContext& run) {
  return std::make_unique<T>(section, run);
}

/// The row of a section of the deck. @param make makes the observer from the settings; may return
/// null
template <class Settings>
Observable observable(std::optional<Settings> Deck::*section,
                      std::unique_ptr<Observer> (*make)(const Settings&, const ObserverContext&),
                      std::vector<std::string> files, DrawTable draw = {},
                      std::string_view remark = {}) {
  const auto make_from_deck = [=](const Deck& deck, const ObserverContext& run) {
    return deck.*section ? make(*(deck.*section), run) : nullptr;
  };
  return {std::move(files), draw, remark, make_from_deck};
}

/// @name Rows, each in the file with its name
/// @{
Observable energies_observable();
Observable heat_capacity_observable();
Observable path_integral_observable();
Observable conservation_observable();
Observable heat_observable();
Observable temperatures_observable();
Observable geometry_observable();
Observable cluster_observable();
Observable multipliers_observable();
Observable rdf_observable();
Observable profile_observable();
Observable spectrum_observable();
Observable correlation_observable();
Observable evaporation_observable();
Observable minima_observable();
Observable trajectory_observable();
/// @}

/// Writes heat_capacity.csv of ring polymers, from the samples of [observe.path_integral].
/// @return null without a thermostat or without beads
std::unique_ptr<Observer> make_ring_heat_capacity(const ObserveTable& section,
                                                  const ObserverContext& info);

/// All rows, in the order of the observers and of the pictures.
const std::vector<Observable>& observables();

/// The observer of a row, or null.
std::unique_ptr<Observer> make_observer(const Observable& row, const Deck& deck,
                                        ObserverContext run);

}  // namespace tarn
