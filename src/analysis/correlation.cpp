#include "correlation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "blocking.hpp"
#include "tarn/analysis/cluster.hpp"

namespace tarn::analysis {
namespace {

using Pairs = std::vector<std::int64_t>;

/// Whether pairs, called in order, are in a sorted list.
class Among {
 public:
  explicit Among(const Pairs& others) : at_(others.begin()), end_(others.end()) {}
  bool operator()(std::int64_t pair) {
    while (at_ != end_ && *at_ < pair) ++at_;
    return at_ != end_ && *at_ == pair;
  }

 private:
  Pairs::const_iterator at_, end_;
};

/// Sums of the cosines between two sets of unit vectors, and of their squares.
struct Cosines {
  double sum = 0.0, squares = 0.0;
};
Cosines cosines(const double* a, const double* b, std::size_t n) {
  Cosines c;
  for (std::size_t m = 0; m < n; ++m) {
    const double cosine = a[m] * b[m] + a[n + m] * b[n + m] + a[2 * n + m] * b[2 * n + m];
    c.sum += cosine;
    c.squares += cosine * cosine;
  }
  return c;
}

}  // namespace

double CorrelationWindow::count(std::size_t correlation) const {
  if (is_bond_correlation(correlation)) return bonds;
  return correlation == kOhP1 || correlation == kOhP2 ? 2.0 * molecules : molecules;
}

TimeCorrelation::TimeCorrelation(std::size_t molecules, ClusterMasses masses, std::size_t longest)
    : molecules_(molecules),
      longest_(longest),
      masses_(std::move(masses)),
      share_o_(masses_.model.o / masses_.molecule_Da(0)),
      share_h_(masses_.model.fraction_h) {}

double TimeCorrelation::typical_numbers(double molecules, double longest) {
  // Two bonds per molecule as donor, in `bonded` and in `still`. There are kOrigins origins, plus
  // the one as old as the longest lag.
  const double origin = 3.0 * kVectors * molecules + 2.0 * (2.0 * molecules) + 3.0;
  return (kOrigins + 1) * origin +
         2.0 * (static_cast<double>(kCorrelations) * (longest + 1.0) + 2.0) + 4.0;
}

TimeCorrelation::Configuration TimeCorrelation::configuration(
    std::span<const double> positions_A) const {
  const std::size_t n = molecules_;
  Configuration c;
  c.vectors.resize(3 * kVectors * n);
  using Vector = std::array<double, 3>;
  const auto put = [&](std::size_t vector, std::size_t m, const Vector& d) {
    for (std::size_t k = 0; k < 3; ++k) c.vectors[(3 * vector + k) * n + m] = d[k];
  };
  const auto direction = [](const Vector& d) -> Vector {
    const double length = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    return {d[0] / length, d[1] / length, d[2] / length};
  };
  Vector centre{};
  if (!masses_.isotopes.empty()) {
    const Vec3<double> of_mass = centre_of_mass(positions_A, masses_);
    centre = {of_mass.x, of_mass.y, of_mass.z};
  }
  for (std::size_t m = 0; m < n && masses_.isotopes.empty(); ++m) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double* const at = &positions_A[9 * m + k];
      centre[k] += (share_o_ * at[0] + share_h_ * (at[3] + at[6])) / static_cast<double>(n);
    }
  }
  for (std::size_t m = 0; m < n; ++m) {
    Vector oh1, oh2, hh, dipole, from_centre;
    for (std::size_t k = 0; k < 3; ++k) {
      const double* const at = &positions_A[9 * m + k];
      oh1[k] = at[3] - at[0];
      oh2[k] = at[6] - at[0];
      hh[k] = at[6] - at[3];
      dipole[k] = oh1[k] + oh2[k];
      from_centre[k] = at[0] - centre[k];
    }
    put(0, m, direction(oh1));
    put(1, m, direction(oh2));
    put(2, m, direction(hh));
    put(3, m, direction(dipole));
    put(kTurning, m, from_centre);
  }
  for (const HydrogenBond& bond : hydrogen_bonds(positions_A)) {
    const auto [i, j] = std::minmax(bond.donor, bond.acceptor);
    c.bonded.push_back(std::int64_t{i} * static_cast<std::int64_t>(n) + j);
  }
  std::sort(c.bonded.begin(), c.bonded.end());
  c.bonded.erase(std::unique(c.bonded.begin(), c.bonded.end()), c.bonded.end());
  return c;
}

