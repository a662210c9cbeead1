#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "tarn/system.hpp"

/// @file
/// Frequencies of the internal modes of ring polymers, and the errors of harmonic oscillators with
/// P beads. Frequencies are in units of kT/hbar: x of an oscillator, y_k of a mode.

namespace tarn {

/// hbar omega/kT of a wavenumber.
double reduced_frequency(double wavenumber_per_cm, double temperature_K);

/// @name Exact averages of a harmonic oscillator, equation (87)
/// @{
/// Squared radius of its ring [(hbar/kT)^2 kT/m].
double oscillator_radius2(double x);
double oscillator_energy(double x);         ///< [kT]
double oscillator_heat_capacity(double x);  ///< [k]
/// @}

/// The internal modes of a ring polymer.
class ReducedRing {
 public:
  /// @param frequencies y_k of the wave numbers k = 1 .. P/2
  ReducedRing(int beads, std::vector<double> frequencies)
      : beads_(beads), frequencies_(std::move(frequencies)) {}

  int beads() const { return beads_; }
  /// y_k of k = 1 .. P/2.
  const std::vector<double>& frequencies() const { return frequencies_; }
  double highest() const;

  /// @name Averages of an oscillator, equation (87); see oscillator_radius2() and others
  /// @{
  double radius2(double x) const;
  double energy(double x) const { return 1.0 + x * x * radius2(x); }
  /// At fixed y_k.
  double heat_capacity(double x) const;
  /// @}

  /// Largest relative error of the kinetic energy of oscillators up to x.
  double kinetic_error(double x_highest) const;
  /// Mean of Delta of an oscillator that is exchanged between two temperatures, equation (89).
  /// @param x_first,x_second its reduced frequency at both
  double mean_delta(double x_first, double x_second) const;

 private:
  /// Sum over the internal modes of f(y^2).
  template <class F>
  double sum(const F& f) const;

  int beads_;
  std::vector<double> frequencies_;
};

/// Frequencies of springs between neighbouring beads, equation (80).
ReducedRing trotter_ring(int beads);
/// Frequencies for which the radius of oscillators up to x_max is right, equation (86). The same
/// bits on every machine: the fit has only additions, multiplications, divisions and square roots,
/// in one order.
ReducedRing economised_ring(int beads, double x_max);
/// The frequencies of a run, the same y_k at all of its temperatures.
/// @param coldest_K the lowest one, which has the largest range of x
ReducedRing reduced_ring(const PathIntegralSpec& rings, double coldest_K);
ReducedRing reduced_ring(const System& system);

/// The fewest beads that are enough, in steps of 2 below 256 and of 1/64 or less above; 0 if more
/// than kMaxBeads.
int fewest_beads(const std::function<bool(int beads)>& is_enough);
/// The fewest beads with which the kinetic energy of oscillators up to a wavenumber has at most
/// this relative error; 0 as above.
/// @param rings kind of frequencies; its number of beads is ignored
int beads_for_error(const PathIntegralSpec& rings, double temperature_K, double wavenumber_per_cm,
                    double error);

}  // namespace tarn
