#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// @file
/// Averages at any temperature from samples at several temperatures, equation (63).

namespace tarn::analysis {

class Memory;

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

/// Collects the samples of a run in bins, separately by ladder of baths and by time. A jackknife
/// over these parts gives the errors.
///
/// Consecutive samples of a bath are correlated: g of them count as one independent sample, see
/// statistical_inefficiencies(), and each has the weight 1/g. Otherwise slow baths would have too
/// much weight.
///
/// The parts are up to sixteen groups of ladders times blocks of time: 16 to 60 parts after a
/// while, 32 to 64 with sixteen groups. Blocks double in length when there are too many, so the
/// parts depend on the samples only. With sixteen groups, the errors are those of whole ladders,
/// and the blocks show whether slow motions make them larger.
class MultiHistogram {
 public:
  static constexpr std::int64_t kGroups = 16;
  /// Fewest ladders whose spread contributes to the errors.
  static constexpr std::int64_t kLeastLadders = 3;
  /// Fewest ladders whose spread is an error.
  static constexpr std::size_t kEnoughLadders = 4;
  /// Width of a bin in kT of its bath. All samples of a bin have the same weight. The weights of
  /// other baths vary within a bin by about 4 %; the effect on moments is a thousandth of that.
  static constexpr double kWidth_kT = 0.125;

  /// @param beta_mol_per_kcal 1/kT of each bath
  /// @param ladders number of independent ladders
  MultiHistogram(std::vector<double> beta_mol_per_kcal, std::int64_t ladders);

  /// A sample. Numbers that are not finite, and energies beyond 1e14 kT, are ignored.
  struct Sample {
    std::size_t bath = 0;
    std::int64_t ladder = 0;           ///< 0, 1, ...
    double energy = 0.0, value = 0.0;  ///< U, A [kcal/mol]
  };
  void add(std::size_t bath, std::int64_t ladder, double energy, double value);
  /// Ends the samples of one time step.
  void end_step();
  /// The same as add() of each sample and end_step(), on several threads.
  void add_step(std::span<const Sample> samples, int threads);

  bool empty() const { return parts_.empty(); }
  /// Number of samples of all baths.
  double samples() const;
  /// Statistical inefficiency g = max(1, n err^2/var U) of each bath with n samples. The error err
  /// of the mean comes from the spread of the parts or, with 3 to 15 ladders, of whole ladders,
  /// whichever is larger. To reduce the noise of few parts, ln g is shrunk towards its mean over
  /// the baths. g is 1 for a bath with samples in fewer than two parts.
  std::vector<double> statistical_inefficiencies() const;

  /// Mean of A at a bath from its own samples, minus that from the samples of all baths.
  struct Inconsistency {
    std::size_t bath = 0;
    double difference = 0.0, error = 0.0;  ///< [kcal/mol]
  };

  /// The reweighting of all samples, and of all samples without each part.
  class Result {
   public:
    const Reweighting& all() const { return all_; }
    /// Whether there are at least two parts, as errors require.
    bool has_errors() const { return without_.front().size() > 1; }
    /// Standard errors of several numbers.
    struct Errors {
      /// Over all divisions into parts, or that of whole ladders if there are 16 or more.
      std::vector<double> largest;
      std::vector<double> of_shortest;  ///< for the shortest parts
      std::vector<std::size_t> parts;   ///< number of parts that gave the largest error

      /// Deviation of a value from 0 in units of the largest error of number i: Student's t as a
      /// normal deviate of the same probability, equation (65).
      double sigmas(std::size_t i, double value) const;
    };
    /// Errors of numbers that f computes from a Reweighting, by a jackknife over parts of different
    /// sizes: err^2 = sum over the parts of (1 - share) (f(without part) - f(all))^2. Parts of two
    /// and of four blocks of time are used too, and with 4 or more ladders, whole ladders: with 16
    /// or more, these alone.
    /// @param values f(all())
    template <class F>
    Errors errors_of(const std::vector<double>& values, const F& f) const {
      return jackknife(values, [&f](const Without& w) { return f(w.rest); });
    }
    /// The largest error of each number.
    template <class F>
    std::vector<double> errors(const std::vector<double>& values, const F& f) const {
      return errors_of(values, f).largest;
    }

    /// Baths whose two means differ by more than 4.5 Errors::sigmas(), which indicates that baths
    /// are not in equilibrium. Empty with fewer than eight parts.
    std::vector<Inconsistency> inconsistencies() const;

