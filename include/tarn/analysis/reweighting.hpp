#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// @file
/// Averages at any temperature from samples at several temperatures, equation (63).

namespace tarn::analysis {

/// Sums over samples with nearly the same energy.
struct EnergyBin {
  double samples = 0.0;
  double energy = 0.0;   ///< sum of U, the energy of the sampled canonical distribution [kcal/mol]
  double value = 0.0;    ///< sum of A, the quantity whose moments are computed [kcal/mol]
  double product = 0.0;  ///< sum of A U

  EnergyBin& operator+=(const EnergyBin& other) {
    samples += other.samples;
    energy += other.energy;
    value += other.value;
    product += other.product;
    return *this;
  }
  EnergyBin weighted(double weight) const {
    return {weight * samples, weight * energy, weight * value, weight * product};
  }
};

/// Number of samples in all bins.
double total_samples(const std::vector<EnergyBin>& bins);

/// f = -ln Z of each bath, by Bennett's method (1976) for each pair of neighbouring baths with
/// samples: 0 for the first bath with samples, NaN for baths without.
/// @param beta_mol_per_kcal 1/kT of each bath, rising or falling; @param bins [bath]
std::vector<double> neighbour_free_energies(std::span<const double> beta_mol_per_kcal,
                                            const std::vector<std::vector<EnergyBin>>& bins);

/// The canonical distribution at any temperature from bins of several baths, by the multiple
/// histogram method (Ferrenberg & Swendsen 1989; Shirts & Chodera 2008).
class Reweighting {
 public:
  /// @param beta_mol_per_kcal 1/kT of each bath
  /// @param samples number of samples of each bath, not all 0
  /// @param bins of the samples of all baths
  /// @param near initial free energies of the baths with samples
  Reweighting(std::span<const double> beta_mol_per_kcal, std::span<const double> samples,
              std::span<const EnergyBin> bins, std::span<const double> near);

  /// f = -ln Z of each bath: 0 for the first with samples, NaN for baths without.
  const std::vector<double>& free_energies() const { return free_energies_; }
  /// Whether the weight of each bath equals its number of samples to 1e-8.
  bool converged() const { return converged_; }

  /// Neighbouring baths with fewer than 20 shared samples between the baths on both sides. Free
  /// energy differences across a gap, and averages at temperatures within it, are undetermined.
  struct Gap {
    std::size_t below, above;  ///< baths
    double shared;             ///< samples
  };
  const std::vector<Gap>& gaps() const { return gaps_; }

  struct Moments {
    double mean = 0.0;        ///< of A
    double covariance = 0.0;  ///< of A and U: -d<A>/d(beta)
    /// (sum of the weights)^2 / (sum of their squares): the number of independent samples of equal
    /// weight with the same error.
    double effective_samples = 0.0;
  };
  Moments at(double beta_mol_per_kcal) const;
  /// Mean acceptance probability of an exchange between two baths, equation (34): twice the
  /// probability that U at the colder bath exceeds U at the hotter one.
  double acceptance(double colder_mol_per_kcal, double hotter_mol_per_kcal) const;

 private:
  struct Entry {
    double samples, energy, value, within;  // means, and the covariance within the bin
    double log_mixture;  // ln of the density of samples of all baths over the density of states
  };
  struct Bath {
    std::size_t number;
    double beta, samples;
  };
  /// Normalised weights of the entries at a temperature.
  std::vector<double> shares(double beta_mol_per_kcal) const;
  /// Sets log_mixture of all entries. @return the function that the free energies minimise
  double mix(const std::vector<Bath>& baths, std::span<const double> f);
  struct NewtonSystem;
  /// The equations for an improvement of the free energies f.
  NewtonSystem newton_system(const std::vector<Bath>& baths, std::span<const double> f) const;
  void solve(const std::vector<Bath>& baths, std::span<const double> near);
  void find_gaps(const std::vector<Bath>& baths);

  std::vector<Entry> entries_;  // by energy
  std::vector<double> free_energies_;
  std::vector<Gap> gaps_;
  bool converged_ = false;
};

/// Temperatures of baths such that all neighbours have the same acceptance probability.
struct EqualAcceptanceLadder {
  std::vector<double> temperatures_K;
  double acceptance = 0.0;
};
/// @param k Boltzmann constant [unit of the energies / K]
/// @param baths number of baths, 2 or more
/// @return nothing if the baths of `reweighting` have gaps, or if a temperature has fewer than 100
///         effective samples
std::optional<EqualAcceptanceLadder> equal_acceptance_ladder(const Reweighting& reweighting,
                                                             double k, double coldest_K,
                                                             double hottest_K, std::size_t baths);

}  // namespace tarn::analysis
