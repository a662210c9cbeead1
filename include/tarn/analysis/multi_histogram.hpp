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
/// What samples at several temperatures tell of all temperatures between them, equation (63).

namespace tarn::analysis {

/// Samples whose energies are nearly the same.
struct EnergyBin {
  double samples = 0.0;
  double energy =
      0.0;             ///< sum of U, the energy whose canonical distribution was sampled [kcal/mol]
  double value = 0.0;  ///< sum of A, whose moments are asked for [kcal/mol]
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

/// f = -ln Z of each bath from those of neighbours that have samples, one by one (Bennett 1976): 0
/// of the first, nan of those without samples.
/// @param beta_mol_per_kcal 1/kT of each bath, rising or falling; @param bins [bath]
std::vector<double> neighbour_free_energies(std::span<const double> beta_mol_per_kcal,
                                            const std::vector<std::vector<EnergyBin>>& bins);

/// The canonical distribution at any temperature from bins of several baths, by multiple histograms
/// (Ferrenberg & Swendsen 1989; Shirts & Chodera 2008).
class Reweighting {
 public:
  /// @param beta_mol_per_kcal 1/kT of each bath
  /// @param samples how many of each bath, of at least one
  /// @param bins of all samples together
  /// @param near free energies to begin with, of each bath that has samples
  Reweighting(std::span<const double> beta_mol_per_kcal, std::span<const double> samples,
              std::span<const EnergyBin> bins, std::span<const double> near);

  /// f = -ln Z of each bath: 0 of the first that has samples, nan of those that have none.
  const std::vector<double>& free_energies() const { return free_energies_; }
  /// Whether each bath has the weight of its samples within 1e-8 of them.
  bool converged() const { return converged_; }

  /// Neighbours of which the colder baths and the hotter ones share hardly any samples, fewer than
  /// 20: what they say of each other and of temperatures between them is not known.
  struct Gap {
    std::size_t below, above;  ///< baths
    double shared;             ///< samples
  };
  const std::vector<Gap>& gaps() const { return gaps_; }

  struct Moments {
    double mean = 0.0;        ///< of A
    double covariance = 0.0;  ///< of A and U: -d<A>/d(beta)
    /// (sum of the weights of the samples)^2 / (sum of their squares): so many independent samples
    /// of one weight have as large errors.
    double effective_samples = 0.0;
  };
  Moments at(double beta_mol_per_kcal) const;
  /// Mean probability that states of two baths change places, equation (34): twice that of U at the
  /// colder one to be above U at the hotter one.
  double acceptance(double colder_mol_per_kcal, double hotter_mol_per_kcal) const;

 private:
  struct Entry {
    double samples, energy, value, within;  // means, and the covariance within the bin
    double log_mixture;  // ln of the density of samples of all baths over that of states
  };
  struct Bath {
    std::size_t number;
    double beta, samples;
  };
  /// Shares of the entries at a temperature.
  std::vector<double> shares(double beta_mol_per_kcal) const;
  /// log_mixture of all entries. @return what the free energies minimise
  double mix(const std::vector<Bath>& baths, std::span<const double> f);
  void solve(const std::vector<Bath>& baths, std::span<const double> near);
  void find_gaps(const std::vector<Bath>& baths);

  std::vector<Entry> entries_;  // by energy
  std::vector<double> free_energies_;
  std::vector<Gap> gaps_;
  bool converged_ = false;
};

/// As many baths as told, from the first to the last of them, whose neighbours all change places
/// with the same probability.
struct EqualAcceptanceLadder {
  std::vector<double> temperatures_K;
  double acceptance = 0.0;
};
/// @param k Boltzmann's constant in the units of the energies over kelvins
/// @param baths 2 and more
/// @return nothing where the baths do not share samples or fewer than 100 effective samples tell of
/// one of the temperatures
std::optional<EqualAcceptanceLadder> equal_acceptance_ladder(const Reweighting& reweighting,
                                                             double k, double coldest_K,
                                                             double hottest_K, std::size_t baths);

/// Collects the samples of a run in bins, apart by ladder of baths and by time: leaving out one
/// part at a time tells the error of what comes of them all.
///
/// The samples of a bath follow each other: g of them are worth one, statistical_inefficiencies(),
/// and weigh so much. Baths that hardly move would outweigh the others otherwise.
///
/// Sixteen ladders or more are the parts, in sixteen groups. With fewer of them time is split, so
/// that there are 16 to 60 parts after a while, in a way that depends on the samples only: blocks
/// of time become twice as long when there are too many.
class MultiHistogram {
 public:
  static constexpr std::int64_t kGroups = 16;
  /// From so many ladders on their spread tells something of the errors.
  static constexpr std::int64_t kLeastLadders = 3;
  /// And from so many on it is an error that is known within a third.
  static constexpr std::size_t kEnoughLadders = 6;
  /// Width of a bin in kT of its bath. Its samples are given one weight; weights of other baths
  /// differ within it by some 4 %, and moments are off by a thousandth of what that does to them.
  static constexpr double kWidth_kT = 0.125;

  /// @param beta_mol_per_kcal 1/kT of each bath
  /// @param ladders how many of these are independent
  MultiHistogram(std::vector<double> beta_mol_per_kcal, std::int64_t ladders);

  /// A sample. What is not finite, or beyond 1e14 kT, is left out.
  /// @param ladder 0, 1, ...; @param energy U, @param value A [kcal/mol]
  void add(std::size_t bath, std::int64_t ladder, double energy, double value);
  /// Ends the samples of one moment.
  void end_step();

