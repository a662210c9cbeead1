#include "tarn/analysis/multi_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <Eigen/Core>

#include "core/bisect.hpp"
#include "core/dense.hpp"
#include "core/parallel.hpp"
#include "memory.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/core/replica_map.hpp"

namespace tarn::analysis {
namespace {

/// Upper bound of bin numbers; doubles represent them exactly.
constexpr double kMostBins = 1e15;
/// Fewer parts do not determine their spread.
constexpr double kEnoughParts = 8.0;

/// Merges neighbouring bins up to the bin width of the coldest bath among them. Energies shared by
/// several baths then have one bin.
std::vector<EnergyBin> merged(const std::vector<std::vector<EnergyBin>>& bins,
                              std::span<const double> beta) {
  struct OfBath {
    EnergyBin bin;
    double mean, width;
  };
  std::vector<OfBath> all;
  for (std::size_t bath = 0; bath < bins.size(); ++bath) {
    for (const EnergyBin& bin : bins[bath]) {
      all.push_back({bin, bin.energy / bin.samples, MultiHistogram::kWidth_kT / beta[bath]});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const OfBath& a, const OfBath& b) { return a.mean < b.mean; });
  std::vector<EnergyBin> result;
  double first = 0.0, width = 0.0;
  for (const OfBath& next : all) {
    width = std::min(width, next.width);
    if (result.empty() || next.mean - first > width) {
      result.emplace_back();
      first = next.mean;
      width = next.width;
    }
    result.back() += next.bin;
  }
  return result;
}

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

/// ln of the weight of each bath at the energy 0, and its 1/kT.
/// @param f free energies
template <class Bath>
std::pair<Eigen::ArrayXd, Eigen::ArrayXd> exponents(const std::vector<Bath>& baths,
                                                    std::span<const double> f) {
  const auto size = static_cast<Eigen::Index>(baths.size());
  Eigen::ArrayXd offset(size), beta(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    const auto k = static_cast<std::size_t>(i);
    offset[i] = std::log(baths[k].samples) + f[k];
    beta[i] = baths[k].beta;
  }
  return {offset, beta};
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

MultiHistogram::MultiHistogram(std::vector<double> beta_mol_per_kcal, std::int64_t ladders)
    : beta_(std::move(beta_mol_per_kcal)),
      groups_(static_cast<std::size_t>(std::clamp<std::int64_t>(ladders, 1, kGroups))),
      most_blocks_(groups_ == kGroups ? 4 : 2 * ((kGroups + groups_ - 1) / groups_)) {}

double MultiHistogram::bin_of(const Sample& sample) const {
  const double bin = std::floor(sample.energy * beta_[sample.bath] / kWidth_kT);
  return std::abs(bin) < kMostBins && std::isfinite(sample.value)
             ? bin
             : std::numeric_limits<double>::quiet_NaN();
}

void MultiHistogram::open_block() {
  if (!block_is_open_) parts_.resize(parts_.size() + groups_, Part(beta_.size()));
  block_is_open_ = true;
}

void MultiHistogram::add(std::size_t bath, std::int64_t ladder, double energy, double value) {
  const double bin = bin_of({bath, ladder, energy, value});
  if (std::isnan(bin)) return;
  open_block();
  const auto group = sample_group(ladder, groups_);
  Part& part = parts_[parts_.size() - groups_ + group];
  part[bath][static_cast<std::int64_t>(bin)] += {1.0, energy, value, value * energy};
}

void MultiHistogram::add_step(std::span<const Sample> samples, int threads) {
  constexpr std::size_t kFewSamples = 2000;  // faster on one thread
  if (threads == 1 || samples.size() < kFewSamples) {
    for (const Sample& s : samples) add(s.bath, s.ladder, s.energy, s.value);
    return end_step();
  }
  const auto is_ignored = [this](const Sample& sample) { return std::isnan(bin_of(sample)); };
  if (!block_is_open_ && std::ranges::all_of(samples, is_ignored)) return;
  open_block();
  // The samples of a group and bath share their bins: they are added by one thread, in order.
  const auto place_of = [this](const Sample& sample) {
    return sample_group(sample.ladder, groups_) * beta_.size() + sample.bath;
  };
  begins_.assign(groups_ * beta_.size() + 2, 0);
  for (const Sample& sample : samples) ++begins_[place_of(sample) + 2];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  ordered_.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    ordered_[begins_[place_of(samples[i]) + 1]++] = static_cast<std::uint32_t>(i);
  }
  const std::size_t first_part = parts_.size() - groups_;
  for_each_index(static_cast<std::int64_t>(groups_ * beta_.size()), threads, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    Bins& bins = parts_[first_part + place / beta_.size()][place % beta_.size()];
    for (std::size_t k = begins_[place]; k < begins_[place + 1]; ++k) {
      const auto& [bath, ladder, energy, value] = samples[ordered_[k]];
      const double bin = bin_of(samples[ordered_[k]]);
      if (std::isnan(bin)) continue;
      bins[static_cast<std::int64_t>(bin)] += {1.0, energy, value, value * energy};
    }
  });
  end_step();
}

void MultiHistogram::end_step() {
  if (!block_is_open_ || ++moments_in_block_ < block_length_) return;
  block_is_open_ = false;
  moments_in_block_ = 0;
  if (parts_.size() < most_blocks_ * groups_) return;
  for (std::size_t block = 0; block < most_blocks_ / 2; ++block) {
    for (std::size_t group = 0; group < groups_; ++group) {
      Part first = std::move(parts_[2 * block * groups_ + group]);
      add_to(first, parts_[(2 * block + 1) * groups_ + group]);
      parts_[block * groups_ + group] = std::move(first);
    }
  }
  parts_.resize(most_blocks_ / 2 * groups_);
  block_length_ *= 2;
}

void MultiHistogram::add_to(Part& sum, const Part& part, double sign) {
  for (std::size_t bath = 0; bath < part.size(); ++bath) {
    for (const auto& [number, bin] : part[bath]) {
      sum[bath][number] += bin.weighted(sign);
    }
  }
}

double MultiHistogram::samples_of_part(const Part& part) {
  double samples = 0.0;
  for (const Bins& bins : part) {
    for (const auto& [number, bin] : bins) samples += bin.samples;
  }
  return samples;
}

double MultiHistogram::samples() const {
  double samples = 0.0;
  for (const Part& part : parts_) samples += samples_of_part(part);
  return samples;
}

MultiHistogram::Part MultiHistogram::whole() const {
  Part sum(beta_.size());
  for (const Part& part : parts_) add_to(sum, part);
  return sum;
}

MultiHistogram::Inefficiency MultiHistogram::inefficiency_of(std::size_t bath) const {
  struct Sums {
    double samples = 0.0, energy = 0.0;
  };
  std::vector<Sums> of_parts(parts_.size()), of_groups(groups_);
  Sums all;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    for (const auto& [number, bin] : parts_[p][bath]) {
      for (Sums* sums : {&of_parts[p], &of_groups[p % groups_], &all}) {
        sums->samples += bin.samples;
        sums->energy += bin.energy;
      }
    }
  }
  if (all.samples == 0.0) return {};
  const double mean = all.energy / all.samples;
  double squares = 0.0;  // of samples about their mean
  for (const Part& part : parts_) {
    for (const auto& [number, bin] : part[bath]) {
      squares += std::pow(bin.energy - mean * bin.samples, 2) / bin.samples;
    }
  }
  if (squares == 0.0) return {};
  Inefficiency r{1.0, all.samples, 0.0};
  const auto raise = [&](const std::vector<Sums>& sums) {
    double square = 0.0, parts = 0.0;
    for (const Sums& s : sums) {
      square += std::pow(s.energy - mean * s.samples, 2);
      parts += s.samples > 0.0 ? 1.0 : 0.0;
    }
    if (!(parts > 1.0)) return;
    const double g = parts / (parts - 1.0) * square / squares;
    if (g > r.g || r.parts == 0.0) r.parts = parts;
    r.g = std::max(r.g, g);
  };
  raise(of_parts);
  if (groups_ >= kLeastLadders) raise(of_groups);
  r.g = std::min(r.g, r.most);
  return r;
}

