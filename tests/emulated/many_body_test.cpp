#include <cuda_runtime.h>

#include "engine_parts.hpp"

/// @file
/// Many-body models on machines with little memory.

namespace tarn {
namespace {

using namespace test;

class ManyBodyMachines : public ::testing::Test {
 protected:
  void SetUp() override { emulated::machine = {}; }
  void TearDown() override { emulated::machine = {}; }
  static System mbpol(int molecules) {
    System s = make_system({"flexible_verlet", Bath::none}, tip4p(), molecules);
    s.model = *find_water_model("mbpol");
    return s;
  }
};

/// Matrices in shared memory and in device memory, where blocks compute several images, give the
/// same bits.
TEST_F(ManyBodyMachines, PlacesOfMatricesChangeNoBit) {
  const System s = mbpol(13);
  const State start = start_state(s, first_ids(6));
  const auto forces_of = [&] {
    const auto engine = make_engine(s, start, {}, {"cuda", 1});
    Frame f;
    engine->snapshot(kEnergies | kDipoles, f);
    std::vector<double> numbers;
    for (const Energies& e : f.energies) numbers.push_back(e.total_kcal_per_mol);
    for (const auto& dipole : f.dipoles_e_A)
      numbers.insert(numbers.end(), dipole.begin(), dipole.end());
    engine->advance(1);
    const std::vector<double> x = engine->state().positions_A;
    numbers.insert(numbers.end(), x.begin(), x.end());
    return numbers;
  };
  const std::vector<double> shared = forces_of();
  emulated::machine.shared_bytes = 60 * 1024;  // the matrix has 56 kB, and the arrays 7
  EXPECT_EQ(forces_of(), shared);
}

TEST_F(ManyBodyMachines, AreRefusedIfMemoryIsTooSmall) {
  const System s = mbpol(20);
  const State start = start_state(s, first_ids(100));
  emulated::machine.memory = std::size_t{16} << 20;
  try {
    make_engine(s, start, {}, {"cuda", 1});
    ADD_FAILURE();
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("use fewer replicas"), std::string::npos)
        << error.what();
  }
}

TEST_F(ManyBodyMachines, AutoTakesTheGpuForManyImages) {
  for (const auto& [molecules, replicas, name] :
       {std::tuple(7, 2, "cpu"), {7, 100, "cuda"}, {33, 100, "cpu"}}) {
    EXPECT_EQ(auto_device(mbpol(molecules), replicas, 4).name, name);
  }
}

}  // namespace
}  // namespace tarn
