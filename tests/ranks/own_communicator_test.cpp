#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "run_files.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/ranks.hpp"
#include "tarn/run.hpp"
#include "testing.hpp"

/// @file
/// A program that starts MPI itself and divides its processes into two halves, each of which runs a
/// deck of its own at the same time.

namespace tarn {
namespace {

Ranks* g_ranks = nullptr;
int g_half = 0;

/// Runs a deck on one process and on ranks. @return the device of the second run
std::string expect_same_run(const std::string& text, Ranks& ranks) {
  const test::ScratchFolder folder;
  const Deck deck = load_deck_text(text, folder.file("deck.toml"));
  RunOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.out_dir = folder.file("alone");
  run_deck(deck, options);
  RunFactories factories;
  factories.make_engine = ranks.engine_maker();
  options.out_dir = folder.file("ranks");
  const RunResult result = run_deck(deck, options, factories);
  test::expect_same_files(folder.file("alone"), folder.file("ranks"));
  return result.device;
}

TEST(OwnCommunicator, RunsADeckOnEachHalf) {
  ASSERT_EQ(g_ranks->size(), 2);
  const std::string device = expect_same_run(
      fmt::format("system = {{molecules = 2, replicas = 6, seed = {}}}\n"
                  "integrator.scheme = \"zss-stiff\"\n"
                  "thermostat = {{kind = \"gla\", temperature_K = 100.0, friction_per_ps = 5.0}}\n"
                  "run.steps = {}\nobserve.energies.every = 10\n",
                  5 + g_half, 100 + 200 * g_half),
      *g_ranks);
  EXPECT_NE(device.find("2 ranks"), std::string::npos) << device;
}

/// A communicator of one process, as of a program that was started without mpirun.
TEST(OwnCommunicator, MayHaveOneProcess) {
  const auto alone = Ranks::of_communicator(MPI_Comm_c2f(MPI_COMM_SELF));
  expect_same_run(
      "system = {molecules = 2, replicas = 6}\nintegrator.scheme = \"zss-stiff\"\nrun.steps = 100\n"
      "observe.energies = {every = 10, replicas = \"mean\"}\n",
      *alone);
}

}  // namespace
}  // namespace tarn

int main(int argc, char** argv) {
  int provided = 0, rank = 0, exit_code = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  tarn::g_half = rank % 2;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, tarn::g_half, rank, &half);
  {
    const auto ranks = tarn::Ranks::of_communicator(MPI_Comm_c2f(half));
    if (ranks->rank() > 0) {
      ranks->serve();
    } else {
      tarn::g_ranks = ranks.get();
      ::testing::InitGoogleTest(&argc, argv);
      exit_code = RUN_ALL_TESTS();
    }
  }
  MPI_Comm_free(&half);
  MPI_Finalize();
  return exit_code;
}