std::vector<double> MultiHistogram::statistical_inefficiencies() const {
  std::vector<Inefficiency> all;
  for (std::size_t bath = 0; bath < beta_.size(); ++bath) all.push_back(inefficiency_of(bath));
  // Shrinks ln g towards its mean (James & Stein 1961). Without this, noise would set the weights
  // of the baths, and baths with similar parts by chance would have the largest.
  double known = 0.0, sum = 0.0, noise = 0.0, squares = 0.0;
  const auto is_known = [](const Inefficiency& i) { return i.parts >= kEnoughParts; };
  for (const Inefficiency& i : all) {
    if (!is_known(i)) continue;
    known += 1.0;
    sum += std::log(i.g);
    noise += 2.0 / (i.parts - 1.0);
  }
  const double mean = sum / known;
  for (const Inefficiency& i : all) {
    if (is_known(i)) squares += std::pow(std::log(i.g) - mean, 2);
  }
  std::vector<double> inefficiencies;
  for (const Inefficiency& i : all) {
    double& g = inefficiencies.emplace_back(i.g);
    if (squares == 0.0 || !is_known(i)) continue;
    const double keep = std::max(0.0, 1.0 - (known - 1.0) / known * noise / squares);
    g = std::clamp(std::exp(mean + keep * (std::log(g) - mean)), 1.0, i.most);
  }
  return inefficiencies;
}

