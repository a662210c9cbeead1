#pragma once

#include <optional>
#include <string>

#include "tarn/io/plot.hpp"
#include "tarn/observer.hpp"

/// @file
/// Pictures of the tables in a run folder: `<table>.svg`, `<table>.png` or both next to each table,
/// and `baths.svg` for averages over several baths.
/// Each function reads `<table>.csv`. @throws InputError or IoError if it cannot be read

namespace tarn {

/// The first six quantities of a table with rows `step,time_ps,replica,...` against time, one panel
/// each; bands and temperatures as in those of a run. The picture has the name of the table.
Pictures draw_table(const std::string& folder, const std::string& table,
                    const io::PictureFormats& formats = io::kAllPictures);

/// Heat capacity against temperature with its error [cal/mol/K], from heat_capacity.csv: of all
/// temperatures together, or the difference quotient of ring polymers. Empty without this table or
/// without values.
std::optional<io::Series> heat_capacity_curve(const std::string& folder);

/// Potential energy, heat capacity, hydrogen bonds, Lindemann index and kinetic energies of ring
/// polymers against bath temperature, from averages.csv and heat_capacity.csv; no picture for fewer
/// than three baths.
Pictures draw_baths(const std::string& folder,
                    const io::PictureFormats& formats = io::kAllPictures);

/// Acceptance of each pair of neighbours, from exchange.csv, and the bath temperatures of some
/// walkers against time, from walkers.csv.
Pictures draw_exchange(const std::string& folder,
                       const io::PictureFormats& formats = io::kAllPictures);

/// Radial distribution functions of a table with bands of one standard error, for at most seven
/// temperatures.
Pictures draw_rdf_table(const std::string& table, const std::string& path_without_extension,
                        const io::PictureFormats& formats = io::kAllPictures);

/// Stick spectrum of the infrared intensities of a table of normal modes, coloured by the dominant
/// motion. Bond vibrations have a separate panel; modes of zero frequency are omitted.
Pictures draw_modes_table(const std::string& table, const std::string& path_without_extension,
                          const io::PictureFormats& formats = io::kAllPictures);

/// Draws all pictures for which there are tables, including those of custom observers
/// (quantity_table).
Pictures draw_run(const std::string& folder, const io::PictureFormats& formats = io::kAllPictures);

}  // namespace tarn
