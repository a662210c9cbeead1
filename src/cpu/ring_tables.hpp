#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

#include "aligned.hpp"
#include "kernel_table.hpp"
#include "tarn/physics/ring_polymer.hpp"

namespace tarn::cpu {

/// Constants of the modes of ring polymers at one temperature.
class RingTable {
 public:
  /// @param padded number of modes with padding, which stays at rest
  RingTable(const System& system, double temperature_K, std::size_t padded)
      : temperature_K_(temperature_K) {
    for (AlignedVector<double>* numbers :
         {&cosine_, &sine_over_omega_, &omega_sine_, &decay_o_, &decay_h_, &kick_o_, &kick_h_}) {
      numbers->assign(padded, 0.0);
    }
    for (int mode = 0; mode < system.path_integral.beads; ++mode) {
      const auto k = static_cast<std::size_t>(mode);
      const RingMode m = ring_mode(system, mode, temperature_K);
      cosine_[k] = m.cosine;
      sine_over_omega_[k] = m.sine_over_omega;
      omega_sine_[k] = m.omega_sine;
      decay_o_[k] = m.ou.decay_o;
      decay_h_[k] = m.ou.decay_h;
      kick_o_[k] = m.ou.kick_o;
      kick_h_[k] = m.ou.kick_h;
      springs_.push_back(m.spring);
    }
  }
  double temperature_K() const { return temperature_K_; }
  /// omega_k^2 by mode.
  const std::vector<double>& springs() const { return springs_; }
  RingConstants constants() const {
    return {cosine_.data(),  sine_over_omega_.data(), omega_sine_.data(), decay_o_.data(),
            decay_h_.data(), kick_o_.data(),          kick_h_.data()};
  }

 private:
  double temperature_K_;
  AlignedVector<double> cosine_, sine_over_omega_, omega_sine_, decay_o_, decay_h_, kick_o_,
      kick_h_;
  std::vector<double> springs_;
};

/// The matrices between beads and modes. Padding lanes of beads repeat bead 0, so that their forces
/// are finite; those of modes are 0.
class RingMatrices {
 public:
  RingMatrices(int beads, std::size_t padded) : beads_(beads) {
    const auto p = static_cast<std::size_t>(beads);
    to_modes_.assign(p * padded, 0.0);
    to_beads_.assign(p * padded, 0.0);
    for (int mode = 0; mode < beads; ++mode) {
      for (std::size_t j = 0; j < padded; ++j) {
        const int bead = j < p ? static_cast<int>(j) : 0;
        const double element = mode_of_bead(mode, bead, beads);
        if (j < p) to_modes_[j * padded + static_cast<std::size_t>(mode)] = element;
        to_beads_[static_cast<std::size_t>(mode) * padded + j] = element;
      }
    }
  }
  RingTransform to_modes(int packs, int numbers) const {
    return {to_modes_.data(), beads_, packs, numbers};
  }
  RingTransform to_beads(int packs, int numbers) const {
    return {to_beads_.data(), beads_, packs, numbers};
  }

 private:
  int beads_;
  AlignedVector<double> to_modes_, to_beads_;
};

}  // namespace tarn::cpu
