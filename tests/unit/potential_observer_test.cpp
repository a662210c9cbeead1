#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "csv_columns.hpp"
#include "recorded_potential.hpp"
#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/minimise.hpp"
#include "tarn/observe/observers.hpp"

/// @file
/// [observe.minima] of runs with a Potential.

namespace tarn {
namespace {

using namespace test;

/// [observe.minima] of a frame whose engine has the same potential.
struct ObservedMinima {
  const ScratchFolder folder{};
  std::shared_ptr<RecordedPotential> potential = potential_of(3);
  RunInfo info;
  std::vector<std::unique_ptr<Observer>> observers;
  Frame frame;

  explicit ObservedMinima(const std::string& keys = "") {
    info.out_dir = folder.path();
    info.molecules = 3;
    info.replicas = 4;
    info.provenance = "test";
    info.timestep_fs = 0.5;
    info.potential = potential;
    observers = make_observers(
        parse_deck("[system]\nmolecules = 3\nreplicas = 4\n[integrator]\nscheme = \"settle\"\n"
                   "timestep_fs = 2.0\n[run]\nsteps = 100\n[observe.minima]\n" +
                       keys,
                   "deck.toml"),
        info);
    frame.molecules = 3;
    frame.replica_ids = {0, 2, 3};
    frame.positions_A = clusters(3, 3);
  }
  void observe() {
    observers.at(0)->begin();
    observers.at(0)->observe(frame);
    observers.at(0)->finish();
  }
};

TEST(PotentialMinimaObserver, QuenchesInBatches) {
  ObservedMinima minima;
  EXPECT_FALSE(minima.observers.at(0)->may_lag()) << "the engine calls the potential meanwhile";
  minima.observe();
  const auto table = columns_of(minima.folder.file("minima.csv"));
  ASSERT_EQ(table.at("minimum_kcal_per_mol").size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<double> x(&minima.frame.positions_A[27 * k],
                          &minima.frame.positions_A[27 * k] + 27);
    ForceField built_in(flexible(), 3);
    EXPECT_NEAR(table.at("minimum_kcal_per_mol")[k],
                quench_to_minimum(built_in, x).energy_kcal_per_mol, 1e-8);
  }
  // Ids of replicas and of their displaced images; those below 4 are the engine's.
  EXPECT_EQ(minima.potential->calls.front(), (std::vector<std::int64_t>{4, 6, 7}));
  EXPECT_GT(minima.potential->images(), 2 * minima.potential->calls.size());
  for (const auto& call : minima.potential->calls) {
    for (const std::int64_t id : call) EXPECT_GE(id, 4);
  }
  // The charges of the model are not those of the potential.
  EXPECT_TRUE(std::isnan(columns_of(minima.folder.file("isomers.csv")).at("dipole_D").at(0)));
}

/// Four replicas in two minima, with noisy forces: the tolerance finds both.
TEST(PotentialMinimaObserver, ToleranceSuitsNoisyForces) {
  for (const bool is_given : {false, true}) {
    ObservedMinima minima(is_given ? "tolerance_kcal_per_mol_A = 1e-3\n" : "");
    add_noise(*minima.potential, 1e-5);
    minima.frame.replica_ids = {0, 1, 2, 3};
    const std::vector<double> one = clusters(3, 1, 0), other = clusters(3, 1, 1);
    minima.frame.positions_A.clear();
    for (const auto* x : {&one, &other, &one, &other}) {
      minima.frame.positions_A.insert(minima.frame.positions_A.end(), x->begin(), x->end());
    }
    minima.observe();
    const auto energies = columns_of(minima.folder.file("minima.csv")).at("minimum_kcal_per_mol");
    ASSERT_EQ(energies.size(), 4u);
    for (const double energy : energies) EXPECT_EQ(std::isfinite(energy), is_given);
    if (!is_given) continue;
    EXPECT_NE(energies[0], energies[2]) << "the noise differs";
    const auto isomers = columns_of(minima.folder.file("isomers.csv"));
    std::vector<double> built_in;
    for (std::vector<double> x : {one, other}) {
      ForceField force_field(flexible(), 3);
      built_in.push_back(quench_to_minimum(force_field, x).energy_kcal_per_mol);
    }
    const bool same = std::abs(built_in[0] - built_in[1]) < 1e-4;
    EXPECT_EQ(isomers.at("share").size(), same ? 1u : 2u);
    EXPECT_EQ(isomers.at("share")[0], same ? 1.0 : 0.5);
  }
}

TEST(PotentialMinimaObserver, AReplicaWithoutAnEnergyIsLeftOut) {
  ObservedMinima minima;
  minima.potential->change = [](auto ids, auto energies, auto) {
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (ids[k] == 6) energies[k] = std::numeric_limits<double>::quiet_NaN();
    }
  };
  minima.observe();
  const auto energies = columns_of(minima.folder.file("minima.csv")).at("minimum_kcal_per_mol");
  EXPECT_TRUE(std::isfinite(energies[0]));
  EXPECT_TRUE(std::isnan(energies[1]));
  EXPECT_TRUE(std::isfinite(energies[2]));
}

TEST(PotentialMinimaObserver, AnExceptionReachesTheRun) {
  for (const std::size_t live : {1, 3}) {
    ObservedMinima minima;
    minima.frame.replica_ids.resize(live);
    minima.frame.positions_A.resize(27 * live);
    minima.potential->change = [](auto...) { throw NumericalError("no convergence"); };
    minima.observers.at(0)->begin();
    EXPECT_THROW(minima.observers.at(0)->observe(minima.frame), NumericalError);
  }
}

}  // namespace
}  // namespace tarn
