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
  RingMatrices(int beads, int padded, int lanes)
      : beads_(beads), folded_(beads == padded && beads % (2 * lanes) == 0) {
    const auto p = static_cast<std::size_t>(beads), all = static_cast<std::size_t>(padded);
    const std::size_t half = p / 2;
    to_modes_.assign(folded_ ? 0 : p * all, 0.0);
    to_beads_.assign(to_modes_.size(), 0.0);
    for (AlignedVector<double>* part :
         {&even_to_modes_, &odd_to_modes_, &even_to_beads_, &odd_to_beads_}) {
      part->assign(folded_ ? half * half : 0, 0.0);
    }
    for (std::size_t mode = 0; mode < p; ++mode) {
      for (std::size_t j = 0; j < (folded_ ? half : all); ++j) {
        const double element =
            mode_of_bead(static_cast<int>(mode), j < p ? static_cast<int>(j) : 0, beads);
        if (folded_) {
          const bool even = mode < half;
          const std::size_t m = even ? mode : mode - half;
          (even ? even_to_modes_ : odd_to_modes_)[j * half + m] = element;
          (even ? even_to_beads_ : odd_to_beads_)[m * half + j] = element;
        } else {
          if (j < p) to_modes_[j * all + mode] = element;
          to_beads_[mode * all + j] = element;
        }
      }
    }
  }
  RingTransform to_modes(int packs, int numbers) const {
    return transform(to_modes_, even_to_modes_, odd_to_modes_, packs, numbers, false);
  }
  RingTransform to_beads(int packs, int numbers) const {
    return transform(to_beads_, even_to_beads_, odd_to_beads_, packs, numbers, true);
  }

 private:
  RingTransform transform(const AlignedVector<double>& matrix, const AlignedVector<double>& even,
                          const AlignedVector<double>& odd, int packs, int numbers,
                          bool to_beads) const {
    return {matrix.data(),
            folded_ ? even.data() : nullptr,
            folded_ ? odd.data() : nullptr,
            beads_,
            packs,
            numbers,
            to_beads};
  }

  int beads_;
  bool folded_;
  AlignedVector<double> to_modes_, to_beads_;
  AlignedVector<double> even_to_modes_, odd_to_modes_, even_to_beads_, odd_to_beads_;
};

}  // namespace tarn::cpu
