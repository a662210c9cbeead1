#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "molecule_frame.hpp"
#include "physics/noise.hpp"
#include "physics/pair_force.hpp"
#include "tarn/core/units.hpp"
#include "tarn/physics/parameters.hpp"

namespace tarn::start {

/// Eight uniform numbers in (0, 1), a function of (seed, replica, molecule, draw).
inline std::array<double, 8> uniforms(std::uint64_t seed, std::uint64_t replica,
                                      std::uint64_t molecule, std::uint64_t draw) {
  std::array<double, 8> u;
  for (std::uint32_t call = 0; call < 2; ++call) {
    const PhiloxWords<std::uint64_t> w =
        noise_words<std::uint64_t>(seed, replica, molecule, draw, NoiseStream::start_cluster, call);
    const std::uint64_t words[4] = {w.w0, w.w1, w.w2, w.w3};
    for (std::size_t i = 0; i < 4; ++i) {
      u[4 * call + i] = (static_cast<double>(words[i] & 0xffffffffu) + 0.5) * 0x1p-32;
    }
  }
  return u;
}

/// A direction uniformly distributed on the sphere, from two uniform numbers.
inline Eigen::Vector3d random_direction(double u, double v) {
  const double z = 1.0 - 2.0 * u, r = std::sqrt(1.0 - z * z), angle = 2.0 * units::pi * v;
  return {r * std::cos(angle), r * std::sin(angle), z};
}

/// A uniformly distributed rotation, from three uniform numbers (Shoemake 1992).
inline Eigen::Quaterniond random_rotation(double u, double v, double w) {
  const double a = std::sqrt(1.0 - u), b = std::sqrt(u);
  const double s = 2.0 * units::pi * v, t = 2.0 * units::pi * w;
  return Eigen::Quaterniond(b * std::cos(t), a * std::sin(s), a * std::cos(s), b * std::sin(t))
      .normalized();
}

/// The sequence of uniform numbers in (0, 1) of one hop.
class HopRandom {
 public:
  /// @param hop counted from 0
  HopRandom(std::uint64_t seed, std::uint64_t replica, std::uint64_t hop)
      // random_cluster() uses the draws below 2^32.
      : seed_(seed), replica_(replica), hop_((hop + 1) << 32) {}

  double next() {
    if (at_ == numbers_.size()) {
      numbers_ = uniforms(seed_, replica_, call_++, hop_);
      at_ = 0;
    }
    return numbers_[at_++];
  }
  /// A random integer from 0 to count - 1.
  std::size_t index(std::size_t count) {
    return std::min(static_cast<std::size_t>(next() * static_cast<double>(count)), count - 1);
  }
  Eigen::Vector3d direction() {
    const double u = next(), v = next();
    return random_direction(u, v);
  }
  Eigen::Quaterniond rotation() {
    const double u = next(), v = next(), w = next();
    return random_rotation(u, v, w);
  }

 private:
  std::uint64_t seed_, replica_, hop_, call_ = 0;
  std::array<double, 8> numbers_{};
  std::size_t at_ = 8;
};

/// Trial moves of basin hopping for clusters of rigid molecules. Most of them change a few
/// molecules or one chain of hydrogen bonds and keep the rest; a quench follows each move.
class ClusterMoves {
 public:
  ClusterMoves(const WaterModel& model, int molecules)
      : model_(model),
        triangle_(model),
        pair_(pair_parameters<double>(model)),
        frames_(static_cast<std::size_t>(molecules)) {}

  /// Makes one random move.
  /// @param positions_A 9 N, of at least two molecules
  void move(HopRandom& random, std::vector<double>& x) {
    for (std::size_t m = 0; m < frames_.size(); ++m) {
      MoleculeFrame::nearest_rigid(model_, &x[9 * m], frames_[m]);
    }
    double choice = random.next() * std::accumulate(kFrequencies.begin(), kFrequencies.end(), 0.0);
    int kind = 0;
    while (kind < kKinds - 1 && choice > kFrequencies[static_cast<std::size_t>(kind)]) {
      choice -= kFrequencies[static_cast<std::size_t>(kind++)];
    }
    if (kind == kShake) shake(random);
    if (kind == kTurnAll) turn_all(random);
    if (kind == kOneWeak) reinsert_weakest(random, 1);
    if (kind == kTwoWeak) reinsert_weakest(random, 2);
    if (kind == kReverse) reverse_hydrogen_bonds(random);
    for (std::size_t m = 0; m < frames_.size(); ++m) frames_[m].place(triangle_, &x[9 * m]);
  }

