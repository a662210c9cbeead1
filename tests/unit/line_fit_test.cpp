#include "tarn/analysis/convergence.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

TEST(FitLine, RecoversALine) {
  // y = 3 - 2 x + e with e = (1, -1, -1, 1), orthogonal to 1 and to x: the fit is the line.
  const std::vector<double> x{0.0, 1.0, 2.0, 3.0}, y{4.0, 0.0, -2.0, -2.0};
  const analysis::LineFit fit = analysis::fit_line(x, y);
  EXPECT_DOUBLE_EQ(fit.slope, -2.0);
  EXPECT_DOUBLE_EQ(fit.intercept, 3.0);
  // Mean 0, squares 16 + 0 + 4 + 4.
  EXPECT_DOUBLE_EQ(fit.rms_about_mean, std::sqrt(6.0));
}

TEST(FitLine, HasNoSlopeWhereXDoesNotVary) {
  EXPECT_EQ(analysis::fit_line(std::vector{2.0, 2.0}, std::vector{1.0, 5.0}).slope, 0.0);
  EXPECT_EQ(analysis::fit_line(std::vector<double>{}, std::vector<double>{}).intercept, 0.0);
}

}  // namespace
}  // namespace tarn
