#include "downsampled_curve.hpp"

#include <algorithm>
#include <utility>

namespace tarn {

void DownsampledCurve::merge(Point& into, const Point& other) {
  into.count += other.count;
  into.x += other.x;
  into.y += other.y;
  into.low = std::min(into.low, other.low);
  into.high = std::max(into.high, other.high);
}

void DownsampledCurve::add(double x, double y, double low, double high) {
  if (points_.size() == kMost && points_.back().count == points_each_) {
    for (std::size_t i = 0; i < kMost / 2; ++i) {
      Point pair = points_[2 * i];
      merge(pair, points_[2 * i + 1]);
      points_[i] = pair;
    }
    points_.resize(kMost / 2);
    points_each_ *= 2.0;
  }
  if (points_.empty() || points_.back().count == points_each_) points_.emplace_back();
  merge(points_.back(), {1.0, x, y, low, high});
}

io::Series DownsampledCurve::series(const std::string& label) const {
  io::Series series;
  series.label = label;
  bool has_spread = false;
  std::vector<Point> points = points_;
  // Fewer samples have other fluctuations.
  if (points.size() > 1 && points.back().count < points_each_) {
    merge(points[points.size() - 2], points.back());
    points.pop_back();
  }
  for (const Point& point : points) {
    series.x.push_back(point.x / point.count);
    series.y.push_back(point.y / point.count);
    series.low.push_back(point.low);
    series.high.push_back(point.high);
    has_spread = has_spread || point.low < point.high;
  }
  if (!has_spread) {
    series.low.clear();
    series.high.clear();
  }
  return series;
}

void smooth(io::Series& curve) {
  constexpr std::size_t kMost = 128;
  const std::size_t each = (curve.x.size() + kMost - 1) / kMost;
  if (each < 2) return;
  for (std::vector<double>* values : {&curve.x, &curve.y}) {
    std::vector<double> means;
    for (std::size_t first = 0, end = 0; first < values->size(); first = end) {
      end = first + 2 * each <= values->size() ? first + each : values->size();
      double sum = 0.0;
      for (std::size_t i = first; i < end; ++i) sum += (*values)[i];
      means.push_back(sum / static_cast<double>(end - first));
    }
    *values = std::move(means);
  }
}

}  // namespace tarn
