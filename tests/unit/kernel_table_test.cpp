#include "src/cpu/kernel_table.hpp"

#include "src/cpu/layout.hpp"
#include "src/cpu/ring_tables.hpp"
#include "src/cpu/small_cluster_forces.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"

/// @file
/// Kernels of all instruction sets: the transforms between beads and modes, against the sums of
/// equation (80), and small clusters, where one molecule per lane and one cluster per lane give the
/// same bits.

namespace tarn::cpu {
namespace {

using namespace test;

std::vector<const KernelTable*> all_kernels() {
  std::vector<const KernelTable*> tables(8);
  tables.resize(static_cast<std::size_t>(usable_kernels(tables.data(), 8)));
  return tables;
}

struct Slots {
  int lanes, beads, rings, numbers;
  int packs() const { return (rings * beads + lanes - 1) / lanes; }
  std::size_t size() const { return static_cast<std::size_t>(packs() * numbers * lanes); }
  std::size_t at(int slot, int number) const {
    return static_cast<std::size_t>((slot / lanes * numbers + number) * lanes + slot % lanes);
  }
};

/// A sum of P products with orthonormal rows has rounding errors of some sqrt(P) epsilon times the
/// norm. Fourier transforms compute two coordinates together.
double tolerance(int beads, double norm) { return 4.0 * std::sqrt(beads) * kEpsilon * norm; }

void check(const KernelTable& kernels, bool folded, int beads, int rings, int numbers) {
  SCOPED_TRACE(std::string(kernels.name) + ", beads " + std::to_string(beads) + ", rings " +
               std::to_string(rings) + ", numbers " + std::to_string(numbers));
  const Slots s{kernels.lanes, beads, rings, numbers};
  const RingTransforms transforms(beads, folded);
  AlignedVector<double> in(s.size(), 0.0), out(s.size(), kNoNumber);
  for (int slot = 0; slot < rings * beads; ++slot) {
    for (int c = 0; c < numbers; ++c) in[s.at(slot, c)] = std::sin(slot * slot + 2.3 * c) + 0.1 * c;
  }
  for (const bool to_beads : {false, true}) {
    kernels.rings.transform(to_beads ? transforms.to_beads(rings, s.packs(), numbers)
                                     : transforms.to_modes(rings, s.packs(), numbers),
                            in.data(), out.data());
    for (int c = 0; c < numbers; ++c) {
      const double norm = std::sqrt(beads) * (1.0 + 0.1 * numbers);
      for (int slot = 0; slot < s.packs() * s.lanes; ++slot) {
        // Unused slots of beads repeat the first one, those of modes are 0.
        const bool used = slot < rings * beads;
        const int ring = used ? slot / beads : 0, k = used ? slot % beads : 0;
        double sum = 0.0;
        for (int j = 0; j < beads; ++j) {
          const double element = to_beads ? mode_of_bead(j, k, beads) : mode_of_bead(k, j, beads);
          sum += in[s.at(ring * beads + j, c)] * element;
        }
        if (!used && !to_beads) sum = 0.0;
        ASSERT_NEAR(out[s.at(slot, c)], sum, tolerance(beads, norm)) << slot << ", " << c;
      }
    }
  }
}

TEST(RingTransform, IsTheSumOverBeads) {
  for (const KernelTable* kernels : all_kernels()) {
    for (const int beads : {16, 32}) check(*kernels, true, beads, 1, 63);
    // All radices, and primes.
    for (const int beads : {2, 3, 4, 5, 6, 7, 8, 12, 13, 30, 31, 65, 67, 96, 128, 210}) {
      for (const int numbers : {9, 18, 63}) check(*kernels, false, beads, 1, numbers);
    }
    for (const int beads : {2, 3, 5, 11, 17}) check(*kernels, false, beads, 4, 18);
    check(*kernels, false, 1024, 1, 9);
  }
}

TEST(RingTransform, EqualBeadsHaveOneMode) {
  for (const KernelTable* kernels : all_kernels()) {
    for (const int beads : {65, 128, 1024}) {
      const Slots s{kernels->lanes, beads, 1, 9};
      const RingTransforms transforms(beads, false);
      AlignedVector<double> in(s.size(), 3.25), out(s.size(), kNoNumber);
      kernels->rings.transform(transforms.to_modes(1, s.packs(), 9), in.data(), out.data());
      for (int c = 0; c < 9; ++c) {
        EXPECT_NEAR(out[s.at(0, c)], 3.25 * std::sqrt(1.0 * beads), 1e-13 * beads);
        for (int k = 1; k < beads; ++k) EXPECT_NEAR(out[s.at(k, c)], 0.0, 1e-13);
      }
    }
  }
}

TEST(RingGroups, FillThePacks) {
  EXPECT_EQ(rings_in_group(32, 8), 1);
  EXPECT_EQ(rings_in_group(4, 8), 2);
  EXPECT_EQ(rings_in_group(3, 8), 5);
  EXPECT_EQ(rings_in_group(2, 16), 8);
  for (const int lanes : {2, 4, 8, 16}) {
    for (int beads = 2; beads <= kMaxBeads; ++beads) {
      const int slots = rings_in_group(beads, lanes) * beads;
      const int padded = (slots + lanes - 1) / lanes * lanes;
      EXPECT_GE(10 * slots, 9 * padded);
      EXPECT_LE(padded, kMaxRingSlots);
    }
  }
}

// --- energies and forces of small clusters ---

struct Results {
  std::vector<double> energies, forces;
  bool operator==(const Results&) const = default;
};

/// The results of clusters that are passed to compute() in parts.
Results compute(SmallClusterForces& forces, int clusters_per_call, const std::vector<double>& x,
                std::size_t numbers) {
  Results r{std::vector<double>(x.size() / numbers), std::vector<double>(x.size())};
  const auto step = static_cast<std::size_t>(clusters_per_call);
  for (std::size_t first = 0; first < r.energies.size(); first += step) {
    forces.compute(clusters_per_call, &x[first * numbers], &r.energies[first],
                   &r.forces[first * numbers]);
  }
  return r;
}

void check(const WaterModel& model, int molecules, const KernelTable& kernels) {
  SCOPED_TRACE(std::string(model.name) + " " + std::to_string(molecules) + " " + kernels.name);
  std::vector<double> x;
  Random random(5);
  for (int r = 0; r < kernels.lanes; ++r) {
    for (const double c : random_cluster(model, molecules, 3, r)) {
      x.push_back(c + random.uniform(-0.02, 0.02));
    }
  }
  SmallClusterForces forces(model, molecules, kernels);
  const auto numbers = static_cast<std::size_t>(9 * molecules);
  // Earlier clusters leave nothing behind.
  const std::vector<double> invalid(x.size(), std::numeric_limits<double>::quiet_NaN());
  compute(forces, kernels.lanes, invalid, numbers);
  const Results alone = compute(forces, 1, x, numbers);
  EXPECT_EQ(alone, compute(forces, kernels.lanes, x, numbers));
  compute(forces, 1, invalid, numbers);
  EXPECT_EQ(alone, compute(forces, 1, x, numbers));
}

TEST(SmallClusterForces, HaveTheSameBitsWithAMoleculeOrAClusterPerLane) {
  for (const KernelTable* kernels : all_kernels()) {
    ASSERT_TRUE(molecule_lanes_are_faster(7, 1, kernels->lanes, 1));
    ASSERT_FALSE(molecule_lanes_are_faster(7, kernels->lanes, kernels->lanes, 1));
    for (const WaterModel& model : kWaterModels) {
      for (int n = 1; n <= 17; ++n) check(model, n, *kernels);
    }
    for (const WaterModel& model : kFlexibleWaterModels) {
      for (int n = 1; n <= 17; ++n) check(model, n, *kernels);
    }
    for (const int n : {31, 33, 64}) check(tip3p(), n, *kernels);
  }
}

}  // namespace
}  // namespace tarn::cpu