std::vector<MultiHistogram::Part> MultiHistogram::combined_parts(std::size_t blocks) const {
  std::vector<Part> result;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const std::size_t at = p / groups_ / blocks * groups_ + p % groups_;
    if (at >= result.size()) result.resize(at + 1, Part(beta_.size()));
    add_to(result[at], parts_[p]);
  }
  return result;
}

Reweighting MultiHistogram::reweighting_of(const Part& part, std::span<const double> inefficiencies,
                                           const Reweighting* near) const {
  std::vector<std::vector<EnergyBin>> bins(part.size());
  std::vector<double> samples;
  for (std::size_t bath = 0; bath < part.size(); ++bath) {
    for (const auto& [number, bin] : part[bath]) {
      if (bin.samples > 0.0) bins[bath].push_back(bin.weighted(1.0 / inefficiencies[bath]));
    }
    samples.push_back(total_samples(bins[bath]));
  }
  return Reweighting(
      beta_, samples, merged(bins, beta_),
      near != nullptr ? near->free_energies() : neighbour_free_energies(beta_, bins));
}

std::optional<Reweighting> MultiHistogram::reweighting() const {
  if (empty()) return std::nullopt;
  return reweighting_of(whole(), statistical_inefficiencies(), nullptr);
}

std::optional<MultiHistogram::Result> MultiHistogram::result() const {
  if (empty()) return std::nullopt;
  const Part all = whole();
  const double samples = samples_of_part(all);
  // The same for all parts: the jackknife does not vary them.
  const std::vector<double> g = statistical_inefficiencies();
  Result result(reweighting_of(all, g, nullptr));
  result.beta_ = beta_;
  result.own_means_ = own_means(all);
  const auto leave_out = [&](const std::vector<Part>& parts) {
    auto& without = result.without_.emplace_back();
    for (const Part& part : parts) {
      const double share = samples_of_part(part) / samples;
      if (share == 0.0 || share == 1.0) continue;
      Part rest = all;
      add_to(rest, part, -1.0);
      without.push_back({reweighting_of(rest, g, &result.all_), share, own_means(rest)});
    }
  };
  leave_out(parts_);
  const std::size_t blocks = parts_.size() / groups_;
  result.has_many_ladders_ = groups_ == kGroups;
  if (result.has_many_ladders_) {
    if (blocks > 1) leave_out(combined_parts(blocks));
    return result;
  }
  // At least four parts: fewer do not determine their spread.
  for (const std::size_t merged : {2u, 4u}) {
    if (blocks > merged && blocks / merged * groups_ >= 4) leave_out(combined_parts(merged));
  }
  if (blocks > 1 && groups_ >= kEnoughLadders) leave_out(combined_parts(blocks));
  return result;
}

std::vector<double> MultiHistogram::own_means(const Part& part) {
  std::vector<double> means;
  for (const Bins& bins : part) {
    double samples = 0.0, value = 0.0;
    for (const auto& [number, bin] : bins) {
      samples += bin.samples;
      value += bin.value;
    }
    means.push_back(samples > 0.5 ? value / samples : std::numeric_limits<double>::quiet_NaN());
  }
  return means;
}

std::vector<double> MultiHistogram::Result::differences(const Reweighting& r,
                                                        std::span<const double> own_means) const {
  std::vector<double> differences;
  for (std::size_t bath = 0; bath < beta_.size(); ++bath) {
    differences.push_back(own_means[bath] - r.at(beta_[bath]).mean);
  }
  return differences;
}

double MultiHistogram::Result::Errors::sigmas(std::size_t i, double value) const {
  return normal_of_t(value / largest[i], static_cast<double>(parts[i]) - 1.0);
}

std::vector<MultiHistogram::Inconsistency> MultiHistogram::Result::inconsistencies() const {
  constexpr double kApart = 4.5;
  std::vector<Inconsistency> found;
  const auto parts = static_cast<double>(without_.front().size());
  if (parts < kEnoughParts || !all_.converged()) return found;
  const std::vector<double> values = differences(all_, own_means_);
  const Errors errors =
      jackknife(values, [this](const Without& w) { return differences(w.rest, w.own_means); });
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (errors.largest[k] > 0.0 && std::abs(errors.sigmas(k, values[k])) > kApart) {
      found.push_back({k, values[k], errors.largest[k]});
    }
  }
  return found;
}

void MultiHistogram::archive(Memory& m) {
  m(block_length_, moments_in_block_, block_is_open_);
  m.list(parts_, [&](Part& part) {
    part.resize(beta_.size());
    for (Bins& bins : part) bins.archive(m);
  });
}
std::vector<double> MultiHistogram::memory() const { return memory_of(*this); }
void MultiHistogram::restore(std::span<const double> memory) { restore_from(memory, *this); }

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
  const auto [offset, beta] = exponents(baths, f);
  double objective = 0.0;
  for (std::size_t k = 0; k < f.size(); ++k) objective -= baths[k].samples * f[k];
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
  const auto [offset, beta] = exponents(baths, f);
  const Eigen::Index size = beta.size();
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
