#include <algorithm>
#include <cmath>
#include <deque>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "experiment.hpp"
#include "slow_manifold.hpp"
#include "tarn/core/error.hpp"

namespace tarn::papers {
namespace {

// The run has blown up when coordinates, or the energy of the velocities, exceed those of the start
// by this factor.
constexpr double kBlownUp = 1e6;
// Maximum half window of the multiplier averages, in steps.
constexpr double kMostHalfWindow = 1e5;

double size_of(const Vector& v) { return v.lpNorm<Eigen::Infinity>(); }

void append(std::vector<Quantity>& row, const char* letter, const Vector& v) {
  for (Index i = 0; i < v.size(); ++i) row.push_back({fmt::format("{}{}", letter, i), v[i]});
}

/// Columns of positions and velocities.
std::vector<Quantity> row_of(const Vector& q, const Vector& v) {
  std::vector<Quantity> row;
  append(row, "q", q);
  append(row, "v", v);
  return row;
}

/// Systems in R^n.
///
/// Multipliers of a penalty are averaged over a window centred on the reported step. The
/// integration therefore runs half a window ahead of it.
class RnCase : public Case {
 public:
  explicit RnCase(const PaperDeck& deck)
      : Case(deck),
        rigid_(is_rigid(keys_.scheme) || is_three_dimensional(deck)),
        problem_(make_experiment(deck)),
        method_(make_method(deck, problem_)) {
    const Keys& m = deck.own;
    if (problem_.constraint && !rigid_ && m.trajectory) {
      omega2_ = std::pow(omega_of(deck), 2);
      const double half = std::round(0.5 * m.trajectory->window / keys_.step);
      if (half > kMostHalfWindow) {
        throw InputError(deck.path, 0,
                         fmt::format("[observe.trajectory] window = {} is more than {} "
                                     "steps; use a shorter window",
                                     m.trajectory->window, 2.0 * kMostHalfWindow));
      }
      half_ = static_cast<Index>(half);
    }
    if (rigid_) check_on_constraints(deck, problem_);
    State start{problem_.position, problem_.velocity, {}, {}};
    largest_x_ = kBlownUp * (1.0 + size_of(start.x));
    const double energy = problem_.soft->kinetic(start.v) +
                          std::abs((rigid_ ? *problem_.soft : problem_.whole()).potential(start.x));
    largest_v_ =
        std::sqrt(kBlownUp) *
        (1.0 + size_of(start.v) + std::sqrt(2.0 * energy / problem_.soft->masses().minCoeff()));
    try {
      method_->begin(start);
    } catch (const NumericalError& error) {
      throw NumericalError(fmt::format("\"{}\" failed at step 0: {}", keys_.scheme, error.what()));
    }
    push(std::move(start));
    look_ahead();
  }

  void step_only() override { method_->step(ahead_.front()); }

  std::vector<Quantity> row() const override {
    std::vector<Quantity> row = gives_rods(deck_) ? row_of(rods_of(now().x, 3), rods_of(now().v, 3))
                                                  : row_of(now().x, now().v);
    append(row, "lambda", lambda());
    return row;
  }

  std::vector<Quantity> energies() const override {
    const double kinetic = problem_.soft->kinetic(now().v);
    const Method::EnergyPlace at = method_->energy_place(integrated_system(), now());
    const double potential = problem_.soft->potential(at.q);
    std::vector<Quantity> values{{"potential", potential}};
    double total = potential + kinetic + at.beside;
    if (problem_.constraint) {
      const double penalty = rigid_ ? 0.0 : problem_.whole().potential(at.q) - potential;
      values.push_back({"penalty", penalty});
      total += penalty;
    }
    values.push_back({"kinetic", kinetic});
    values.push_back({"total", total});
    if (deck_.system.kind == "dna") values.push_back({"theta_bar", now().x.mean()});
    return values;
  }

