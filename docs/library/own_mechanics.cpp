// A bead on an ellipse under gravity, by RATTLE and by a stiff penalty.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <tarn/core/error.hpp>
#include <tarn/mechanics/diagnostics.hpp>
#include <tarn/mechanics/methods.hpp>
#include <tarn/mechanics/system.hpp>

namespace {

using namespace tarn::mechanics;

/// V = q_1. The Hessian and the third derivative are zero.
class Weight final : public MechanicalSystem {
 public:
  Weight() : MechanicalSystem(Vector::Ones(2)) {}
  double potential(const Vector& q) const override { return q[1]; }
  Vector gradient(const Vector&) const override { return Vector::Unit(2, 1); }
  void add_hessian(const Vector&, double, BandMatrix&) const override {}
  Vector third_derivative(const Vector&, const Vector&) const override { return Vector::Zero(2); }
};

/// g = (x/2)² + y² - 1
class Ellipse final : public Constraint {
 public:
  Index count() const override { return 1; }
  const std::vector<Index>& support(Index) const override { return support_; }
  double value(Index, const Local& x) const override {
    return 0.25 * x[0] * x[0] + x[1] * x[1] - 1.0;
  }
  Local gradient(Index, const Local& x) const override {
    return Eigen::Vector2d(0.5 * x[0], 2.0 * x[1]);
  }
  LocalMatrix hessian(Index, const Local&) const override {
    return Eigen::Vector2d(0.5, 2.0).asDiagonal().toDenseMatrix();
  }
  Local third_derivative(Index, const Local&, const Local&) const override {
    return Eigen::Vector2d::Zero();
  }

 private:
  std::vector<Index> support_{0, 1};
};

/// Prints the largest change in the energy and the largest g over 1000 steps.
void show(const char* name, const MechanicalSystem& system, const Constraint& ellipse,
          Method& method) {
  State s{.x = Eigen::Vector2d(2.0, 0.0), .v = Vector::Zero(2), .f = {}, .lambda = {}};
  const double first = energy(system, s);
  double change = 0.0, largest_g = 0.0;
  method.begin(s);
  for (int step = 0; step < 1000; ++step) {
    method.step(s);
    change = std::max(change, std::abs(energy(system, s) - first));
    largest_g = std::max(largest_g, std::abs(ellipse.values(s.x)[0]));
  }
  std::printf("%-8s energy changes by %.1e, g by %.1e\n", name, change, largest_g);
}

}  // namespace

int main() try {
  const double h = 0.01, omega = 50.0;
  const Weight weight;
  const Ellipse ellipse;
  const Penalised penalised(weight, ellipse, omega);  // V + ½ omega² g²
  Rattle rattle(weight, ellipse, h);
  show("RATTLE", weight, ellipse, rattle);
  ZssStiff zss(penalised, h, 0.3);
  show("Z&Ss", penalised, ellipse, zss);
} catch (const tarn::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
