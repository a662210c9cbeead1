#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "molecule_frame.hpp"
#include "tarn/physics/pair_force.hpp"
#include "uniform.hpp"

namespace tarn::start {

/// Uniform numbers in (0, 1) of one hop, one after the other.
class HopDraws {
 public:
  /// @param hop from 0 on
  HopDraws(std::uint64_t seed, std::uint64_t replica, std::uint64_t hop)
      // random_cluster() has the draws below 2^32.
      : seed_(seed), replica_(replica), hop_((hop + 1) << 32) {}

  double next() {
    if (at_ == numbers_.size()) {
      numbers_ = uniforms(seed_, replica_, call_++, hop_);
      at_ = 0;
    }
    return numbers_[at_++];
  }
  /// One of 0 ... count - 1.
  std::size_t index(std::size_t count);
  Eigen::Vector3d direction();
  Eigen::Quaterniond rotation();

 private:
  std::uint64_t seed_, replica_, hop_, call_ = 0;
  std::array<double, 8> numbers_{};
  std::size_t at_ = 8;
};

/// Moves that lead from one minimum of a cluster of rigid molecules to others, once it is quenched:
/// mostly those that change a few molecules or a chain of hydrogen bonds, and leave the rest.
class ClusterMoves {
 public:
  ClusterMoves(const WaterModel& model, int molecules);

  /// Makes one move, chosen by the draws.
  /// @param positions_A 9 N, of at least two molecules
  void move(HopDraws& draws, std::vector<double>& positions_A);

 private:
  void shake(HopDraws& draws);
  void turn_all(HopDraws& draws);
  void reinsert_weakest(HopDraws& draws, int times);
  void reverse_hydrogen_bonds(HopDraws& draws);

  /// Oxygen and offsets of a molecule, for energies of pairs.
  struct Sites {
    Vec3<double> o;
    SiteOffsets<double> d;
  };
  Sites sites_of(std::size_t m) const;
  double pair_energy(const Sites& i, const Sites& j) const;
  bool place_at_random(HopDraws& draws, std::size_t k);
  bool reverse_one_chain(HopDraws& draws);
  int acceptor_of(std::size_t m, int h) const;
  Eigen::Vector3d bond(std::size_t m, int h) const;
  void point_bond(HopDraws& draws, std::size_t m, int h, const Eigen::Vector3d& towards);

  WaterModel model_;
  Triangle triangle_;
  PairParameters<double> pair_;
  std::vector<MoleculeFrame> frames_;
};

}  // namespace tarn::start
