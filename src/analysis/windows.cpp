#include "analysis/windows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/dense.hpp"
#include "core/parallel.hpp"
#include "physics/bias.hpp"

namespace tarn::analysis {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Samples that are added up together, in the same order for any number of threads.
constexpr std::size_t kBlock = 4096;

/// MBAR for some of the samples.
class Mbar {
 public:
  Mbar(const BiasSpec& bias, double kT, const std::vector<WindowSample>& samples, int threads)
      : bias_(bias_term(bias)),
        centres_(bias.centres),
        kT_(kT),
        samples_(samples),
        threads_(threads) {}

  /// Solves equation (99) by Newton's method. @param without a series; -1: none
  /// @param f start, and out: free energies of the windows [kT], the first one 0
  void solve(int without, VectorXd& f) {
    without_ = without;
    const auto windows = static_cast<Eigen::Index>(centres_.size());
    counts_ = VectorXd::Zero(windows);
    for (const WindowSample& s : samples_) {
      if (s.series != without) counts_[s.window] += 1.0;
    }
    log_counts_ = counts_.array().log();
    constexpr int kMostNewtonSteps = 200;
    constexpr double kNewtonTolerance = 1e-10;  // [kT]
    Sums at = sums(f);
    for (int iteration = 0; iteration < kMostNewtonSteps; ++iteration) {
      // The gradient of the convex function at.value, without the constant first number.
      MatrixXd hessian = at.hessian.bottomRightCorner(windows - 1, windows - 1);
      hessian.diagonal().array() += 1e-9 * counts_.mean();
      VectorXd step = counts_.tail(windows - 1) - at.weights.tail(windows - 1);
      if (!dense::solve_definite(hessian, step)) return;
      for (double part = 1.0;; part *= 0.5) {
        VectorXd next = f;
        next.tail(windows - 1) += part * step;
        const Sums there = sums(next);
        if (there.value <= at.value + 1e-12 * std::abs(at.value) || part < 1e-6) {
          f = next;
          at = there;
          break;
        }
      }
      if (step.cwiseAbs().maxCoeff() < kNewtonTolerance) return;
    }
  }
  /// Sums of the weights of the samples in each bin, equation (100).
  std::map<std::int64_t, double> histogram(const VectorXd& f, double bin_width) const {
    std::map<std::int64_t, double> bins;
    VectorXd p(f.size());
    for (const WindowSample& s : samples_) {
      if (s.series == without_) continue;
      bins[std::llround(s.coordinate / bin_width)] +=
          std::exp(-log_denominator(f, s.coordinate, p));
    }
    return bins;
  }

 private:
  struct Sums {
    double value = 0.0;
    VectorXd weights;
    MatrixXd hessian;
  };
  /// log D of equation (99). @param p out: the parts of the windows in D
  double log_denominator(const VectorXd& f, double xi, VectorXd& p) const {
    for (Eigen::Index k = 0; k < f.size(); ++k) {
      const double centre = centres_[static_cast<std::size_t>(k)];
      p[k] = log_counts_[k] + f[k] - bias_energy(bias_, xi, centre) / kT_;
    }
    const double largest = p.maxCoeff();
    for (double& part : p) part = std::exp(part - largest);
    const double sum = p.sum();
    p /= sum;
    return largest + std::log(sum);
  }
  Sums sums(const VectorXd& f) const {
    const std::size_t blocks = (samples_.size() + kBlock - 1) / kBlock;
    std::vector<Sums> parts(blocks);
    for_each_index(static_cast<std::int64_t>(blocks), threads_, [&](std::int64_t block) {
      Sums& part = parts[static_cast<std::size_t>(block)];
      part.weights = VectorXd::Zero(f.size());
      part.hessian = MatrixXd::Zero(f.size(), f.size());
      VectorXd p(f.size());
      const auto first = static_cast<std::size_t>(block) * kBlock;
      for (std::size_t n = first; n < std::min(samples_.size(), first + kBlock); ++n) {
        if (samples_[n].series == without_) continue;
        part.value += log_denominator(f, samples_[n].coordinate, p);
        part.weights += p;
        part.hessian -= p * p.transpose();
      }
    });
    Sums all{-counts_.dot(f), VectorXd::Zero(f.size()), MatrixXd::Zero(f.size(), f.size())};
    for (const Sums& part : parts) {
      all.value += part.value;
      all.weights += part.weights;
      all.hessian += part.hessian;
    }
    all.hessian.diagonal() += all.weights;
    return all;
  }