   private:
    friend class MultiHistogram;
    struct Without {
      Reweighting rest;
      double share;  // of the part among all samples
      std::vector<double> own_means;
    };
    explicit Result(Reweighting all) : all_(std::move(all)) {}

    template <class F>
    Errors jackknife(const std::vector<double>& values, const F& f) const {
      Errors errors{
          std::vector<double>(values.size()), {}, std::vector<std::size_t>(values.size())};
      for (const std::vector<Without>& parts : without_) {
        const bool is_last_alone = has_many_ladders_ && &parts == &without_.back();
        std::vector<double> squares(values.size(), 0.0);
        for (const Without& w : parts) {
          const std::vector<double> rest = f(w);
          for (std::size_t i = 0; i < values.size(); ++i) {
            squares[i] += (1.0 - w.share) * (rest[i] - values[i]) * (rest[i] - values[i]);
          }
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double error = std::sqrt(squares[i]);
          if (error > errors.largest[i] || errors.parts[i] == 0 || is_last_alone) {
            errors.parts[i] = parts.size();
            errors.largest[i] = error;
          }
        }
        if (&parts == &without_.front()) errors.of_shortest = errors.largest;
      }
      return errors;
    }
    std::vector<double> differences(const Reweighting& r, std::span<const double> own_means) const;

    Reweighting all_;
    std::vector<double> beta_, own_means_;
    std::vector<std::vector<Without>> without_;  // [division into parts], the shortest parts first
    bool has_many_ladders_ = false;              // whole ladders are the last division
  };
  /// Nothing if there are no samples.
  std::optional<Result> result() const;
  /// The reweighting of all samples without errors, in a fraction of the time.
  std::optional<Reweighting> reweighting() const;

  /// The state for a checkpoint.
  std::vector<double> memory() const;
  /// @throws LayoutError unless it is a memory() of an object with the same arguments
  void restore(std::span<const double> memory);
  /// Either of them.
  void archive(Memory& m);

 private:
  /// Bins sorted by number, contiguous in memory because there are millions of samples.
  class Bins {
   public:
    using Entry = std::pair<std::int64_t, EnergyBin>;
    EnergyBin& operator[](std::int64_t number) {
      const auto begin = entries_.begin(), end = entries_.end();
      auto low = begin, high = end;
      if (begin != end && begin->first <= number && number <= end[-1].first) {
        // Few numbers are missing: the place is known from both ends to as many.
        const auto from_begin = number - begin->first, from_end = end[-1].first - number;
        if (from_begin < high - low) high = begin + from_begin + 1;
        if (from_end < end - begin) low = end - 1 - from_end;
      }
      const auto at = std::ranges::lower_bound(low, high, number, {}, &Entry::first);
      if (at != end && at->first == number) return at->second;
      return entries_.emplace(at, number, EnergyBin{})->second;
    }
    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }
    template <class M>
    void archive(M& m) {
      m.list(entries_, [&](Entry& entry) {
        auto& [number, bin] = entry;
        m(number, bin.samples, bin.energy, bin.value, bin.product);
      });
    }

   private:
    std::vector<Entry> entries_;
  };
  using Part = std::vector<Bins>;  // [bath]

  /// g of a bath, its upper bound, and the number of parts it comes from (0: not determined).
  struct Inefficiency {
    double g = 1.0, most = 1.0, parts = 0.0;
  };
  Inefficiency inefficiency_of(std::size_t bath) const;

  /// Number of the bin of a sample, or nan.
  double bin_of(const Sample& sample) const;
  void open_block();
  static double samples_of_part(const Part& part);
  /// Means of A by bath; NaN without samples.
  static std::vector<double> own_means(const Part& part);
  Reweighting reweighting_of(const Part& part, std::span<const double> inefficiencies,
                             const Reweighting* near) const;
  Part whole() const;
  /// Parts that each combine `blocks` blocks of time.
  std::vector<Part> combined_parts(std::size_t blocks) const;
  static void add_to(Part& sum, const Part& part, double sign = 1.0);

  std::vector<double> beta_;
  std::size_t groups_, most_blocks_;
  std::vector<Part> parts_;  // [time][group]
  std::int64_t block_length_ = 1, moments_in_block_ = 0;
  bool block_is_open_ = false;  // the last parts may take samples
  // Samples of a step in the order of groups and baths; kept to avoid allocations.
  std::vector<std::size_t> begins_;     // [group and bath]
  std::vector<std::uint32_t> ordered_;  // numbers of samples
};

}  // namespace tarn::analysis
