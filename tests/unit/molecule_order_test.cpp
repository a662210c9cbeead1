#include "tarn/io/structure.hpp"
#include "testing.hpp"

namespace tarn::io {
namespace {

/// H O H H O H of two molecules.
const std::vector<int> kNumbers{1, 8, 1, 1, 8, 1};
const std::vector<double> kPositions{5.9, 0, 0,  // H of the second O
                                     0,   0, 0,  // O
                                     0,   1, 0, 1, 0, 0, 5, 0, 0, 5, 1, 0};

std::string problem_of(const std::vector<int>& numbers, const std::vector<double>& positions) {
  return test::message_of<InputError>([&] { molecule_order(numbers, positions); });
}

TEST(MoleculeOrder, AssignsHydrogensToTheirOxygens) {
  EXPECT_EQ(molecule_order(kNumbers, kPositions), (std::vector<int>{1, 2, 3, 4, 0, 5}));
  EXPECT_TRUE(molecule_order({}, {}).empty());
}

TEST(MoleculeOrder, NamesWrongAtoms) {
  EXPECT_TRUE(problem_of({6, 8, 1, 1, 8, 1}, kPositions).starts_with("atom 0: atomic number 6"));
  std::vector<double> far = kPositions;
  far[9] = 3.0;
  const std::string text = problem_of(kNumbers, far);
  EXPECT_TRUE(test::contains(text, "atom 3: no oxygen is within 1.3 A"));
  EXPECT_TRUE(test::contains(text, "atom 1: this oxygen is the nearest one of 1 hydrogen "));
  EXPECT_TRUE(test::contains(problem_of(kNumbers, {0, 0, 0}), "18 coordinates, not 3"));
}

}  // namespace
}  // namespace tarn::io
