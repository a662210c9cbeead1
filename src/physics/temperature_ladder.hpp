#pragma once

#include <span>
#include <vector>

#include "ring_frequencies.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// Temperatures for replica exchange, before a run: estimates for normally distributed energies.

namespace tarn {

/// Acceptance that is wanted of a ladder unless stated otherwise.
inline constexpr double kWantedAcceptance = 0.3;

/// Estimates the acceptance of exchanges between two temperatures, equations (36) and (89): for a
/// heat capacity of 5 k per molecule, that of liquid clusters of rigid molecules, and for the
/// vibrations of the molecules of a flexible model.
class AcceptanceEstimate {
 public:
  /// @param ring frequencies of the ring polymers; with one bead, classical nuclei
  AcceptanceEstimate(const WaterModel& model, int molecules, const ReducedRing& ring);

  double operator()(double lower_K, double upper_K) const;

 private:
  int molecules_;
  std::vector<double> wavenumbers_per_cm_;  ///< of a molecule
  ReducedRing ring_;
};

/// Acceptances between neighbouring temperatures.
std::vector<double> ladder_acceptances(const AcceptanceEstimate& estimate,
                                       std::span<const double> temperatures_K);

/// The fewest temperatures from one to another of which all neighbours have at least the wanted
/// acceptance, by the estimate; intervals are shortened alike.
/// @param wanted above 0 and below 1
/// @throws InputError for other numbers, or if more than 10 000 temperatures are needed
std::vector<double> temperature_ladder(const AcceptanceEstimate& estimate, double lowest_K,
                                       double highest_K, double wanted = kWantedAcceptance);

/// The number of intervals into which one is to be divided for the wanted acceptance: the argument
/// of erfc in equation (36) is proportional to the interval.
/// @param measured acceptance of the undivided interval, at least 1e-8
int intervals_for_acceptance(double measured, double wanted = kWantedAcceptance);

}  // namespace tarn
