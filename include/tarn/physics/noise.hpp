#pragma once

#include <cstdint>

#include "tarn/core/pack.hpp"
#include "tarn/core/philox.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn {
inline namespace TARN_ARCH {

/// Purposes that draw noise; each has numbers of its own.
enum class NoiseStream : std::uint32_t { thermostat = 0, start_velocities = 1, start_cluster = 2 };

/// Philox counter: (step, stream and call, molecule, replica), keyed by the seed.
/// Steps below 2^56, molecules and replicas below 2^32.
template <class U>
TARN_HD PhiloxWords<U> noise_counter(const U& replica, const U& molecule, std::uint64_t step,
                                     NoiseStream stream, std::uint32_t call) {
  const std::uint64_t high = ((step >> 32) << 8) | (static_cast<std::uint32_t>(stream) << 2) | call;
  return {U(step), U(high), molecule, replica};
}
template <class U>
TARN_HD PhiloxWords<U> noise_words(std::uint64_t seed, const U& replica, const U& molecule,
                                   std::uint64_t step, NoiseStream stream, std::uint32_t call) {
  return philox4x32_10(noise_counter(replica, molecule, step, stream, call), seed);
}

/// Nine standard normal numbers of one molecule at one step, as floats: those of the six pairs of
/// words of three Philox calls that come first.
struct MoleculeNormals {
  float xi[9];
};
TARN_HD MoleculeNormals molecule_normals(std::uint64_t seed, std::uint64_t replica,
                                         std::uint64_t molecule, std::uint64_t step,
                                         NoiseStream stream) {
  MoleculeNormals r;
  float pair[2];
  for (std::uint32_t p = 0; p < 5; ++p) {
    const PhiloxWords<std::uint64_t> w =
        noise_words<std::uint64_t>(seed, replica, molecule, step, stream, p / 2);
    const std::uint64_t radius = p % 2 == 0 ? w.w0 : w.w2;
    const std::uint64_t angle = p % 2 == 0 ? w.w1 : w.w3;
    box_muller(static_cast<std::uint32_t>(radius), static_cast<std::uint32_t>(angle), pair[0],
               pair[1]);
    r.xi[2 * p] = pair[0];
    if (p < 4) r.xi[2 * p + 1] = pair[1];
  }
  return r;
}

#if !defined(__CUDACC__)
/// The same numbers for a pack of molecules, widened to double.
TARN_HD Triple<Pack<double>> molecule_normals(std::uint64_t seed,
                                              const Pack<std::uint64_t>& replica,
                                              const Pack<std::uint64_t>& molecule,
                                              std::uint64_t step, NoiseStream stream) {
  PhiloxWords<Pack<std::uint64_t>> w[3] = {noise_counter(replica, molecule, step, stream, 0),
                                           noise_counter(replica, molecule, step, stream, 1),
                                           noise_counter(replica, molecule, step, stream, 2)};
  philox4x32_10(w, seed);
  Pack<double> xi[12];
  TARN_UNROLL(3)
  for (int call = 0; call < 3; ++call) {
    Pack<float> first, second;
    box_muller(narrow(w[call].w0, w[call].w2), narrow(w[call].w1, w[call].w3), first, second);
    widen(first, xi[4 * call], xi[4 * call + 2]);
    widen(second, xi[4 * call + 1], xi[4 * call + 3]);
  }
  return {{xi[0], xi[1], xi[2]}, {xi[3], xi[4], xi[5]}, {xi[6], xi[7], xi[8]}};
}
#endif

}  // namespace TARN_ARCH
}  // namespace tarn
