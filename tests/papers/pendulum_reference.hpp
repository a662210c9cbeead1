#pragma once

#include <Eigen/Dense>

#include "papers/methods.hpp"
#include "testing.hpp"

/// @file
/// The double pendulum of TO 4.1 in angles, independent of the methods under test.

namespace tarn::test {

/// The second point (x2, y2) at t = 0, every, 2 every, ..., end, by the classical Runge-Kutta
/// method with steps of some 1e-3: its error is some 1e-10 at t = 50.
inline std::vector<Eigen::Vector2d> double_pendulum_reference(double end, double every) {
  const double l1 = 1.0, l2 = std::numbers::sqrt2;
  const auto rate = [&](const Eigen::Vector4d& y) {
    const double s = std::sin(y[0] - y[1]), c = std::cos(y[0] - y[1]);
    Eigen::Matrix2d mass;
    mass << 2.0 * l1 * l1, l1 * l2 * c, l1 * l2 * c, l2 * l2;
    const Eigen::Vector2d force(-l1 * l2 * s * y[3] * y[3] - 2.0 * l1 * std::sin(y[0]),
                                l1 * l2 * s * y[2] * y[2] - l2 * std::sin(y[1]));
    const Eigen::Vector2d a = mass.inverse() * force;
    return Eigen::Vector4d(y[2], y[3], a[0], a[1]);
  };
  const int inner = static_cast<int>(std::ceil(every / 1e-3));
  const double h = every / inner;
  Eigen::Vector4d y(0.0, std::numbers::pi / 4.0, 0.0, 0.0);
  std::vector<Eigen::Vector2d> points;
  for (long k = 0; k <= std::lround(end / every); ++k) {
    points.emplace_back(l1 * std::sin(y[0]) + l2 * std::sin(y[1]),
                        -l1 * std::cos(y[0]) - l2 * std::cos(y[1]));
    for (int i = 0; i < inner; ++i) {
      const Eigen::Vector4d k1 = rate(y), k2 = rate(y + 0.5 * h * k1), k3 = rate(y + 0.5 * h * k2),
                            k4 = rate(y + h * k3);
      y += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
  }
  return points;
}

/// Largest errors of x2 and y2 on the reference's times; `inner` steps from one time to the next.
inline Eigen::Vector2d worst_errors(papers::Method& method, const papers::Vector& x,
                                    const papers::Vector& v,
                                    const std::vector<Eigen::Vector2d>& reference, int inner) {
  papers::State s{x, v, {}, {}};
  method.begin(s);
  Eigen::Vector2d worst = Eigen::Vector2d::Zero();
  for (const Eigen::Vector2d& point : reference) {
    worst = worst.cwiseMax((s.x.tail<2>() - point).cwiseAbs());
    for (int i = 0; i < inner; ++i) method.step(s);
  }
  return worst;
}

}  // namespace tarn::test