 private:
  /// Relative frequencies of the kinds of moves.
  enum Kind { kShake, kTurnAll, kOneWeak, kTwoWeak, kReverse, kKinds };
  static constexpr std::array<double, kKinds> kFrequencies{0.2, 0.2, 1.0, 1.0, 2.0};

  /// Shakes: edge of the box of translations [A], and the largest rotation [rad].
  static constexpr double kShakeBox_A = 0.6, kShakeTurn = 2.4;
  /// Mean rank of the molecule that is reinserted, counted from the most weakly bound one.
  static constexpr double kMeanRank = 2.0;
  /// Places to try per molecule, and the smallest distance to other oxygens [A].
  static constexpr int kPlaces = 30, kTriesOfAPlace = 200;
  static constexpr double kNearestOxygens_A = 2.4;
  /// Largest H...O distance of a hydrogen bond in these moves [A].
  static constexpr double kLongestBond_A = 2.5;
  static constexpr int kMaxChains = 3, kTriesOfAChain = 20;

  void shake(HopRandom& random) {
    for (MoleculeFrame& f : frames_) {
      const double x = random.next() - 0.5, y = random.next() - 0.5, z = random.next() - 0.5;
      const double turn = kShakeTurn * random.next();
      f = f.moved(kShakeBox_A * Eigen::Vector3d(x, y, z), turn * random.direction());
    }
  }
  void turn_all(HopRandom& random) {
    for (MoleculeFrame& f : frames_) f.rotation = random.rotation();
  }
  /// Moves weakly bound molecules to the best of several random places in or on the cluster
  /// (Takeuchi 2008 moves the molecules of highest energy).
  void reinsert_weakest(HopRandom& random, int times) {
    const std::size_t n = frames_.size();
    std::vector<Sites> sites(n);
    for (std::size_t m = 0; m < n; ++m) sites[m] = sites_of(m);
    std::vector<double> energy(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) {
        const double both = pair_energy(sites[i], sites[j]);
        energy[i] += both;
        energy[j] += both;
      }
    }
    std::vector<std::size_t> weakest(n);
    std::iota(weakest.begin(), weakest.end(), std::size_t{0});
    std::stable_sort(weakest.begin(), weakest.end(),
                     [&](std::size_t a, std::size_t b) { return energy[a] > energy[b]; });
    for (int t = 0; t < times; ++t) {
      const double rank = -kMeanRank * std::log(random.next());
      const std::size_t k =
          weakest[static_cast<std::size_t>(std::min(rank, static_cast<double>(n - 1)))];
      MoleculeFrame best = frames_[k];
      double lowest = std::numeric_limits<double>::infinity();
      for (int p = 0; p < kPlaces; ++p) {
        if (!place_at_random(random, k)) continue;
        const Sites own = sites_of(k);
        double here = 0.0;
        for (std::size_t m = 0; m < n; ++m) {
          if (m != k) here += pair_energy(own, sites[m]);
        }
        if (!(here < lowest)) continue;
        lowest = here;
        best = frames_[k];
      }
      frames_[k] = best;
      sites[k] = sites_of(k);
    }
  }
  /// Reverses rings or chains of hydrogen bonds: the proton order changes and the oxygens stay
  /// (Rahman & Stillinger 1972).
  void reverse_hydrogen_bonds(HopRandom& random) {
    const std::size_t chains = 1 + random.index(kMaxChains);
    std::size_t done = 0;
    for (int t = 0; t < kTriesOfAChain && done < chains; ++t) {
      if (reverse_one_chain(random)) ++done;
    }
  }

