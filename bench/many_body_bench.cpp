#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "many_body/kernels.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/many_body.hpp"

/// @file
/// Energies and forces of many-body water on one thread: the heptamer of tests/data/structures,
/// whose 35 trimers and 21 dimers all count.

namespace {

using namespace tarn;

/// The heptamer with displacements of up to 0.01 A, which differ between the images.
std::vector<double> heptamers(int images) {
  const std::vector<double> x =
      io::read_structure(TARN_SOURCE_DIR "/tests/data/structures/tip3p-7.xyz").positions_A;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> shift(-0.01, 0.01);
  std::vector<double> all;
  for (int image = 0; image < images; ++image) {
    for (const double value : x) all.push_back(value + shift(random));
  }
  return all;
}

/// `per_image` is the time of one energy with its forces.
void many_body(benchmark::State& state, ManyBodyModel kind, bool mixed,
               const std::string& instruction_set) {
  if (!instruction_set.empty() && many_body::kernels_named(instruction_set) == nullptr) {
    return state.SkipWithError("not in this build");
  }
  const auto images = static_cast<int>(state.range(0));
  ManyBody model(kind, mixed, 1, instruction_set);
  const std::vector<double> x = heptamers(images);
  std::vector<double> energies(static_cast<std::size_t>(images)), forces(x.size());
  for (auto _ : state) model.compute(7, x, {energies, {}, forces, {}, {}});
  state.counters["per_image"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * images,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(many_body, mbpol, ManyBodyModel::mbpol, false, "")->Arg(64)->Arg(1);
BENCHMARK_CAPTURE(many_body, mbpol_mixed, ManyBodyModel::mbpol, true, "")->Arg(64)->Arg(1);
BENCHMARK_CAPTURE(many_body, mbpol_avx2, ManyBodyModel::mbpol, false, "avx2")->Arg(64);
BENCHMARK_CAPTURE(many_body, mbpol_portable, ManyBodyModel::mbpol, false, "portable")->Arg(64);
BENCHMARK_CAPTURE(many_body, dang_chang, ManyBodyModel::dang_chang, false, "")->Arg(64);

/// The terms of MB-pol alone: `per_image` is the time of all dimers or trimers of a heptamer, or of
/// everything else.
template <class Run>
void part(benchmark::State& state, int lanes, double per_image, const Run& run) {
  const std::vector<double> x = heptamers(many_body::kMostLanes);
  std::vector<double> memory((63 + 80) * many_body::kMostLanes + many_body::work_size(7) + 64);
  void* p = memory.data();
  std::size_t space = memory.size() * sizeof(double);
  auto* const in = static_cast<double*>(std::align(64, 0, p, space));
  for (int k = 0; k < 63; ++k) {
    for (int lane = 0; lane < lanes; ++lane)
      in[k * lanes + lane] = x[static_cast<std::size_t>(63 * lane + k)];
  }
  double* const out = in + 63 * lanes;
  for (auto _ : state) run(in, out);
  state.counters["per_image"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * lanes / per_image,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
void dimers(benchmark::State& state) {
  const many_body::Kernels& k = many_body::best_kernels();
  part(state, k.lanes, 21, [&](const double* in, double* out) {
    k.dimers(many_body::two_body_table().view(), in, out);
  });
}
void trimers(benchmark::State& state) {
  const many_body::Kernels& k = many_body::best_kernels();
  part(state, k.lanes, 35, [&](const double* in, double* out) {
    k.trimers(many_body::three_body_table().view(), in, out);
  });
}
void rounded_trimers(benchmark::State& state) {
  const many_body::Kernels& k = many_body::best_kernels();
  part(state, k.rounded_lanes, 35, [&](const double* in, double* out) {
    k.rounded_trimers(many_body::three_body_table().rounded_view(), in, out);
  });
}
void monomers_and_dipoles(benchmark::State& state) {
  const many_body::Kernels& k = many_body::best_kernels();
  part(state, many_body::kImages, 1, [&](const double* in, double* out) {
    constexpr int n = many_body::kImages;
    k.mbpol({7,
             n,
             in,
             out,
             out + 63 * n,
             out + 69 * n,
             out + 72 * n,
             out + 73 * n,
             many_body::monomer_surface().rows(),
             many_body::charge_surface().rows(),
             {}});
  });
}
BENCHMARK(dimers);
BENCHMARK(trimers);
BENCHMARK(rounded_trimers);
BENCHMARK(monomers_and_dipoles);

}  // namespace
