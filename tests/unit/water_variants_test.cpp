#include "compare/scheme_run.hpp"
#include "io/checkpoint.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

/// What --steps makes of a deck with a thermostat.
class WaterVariants : public ::testing::Test {
 protected:
  /// A deck of so many replicas that runs for 3 ps.
  Deck deck(int replicas, const std::string& system = "molecules = 2\nstart = \"random\"\n",
            const std::string& temperatures = "temperature_K = 100.0\n") const {
    return parse_deck("[system]\nseed = 5\nreplicas = " + std::to_string(replicas) + "\n" + system +
                          "[thermostat]\nkind = \"baoab\"\nfriction_per_ps = 5.0\n" + temperatures +
                          "[run]\nduration_ps = 3.0\nequilibration_ps = 1.0\n",
                      folder_.file("deck.toml"));
  }
  /// Of so many replicas, in the folder "left".
  void leave_a_state(int replicas) const {
    Deck other = deck(replicas);
    other.system.seed = 1;
    io::Checkpoint checkpoint;
    checkpoint.tarn_version = "0.1.0";
    checkpoint.physics = physics_fingerprint(other);
    checkpoint.device = "cpu";
    checkpoint.state = make_start(other).state;
    std::filesystem::create_directories(folder_.file("left"));
    io::write_checkpoint(folder_.file("left/checkpoint.bin"), checkpoint);
  }
  static int replicas_of_reference(const Deck& deck) {
    CompareOptions options;
    options.steps = {2.0};
    const std::vector<Variant> variants = make_variants(deck, {"settle"}, options);
    EXPECT_EQ(variants.back().deck.system.replicas, deck.system.replicas);
    return variants.front().deck.system.replicas;
  }

  test::ScratchFolder folder_;
};

TEST_F(WaterVariants, TheReferenceRunsOverTheSameTime) {
  CompareOptions options;
  options.steps = {1.0, 2.0};
  const std::vector<Variant> variants = make_variants(deck(8), {"settle", "shake"}, options);
  ASSERT_EQ(variants.size(), 5u);
  EXPECT_EQ(variants[0].label, "reference settle:timestep_fs=0.5");
  for (const Variant& v : variants) {
    EXPECT_DOUBLE_EQ(static_cast<double>(v.deck.run.steps) * v.deck.integrator.timestep_fs, 3000.0);
    EXPECT_EQ(v.deck.run.equilibration_ps, 1.0);
  }
  EXPECT_NE(variants[0].deck.system.seed, variants[1].deck.system.seed);
}

TEST_F(WaterVariants, TheReferenceHasTwiceTheReplicasWhereThereIsAStartForThem) {
  EXPECT_EQ(replicas_of_reference(deck(8)), 16);
  EXPECT_EQ(replicas_of_reference(deck(8, "file = \"any.xyz\"\n")), 16);
  const std::string state = "state = \"left\"\n";
  leave_a_state(1);
  EXPECT_EQ(replicas_of_reference(deck(8, state)), 16);
  leave_a_state(8);
  EXPECT_EQ(replicas_of_reference(deck(8, state)), 8);
}

/// Means pool the baths, so that each must have the same share.
TEST_F(WaterVariants, TheReferenceHasTheSameShareOfEachBath) {
  const std::string baths = "temperatures_K = [50.0, 100.0, 150.0]\n";
  const std::string random = "molecules = 2\nstart = \"random\"\n";
  EXPECT_EQ(replicas_of_reference(deck(9, random, baths)), 18);
  EXPECT_EQ(replicas_of_reference(deck(8, random, baths)), 8);
}

}  // namespace
}  // namespace tarn