  /// Oxygen and site offsets of a molecule, for pair energies.
  struct Sites {
    Vec3<double> o;
    SiteOffsets<double> d;
  };
  Sites sites_of(std::size_t m) const {
    const auto vector = [](const Eigen::Vector3d& a) -> Vec3<double> {
      return {a.x(), a.y(), a.z()};
    };
    const Vec3<double> h1 = vector(bond(m, 0)), h2 = vector(bond(m, 1));
    return {vector(frames_[m].origin), {h1, h2, pair_.m_weight * (h1 + h2)}};
  }
  double pair_energy(const Sites& i, const Sites& j) const {
    double coulomb = 0.0, lj = 0.0;
    if (model_.has_m_site()) {
      add_pair_energy<true>(pair_, i.o - j.o, i.d, j.d, AllLanes{}, coulomb, lj);
    } else {
      add_pair_energy<false>(pair_, i.o - j.o, i.d, j.d, AllLanes{}, coulomb, lj);
    }
    return coulomb + lj;
  }
  /// Puts molecule k at a random place in or on the cluster that does not overlap the others.
  /// @return false, and the molecule unchanged, if no such place is found
  bool place_at_random(HopRandom& random, std::size_t k) {
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    for (const MoleculeFrame& f : frames_) centre += f.origin;
    centre /= static_cast<double>(frames_.size());
    double radius = 0.0;
    for (const MoleculeFrame& f : frames_) radius = std::max(radius, (f.origin - centre).norm());
    for (int t = 0; t < kTriesOfAPlace; ++t) {
      const double distance = (radius + 1.0) * std::cbrt(random.next());
      const Eigen::Vector3d place = centre + distance * random.direction();
      bool clear = true;
      for (std::size_t m = 0; m < frames_.size() && clear; ++m) {
        clear = m == k || (frames_[m].origin - place).norm() > kNearestOxygens_A;
      }
      if (!clear) continue;
      frames_[k] = {place, random.rotation()};
      return true;
    }
    return false;
  }
  /// Follows hydrogen bonds from donor to acceptor, starting at a random molecule, to a free
  /// hydrogen or back to a molecule of the chain. In the second case only the ring is reversed.
  /// @return false if there is no chain, or a ring of two
  bool reverse_one_chain(HopRandom& random) {
    std::vector<std::pair<std::size_t, int>> chain;  // molecule, and its donating hydrogen
    std::vector<int> place(frames_.size(), -1);
    std::size_t here = random.index(frames_.size());
    int back = -1;
    for (;;) {
      place[here] = static_cast<int>(chain.size());
      const int h = random.next() < 0.5 ? 0 : 1;
      chain.emplace_back(here, h);
      const int next = acceptor_of(here, h);
      if (next < 0) break;
      here = static_cast<std::size_t>(next);
      back = place[here];
      if (back >= 0) break;
    }
    const bool ring = back >= 0;
    if (ring) chain.erase(chain.begin(), chain.begin() + back);
    const std::size_t length = chain.size();
    if (length < (ring ? 3u : 2u)) return false;
    const auto turn_back = [&](std::size_t at) {
      const auto [m, h] = chain[at];
      const std::size_t donor = chain[(at + length - 1) % length].first;
      point_bond(random, m, h, frames_[donor].origin - frames_[m].origin);
    };
    for (std::size_t at = ring ? 0 : 1; at < length; ++at) turn_back(at);
    if (!ring) {
      // The hydrogen of the first molecule becomes free: rotate it by a third of a turn.
      const auto [m, h] = chain.front();
      const double third = (random.next() < 0.5 ? 2.0 : -2.0) * units::pi / 3.0;
      frames_[m] = frames_[m].moved(Eigen::Vector3d::Zero(), third * bond(m, 1 - h).normalized());
    }
    return true;
  }
  /// The molecule that accepts the hydrogen bond of hydrogen h, or -1.
  int acceptor_of(std::size_t m, int h) const {
    const Eigen::Vector3d hydrogen = frames_[m].origin + bond(m, h);
    int nearest = -1;
    double distance = kLongestBond_A;
    for (std::size_t j = 0; j < frames_.size(); ++j) {
      const double r = (frames_[j].origin - hydrogen).norm();
      if (j == m || r >= distance) continue;
      distance = r;
      nearest = static_cast<int>(j);
    }
    return nearest;
  }
  /// The vector from the oxygen to hydrogen h, 0 or 1.
  Eigen::Vector3d bond(std::size_t m, int h) const {
    return frames_[m].rotation * (h == 0 ? triangle_.h1 : triangle_.h2);
  }
  /// Rotates a molecule about its other bond to bring bond h as close to a direction as possible.
  void point_bond(HopRandom& random, std::size_t m, int h, const Eigen::Vector3d& towards) {
    constexpr double kNoAngle_A = 1e-3;
    const Eigen::Vector3d axis = bond(m, 1 - h).normalized();
    const auto across = [&](const Eigen::Vector3d& a) -> Eigen::Vector3d {
      return a - a.dot(axis) * axis;
    };
    const Eigen::Vector3d from = across(bond(m, h)), to = across(towards);
    if (to.norm() < kNoAngle_A) {
      frames_[m].rotation = random.rotation();
      return;
    }
    const double angle = std::atan2(axis.dot(from.cross(to)), from.dot(to));
    frames_[m] = frames_[m].moved(Eigen::Vector3d::Zero(), angle * axis);
  }

  WaterModel model_;
  Triangle triangle_;
  PairParameters<double> pair_;
  std::vector<MoleculeFrame> frames_;
};

}  // namespace tarn::start
