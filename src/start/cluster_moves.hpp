#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "molecule_frame.hpp"
#include "tarn/physics/pair_force.hpp"
#include "uniform.hpp"

namespace tarn::start {

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
  std::size_t index(std::size_t count);
  Eigen::Vector3d direction();
  Eigen::Quaterniond rotation();

 private:
  std::uint64_t seed_, replica_, hop_, call_ = 0;
  std::array<double, 8> numbers_{};
  std::size_t at_ = 8;
};

/// Trial moves of basin hopping for clusters of rigid molecules. Most of them change a few
/// molecules or one chain of hydrogen bonds and keep the rest; a quench follows each move.
class ClusterMoves {
 public:
  ClusterMoves(const WaterModel& model, int molecules);

  /// Makes one random move.
  /// @param positions_A 9 N, of at least two molecules
  void move(HopRandom& random, std::vector<double>& positions_A);

 private:
  void shake(HopRandom& random);
  void turn_all(HopRandom& random);
  void reinsert_weakest(HopRandom& random, int times);
  void reverse_hydrogen_bonds(HopRandom& random);

  /// Oxygen and site offsets of a molecule, for pair energies.
  struct Sites {
    Vec3<double> o;
    SiteOffsets<double> d;
  };
  Sites sites_of(std::size_t m) const;
  double pair_energy(const Sites& i, const Sites& j) const;
  bool place_at_random(HopRandom& random, std::size_t k);
  bool reverse_one_chain(HopRandom& random);
  int acceptor_of(std::size_t m, int h) const;
  Eigen::Vector3d bond(std::size_t m, int h) const;
  void point_bond(HopRandom& random, std::size_t m, int h, const Eigen::Vector3d& towards);

  WaterModel model_;
  Triangle triangle_;
  PairParameters<double> pair_;
  std::vector<MoleculeFrame> frames_;
};

}  // namespace tarn::start
