#include "tarn/analysis/reweighting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <Eigen/Core>

#include "core/bisect.hpp"
#include "core/dense.hpp"

namespace tarn::analysis {
namespace {

constexpr double kTolerance = 1e-8;
constexpr int kMostIterations = 100;
/// Largest change of a free energy in one iteration: far from the solution the slope is round-off.
constexpr double kMostMove = 10.0;
/// Baths with fewer shared samples do not determine their free energy difference.
constexpr double kFewShared = 20.0;

/// ln sum exp of numbers, not all of them -infinity.
double log_sum_exp(const Eigen::ArrayXd& x) {
  const double largest = x.maxCoeff();
  return largest + std::log((x - largest).exp().sum());
}

/// Free energy of bath b minus that of bath a, from the samples of both (Bennett 1976). Bisection
/// also converges for baths that share few samples, for which the slope is round-off.
double difference_between(double beta_a, const std::vector<EnergyBin>& a, double beta_b,
                          const std::vector<EnergyBin>& b) {
  const double samples_of_b = total_samples(b);
  const double log_ratio = std::log(samples_of_b / total_samples(a));
  const auto log_odds = [&](const EnergyBin& bin) {
    return log_ratio - (beta_b - beta_a) * bin.energy / bin.samples;
  };
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto* bins : {&a, &b}) {
    for (const EnergyBin& bin : *bins) {
      low = std::min(low, -log_odds(bin));
      high = std::max(high, -log_odds(bin));
    }
  }
  constexpr double kCertain = 40.0;  // logarithm of odds
  low -= kCertain;
  high += kCertain;
  const auto is_wide = [](double below, double above) { return above - below > 1e-6; };
  const auto [below, above] = bisect(low, high, is_wide, [&](double middle) {
    double of_b = 0.0;
    for (const auto* bins : {&a, &b}) {
      for (const EnergyBin& bin : *bins) {
        of_b += bin.samples / (1.0 + std::exp(-middle - log_odds(bin)));
      }
    }
    return of_b < samples_of_b;
  });
  return std::midpoint(below, above);
}

}  // namespace

double total_samples(const std::vector<EnergyBin>& bins) {
  double samples = 0.0;
  for (const EnergyBin& bin : bins) samples += bin.samples;
  return samples;
}

std::vector<double> neighbour_free_energies(std::span<const double> beta_mol_per_kcal,
                                            const std::vector<std::vector<EnergyBin>>& bins) {
  std::vector<double> free_energies(bins.size(), std::numeric_limits<double>::quiet_NaN());
  const std::vector<EnergyBin>* last = nullptr;
  double last_beta = 0.0, f = 0.0;
  for (std::size_t k = 0; k < bins.size(); ++k) {
    if (bins[k].empty()) continue;
    if (last != nullptr) f += difference_between(last_beta, *last, beta_mol_per_kcal[k], bins[k]);
    free_energies[k] = f;
    last = &bins[k];
    last_beta = beta_mol_per_kcal[k];
  }
  return free_energies;
}

Reweighting::Reweighting(std::span<const double> beta_mol_per_kcal, std::span<const double> samples,
                         std::span<const EnergyBin> bins, std::span<const double> near)
    : free_energies_(samples.size(), std::numeric_limits<double>::quiet_NaN()) {
  for (const EnergyBin& bin : bins) {
    const double energy = bin.energy / bin.samples, value = bin.value / bin.samples;
    entries_.push_back(
        {bin.samples, energy, value, bin.product / bin.samples - energy * value, 0.0});
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.energy < b.energy; });
  std::vector<Bath> baths;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    if (samples[k] > 0.0) baths.push_back({k, beta_mol_per_kcal[k], samples[k]});
  }
  solve(baths, near);
  find_gaps(baths);
}

/// The baths up to k and those after it share p (1 - p) of a sample, where p is the probability
/// that the sample belongs to the first group.
void Reweighting::find_gaps(const std::vector<Bath>& baths) {
  if (baths.size() < 2) return;
  std::vector<double> shared(baths.size() - 1, 0.0);
  for (const Entry& e : entries_) {
    double p = 0.0;
    for (std::size_t k = 0; k < shared.size(); ++k) {
      p += std::exp(std::log(baths[k].samples) + free_energies_[baths[k].number] -
                    baths[k].beta * e.energy - e.log_mixture);
      shared[k] += e.samples * p * std::max(0.0, 1.0 - p);
    }
  }
  for (std::size_t k = 0; k < shared.size(); ++k) {
    if (!(shared[k] >= kFewShared)) {
      gaps_.push_back({baths[k].number, baths[k + 1].number, shared[k]});
    }
  }
}

