#pragma once

#include "large_pairs.hpp"
#include "measure_passes.hpp"
#include "molecule_passes.hpp"
#include "pair_counting.hpp"
#include "ring_passes.hpp"
#include "single_precision.hpp"
#include "small_pairs.hpp"

/// @file
/// The table of kernels for one instruction set. The loops contain no physics: they call the
/// formulas, which are compiled in the namespace of the instruction set.

namespace tarn {
inline namespace TARN_ARCH {
namespace {

template <bool kHeat, class S, class Packs>
constexpr cpu::NoisePasses<S, Packs> noise_passes() {
  return {
      {baoab_pass<Move::free, kHeat, S, Packs>, nullptr, nullptr,
       baoab_pass<Move::newton, kHeat, S, Packs>, baoab_pass<Move::sweeps, kHeat, S, Packs>,
       baoab_pass<Move::settle, kHeat, S, Packs>},
      {thermostat_pass<Move::free, kHeat, S, Packs>, thermostat_pass<Move::free, kHeat, S, Packs>,
       thermostat_pass<Move::free, kHeat, S, Packs>, thermostat_pass<Move::newton, kHeat, S, Packs>,
       thermostat_pass<Move::newton, kHeat, S, Packs>,
       thermostat_pass<Move::settle, kHeat, S, Packs>}};
}
/// Fills the table for the combinations that step_passes() returns.
template <Thermostat kThermostat, class S, class Packs, class Table>
constexpr void put_between_forces(Table& table) {
  const auto put = [&]<Move kMove, End kEnd>() {
    table[static_cast<int>(kThermostat)][static_cast<int>(kMove)][static_cast<int>(kEnd)] =
        between_forces<kThermostat, kMove, kEnd, S, Packs>;
  };
  put.template operator()<Move::free, End::gauss_newton>();
  put.template operator()<Move::free, End::full>();
  put.template operator()<Move::free, End::verlet>();
  put.template operator()<Move::free, End::flexible_verlet>();
  put.template operator()<Move::free, End::flexible_zss>();
  put.template operator()<Move::newton, End::kick>();
  put.template operator()<Move::sweeps, End::kick>();
  if constexpr (kThermostat != Thermostat::none) {
    put.template operator()<Move::settle, End::kick>();
  } else {
    put.template operator()<Move::newton, End::rattle>();
    put.template operator()<Move::sweeps, End::rattle>();
    put.template operator()<Move::settle, End::settle>();
  }
}
template <class S, class Packs>
constexpr cpu::StepKernels<S, Packs> step_kernels() {
  cpu::StepKernels<S, Packs> kernels{
      {begin_pass<Move::free, S, Packs>, nullptr, nullptr, begin_pass<Move::newton, S, Packs>,
       begin_pass<Move::sweeps, S, Packs>, begin_pass<Move::settle, S, Packs>},
      {end_pass<End::gauss_newton, S, Packs>, end_pass<End::full, S, Packs>,
       end_pass<End::verlet, S, Packs>, end_pass<End::kick, S, Packs>,
       end_pass<End::rattle, S, Packs>, end_pass<End::settle, S, Packs>,
       end_pass<End::flexible_verlet, S, Packs>, end_pass<End::flexible_zss, S, Packs>},
      {noise_passes<false, S, Packs>(), noise_passes<true, S, Packs>()},
      {},
      total_forces<S, Packs>,
      remove_net_force_of_cluster<S, Packs>,
      confine};
  put_between_forces<Thermostat::none, S, Packs>(kernels.between_forces);
  put_between_forces<Thermostat::gla, S, Packs>(kernels.between_forces);
  put_between_forces<Thermostat::baoab, S, Packs>(kernels.between_forces);
  return kernels;
}
constexpr cpu::StepKernels<double, MoleculePacks> double_step_kernels() {
  auto kernels = step_kernels<double, MoleculePacks>();
  kernels.begin[static_cast<int>(Move::newmark)] = begin_pass<Move::newmark, double, MoleculePacks>;
  kernels.begin[static_cast<int>(Move::newmark_full)] =
      begin_pass<Move::newmark_full, double, MoleculePacks>;
  return kernels;
}

/// @tparam kOrder order of operations in a pair
template <PairOrder kOrder = kPairOrder<D>>
constexpr cpu::KernelTable make_table(const char* name) {
  return {name,
          kLanes,
          double_step_kernels(),
          step_kernels<float, SinglePacks>(),
          end_kick,
          correct_newmark,
          report_positions,
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
          ring_kernels()};
}

}  // namespace
}  // namespace TARN_ARCH
}  // namespace tarn
