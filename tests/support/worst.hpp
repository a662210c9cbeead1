#pragma once

#include "testing.hpp"

namespace tarn::test {

/// The largest of many errors, and its location. It is written to the test's XML report under its
/// name, so that bounds can be compared with measured errors.
class Worst {
 public:
  explicit Worst(std::string name) : name_(std::move(name)) {}
  Worst(const Worst&) = delete;
  Worst& operator=(const Worst&) = delete;
  ~Worst() { ::testing::Test::RecordProperty(name_, std::to_string(std::log10(value_))); }

  void see(long double error, long long where = 0) {
    // NaN counts as the largest error.
    const double e = std::isnan(error) ? std::numeric_limits<double>::infinity()
                                       : static_cast<double>(std::fabs(error));
    if (e > value_) {
      value_ = e;
      where_ = where;
    }
  }
  double value() const { return value_; }

  void expect_below(double bound) const {
    EXPECT_LT(value_, bound) << name_ << ", worst at " << where_;
  }
  /// For errors with a lower bound too: those of an order, or unavoidable rounding.
  void expect_between(double low, double high) const {
    expect_below(high);
    EXPECT_GT(value_, low) << name_;
  }

 private:
  std::string name_;
  double value_ = 0.0;
  long long where_ = 0;
};

}  // namespace tarn::test
