#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

/// @file
/// The bound of the pair loop on a CPU: its vector instructions at two per cycle, and the rate of
/// multiply-adds measured with each benchmark.

#define TARN_TEN_AND_TWO_REGISTERS \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm14", "xmm15"
#define TARN_ZERO_TEN_AND_TWO_REGISTERS                             \
  "vxorps %%xmm0, %%xmm0, %%xmm0\n vxorps %%xmm1, %%xmm1, %%xmm1\n" \
  "vxorps %%xmm2, %%xmm2, %%xmm2\n vxorps %%xmm3, %%xmm3, %%xmm3\n" \
  "vxorps %%xmm4, %%xmm4, %%xmm4\n vxorps %%xmm5, %%xmm5, %%xmm5\n" \
  "vxorps %%xmm6, %%xmm6, %%xmm6\n vxorps %%xmm7, %%xmm7, %%xmm7\n" \
  "vxorps %%xmm8, %%xmm8, %%xmm8\n vxorps %%xmm9, %%xmm9, %%xmm9\n" \
  "vxorps %%xmm14, %%xmm14, %%xmm14\n vxorps %%xmm15, %%xmm15, %%xmm15\n"

namespace tarn::bench {

/// Arithmetic vector instructions of the forces of one pack of molecule pairs, without loads,
/// stores, conversions and recomputed differences; 0 if roots and divisions are the bound.
struct PairSlots {
  int slots = 0;
  int lanes = 1;  ///< pairs in a pack
};

/// Instructions per pair of molecules: the vector between the oxygens (3; in mixed precision from
/// two parts each, 9) and the other differences; for each distance a square (3), an estimate of its
/// reciprocal root (rsqrt14 of 512 bits consists of 3 instructions; that of AVX2 of 1, or 3 with
/// conversions between double and float) and its force on both molecules (6); for all distances
/// except the oxygens' the scaled cube of the root; for the oxygens the corrections of the root and
/// Lennard-Jones with their charges.
inline PairSlots pair_slots(const std::string& instruction_set, bool mixed, bool m_site) {
  const bool wide = instruction_set.starts_with("avx512");
  if (!wide && instruction_set != "avx2") return {};
  const int distances = m_site ? 10 : 9;
  const int estimate = wide ? 3 : mixed ? 1 : 3;
  const int cube = wide ? (mixed ? 5 : 8) : (mixed ? 7 : 9);
  const int root = wide ? (mixed ? 4 : 6) : (mixed ? 5 : 7);
  const int lennard_jones = m_site ? 6 : 7;
  return {(mixed ? 9 : 3) + (m_site ? 36 : 24) + distances * (3 + estimate + 6) +
              (distances - 1) * cube + root + lennard_jones,
          (wide ? 8 : 4) * (mixed ? 2 : 1)};
}

/// Multiply-adds per nanosecond of this core, with the widest packs of an instruction set: the
/// median over a few milliseconds; 0 if it cannot be measured.
inline double multiply_adds_per_ns([[maybe_unused]] const std::string& instruction_set) {
#if defined(__x86_64__) && defined(__GNUC__)
  const bool wide = instruction_set.starts_with("avx512");
  if (!wide && instruction_set != "avx2") return 0.0;
  constexpr int kTimes = 1000, kUnrolled = 10, kSamples = 400;
  using Clock = std::chrono::steady_clock;
  std::vector<double> ns;
  for (int sample = 0; sample < kSamples; ++sample) {
    const auto start = Clock::now();
    // Start from zeros: other register contents could be slow denormal numbers.
    asm volatile(TARN_ZERO_TEN_AND_TWO_REGISTERS::: TARN_TEN_AND_TWO_REGISTERS);
    if (wide) {
      for (int i = 0; i < kTimes; ++i) {
        asm volatile(
            "vfmadd231pd %%zmm15, %%zmm14, %%zmm0\n vfmadd231pd %%zmm15, %%zmm14, %%zmm1\n"
            "vfmadd231pd %%zmm15, %%zmm14, %%zmm2\n vfmadd231pd %%zmm15, %%zmm14, %%zmm3\n"
            "vfmadd231pd %%zmm15, %%zmm14, %%zmm4\n vfmadd231pd %%zmm15, %%zmm14, %%zmm5\n"
            "vfmadd231pd %%zmm15, %%zmm14, %%zmm6\n vfmadd231pd %%zmm15, %%zmm14, %%zmm7\n"
            "vfmadd231pd %%zmm15, %%zmm14, %%zmm8\n vfmadd231pd %%zmm15, %%zmm14, %%zmm9\n" ::
                : TARN_TEN_AND_TWO_REGISTERS);
      }
    } else {
      for (int i = 0; i < kTimes; ++i) {
        asm volatile(
            "vfmadd231pd %%ymm15, %%ymm14, %%ymm0\n vfmadd231pd %%ymm15, %%ymm14, %%ymm1\n"
            "vfmadd231pd %%ymm15, %%ymm14, %%ymm2\n vfmadd231pd %%ymm15, %%ymm14, %%ymm3\n"
            "vfmadd231pd %%ymm15, %%ymm14, %%ymm4\n vfmadd231pd %%ymm15, %%ymm14, %%ymm5\n"
            "vfmadd231pd %%ymm15, %%ymm14, %%ymm6\n vfmadd231pd %%ymm15, %%ymm14, %%ymm7\n"
            "vfmadd231pd %%ymm15, %%ymm14, %%ymm8\n vfmadd231pd %%ymm15, %%ymm14, %%ymm9\n" ::
                : TARN_TEN_AND_TWO_REGISTERS);
      }
    }
    ns.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  std::nth_element(ns.begin(), ns.begin() + kSamples / 2, ns.end());
  return kTimes * kUnrolled / ns[kSamples / 2];
#else
  return 0.0;
#endif
}

}  // namespace tarn::bench
