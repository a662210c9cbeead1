#pragma once

#include <memory>

#include "tarn/deck.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/observer.hpp"

/// @file
/// Factory functions of the observers; observers.cpp calls them.

namespace tarn {

/// energies.csv: energies and temperature.
std::unique_ptr<Observer> make_energies(const ObserveEnergies& section, const Deck& deck,
                                        const RunInfo& info);
/// heat_capacity.csv: heat capacity as a function of temperature, for several baths.
/// @return null without several baths, with one at 0 K, or with more than 256 temperatures
std::unique_ptr<Observer> make_heat_capacity(const ObserveEnergies& section, const Deck& deck,
                                             const RunInfo& info);
/// path_integral.csv: estimators of ring polymers.
std::unique_ptr<Observer> make_path_integral(const ObservePathIntegral& section,
                                             const RunInfo& info);
/// conservation.csv: conserved energy, momenta, largest constraint violation.
std::unique_ptr<Observer> make_conservation(const ObserveConservation& section,
                                            const RunInfo& info);
/// heat.csv: heat of the thermostat, shadow work, conserved quantity.
std::unique_ptr<Observer> make_heat(const ObserveHeat& section, const RunInfo& info);
/// temperatures.csv: kinetic temperatures of translation, rotation and bond vibration.
std::unique_ptr<Observer> make_temperatures(const ObserveTemperatures& section,
                                            const RunInfo& info);
/// geometry.csv: bond lengths and angles, at the reported and at the scheme's own positions.
std::unique_ptr<Observer> make_geometry(const ObserveGeometry& section, const RunInfo& info);
/// cluster.csv: radius of gyration, hydrogen bonds, farthest neighbour, dipole moments and
/// Lindemann index.
std::unique_ptr<Observer> make_cluster(const ObserveCluster& section, const RunInfo& info);
/// multipliers.csv: multipliers of the bonds, instantaneous or averaged over a window.
std::unique_ptr<Observer> make_multipliers(const ObserveMultipliers& section, const Deck& deck,
                                           const RunInfo& info);
/// rdf.csv: radial distribution functions with errors. @param counts pair counts of the engine
std::unique_ptr<Observer> make_rdf(const PairCountRequest& counts, const RunInfo& info);
/// profile.csv: density and orientation as functions of the distance from the centre of mass.
std::unique_ptr<Observer> make_profile(const ObserveProfile& section, const Deck& deck,
                                       const RunInfo& info);
/// spectrum.csv: density of vibrational states and infrared absorption.
std::unique_ptr<Observer> make_spectrum(const ObserveSpectrum& section, const Deck& deck,
                                        const RunInfo& info);
/// correlation.csv: time correlation functions of orientations and hydrogen bonds, mean squared
/// displacement.
std::unique_ptr<Observer> make_correlation(const ObserveCorrelation& section, const Deck& deck,
                                           const RunInfo& info);
/// evaporation.csv: first evaporation of each replica; survival.csv; evaporation_rates.csv.
std::unique_ptr<Observer> make_evaporation(const ObserveEvaporation& section, const RunInfo& info);
/// minima.csv: energies of inherent structures; isomers.csv, isomers_by_bath.csv and isomers.xyz:
/// the lowest minima.
std::unique_ptr<Observer> make_minima(const ObserveMinima& section, const Deck& deck,
                                      const RunInfo& info);
/// trajectory.*, or one file per replica.
std::unique_ptr<Observer> make_trajectory(const ObserveTrajectory& section, const Deck& deck,
                                          const RunInfo& info);

}  // namespace tarn
