#pragma once

#include "molecule_passes.hpp"
#include "ring_fourier.hpp"
#include "steps/ring_measure.hpp"

/// @file
/// Passes over the modes and the beads of ring polymers. A lane is a mode or a bead: pack p * N + m
/// has molecule m of the slots p * lanes onwards.

namespace tarn::inline TARN_ARCH {
namespace {

using cpu::RingConstants;
using cpu::RingPacks;

/// Masses of isotopes of molecule m, the same in all modes.
TARN_HD AtomMasses<D> isotope_masses(const RingPacks& ring, int m) {
  const double* const at = ring.isotopes + m * cpu::kIsotopeNumbers;
  return {D(at[0]), D(at[1]), D(at[2]), D(at[3]), D(at[4]), D(at[5]), D(at[6])};
}
/// Constants of the modes in a pack of slots, of molecule m.
template <bool kIsotopes>
TARN_HD auto mode_pack(const RingConstants& c, const RingPacks& ring, int p, int m) {
  const auto at = [&](const double* numbers, std::ptrdiff_t pack) {
    return D::load(numbers + pack * kLanes);
  };
  const D cosine = at(c.cosine, p), sine_over_omega = at(c.sine_over_omega, p),
          omega_sine = at(c.omega_sine, p);
  if constexpr (kIsotopes) {
    const std::ptrdiff_t ou = 6 * (static_cast<std::ptrdiff_t>(p) * ring.molecules + m);
    return ModeNumbers<D, AtomOuParameters<D>>{
        cosine,
        sine_over_omega,
        omega_sine,
        {at(ring.ou, ou), at(ring.ou, ou + 1), at(ring.ou, ou + 2), at(ring.ou, ou + 3),
         at(ring.ou, ou + 4), at(ring.ou, ou + 5)}};
  } else {
    return ModeNumbers<D>{cosine,
                          sine_over_omega,
                          omega_sine,
                          {at(c.decay_o, p), at(c.decay_h, p), at(c.kick_o, p), at(c.kick_h, p)}};
  }
}

/// O, with its heat.
template <class Mode>
TARN_HD void add_noise(const RingPacks& ring, const Mode& c, std::ptrdiff_t pack,
                       const Triple<D>& xi, MoleculeState<D>& s) {
  ring_noise(c, xi, s, [&](const Triple<D>& before, const Triple<D>& after) {
    if (ring.heat == nullptr) return;
    double* const at = ring.heat + pack * kLanes;
    const D heat =
        ring.isotopes != nullptr
            ? ou_heat(isotope_masses(ring, static_cast<int>(pack % ring.molecules)), before, after)
            : ou_heat(D(ring.mass_o_Da), D(ring.mass_h_Da), before, after);
    (D::load(at) + heat).store(at);
  });
}

/// The part of a step before the forces.
/// @param noise returns the normals of the pack
template <bool kBaoab, class Mode, class Noise>
TARN_HD void begin_ring_at(const RingPacks& ring, const Mode& c, std::ptrdiff_t pack, const D& h,
                           const Noise& noise, MoleculeState<D>& s) {
  begin_ring(c, h, s, [&](MoleculeState<D>& m) {
    if constexpr (kBaoab) {
      add_noise(ring, c, pack, noise(), m);
      if (ring.v_thermal != nullptr) store_triple(m.v, ring.v_thermal + pack * 9 * kLanes);
    }
  });
}
/// The part after the forces: kick, noise of GLA.
/// @return whether all velocities are small enough
template <bool kGla, class Mode, class Noise>
TARN_HD bool end_ring_at(const RingPacks& ring, const Mode& c, int p, std::ptrdiff_t pack,
                         const D& h, double largest, const Noise& noise, MoleculeState<D>& s) {
  kick(s, h);
  const Mask<double> bad = is_too_fast(s.v, largest);
  const bool good = !any(bad);
  if (!good) {
    double* const at = ring.bad + p * kLanes;
    select(bad, D(1.0), D::load(at)).store(at);
  }
  if constexpr (kGla) {
    add_noise(ring, c, pack, noise(), s);
  }
  return good;
}

/// Calls op(pack of slots, molecule, noise); the noise of two packs of slots is generated together.
template <bool kNoise, class Op>
TARN_HD void for_each_ring_pack(const RingPacks& ring, const PhiloxKeys& seed, std::int64_t step,
                                const Op& op) {
  using U64 = Pack<std::uint64_t>;
  for (int p = 0; p < ring.packs; p += 2) {
    const int last = p + 1 < ring.packs ? p + 1 : p;
    for (int m = 0; m < ring.molecules; ++m) {
      if constexpr (kNoise) {
        const auto name = [&](int pack) -> NoisePack<U64, U64> {
          return {
              U64::load(ring.replica_ids + pack * kLanes),
              U64::load(ring.first_numbers + pack * kLanes) + U64(static_cast<std::uint64_t>(m))};
        };
        const Triple<F> normals = molecule_normals(
            seed, {name(p), name(last)}, static_cast<std::uint64_t>(step), NoiseStream::thermostat);
        for (int k = p; k <= last; ++k) {
          op(k, m, [&] { return widened_half(normals, k - p); });
        }
      } else {
        for (int k = p; k <= last; ++k) op(k, m, nullptr);
      }
    }
  }
}

/// From the forces of a step to the positions of the next one: any of the two parts.
/// @param step of the noise
/// @return whether all velocities are small enough; else RingPacks::bad is set
template <bool kIsotopes, Thermostat kThermostat>
bool ring_pass(const RingConstants& constants, const RingPacks& ring, double timestep,
               double largest_speed2, std::uint64_t seed, std::int64_t step, bool end, bool begin) {
  constexpr bool baoab = kThermostat == Thermostat::baoab, gla = kThermostat == Thermostat::gla;
  const D w_o(1.0 / ring.mass_o_Da), w_h(1.0 / ring.mass_h_Da), h(timestep);
  bool good = true;
  const PhiloxKeys keys(seed);
  for_each_ring_pack<kThermostat != Thermostat::none>(
      ring, keys, step, [&](int p, int m, const auto& noise) {
        const std::ptrdiff_t pack = static_cast<std::ptrdiff_t>(p) * ring.molecules + m;
        const auto c = mode_pack<kIsotopes>(constants, ring, p, m);
        const std::ptrdiff_t at = pack * 9 * kLanes;
        MoleculeState<D> s{load_triple(ring.q + at), load_triple(ring.v + at),
                           load_triple(ring.f + at)};
        if constexpr (kIsotopes) {
          s.a = over_masses(isotope_masses(ring, m), s.a);
        } else {
          s.a = scale(w_o, w_h, s.a);
        }
        if (end) good = end_ring_at<gla>(ring, c, p, pack, h, largest_speed2, noise, s) && good;
        if (begin) begin_ring_at<baoab>(ring, c, pack, h, noise, s);
        if (begin) store_triple(s.x, ring.q + at);
        store_triple(s.v, ring.v + at);
      });
  return good;
}

/// The lanes in reverse order.
template <class P>
TARN_HD P reversed(const P& a) {
  if constexpr (P::lanes == 8) {
    return {__builtin_shufflevector(a.v, a.v, 7, 6, 5, 4, 3, 2, 1, 0)};
  } else if constexpr (P::lanes == 4) {
    return {__builtin_shufflevector(a.v, a.v, 3, 2, 1, 0)};
  } else {
    return {__builtin_shufflevector(a.v, a.v, 1, 0)};
  }
}

/// A product with a matrix by halves: see RingTransform. Several coordinates and packs are computed
/// side by side.
void folded_transform(const RingTransform& t, const double* in, double* out) {
  constexpr int kMostHalf = cpu::kMaxFoldedBeads / 2, kMostNumbers = 4, kMostPacks = 2;
  const int half_packs = t.packs / 2, half = t.beads / 2, last = t.packs - 1;
  alignas(sizeof(D)) double even[kMostNumbers * kMostHalf], odd[kMostNumbers * kMostHalf];
  const auto at = [&](int pack, int number) {
    return static_cast<std::ptrdiff_t>(pack * t.numbers + number) * kLanes;
  };
  const auto block = [&](int number, auto numbers, int first, auto packs) {
    constexpr int N = decltype(numbers)::value, K = decltype(packs)::value;
    D of_even[N][K], of_odd[N][K];
    for (int i = 0; i < N; ++i) {
      for (int k = 0; k < K; ++k) of_even[i][k] = of_odd[i][k] = D(0.0);
    }
    for (int j = 0; j < half; ++j) {
      const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(j) * half + first * kLanes;
      D cosine[K], sine[K];
      for (int k = 0; k < K; ++k) {
        cosine[k] = D::load(t.cosines + row + k * kLanes);
        sine[k] = D::load(t.sines + row + k * kLanes);
      }
      for (int i = 0; i < N; ++i) {
        const D e(even[i * kMostHalf + j]), o(odd[i * kMostHalf + j]);
        for (int k = 0; k < K; ++k) {
          of_even[i][k] = fma(cosine[k], e, of_even[i][k]);
          of_odd[i][k] = fma(sine[k], o, of_odd[i][k]);
        }
      }
    }
    for (int i = 0; i < N; ++i) {
      for (int k = 0; k < K; ++k) {
        const D a = of_even[i][k], b = of_odd[i][k];
        const int pack = first + k;
        if (t.to_beads) {
          (a + b).store(out + at(pack, number + i));
          reversed(a - b).store(out + at(last - pack, number + i));
        } else {
          a.store(out + at(pack, number + i));
          b.store(out + at(half_packs + pack, number + i));
        }
      }
    }
  };
  const auto of_numbers = [&](int number, auto numbers) {
    constexpr int N = decltype(numbers)::value;
    for (int i = 0; i < N; ++i) {
      for (int pack = 0; pack < half_packs; ++pack) {
        D a = D::load(in + at(pack, number + i));
        D b = D::load(in + at(t.to_beads ? half_packs + pack : last - pack, number + i));
        if (!t.to_beads) {
          const D opposite = reversed(b);
          b = a - opposite;
          a = a + opposite;
        }
        a.store(even + i * kMostHalf + pack * kLanes);
        b.store(odd + i * kMostHalf + pack * kLanes);
      }
    }
    int first = 0;
    for (; first + kMostPacks <= half_packs; first += kMostPacks) {
      block(number, numbers, first, std::integral_constant<int, kMostPacks>());
    }
    for (; first < half_packs; ++first) {
      block(number, numbers, first, std::integral_constant<int, 1>());
    }
  };
  int number = 0;
  for (; number + kMostNumbers <= t.numbers; number += kMostNumbers) {
    of_numbers(number, std::integral_constant<int, kMostNumbers>());
  }
  for (; number < t.numbers; ++number) of_numbers(number, std::integral_constant<int, 1>());
}
void ring_transform(const RingTransform& t, const double* in, double* out) {
  t.cosines != nullptr ? folded_transform(t, in, out) : fourier_transform(t, in, out);
}

/// f <- f + the intramolecular forces at x, for `packs` packs.
void add_bond_forces(const FlexibleParameters<double>& p, const double* x, int packs, double* f) {
  const FlexibleParameters<double> q = p;
  for (int k = 0; k < packs; ++k) {
    const std::ptrdiff_t at = nine_at(k);
    store_triple(load_triple(f + at) + intramolecular_force(load_triple(x + at), q), f + at);
  }
}
/// Intramolecular energies of the clusters in the lanes of a pack.
void bond_energies(const FlexibleParameters<double>& p, const double* x, int molecules,
                   double* energies) {
  D sum(0.0);
  for (int m = 0; m < molecules; ++m) {
    sum = sum + intramolecular_energy(load_triple(x + nine_at(m)), p);
  }
  sum.store(energies);
}

constexpr cpu::RingKernels ring_kernels() {
  return {{{ring_pass<false, Thermostat::none>, ring_pass<false, Thermostat::gla>,
            ring_pass<false, Thermostat::baoab>},
           {ring_pass<true, Thermostat::none>, ring_pass<true, Thermostat::gla>,
            ring_pass<true, Thermostat::baoab>}},
          ring_transform,
          add_bond_forces,
          bond_energies};
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