  bool empty() const { return parts_.empty(); }
  /// Of all baths.
  double samples() const;
  /// g = max(1, n err^2/var U) of each bath: how many of its n samples are worth an independent
  /// one, with the error err of their mean from the spread of the parts, and of whole ladders where
  /// there are 3 to 15, whichever is larger. The noise that so few parts make in them is taken out:
  /// ln g is drawn to its mean over the baths. 1 of a bath that has no samples, or one part of
  /// them.
  std::vector<double> statistical_inefficiencies() const;

  /// What a bath's own samples say of its mean of A, less what those of all baths do.
  struct Inconsistency {
    std::size_t bath = 0;
    double difference = 0.0, error = 0.0;  ///< [kcal/mol]
  };

  /// What comes of all samples, and of those outside of each part.
  class Result {
   public:
    const Reweighting& all() const { return all_; }
    /// Whether there are two parts and errors are known.
    bool has_errors() const { return without_.front().size() > 1; }
    /// Standard errors of several numbers.
    struct Errors {
      std::vector<double> largest;      ///< of all ways to make parts
      std::vector<double> of_shortest;  ///< from the shortest parts
      std::vector<std::size_t> parts;   ///< how many made the largest one

      /// How far a value is from 0 by the largest error of number i: Student's t as a normal number
      /// of the same probability, equation (65).
      double sigmas(std::size_t i, double value) const;
    };
    /// Of the numbers that f makes of a Reweighting, by the jackknife for parts of any size:
    /// err^2 = sum over the parts of (1 - share) (f(without it) - f(all))^2. With fewer than 16
    /// ladders also for two and four blocks of time as one part, and for whole ladders where there
    /// are 6.
    /// @param values f(all())
    template <class F>
    Errors errors_of(const std::vector<double>& values, const F& f) const {
      return jackknife(values, [&f](const Without& w) { return f(w.rest); });
    }
    /// The largest ones.
    template <class F>
    std::vector<double> errors(const std::vector<double>& values, const F& f) const {
      return errors_of(values, f).largest;
    }

    /// Of the baths whose two means are more than 4.5 Errors::sigmas() apart, as they are where
    /// baths are not in equilibrium. Nothing with fewer than eight parts.
    std::vector<Inconsistency> inconsistencies() const;

   private:
    friend class MultiHistogram;
    struct Without {
      Reweighting rest;
      double share;  // of all samples that the part has
      std::vector<double> own_means;
    };
    explicit Result(Reweighting all) : all_(std::move(all)) {}

    template <class F>
    Errors jackknife(const std::vector<double>& values, const F& f) const {
      Errors errors{
          std::vector<double>(values.size()), {}, std::vector<std::size_t>(values.size())};
      for (const std::vector<Without>& parts : without_) {
        std::vector<double> squares(values.size(), 0.0);
        for (const Without& w : parts) {
          const std::vector<double> rest = f(w);
          for (std::size_t i = 0; i < values.size(); ++i) {
            squares[i] += (1.0 - w.share) * (rest[i] - values[i]) * (rest[i] - values[i]);
          }
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double error = std::sqrt(squares[i]);
          if (error > errors.largest[i] || errors.parts[i] == 0) errors.parts[i] = parts.size();
          errors.largest[i] = std::fmax(errors.largest[i], error);
        }
        if (&parts == &without_.front()) errors.of_shortest = errors.largest;
      }
      return errors;
    }
    std::vector<double> differences(const Reweighting& r, std::span<const double> own_means) const;

    Reweighting all_;
    std::vector<double> beta_, own_means_;
    std::vector<std::vector<Without>> without_;  // [way to make parts], the shortest ones first
  };
  /// Nothing without samples.
  std::optional<Result> result() const;
  /// The same of all samples only, in a fraction of the time.
  std::optional<Reweighting> reweighting() const;

  /// All that it remembers, for a checkpoint.
  std::vector<double> memory() const;
  /// @throws LayoutError for what is no memory() of these
  void restore(std::span<const double> memory);

 private:
  /// By number, in rising order and one behind the other in memory: samples come by the million.
  class Bins {
   public:
    using Entry = std::pair<std::int64_t, EnergyBin>;
    EnergyBin& operator[](std::int64_t number) {
      const auto at = std::ranges::lower_bound(entries_, number, {}, &Entry::first);
      if (at != entries_.end() && at->first == number) return at->second;
      return entries_.emplace(at, number, EnergyBin{})->second;
    }
    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }
    std::size_t size() const { return entries_.size(); }

   private:
    std::vector<Entry> entries_;
  };
  using Part = std::vector<Bins>;  // [bath]

  /// g of a bath by the spread of so many parts, 0 if it is not known, and the most that it can be.
  struct Inefficiency {
    double g = 1.0, most = 1.0, parts = 0.0;
  };
  Inefficiency inefficiency_of(std::size_t bath) const;

  static double samples_of_part(const Part& part);
  /// Of A, by bath; nan without samples.
  static std::vector<double> own_means(const Part& part);
  Reweighting reweighting_of(const Part& part, std::span<const double> inefficiencies,
                             const Reweighting* near) const;
  Part whole() const;
  /// The parts with so many blocks of time as one.
  std::vector<Part> together(std::size_t blocks) const;
  static void add_to(Part& sum, const Part& part, double sign = 1.0);

  std::vector<double> beta_;
  std::size_t groups_, most_blocks_;
  std::vector<Part> parts_;  // [time][group]
  std::int64_t block_length_ = 1, moments_in_block_ = 0;
  bool block_is_open_ = false;  // the last parts may take samples
};

}  // namespace tarn::analysis