  BiasTerm bias_;
  const std::vector<double>& centres_;
  double kT_;
  const std::vector<WindowSample>& samples_;
  int threads_, without_ = -1;
  VectorXd counts_, log_counts_;
};

std::vector<double> overlaps_of(const std::vector<WindowSample>& samples, std::size_t windows,
                                double bin_width) {
  std::vector<std::map<std::int64_t, double>> histograms(windows);
  std::vector<double> counts(windows, 0.0), overlaps;
  for (const WindowSample& s : samples) {
    histograms[static_cast<std::size_t>(s.window)][std::llround(s.coordinate / bin_width)] += 1.0;
    counts[static_cast<std::size_t>(s.window)] += 1.0;
  }
  for (std::size_t k = 0; k + 1 < windows; ++k) {
    double common = 0.0;
    for (const auto& [bin, count] : histograms[k]) {
      const auto other = histograms[k + 1].find(bin);
      if (other == histograms[k + 1].end()) continue;
      common += std::min(count / counts[k], other->second / counts[k + 1]);
    }
    overlaps.push_back(common);
  }
  return overlaps;
}

}  // namespace

FreeEnergyProfile free_energy_profile(const BiasSpec& bias, double kT_kcal_per_mol,
                                      const std::vector<WindowSample>& samples, int series,
                                      double bin_width, int threads) {
  FreeEnergyProfile profile;
  profile.overlaps = overlaps_of(samples, bias.centres.size(), bin_width);
  Mbar mbar(bias, kT_kcal_per_mol, samples, threads);
  VectorXd f = VectorXd::Zero(static_cast<Eigen::Index>(bias.centres.size()));
  mbar.solve(-1, f);
  for (const double number : f) profile.windows_kcal_per_mol.push_back(kT_kcal_per_mol * number);
  std::map<std::int64_t, std::int64_t> counts;
  for (const WindowSample& s : samples) ++counts[std::llround(s.coordinate / bin_width)];
  const auto all = mbar.histogram(f, bin_width);
  // Bins with few samples may be the lowest by chance.
  const auto has_enough = [&](const auto& bin) {
    return 4 * counts[bin->first] * static_cast<std::int64_t>(all.size()) >=
           static_cast<std::int64_t>(samples.size());
  };
  auto lowest = all.begin();
  for (auto bin = all.begin(); bin != all.end(); ++bin) {
    if (has_enough(bin) && (!has_enough(lowest) || bin->second > lowest->second)) lowest = bin;
  }
  const auto free_energy = [&](const std::map<std::int64_t, double>& bins, std::int64_t bin) {
    const auto found = bins.find(bin), reference = bins.find(lowest->first);
    if (found == bins.end() || reference == bins.end()) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    return kT_kcal_per_mol * std::log(reference->second / found->second);
  };
  std::map<std::int64_t, double> squares;
  for (int without = 0; without < series && series > 1; ++without) {
    VectorXd rest = f;
    mbar.solve(without, rest);
    const auto part = mbar.histogram(rest, bin_width);
    for (const auto& [bin, weight] : all) {
      const double difference = free_energy(part, bin) - free_energy(all, bin);
      squares[bin] += difference * difference;
    }
  }
  for (const auto& [bin, weight] : all) {
    const double error = series > 1 ? std::sqrt((series - 1.0) / series * squares[bin])
                                    : std::numeric_limits<double>::quiet_NaN();
    // A multiple without the rounding of the width.
    constexpr double kDigits = 1e9;
    profile.points.push_back({std::round(static_cast<double>(bin) * bin_width * kDigits) / kDigits,
                              free_energy(all, bin), error, counts[bin]});
  }
  return profile;
}

}  // namespace tarn::analysis