void TimeCorrelation::compare(const Configuration& now, std::size_t lag, Origin& origin,
                              CorrelationWindow& window) const {
  const std::size_t n = molecules_;
  const auto turned = [&](std::size_t vector, Correlation p1, Correlation p2) {
    const std::size_t at = 3 * vector * n;
    const Cosines c = cosines(&now.vectors[at], &origin.at.vectors[at], n);
    window.sums[p1][lag] += c.sum;
    window.sums[p2][lag] += 1.5 * c.squares - 0.5 * static_cast<double>(n);
  };
  turned(0, kOhP1, kOhP2);
  turned(1, kOhP1, kOhP2);
  turned(2, kHhP1, kHhP2);
  turned(3, kDipoleP1, kDipoleP2);
  double squares = 0.0;
  for (std::size_t i = 3 * kTurning * n; i < 3 * kVectors * n; ++i) {
    const double moved = now.vectors[i] - origin.at.vectors[i];
    squares += moved * moved;
  }
  window.sums[kDisplacement][lag] += squares;
  Among bonded(now.bonded), bonded_still(now.bonded);
  double again = 0.0;
  for (const std::int64_t pair : origin.at.bonded) again += bonded(pair) ? 1.0 : 0.0;
  std::size_t still = 0;
  for (const std::int64_t pair : origin.still) {
    if (bonded_still(pair)) origin.still[still++] = pair;
  }
  origin.still.resize(still);
  window.sums[kIntermittentBond][lag] += again;
  window.sums[kContinuousBond][lag] += static_cast<double>(origin.still.size());
}

CorrelationWindow TimeCorrelation::empty_window() const {
  CorrelationWindow window;
  for (std::vector<double>& sums : window.sums) sums.assign(longest_ + 1, 0.0);
  return window;
}

std::optional<CorrelationWindow> TimeCorrelation::add(std::span<const double> positions_A) {
  const auto step = static_cast<std::int64_t>(spacing(longest_));
  const Configuration now = configuration(positions_A);
  if (samples_ % step == 0) {
    const Origin& origin = origins_.emplace_back(Origin{samples_, now, now.bonded});
    const auto place = static_cast<std::size_t>(window_of(origin) - first_window_);
    if (place == windows_.size()) windows_.push_back(empty_window());
    windows_[place].molecules += static_cast<double>(molecules_);
    windows_[place].bonds += static_cast<double>(now.bonded.size());
  }
  for (Origin& origin : origins_) {
    compare(now, static_cast<std::size_t>(samples_ - origin.born), origin,
            windows_[static_cast<std::size_t>(window_of(origin) - first_window_)]);
  }
  ++samples_;
  if (samples_ - origins_.front().born <= static_cast<std::int64_t>(longest_)) return std::nullopt;
  const bool last = origins_.front().born / step % static_cast<std::int64_t>(kOrigins) ==
                    static_cast<std::int64_t>(kOrigins) - 1;
  origins_.pop_front();
  if (!last) return std::nullopt;
  CorrelationWindow whole = std::move(windows_.front());
  windows_.pop_front();
  ++first_window_;
  return whole;
}

void TimeCorrelation::archive(Memory& m) {
  m(samples_, first_window_);
  m.list(windows_, [&](CorrelationWindow& window) {
    m(window.molecules, window.bonds);
    for (std::vector<double>& sums : window.sums) sums.resize(longest_ + 1);
    m(window.sums);
  });
  m.list(origins_, [&](Origin& origin) {
    origin.at.vectors.resize(3 * kVectors * molecules_);
    m(origin.born, origin.at.vectors);
    for (Pairs* pairs : {&origin.at.bonded, &origin.still}) {
      m.list(*pairs, [&](std::int64_t& pair) { m(pair); });
    }
    const std::int64_t age = samples_ - origin.born, window = window_of(origin) - first_window_;
    Memory::require(age >= 1 && age <= static_cast<std::int64_t>(longest_) && window >= 0 &&
                    window < std::ssize(windows_));
  });
}

double correlation_numbers(double molecules, int followed, int replicas, std::size_t longest,
                           double samples) {
  const auto lags = static_cast<double>(longest);
  const double windows = samples / static_cast<double>(TimeCorrelation::window_samples(longest));
  return followed * TimeCorrelation::typical_numbers(molecules, lags) +
         static_cast<double>(kCorrelations) * (lags + 2.0) *
             PooledBlocking::of_replicas(replicas).max_numbers(windows);
}

}  // namespace tarn::analysis