  std::vector<Quantity> conserved() const override {
    const MechanicalSystem& system = integrated_system();
    const bool at_forces =
        !deck_.own.conservation || deck_.own.conservation->place == EnergyPlace::forces;
    std::vector<Quantity> values{
        {"energy", at_forces ? energy(system, *method_, now()) : energy(system, now())}};
    if (deck_.system.kind == "three-body-plane") {
      const Vector p = linear_momentum(system, now().v, 2);
      values.push_back({"px", p[0]});
      values.push_back({"py", p[1]});
      values.push_back({"lz", angular_momentum_z(system, now().x, now().v, 2)});
    }
    if (is_three_dimensional(deck_)) {
      values.push_back({"lz", angular_momentum_z(system, now().x, now().v, 3)});
    }
    if (problem_.constraint) {
      values.push_back({"constraint_max", size_of(problem_.constraint->values(now().x))});
    }
    return values;
  }

  Costs costs() const override { return method_->costs(); }

 private:
  void advance() override {
    if (ahead_.size() == 1) advance_last();
    if (ahead_.size() == 1) throw NumericalError(failure_);
    ahead_.pop_front();
    if (static_cast<Index>(means_.size()) > half_ && first_mean_ < step_ + 1 - half_) {
      means_.pop_front();
      ++first_mean_;
    }
    look_ahead();
  }

  const MechanicalSystem& integrated_system() const {
    return rigid_ ? *problem_.soft : problem_.whole();
  }

  const State& now() const { return ahead_.front(); }

  void push(State s) {
    if (omega2_ > 0.0) means_.push_back(omega2_ * problem_.constraint->values(s.x));
    ahead_.push_back(std::move(s));
  }

  void look_ahead() {
    while (static_cast<Index>(ahead_.size()) <= half_ && failure_.empty()) advance_last();
  }

  /// Appends the next step, or records why it failed.
  void advance_last() {
    if (!failure_.empty()) return;
    State s = ahead_.back();
    try {
      method_->step(s);
    } catch (const NumericalError& error) {
      failure_ = error.what();
      return;
    }
    const double x = size_of(s.x), v = size_of(s.v);
    if (s.x.allFinite() && s.v.allFinite() && x <= largest_x_ && v <= largest_v_) {
      return push(std::move(s));
    }
    failure_ = fmt::format(
        "it blew up: largest coordinate {:.3g}, largest velocity {:.3g}. Try a smaller step{}", x,
        v, problem_.constraint && !rigid_ ? " or a smaller product of omega and step" : "");
  }

  /// Multipliers of the rigid constraints, or the mean of omega² g by the trapezoidal rule. For
  /// compositions they are recomputed: those of the last substep are only first order.
  Vector lambda() const {
    if (rigid_ && keys_.compose != Composition::none && problem_.constraint) {
      return multipliers_at(*problem_.constraint, problem_.soft->masses(), now().x, now().v,
                            problem_.soft->acceleration(now().x));
    }
    if (omega2_ == 0.0) return now().lambda;
    if (half_ == 0) return means_.front();
    // The window, truncated to the available steps.
    const Index begin = std::max<Index>(0, step_ - half_ - first_mean_);
    const Index end =
        std::min<Index>(static_cast<Index>(means_.size()) - 1, step_ + half_ - first_mean_);
    if (begin == end) return means_[static_cast<std::size_t>(begin)];
    Vector sum =
        0.5 * (means_[static_cast<std::size_t>(begin)] + means_[static_cast<std::size_t>(end)]);
    for (Index k = begin + 1; k < end; ++k) sum += means_[static_cast<std::size_t>(k)];
    return sum / static_cast<double>(end - begin);
  }

  bool rigid_;
  Experiment problem_;
  std::unique_ptr<Method> method_;
  double omega2_ = 0.0;  // 0 if no mean is needed
  Index half_ = 0;       // half window, in steps
  double largest_x_ = 0.0, largest_v_ = 0.0;
  std::int64_t first_mean_ = 0;  // step of the first of means_
  std::deque<State> ahead_;      // the reported step and the following ones
  std::deque<Vector> means_;     // omega² g around the reported step
  std::string failure_;          // why the step after the last of ahead_ failed
};

/// A system on a manifold.
class DynamicsCase : public Case {
 public:
  DynamicsCase(const PaperDeck& deck, std::unique_ptr<Dynamics> dynamics)
      : Case(deck),
        dynamics_(std::move(dynamics)),
        largest_(kBlownUp * (1.0 + size_of(q()) + size_of(v()))) {}

