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

/// Potential energy, total energy and temperature against time. The line shows the mean over the
/// replicas, the band the minimum and maximum; both also cover all rows of a long run that share
/// one point of the picture. With several baths there is one line per bath, for at most seven
/// baths. No picture, but a warning, if the table contains means over several baths.
Pictures draw_energies(const std::string& folder,
                       const io::PictureFormats& formats = io::kAllPictures);

/// Radius of gyration, hydrogen bonds, dipole moment and Lindemann index against time; bands and
/// baths as in draw_energies().
Pictures draw_cluster(const std::string& folder,
                      const io::PictureFormats& formats = io::kAllPictures);

/// Energy, kinetic energies of O and H and radius of gyration of H of ring polymers against time;
/// bands and baths as in draw_energies(). The axes show the averaged part of the run, because the
/// rings begin as points.
Pictures draw_path_integral(const std::string& folder,
                            const io::PictureFormats& formats = io::kAllPictures);

/// The first six quantities of a table with rows `step,time_ps,replica,...` against time, one panel
/// each; bands and baths as in draw_energies(). The picture has the name of the table.
Pictures draw_table(const std::string& folder, const std::string& table,
                    const io::PictureFormats& formats = io::kAllPictures);

/// Heat capacity against temperature with its error [cal/mol/K], from heat_capacity.csv; empty
/// without this table.
std::optional<io::Series> heat_capacity_curve(const std::string& folder);

/// Potential energy, heat capacity, hydrogen bonds, Lindemann index and kinetic energies of ring
/// polymers against bath temperature, from averages.csv and heat_capacity.csv; no picture for fewer
/// than three baths.
Pictures draw_baths(const std::string& folder,
                    const io::PictureFormats& formats = io::kAllPictures);

/// Change in energy, momentum and angular momentum since the first row.
Pictures draw_conservation(const std::string& folder,
                           const io::PictureFormats& formats = io::kAllPictures);

/// Changes in total energy and conserved quantity since the first row of a run with a thermostat,
/// and the shadow work.
Pictures draw_heat(const std::string& folder, const io::PictureFormats& formats = io::kAllPictures);

/// Acceptance of each pair of neighbours, from exchange.csv, and the bath temperatures of some
/// walkers against time, from walkers.csv.
Pictures draw_exchange(const std::string& folder,
                       const io::PictureFormats& formats = io::kAllPictures);

/// Radial distribution functions with bands of one standard error, for at most seven baths.
Pictures draw_rdf(const std::string& folder, const io::PictureFormats& formats = io::kAllPictures);
/// The same for any table and picture name.
Pictures draw_rdf_table(const std::string& table, const std::string& path_without_extension,
                        const io::PictureFormats& formats = io::kAllPictures);

/// Density and orientation against the distance from the centre of mass, with bands of one standard
/// error, for at most seven baths.
Pictures draw_profile(const std::string& folder,
                      const io::PictureFormats& formats = io::kAllPictures);

/// Density of states and infrared absorption with bands of one standard error. The range contains
/// 99 % of both.
Pictures draw_spectrum(const std::string& folder,
                       const io::PictureFormats& formats = io::kAllPictures);

/// Time correlation functions with bands of one standard error: orientations, hydrogen bonds, and
/// the mean squared displacement of oxygens.
Pictures draw_correlation(const std::string& folder,
                          const io::PictureFormats& formats = io::kAllPictures);

/// Fraction of whole replicas against time with bands of one standard error, and the curve of a
/// constant rate, for at most seven baths. If molecules evaporated in two or more baths, also the
/// rates against 1/T.
Pictures draw_evaporation(const std::string& folder,
                          const io::PictureFormats& formats = io::kAllPictures);

/// Populations of the lowest minima: against their energies, from isomers.csv, or with several
/// baths against bath temperature, from isomers_by_bath.csv. Also draws the twelve lowest
/// structures of isomers.xyz, `isomers_structures.svg`.
Pictures draw_isomers(const std::string& folder,
                      const io::PictureFormats& formats = io::kAllPictures);

/// Stick spectrum of the infrared intensities of a table of normal modes, coloured by the dominant
/// motion. Bond vibrations have a separate panel; modes of zero frequency are omitted.
Pictures draw_modes_table(const std::string& table, const std::string& path_without_extension,
                          const io::PictureFormats& formats = io::kAllPictures);

/// Whether the folder contains the tables of a mechanical system, whose time has no unit.
bool is_mechanical_run(const std::string& folder);
/// Coordinates and energies of a mechanical system against time.
Pictures draw_mechanical_run(const std::string& folder,
                             const io::PictureFormats& formats = io::kAllPictures);

/// Draws all pictures for which there are tables, for both kinds of run, including the tables of
/// custom observers (quantity_table).
Pictures draw_run(const std::string& folder, const io::PictureFormats& formats = io::kAllPictures);

}  // namespace tarn
