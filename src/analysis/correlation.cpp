#include "correlation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "blocking.hpp"
#include "core/vector_clones.hpp"
#include "tarn/analysis/cluster.hpp"

namespace tarn::analysis {
namespace {

using Pairs = std::vector<std::int64_t>;

constexpr std::size_t kOrigins = TimeCorrelation::kOrigins;
/// A number for each time origin. Loops over the origins become vector instructions, and each sum
/// has the same order with all of them.
using ByOrigin = std::array<double, kOrigins>;

/// Sums over n molecules of the cosine between two unit vectors, and of its square.
/// @param now [component][molecule] @param then [component][molecule][origin]
TARN_VECTOR_CLONES void cosines(const double* now, const double* then, std::size_t n,
                                ByOrigin& sums, ByOrigin& squares) {
  ByOrigin sum{}, square{};
  for (std::size_t m = 0; m < n; ++m) {
    const double x = now[m], y = now[n + m], z = now[2 * n + m];
    const double* const at = then + m * kOrigins;
    for (std::size_t o = 0; o < kOrigins; ++o) {
      const double cosine = x * at[o] + y * at[n * kOrigins + o] + z * at[2 * n * kOrigins + o];
      sum[o] += cosine;
      square[o] += cosine * cosine;
    }
  }
  sums = sum;
  squares = square;
}

/// Sums of squared differences. @param now [n] @param then [n][origin]
TARN_VECTOR_CLONES void displacements(const double* now, const double* then, std::size_t n,
                                      ByOrigin& squares) {
  ByOrigin square{};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t o = 0; o < kOrigins; ++o) {
      const double moved = now[i] - then[i * kOrigins + o];
      square[o] += moved * moved;
    }
  }
  squares = square;
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
      share_h_(masses_.model.fraction_h),
      then_(3 * kVectors * molecules * kOrigins),
      is_bonded_(molecules * molecules) {}

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

void TimeCorrelation::compare(const Configuration& now, std::size_t first) {
  const std::size_t n = molecules_;
  std::array<ByOrigin, kDisplacement + 1> sums{};
  const auto turned = [&](std::size_t vector, Correlation p1, Correlation p2) {
    ByOrigin sum, squares;
    const std::size_t row = 3 * vector * n;
    cosines(&now.vectors[row], &then_[row * kOrigins], n, sum, squares);
    for (std::size_t o = 0; o < kOrigins; ++o) {
      sums[p1][o] += sum[o];
      sums[p2][o] += 1.5 * squares[o] - 0.5 * static_cast<double>(n);
    }
  };
  turned(0, kOhP1, kOhP2);
  turned(1, kOhP1, kOhP2);
  turned(2, kHhP1, kHhP2);
  turned(3, kDipoleP1, kDipoleP2);
  const std::size_t row = 3 * kTurning * n;
  displacements(&now.vectors[row], &then_[row * kOrigins], 3 * n, sums[kDisplacement]);
  for (const std::int64_t pair : now.bonded) is_bonded_[static_cast<std::size_t>(pair)] = true;
  const auto bonded = [&](std::int64_t pair) { return is_bonded_[static_cast<std::size_t>(pair)]; };
  for (std::size_t k = first; k < origins_.size(); ++k) {
    Origin& origin = origins_[k];
    const std::size_t o = place_of(origin);
    sums[kIntermittentBond][o] =
        static_cast<double>(std::count_if(origin.bonded.begin(), origin.bonded.end(), bonded));
    std::erase_if(origin.still, [&](std::int64_t pair) { return !bonded(pair); });
    sums[kContinuousBond][o] = static_cast<double>(origin.still.size());
    CorrelationWindow& window =
        windows_[static_cast<std::size_t>(window_of(origin) - first_window_)];
    const auto lag = static_cast<std::size_t>(samples_ - origin.born);
    for (std::size_t c = 0; c < kCorrelations; ++c) window.sums[c][lag] += sums[c][o];
  }
  for (const std::int64_t pair : now.bonded) is_bonded_[static_cast<std::size_t>(pair)] = false;
}

CorrelationWindow TimeCorrelation::empty_window() const {
  CorrelationWindow window;
  for (std::vector<double>& sums : window.sums) sums.assign(longest_ + 1, 0.0);
  return window;
}

std::optional<CorrelationWindow> TimeCorrelation::add(std::span<const double> positions_A) {
  const auto step = static_cast<std::int64_t>(spacing(longest_));
  const Configuration now = configuration(positions_A);
  compare(now, 0);
  std::optional<CorrelationWindow> whole;
  if (!origins_.empty() && samples_ - origins_.front().born == std::int64_t(longest_)) {
    if (origins_.front().born / step % std::int64_t{kOrigins} == std::int64_t{kOrigins} - 1) {
      whole = std::move(windows_.front());
      windows_.pop_front();
      ++first_window_;
    }
    origins_.pop_front();
  }
  if (samples_ % step == 0) {
    const Origin& origin = origins_.emplace_back(Origin{samples_, now.bonded, now.bonded});
    const auto window = static_cast<std::size_t>(window_of(origin) - first_window_);
    if (window == windows_.size()) windows_.push_back(empty_window());
    windows_[window].molecules += static_cast<double>(molecules_);
    windows_[window].bonds += static_cast<double>(now.bonded.size());
    for (std::size_t row = 0; row < now.vectors.size(); ++row) {
      then_[row * kOrigins + place_of(origin)] = now.vectors[row];
    }
    compare(now, origins_.size() - 1);
  }
  ++samples_;
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
    m(origin.born);
    const std::int64_t age = samples_ - origin.born, window = window_of(origin) - first_window_;
    Memory::require(origin.born >= 0 && age >= 1 && age <= static_cast<std::int64_t>(longest_) &&
                    window >= 0 && window < std::ssize(windows_));
    for (std::size_t row = 0; row < 3 * kVectors * molecules_; ++row) {
      m(then_[row * kOrigins + place_of(origin)]);
    }
    for (Pairs* pairs : {&origin.bonded, &origin.still}) {
      m.list(*pairs, [&](std::int64_t& pair) {
        m(pair);
        Memory::require(pair >= 0 && pair < std::ssize(is_bonded_));
      });
    }
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
