#pragma once

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace tarn::test {

/// The largest of many errors, and where it was seen. It goes into the test's XML report under
/// its name, so that bounds can be compared with what is measured.
class Worst {
 public:
  explicit Worst(std::string name) : name_(std::move(name)) {}
  Worst(const Worst&) = delete;
  Worst& operator=(const Worst&) = delete;
  ~Worst() { ::testing::Test::RecordProperty(name_, std::to_string(std::log10(value_))); }

  void see(long double error, long long where = 0) {
    // Not a number is worse than anything.
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
  /// For errors that must also be there: an order, a rounding that cannot be avoided.
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
