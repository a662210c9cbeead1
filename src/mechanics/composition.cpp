#include <cmath>

#include "tarn/mechanics/methods.hpp"

namespace tarn::mechanics {

Composed::Composed(Kind kind, double h,
                   const std::function<std::unique_ptr<Method>(double h)>& make)
    : steps_per_side_(kind == Kind::triple_jump ? 1 : 2) {
  const double outer_steps = 2.0 * steps_per_side_;
  const double gamma = 1.0 / (outer_steps - std::cbrt(outer_steps));
  outer_ = make(gamma * h);
  inner_ = make((1.0 - outer_steps * gamma) * h);
}

void Composed::begin(State& s) {
  outer_->begin(s);
  add_up(costs_.steps);
}

void Composed::step(State& s) {
  for (int k = 0; k < steps_per_side_; ++k) outer_->step(s);
  inner_->take_over(s);
  inner_->step(s);
  // Its state is also valid for the next step, which begins with the same method.
  outer_->take_over(s);
  for (int k = 0; k < steps_per_side_; ++k) outer_->step(s);
  add_up(costs_.steps + 1);
}

void Composed::add_up(std::int64_t steps) {
  costs_ = outer_->costs() + inner_->costs();
  costs_.steps = steps;
}

}  // namespace tarn::mechanics
