#include "run/evaporation.hpp"

#include <gtest/gtest.h>

namespace tarn {
namespace {

TEST(Evaporation, OneTextNamesAllReplicas) {
  std::vector<Departure> departures{{3, 1000, 2}};
  const std::string first = describe(departures.front());
  EXPECT_EQ(describe(departures), first);
  departures.push_back({0, 2000, 1});
  EXPECT_EQ(describe(departures), first + ". The same befell replica 0 (step 2000)");
  departures.push_back({7, 4000, 0});
  EXPECT_EQ(describe(departures),
            first + ". The same befell replicas 0 (step 2000), 7 (step 4000)");
}

TEST(Evaporation, OneTextDoesNotGrowForEver) {
  std::vector<Departure> departures;
  for (int r = 0; r < 25; ++r) departures.push_back({r, 1000, 0});
  const std::string text = describe(departures);
  EXPECT_NE(text.find("20 (step 1000) and 4 more"), std::string::npos) << text;
  EXPECT_EQ(text.find("21 (step"), std::string::npos);
}

}  // namespace
}  // namespace tarn
