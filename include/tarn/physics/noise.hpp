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

/// The bits of five pairs of normal numbers, from eight words, each bit used once: four pairs take
/// the high bits of two words each, the fifth what they leave.
template <class U>
struct NormalBits {
  U radius[5], angle[5];  ///< 27 and 24 bits
};
template <class U>
TARN_HD NormalBits<U> normal_bits(const U (&w)[8]) {
  NormalBits<U> r;
  TARN_UNROLL(4)
  for (int p = 0; p < 4; ++p) {
    r.radius[p] = w[2 * p] >> 5;
    r.angle[p] = w[2 * p + 1] >> 8;
  }
  const auto low = [](const U& word, std::uint32_t mask, int to) {
    return (word << to) & U(mask << to);
  };
  r.radius[4] = low(w[0], 31u, 0) ^ low(w[2], 31u, 5) ^ low(w[4], 31u, 10) ^ low(w[6], 31u, 15) ^
                low(w[7], 127u, 20);
  r.angle[4] = low(w[1], 255u, 0) ^ low(w[3], 255u, 8) ^ low(w[5], 255u, 16);
  return r;
}

/// Nine standard normal numbers of one molecule at one step, as floats, from two Philox calls.
struct MoleculeNormals {
  float xi[9];
};
TARN_HD MoleculeNormals molecule_normals(std::uint64_t seed, std::uint64_t replica,
                                         std::uint64_t molecule, std::uint64_t step,
                                         NoiseStream stream) {
  using U = std::uint64_t;
  PhiloxWords<U> c[2] = {noise_counter<U>(replica, molecule, step, stream, 0),
                         noise_counter<U>(replica, molecule, step, stream, 1)};
  philox4x32_10(c, seed);
  std::uint32_t w[8];
  for (int call = 0; call < 2; ++call) {
    w[4 * call] = static_cast<std::uint32_t>(c[call].w0);
    w[4 * call + 1] = static_cast<std::uint32_t>(c[call].w1);
    w[4 * call + 2] = static_cast<std::uint32_t>(c[call].w2);
    w[4 * call + 3] = static_cast<std::uint32_t>(c[call].w3);
  }
  const NormalBits<std::uint32_t> bits = normal_bits(w);
  MoleculeNormals r;
  for (int p = 0; p < 5; ++p) {
    float first, second;
    box_muller(bits.radius[p], bits.angle[p], first, second);
    r.xi[2 * p] = first;
    if (p < 4) r.xi[2 * p + 1] = second;
  }
  return r;
}

#if !defined(__CUDACC__)
/// The names of a pack of molecules.
struct NoisePack {
  Pack<std::uint64_t> replica, molecule;
};
/// The same numbers for two packs of molecules, one after the other in the lanes.
TARN_HD Triple<Pack<float>> molecule_normals(std::uint64_t seed, const NoisePack (&names)[2],
                                             std::uint64_t step, NoiseStream stream) {
  using U64 = Pack<std::uint64_t>;
  PhiloxWords<U64> c[4] = {
      noise_counter(names[0].replica, names[0].molecule, step, stream, 0),
      noise_counter(names[0].replica, names[0].molecule, step, stream, 1),
      noise_counter(names[1].replica, names[1].molecule, step, stream, 0),
      noise_counter(names[1].replica, names[1].molecule, step, stream, 1),
  };
  philox4x32_10(c, seed);
  Pack<std::uint32_t> w[8];
  TARN_UNROLL(2)
  for (int call = 0; call < 2; ++call) {
    w[4 * call] = narrow(c[call].w0, c[2 + call].w0);
    w[4 * call + 1] = narrow(c[call].w1, c[2 + call].w1);
    w[4 * call + 2] = narrow(c[call].w2, c[2 + call].w2);
    w[4 * call + 3] = narrow(c[call].w3, c[2 + call].w3);
  }
  const NormalBits<Pack<std::uint32_t>> bits = normal_bits(w);
  Pack<float> xi[10];
  TARN_UNROLL(5)
  for (int p = 0; p < 5; ++p) {
    box_muller(bits.radius[p], bits.angle[p], xi[2 * p], xi[2 * p + 1]);
  }
  return {{xi[0], xi[1], xi[2]}, {xi[3], xi[4], xi[5]}, {xi[6], xi[7], xi[8]}};
}
/// The same as doubles, of each of the two packs.
TARN_HD void molecule_normals(std::uint64_t seed, const NoisePack (&names)[2], std::uint64_t step,
                              NoiseStream stream, Triple<Pack<double>> (&out)[2]) {
  const Triple<Pack<float>> xi = molecule_normals(seed, names, step, stream);
  widen(xi.o, out[0].o, out[1].o);
  widen(xi.h1, out[0].h1, out[1].h1);
  widen(xi.h2, out[0].h2, out[1].h2);
}
#endif

}  // namespace TARN_ARCH
}  // namespace tarn