double Reweighting::mix(const std::vector<Bath>& baths, std::span<const double> f) {
  const auto n = static_cast<Eigen::Index>(baths.size());
  Eigen::ArrayXd offset(n), beta(n);
  double objective = 0.0;
  for (Eigen::Index k = 0; k < n; ++k) {
    const auto i = static_cast<std::size_t>(k);
    offset[k] = std::log(baths[i].samples) + f[i];
    beta[k] = baths[i].beta;
    objective -= baths[i].samples * f[i];
  }
  for (Entry& entry : entries_) {
    entry.log_mixture = log_sum_exp(offset - beta * entry.energy);
    objective += entry.samples * entry.log_mixture;
  }
  return objective;
}

struct Reweighting::NewtonSystem {
  Eigen::VectorXd weight;   ///< of each bath
  Eigen::MatrixXd hessian;  ///< derivatives of the weights by the free energies
};

Reweighting::NewtonSystem Reweighting::newton_system(const std::vector<Bath>& baths,
                                                     std::span<const double> f) const {
  const auto size = static_cast<Eigen::Index>(baths.size());
  Eigen::ArrayXd offset(size), beta(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    const auto k = static_cast<std::size_t>(i);
    offset[i] = std::log(baths[k].samples) + f[k];
    beta[i] = baths[k].beta;
  }
  // Probabilities that a sample of an entry belongs to a bath, one column per entry, in blocks.
  constexpr std::size_t kColumns = 256;
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(size, size), part(size, kColumns);
  NewtonSystem system;
  system.weight = Eigen::VectorXd::Zero(size);
  for (std::size_t begin = 0; begin < entries_.size(); begin += kColumns) {
    const std::size_t count = std::min(kColumns, entries_.size() - begin);
    const auto columns = static_cast<Eigen::Index>(count);
    for (Eigen::Index c = 0; c < columns; ++c) {
      const Entry& e = entries_[begin + static_cast<std::size_t>(c)];
      part.col(c) = (offset - beta * e.energy - e.log_mixture).exp() * std::sqrt(e.samples);
      system.weight += part.col(c) * std::sqrt(e.samples);
    }
    dense::add_outer_product(1.0, part.leftCols(columns), products);
  }
  system.hessian = Eigen::MatrixXd(system.weight.asDiagonal()) - products;
  return system;
}

/// Newton's method for a convex function of the free energies. Its gradient is the weight of each
/// bath minus the number of its samples.
void Reweighting::solve(const std::vector<Bath>& baths, std::span<const double> near) {
  const std::size_t n = baths.size();
  const auto size = static_cast<Eigen::Index>(n);
  std::vector<double> f(n, 0.0);
  Eigen::ArrayXd samples(size);
  for (std::size_t k = 0; k < n; ++k) {
    samples[static_cast<Eigen::Index>(k)] = baths[k].samples;
    if (k > 0) f[k] = near[baths[k].number] - near[baths[0].number];
  }
  double objective = mix(baths, f);
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    const NewtonSystem system = newton_system(baths, f);
    const Eigen::VectorXd gradient = system.weight - samples.matrix();
    converged_ = (gradient.array().abs() <= kTolerance * samples).all();
    if (converged_ || size == 1) break;
    // The first free energy stays 0, because only differences are determined.
    const Eigen::Index rest = size - 1;
    const Eigen::VectorXd move =
        -dense::solve_symmetric(system.hessian.bottomRightCorner(rest, rest), gradient.tail(rest));
    double step = 0.0;
    if (move.allFinite()) step = std::min(1.0, kMostMove / move.cwiseAbs().maxCoeff());
    for (; step > 1e-6; step *= 0.5) {
      std::vector<double> next = f;
      for (std::size_t k = 1; k < n; ++k) next[k] += step * move[static_cast<Eigen::Index>(k - 1)];
      const double there = mix(baths, next);
      if (there <= objective + 1e-13 * std::abs(objective)) {
        f = std::move(next);
        objective = there;
        break;
      }
    }
    if (step <= 1e-6) {
      // One self-consistent iteration, which never increases the distance to the solution.
      const auto change = [&](std::size_t k) {
        const auto i = static_cast<Eigen::Index>(k);
        return std::log(samples[i] / system.weight[i]);
      };
      for (std::size_t k = n; k-- > 0;) f[k] += change(k) - change(0);
      objective = mix(baths, f);
      if (!std::isfinite(objective)) break;
    }
  }
  for (std::size_t k = 0; k < n; ++k) free_energies_[baths[k].number] = f[k];
}

