#pragma once

#include <type_traits>
#include <utility>

#include "large_pairs.hpp"
#include "measure_passes.hpp"
#include "molecule_passes.hpp"
#include "pair_counting.hpp"
#include "quench_pass.hpp"
#include "ring_passes.hpp"
#include "single_precision.hpp"
#include "small_pairs.hpp"

/// @file
/// The table of kernels for one instruction set. The loops contain no physics: they call the
/// formulas, which are compiled in the namespace of the instruction set.

namespace tarn::inline TARN_ARCH {
namespace {

template <cpu::StepKind kKind, bool kIsotopes, class S, class Packs>
constexpr cpu::PassesOfKind<S, Packs> passes_of_kind() {
  constexpr bool newmark = kKind.move == Move::newmark || kKind.move == Move::newmark_full;
  // Isotopes have Newton's iteration instead of SETTLE.
  if constexpr ((newmark && std::is_same_v<S, float>) ||
                (kIsotopes && kKind.move == Move::settle)) {
    return {};
  } else {
    return {begin_pass<kKind.thermostat == Thermostat::baoab, kKind.move, kIsotopes, S, Packs>,
            end_pass<kKind.end, kIsotopes, S, Packs>,
            kKind.thermostat == Thermostat::none
                ? nullptr
                : noise_pass<move_of_noise(kKind.move), kIsotopes, S, Packs>,
            fused_pass<kKind, kIsotopes, S, Packs>};
  }
}
template <bool kIsotopes, class S, class Packs>
constexpr cpu::StepKernels<S, Packs> step_kernels() {
  return [&]<std::size_t... k>(std::index_sequence<k...>)->cpu::StepKernels<S, Packs> {
    return {{passes_of_kind<cpu::kStepKinds[k], kIsotopes, S, Packs>()...},
            total_forces<S, Packs>,
            remove_net_force_of_cluster<kIsotopes, S, Packs>,
            confine<kIsotopes>};
  }
  (std::make_index_sequence<cpu::kStepKinds.size()>());
}

/// @tparam kOrder order of operations in a pair
template <PairOrder kOrder = kPairOrder<D>>
constexpr cpu::KernelTable make_table(const char* name) {
  return {
      name,
      kLanes,
      {step_kernels<false, double, MoleculePacks>(), step_kernels<true, double, MoleculePacks>()},
      step_kernels<false, float, SinglePacks>(),
      end_kick,
      {correct_newmark<false>, correct_newmark<true>},
      add_bias,
      report_positions,
      {project_velocities_of<false>, project_velocities_of<true>},
      {{small_pairs<false, DoublePairs, kOrder>, small_pairs<false, MixedPairs, kOrder>},
       {small_pairs<true, DoublePairs, kOrder>, small_pairs<true, MixedPairs, kOrder>}},
      {{narrow_pairs<false, DoublePairs, kOrder>, narrow_pairs<false, MixedPairs, kOrder>},
       {narrow_pairs<true, DoublePairs, kOrder>, narrow_pairs<true, MixedPairs, kOrder>}},
      {narrow_energy<false>, narrow_energy<true>},
      {{build_sites<false, DoublePairs>, build_sites<false, MixedPairs>},
       {build_sites<true, DoublePairs>, build_sites<true, MixedPairs>}},
      {{large_pairs<false, DoublePairs, kOrder>, large_pairs<false, MixedPairs, kOrder>},
       {large_pairs<true, DoublePairs, kOrder>, large_pairs<true, MixedPairs, kOrder>}},
      {{sum_blocks<false, DoublePairs>, sum_blocks<false, MixedPairs>},
       {sum_blocks<true, DoublePairs>, sum_blocks<true, MixedPairs>}},
      {large_energy<false>, large_energy<true>},
      count_pairs,
      single_kernels<kOrder>(),
      measure_kernels(),
      ring_kernels(),
      {quench_lanes<false>, quench_lanes<true>}};
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
