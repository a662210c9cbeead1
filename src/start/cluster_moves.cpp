#include "cluster_moves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tarn/core/units.hpp"
#include "tarn/physics/parameters.hpp"

namespace tarn::start {
namespace {

using Eigen::Vector3d;

/// How often each kind of move is made, in parts of their sum.
enum Kind { kShake, kTurnAll, kOneWeak, kTwoWeak, kReverse, kKinds };
constexpr std::array<double, kKinds> kParts{0.2, 0.2, 1.0, 1.0, 2.0};

/// Shakes: a box of places [A], and the largest turn [rad].
constexpr double kShakeBox_A = 0.6, kShakeTurn = 2.4;
/// Of the molecules by energy, from the weakest on, the place that is taken has this mean.
constexpr double kMeanPlace = 2.0;
/// Places that are tried for a molecule, and how near it may come to others there [A].
constexpr int kPlaces = 30, kTriesOfAPlace = 200;
constexpr double kNearestOxygens_A = 2.4;
/// A hydrogen bond, as far as moves are concerned: H...O no longer than this [A].
constexpr double kLongestBond_A = 2.5;
constexpr int kMostChains = 3, kTriesOfAChain = 20;

}  // namespace

std::size_t HopDraws::index(std::size_t count) {
  return std::min(static_cast<std::size_t>(next() * static_cast<double>(count)), count - 1);
}
Vector3d HopDraws::direction() {
  const double u = next(), v = next();
  return random_direction(u, v);
}
Eigen::Quaterniond HopDraws::rotation() {
  const double u = next(), v = next(), w = next();
  return random_rotation(u, v, w);
}

ClusterMoves::ClusterMoves(const WaterModel& model, int molecules)
    : model_(model),
      triangle_(model),
      pair_(pair_parameters<double>(model)),
      frames_(static_cast<std::size_t>(molecules)) {}

void ClusterMoves::move(HopDraws& draws, std::vector<double>& x) {
  for (std::size_t m = 0; m < frames_.size(); ++m) {
    MoleculeFrame::nearest_rigid(model_, &x[9 * m], frames_[m]);
  }
  double part = draws.next() * std::accumulate(kParts.begin(), kParts.end(), 0.0);
  int kind = 0;
  while (kind < kKinds - 1 && part > kParts[static_cast<std::size_t>(kind)]) {
    part -= kParts[static_cast<std::size_t>(kind++)];
  }
  switch (kind) {
    case kShake:
      shake(draws);
      break;
    case kTurnAll:
      turn_all(draws);
      break;
    case kOneWeak:
      reinsert_weakest(draws, 1);
      break;
    case kTwoWeak:
      reinsert_weakest(draws, 2);
      break;
    default:
      reverse_hydrogen_bonds(draws);
  }
  for (std::size_t m = 0; m < frames_.size(); ++m) frames_[m].place(triangle_, &x[9 * m]);
}

void ClusterMoves::shake(HopDraws& draws) {
  for (MoleculeFrame& f : frames_) {
    const double x = draws.next() - 0.5, y = draws.next() - 0.5, z = draws.next() - 0.5;
    const double turn = kShakeTurn * draws.next();
    f = f.moved(kShakeBox_A * Vector3d(x, y, z), turn * draws.direction());
  }
}

void ClusterMoves::turn_all(HopDraws& draws) {
  for (MoleculeFrame& f : frames_) f.rotation = draws.rotation();
}

ClusterMoves::Sites ClusterMoves::sites_of(std::size_t m) const {
  const auto vector = [](const Vector3d& a) -> Vec3<double> { return {a.x(), a.y(), a.z()}; };
  const Vec3<double> h1 = vector(bond(m, 0)), h2 = vector(bond(m, 1));
  return {vector(frames_[m].origin), {h1, h2, pair_.m_weight * (h1 + h2)}};
}

double ClusterMoves::pair_energy(const Sites& i, const Sites& j) const {
  double coulomb = 0.0, lj = 0.0;
  if (model_.has_m_site()) {
    add_pair_energy<true>(pair_, i.o - j.o, i.d, j.d, AllLanes{}, coulomb, lj);
  } else {
    add_pair_energy<false>(pair_, i.o - j.o, i.d, j.d, AllLanes{}, coulomb, lj);
  }
  return coulomb + lj;
}

/// Takes out molecules that are held weakly, and puts each at the best of some places in the
/// cluster or on it (as Takeuchi 2008 moves those of highest energy).
void ClusterMoves::reinsert_weakest(HopDraws& draws, int times) {
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
    const double place = -kMeanPlace * std::log(draws.next());
    const std::size_t k =
        weakest[static_cast<std::size_t>(std::min(place, static_cast<double>(n - 1)))];
    MoleculeFrame best = frames_[k];
    double lowest = std::numeric_limits<double>::infinity();
    for (int p = 0; p < kPlaces; ++p) {
      if (!place_at_random(draws, k)) continue;
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

/// Puts molecule k at a random place within the cluster or on it, clear of the others.
/// @return false, and the molecule where it was, if there is none to be found
bool ClusterMoves::place_at_random(HopDraws& draws, std::size_t k) {
  Vector3d centre = Vector3d::Zero();
  for (const MoleculeFrame& f : frames_) centre += f.origin;
  centre /= static_cast<double>(frames_.size());
  double radius = 0.0;
  for (const MoleculeFrame& f : frames_) radius = std::max(radius, (f.origin - centre).norm());
  for (int t = 0; t < kTriesOfAPlace; ++t) {
    const double distance = (radius + 1.0) * std::cbrt(draws.next());
    const Vector3d place = centre + distance * draws.direction();
    bool clear = true;
    for (std::size_t m = 0; m < frames_.size() && clear; ++m) {
      clear = m == k || (frames_[m].origin - place).norm() > kNearestOxygens_A;
    }
    if (!clear) continue;
    frames_[k] = {place, draws.rotation()};
    return true;
  }
  return false;
}

/// From oxygen to hydrogen h, 0 or 1.
Vector3d ClusterMoves::bond(std::size_t m, int h) const {
  return frames_[m].rotation * (h == 0 ? triangle_.h1 : triangle_.h2);
}

/// The molecule to whose oxygen a hydrogen is bound, or -1.
int ClusterMoves::acceptor_of(std::size_t m, int h) const {
  const Vector3d hydrogen = frames_[m].origin + bond(m, h);
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

/// Turns a molecule about its other bond until bond h points as far towards a direction as it can.
void ClusterMoves::point_bond(HopDraws& draws, std::size_t m, int h, const Vector3d& towards) {
  constexpr double kNoAngle_A = 1e-3;
  const Vector3d axis = bond(m, 1 - h).normalized();
  const auto across = [&](const Vector3d& a) -> Vector3d { return a - a.dot(axis) * axis; };
  const Vector3d from = across(bond(m, h)), to = across(towards);
  if (to.norm() < kNoAngle_A) {
    frames_[m].rotation = draws.rotation();
    return;
  }
  const double angle = std::atan2(axis.dot(from.cross(to)), from.dot(to));
  frames_[m] = frames_[m].moved(Vector3d::Zero(), angle * axis);
}

/// Reverses rings or chains of hydrogen bonds, which changes the order of the protons and leaves
/// the oxygens (Rahman & Stillinger 1972).
void ClusterMoves::reverse_hydrogen_bonds(HopDraws& draws) {
  const std::size_t chains = 1 + draws.index(kMostChains);
  std::size_t done = 0;
  for (int t = 0; t < kTriesOfAChain && done < chains; ++t) {
    if (reverse_one_chain(draws)) ++done;
  }
}

/// Follows bonds from donor to acceptor, from a random molecule to a hydrogen that is free, or back
/// to a molecule that was met: there it leaves the ring only.
/// @return false if there was no chain, or a ring of two
bool ClusterMoves::reverse_one_chain(HopDraws& draws) {
  std::vector<std::pair<std::size_t, int>> chain;  // molecule, and which hydrogen goes on
  std::vector<int> place(frames_.size(), -1);
  std::size_t here = draws.index(frames_.size());
  int back = -1;
  for (;;) {
    place[here] = static_cast<int>(chain.size());
    const int h = draws.next() < 0.5 ? 0 : 1;
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
    point_bond(draws, m, h, frames_[donor].origin - frames_[m].origin);
  };
  for (std::size_t at = ring ? 0 : 1; at < length; ++at) turn_back(at);
  if (!ring) {
    // The hydrogen of the first one gets free, a third of a turn away.
    const auto [m, h] = chain.front();
    const double third = (draws.next() < 0.5 ? 2.0 : -2.0) * units::pi / 3.0;
    frames_[m] = frames_[m].moved(Vector3d::Zero(), third * bond(m, 1 - h).normalized());
  }
  return true;
}

}  // namespace tarn::start