std::vector<double> Reweighting::shares(double beta_mol_per_kcal) const {
  std::vector<double> shares;
  for (const Entry& e : entries_) {
    shares.push_back(std::log(e.samples) - beta_mol_per_kcal * e.energy - e.log_mixture);
  }
  const double largest = *std::max_element(shares.begin(), shares.end());
  double sum = 0.0;
  for (double& share : shares) {
    share = std::exp(share - largest);
    sum += share;
  }
  for (double& share : shares) share /= sum;
  return shares;
}

Reweighting::Moments Reweighting::at(double beta_mol_per_kcal) const {
  const std::vector<double> share = shares(beta_mol_per_kcal);
  Moments moments;
  double squares = 0.0, energy = 0.0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    moments.mean += share[i] * entries_[i].value;
    energy += share[i] * entries_[i].energy;
    squares += share[i] * share[i] / entries_[i].samples;
  }
  moments.effective_samples = 1.0 / squares;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const double off = (entries_[i].value - moments.mean) * (entries_[i].energy - energy);
    moments.covariance += share[i] * (entries_[i].within + off);
  }
  return moments;
}

double Reweighting::acceptance(double colder_mol_per_kcal, double hotter_mol_per_kcal) const {
  const std::vector<double> colder = shares(colder_mol_per_kcal);
  const std::vector<double> hotter = shares(hotter_mol_per_kcal);
  double below = 0.0, acceptance = 0.0;
  for (std::size_t i = 0; i < colder.size(); ++i) {
    acceptance += colder[i] * (2.0 * below + hotter[i]);  // of two in one bin, half are above
    below += hotter[i];
  }
  return acceptance;
}

std::optional<EqualAcceptanceLadder> equal_acceptance_ladder(const Reweighting& reweighting,
                                                             double k, double coldest_K,
                                                             double hottest_K, std::size_t baths) {
  constexpr double kFewSamples = 100.0;
  if (!reweighting.converged() || !reweighting.gaps().empty()) return std::nullopt;
  const auto acceptance = [&](double colder_K, double hotter_K) {
    return reweighting.acceptance(1.0 / (k * colder_K), 1.0 / (k * hotter_K));
  };
  // Temperatures from the coldest upwards with that acceptance, at most the hottest.
  const auto ladder_of = [&](double wanted) {
    std::vector<double> ladder_K{coldest_K};
    while (ladder_K.size() + 1 < baths) {
      const double last_K = ladder_K.back();
      const bool reaches_end = acceptance(last_K, hottest_K) >= wanted;
      const auto [low_K, high_K] = bisect(
          reaches_end ? hottest_K : last_K, hottest_K,
          [](double l_K, double h_K) { return h_K - l_K > 1e-5 * h_K; },
          [&](double middle_K) { return acceptance(last_K, middle_K) > wanted; });
      ladder_K.push_back(std::midpoint(low_K, high_K));
    }
    return ladder_K;
  };
  const auto is_wide = [](double l, double h) { return h - l > 1e-4; };
  const double low = bisect(0.0, 1.0, is_wide, [&](double middle) {
                       return acceptance(ladder_of(middle).back(), hottest_K) >= middle;
                     }).first;
  EqualAcceptanceLadder even{ladder_of(low), low};
  even.temperatures_K.push_back(hottest_K);
  for (const double t_K : even.temperatures_K) {
    if (reweighting.at(1.0 / (k * t_K)).effective_samples < kFewSamples) return std::nullopt;
  }
  return even;
}

}  // namespace tarn::analysis