  void step_only() override { dynamics_->step(); }
  std::vector<Quantity> row() const override { return row_of(q(), v()); }
  std::vector<Quantity> energies() const override { return {{"total", dynamics_->energy()}}; }
  std::vector<Quantity> conserved() const override {
    std::vector<Quantity> values{{"energy", dynamics_->energy()}};
    for (const Quantity& q : dynamics_->invariants()) values.push_back(q);
    return values;
  }
  Costs costs() const override { return dynamics_->costs(); }

 private:
  void advance() override {
    const Vector q_before = q(), v_before = v();
    try {
      dynamics_->step();
      const double size = std::max(size_of(q()), size_of(v()));
      if (!q().allFinite() || !v().allFinite() || size > largest_) {
        throw NumericalError(
            fmt::format("it blew up: largest value {:.3g}. Try a smaller step", size));
      }
    } catch (const NumericalError&) {
      dynamics_->q = q_before;
      dynamics_->v = v_before;
      throw;
    }
  }
  const Vector& q() const { return dynamics_->q; }
  const Vector& v() const { return dynamics_->v; }

  std::unique_ptr<Dynamics> dynamics_;
  double largest_;
};

/// The projection onto the slow manifold; each iterate is a step.
class SlowManifoldCase : public Case {
 public:
  explicit SlowManifoldCase(const PaperDeck& deck)
      : Case(deck),
        problem_(make_experiment(deck)),
        iterates_(project_onto(
            {*problem_.constraint, omega_of(deck), deck.own.integrator.tolerance},
            CountedSystem(*problem_.penalised, costs_), problem_.position, problem_.velocity)) {
    costs_.iterations = costs_.steps = static_cast<std::int64_t>(iterates_.size()) - 1;
  }

  void step_only() override { ++step_; }
  std::optional<std::int64_t> steps() const override { return costs_.steps; }
  std::vector<Quantity> row() const override { return row_of(now().x, now().v); }
  std::vector<Quantity> iterate() const override {
    return {{"g1", now().g[0]},
            {"g2", now().g[1]},
            {"gdot1", now().g_rate[0]},
            {"gdot2", now().g_rate[1]}};
  }
  std::vector<Quantity> energies() const override {
    const double potential = problem_.penalised->potential(now().x);
    const double kinetic = problem_.penalised->kinetic(now().v);
    return {{"penalty", potential}, {"kinetic", kinetic}, {"total", potential + kinetic}};
  }
  std::vector<Quantity> conserved() const override {
    return {{"constraint_max", size_of(now().g)}};
  }
  Costs costs() const override { return costs_; }

 private:
  void advance() override {}
  const SlowIterate& now() const { return iterates_[static_cast<std::size_t>(step_)]; }

  Experiment problem_;
  Costs costs_;
  std::vector<SlowIterate> iterates_;
};

}  // namespace

void Case::step() {
  try {
    advance();
  } catch (const NumericalError& error) {
    throw NumericalError(fmt::format("\"{}\" failed at step {} (time {:g}): {}", keys_.scheme,
                                     step_ + 1, static_cast<double>(step_ + 1) * keys_.step,
                                     error.what()));
  }
  ++step_;
}

std::unique_ptr<Case> make_case(const PaperDeck& deck) {
  if (deck.own.integrator.scheme == "slow-manifold") {
    return std::make_unique<SlowManifoldCase>(deck);
  }
  if (auto dynamics = make_dynamics(deck)) {
    return std::make_unique<DynamicsCase>(deck, std::move(dynamics));
  }
  return std::make_unique<RnCase>(deck);
}

}  // namespace tarn::papers
