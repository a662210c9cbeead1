#pragma once

#include <cstdint>

#include "core/pack.hpp"
#include "tarn/core/philox.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn::inline TARN_ARCH {

/// Uses of random numbers; each has an independent stream.
enum class NoiseStream : std::uint32_t {
  thermostat = 0,
  start_velocities = 1,
  start_cluster = 2,
  exchange = 3  ///< replica: the first of a ladder; molecule: position in the ladder
};

/// The Philox counter (step, stream and call, molecule, replica), equation (22); the seed is the
/// key. Steps must be below 2^56, molecules and replicas below 2^32.
template <class R, class M>
TARN_HD PhiloxWords<std::uint64_t, std::uint64_t, M, R> noise_counter(const R& replica,
                                                                      const M& molecule,
                                                                      std::uint64_t step,
                                                                      NoiseStream stream,
                                                                      std::uint32_t call) {
  const std::uint64_t high = ((step >> 32) << 8) | (static_cast<std::uint32_t>(stream) << 2) | call;
  return {step, high, molecule, replica};
}
template <class U>
TARN_HD PhiloxWords<U> noise_words(std::uint64_t seed, const U& replica, const U& molecule,
                                   std::uint64_t step, NoiseStream stream, std::uint32_t call) {
  const PhiloxWords<std::uint64_t, std::uint64_t, U, U> c[1] = {
      noise_counter(replica, molecule, step, stream, call)};
  PhiloxWords<U> r[1];
  philox4x32_10(c, seed, r);
  return r[0];
}

/// The bits of five pairs of normal numbers, from eight words, equation (23). Each bit is used
/// once: four pairs take the high bits of two words each, the fifth pair takes the remaining bits.
/// They are the highest 27 and 24 bits, as box_muller() expects.
template <class U>
struct NormalBits {
  U radius[5], angle[5];
};
template <class U>
TARN_HD NormalBits<U> normal_bits(const U (&w)[8]) {
  const U five(31u), seven(127u), eight(255u);
  const U radius = (w[0] << 5) ^ (w[2] & five);
  const U radius_4 = (((radius << 5) ^ (w[4] & five)) << 5) ^ (w[6] & five);
  const U angle = (((w[1] << 8) ^ (w[3] & eight)) << 8) ^ (w[5] & eight);
  return {{w[0], w[2], w[4], w[6], ((radius_4 << 7) ^ (w[7] & seven)) << 5},
          {w[1], w[3], w[5], w[7], angle << 8}};
}

/// Nine standard normal numbers of one molecule at one step, as floats, from two Philox calls.
struct MoleculeNormals {
  float xi[9];
};
TARN_HD MoleculeNormals molecule_normals(std::uint64_t seed, std::uint64_t replica,
                                         std::uint64_t molecule, std::uint64_t step,
                                         NoiseStream stream) {
  using Word = std::uint64_t;
  const PhiloxWords<Word> counters[2] = {noise_counter(replica, molecule, step, stream, 0),
                                         noise_counter(replica, molecule, step, stream, 1)};
  PhiloxWords<Word> c[2];
  philox4x32_10(counters, seed, c);
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
/// Replica and molecule numbers of a pack; a number that is the same in all lanes may be a scalar.
template <class R, class M>
struct NoisePack {
  R replica;
  M molecule;
};
/// The same numbers for two packs of molecules, in consecutive lanes.
template <class R, class M>
TARN_HD Triple<Pack<float>> molecule_normals(const PhiloxKeys& seed,
                                             const NoisePack<R, M> (&names)[2], std::uint64_t step,
                                             NoiseStream stream) {
  const auto counter = [&](int pack, std::uint32_t call) {
    return noise_counter(names[pack].replica, names[pack].molecule, step, stream, call);
  };
  const PhiloxWords<std::uint64_t, std::uint64_t, M, R> counters[4] = {
      counter(0, 0), counter(0, 1), counter(1, 0), counter(1, 1)};
  PhiloxWords<Pack<std::uint64_t>> c[4];
  philox4x32_10(counters, seed, c);
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
#endif

/// The exact Ornstein-Uhlenbeck flow over one step, v <- decay v + scale kick xi: equation (21).
/// @param v velocities [A/akma]
/// @param xi nine independent standard normal numbers
/// @param kick_scale 1, or sqrt(T/T0) for a temperature T other than the T0 of p
template <class T, class S>
TARN_HD Triple<T> ou_step(const Triple<T>& v, const Triple<T>& xi, const OuParameters<S>& p,
                          const T& kick_scale = T(S(1))) {
  const T ko = T(p.kick_o) * kick_scale, kh = T(p.kick_h) * kick_scale;
  return {fma(T(p.decay_o), v.o, ko * xi.o), fma(T(p.decay_h), v.h1, kh * xi.h1),
          fma(T(p.decay_h), v.h2, kh * xi.h2)};
}

template <class T, class U>
TARN_HD Triple<T> ou_step(const Triple<T>& v, const Triple<T>& xi, const AtomOuParameters<U>& p,
                          const T& kick_scale = T(scalar_t<T>(1))) {
  return {fma(T(p.decay_o), v.o, (T(p.kick_o) * kick_scale) * xi.o),
          fma(T(p.decay_h1), v.h1, (T(p.kick_h1) * kick_scale) * xi.h1),
          fma(T(p.decay_h2), v.h2, (T(p.kick_h2) * kick_scale) * xi.h2)};
}
/// Whether velocities with a part along the bonds keep it as one: the decay is the same for all
/// atoms.
template <class S>
TARN_HD bool decays_alike(const OuParameters<S>& p) {
  return p.decay_o == p.decay_h;
}
template <class U>
TARN_HD bool decays_alike(const AtomOuParameters<U>&) {
  return false;
}

/// The heat that a molecule absorbs in this step, the gain in its kinetic energy, equation (32)
/// [kcal/mol].
/// @param before,after velocities; for rigid molecules projected onto the constraints
template <class T>
TARN_HD T ou_heat(const T& mass_o, const T& mass_h, const Triple<T>& before,
                  const Triple<T>& after) {
  return T(scalar_t<T>(0.5)) *
         (weighted_norm2(mass_o, mass_h, after) - weighted_norm2(mass_o, mass_h, before));
}
template <class T, class U>
TARN_HD T ou_heat(const AtomMasses<U>& m, const Triple<T>& before, const Triple<T>& after) {
  return T(scalar_t<T>(0.5)) * (weighted_norm2(m, after) - weighted_norm2(m, before));
}

}  // namespace tarn::inline TARN_ARCH
