#include "src/observe/downsampled_curve.hpp"

#include <cstddef>
#include <numeric>

#include <gtest/gtest.h>

namespace tarn {
namespace {

/// A last point of fewer samples would have larger fluctuations, which look like an event.
TEST(DownsampledCurve, EndsWithAFullPoint) {
  const auto curve_of = [](std::size_t samples) {
    DownsampledCurve curve;
    for (std::size_t i = 0; i < samples; ++i) {
      // The last sample is an outlier.
      const double y = i + 1 == samples ? 8.0 : 0.0;
      curve.add(static_cast<double>(i), y, y, y);
    }
    return curve.series("");
  };
  EXPECT_EQ(curve_of(1).y, std::vector<double>{8.0});
  EXPECT_EQ(curve_of(DownsampledCurve::kMost).y.back(), 8.0) << "each point is one sample";
  // 512 points of two samples, and one sample that belongs to the last of them.
  const io::Series s = curve_of(DownsampledCurve::kMost + 1);
  EXPECT_EQ(s.x.size(), DownsampledCurve::kMost / 2);
  EXPECT_EQ(s.y.back(), 8.0 / 3.0);
  EXPECT_EQ(s.x.back(), 1023.0);
  EXPECT_EQ(s.high.back(), 8.0);
  EXPECT_EQ(curve_of(DownsampledCurve::kMost + 2).y.back(), 4.0);
}

TEST(DownsampledCurve, SmoothCurvesEndWithAFullMean) {
  for (const std::size_t samples : {1u, 128u, 129u, 257u, 1000u}) {
    io::Series curve;
    curve.x.resize(samples);
    std::iota(curve.x.begin(), curve.x.end(), 0.0);
    curve.y.assign(samples, 0.0);
    curve.y.back() = 1.0;
    smooth(curve);
    const std::size_t each = (samples + 127) / 128;
    EXPECT_LE(curve.y.size(), 128u);
    EXPECT_LE(curve.y.back(), 1.0 / static_cast<double>(each)) << samples;
    EXPECT_GT(curve.y.back(), 0.5 / static_cast<double>(each)) << samples;
  }
}

}  // namespace
}  // namespace tarn
