#pragma once

#include <optional>
#include <string>

#include "tarn/io/plot.hpp"
#include "tarn/observer.hpp"

/// @file
/// Pictures of the tables in the folder of a run: `<table>.svg` and `<table>.png`, or one of them,
/// beside each; of averages over several baths `baths.svg`.
/// Each function reads `<table>.csv`; @throws InputError or IoError when that cannot be read.

namespace tarn {

/// Potential and total energy and temperature against time. Of several replicas the line is
/// the mean and the band goes from the lowest to the highest; the same for the many rows of a long
/// run that fall on one point of the picture. Of several baths there is a line for each, of at most
/// seven baths; nothing, and a warning, where the table holds means over all of them.
Pictures draw_energies(const std::string& folder,
                       const io::PictureFormats& formats = io::kAllPictures);

/// Radius of gyration, hydrogen bonds, dipole moment and Lindemann index against time, with baths
/// as in draw_energies().
Pictures draw_cluster(const std::string& folder,
                      const io::PictureFormats& formats = io::kAllPictures);

/// The first six quantities of a table of rows `step,time_ps,replica,...` against time, a panel
/// each, with bands and baths as in draw_energies(): a picture of the table's name.
Pictures draw_table(const std::string& folder, const std::string& table,
                    const io::PictureFormats& formats = io::kAllPictures);

/// The heat capacity at all temperatures with its error, of heat_capacity.csv [cal/mol/K]; nothing
/// where the folder has none.
std::optional<io::Series> heat_capacity_curve(const std::string& folder);

/// Potential energy, heat capacity, hydrogen bonds and Lindemann index against the temperature of
/// the bath, of averages.csv and heat_capacity.csv; nothing where there are fewer than three baths.
Pictures draw_baths(const std::string& folder,
                    const io::PictureFormats& formats = io::kAllPictures);

/// Change of energy, momentum and angular momentum since the first row.
Pictures draw_conservation(const std::string& folder,
                           const io::PictureFormats& formats = io::kAllPictures);

/// Total energy and conserved quantity of a run with a thermostat, since the first row, and the
/// shadow work.
Pictures draw_heat(const std::string& folder, const io::PictureFormats& formats = io::kAllPictures);

/// Acceptance of each pair of neighbours, of exchange.csv, and the ways of some walkers through the
/// temperatures, of walkers.csv.
Pictures draw_exchange(const std::string& folder,
                       const io::PictureFormats& formats = io::kAllPictures);

/// Radial distribution functions with bands of one standard error, of at most seven baths.
Pictures draw_rdf(const std::string& folder, const io::PictureFormats& formats = io::kAllPictures);
/// The same of a table and for a picture of any name.
Pictures draw_rdf_table(const std::string& table, const std::string& path_without_extension,
                        const io::PictureFormats& formats = io::kAllPictures);

/// Density and orientation by the distance from the centre of mass, with bands of one standard
/// error, of at most seven baths.
Pictures draw_profile(const std::string& folder,
                      const io::PictureFormats& formats = io::kAllPictures);

/// Density of states and infrared absorption with bands of one standard error, up to somewhat
/// behind where 99 % of both is seen.
Pictures draw_spectrum(const std::string& folder,
                       const io::PictureFormats& formats = io::kAllPictures);

/// Time correlation functions with bands of one standard error: how molecules turn, how long
/// hydrogen bonds last, how far oxygens move.
Pictures draw_correlation(const std::string& folder,
                          const io::PictureFormats& formats = io::kAllPictures);

/// The share of replicas that are whole against time, with bands of one standard error and what a
/// constant rate would leave, of at most seven baths; where two of them or more lost molecules, the
/// rates against 1/T.
Pictures draw_evaporation(const std::string& folder,
                          const io::PictureFormats& formats = io::kAllPictures);

/// Shares of the lowest minima against their energies, of isomers.csv; where there are several
/// baths, of isomers_by_bath.csv against the temperature of the bath. Beside it
/// `isomers_structures.svg`, the twelve lowest of isomers.xyz.
Pictures draw_isomers(const std::string& folder,
                      const io::PictureFormats& formats = io::kAllPictures);

/// Sticks of the infrared intensity at each wavenumber of a table of normal modes, by what moves
/// most; bonds, which are far above, in axes of their own. The cluster as a whole is left out.
Pictures draw_modes_table(const std::string& table, const std::string& path_without_extension,
                          const io::PictureFormats& formats = io::kAllPictures);

/// Whether the folder has tables of a mechanical system, which know a time without unit.
bool is_mechanical_run(const std::string& folder);
/// Coordinates and energies of a mechanical system against time.
Pictures draw_mechanical_run(const std::string& folder,
                             const io::PictureFormats& formats = io::kAllPictures);

/// All of them for which there is a table, of either kind of run, and of tables that observers of
/// another program wrote (quantity_table).
Pictures draw_run(const std::string& folder, const io::PictureFormats& formats = io::kAllPictures);

}  // namespace tarn
