#include "mechanics_case.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/mechanics/diagnostics.hpp"

namespace tarn {
namespace {

using mechanics::Experiment;
using mechanics::Index;
using mechanics::State;
using mechanics::Vector;

// Coordinates or velocities beyond this many times the start's are no motion of the system.
constexpr double kBlownUp = 1e6;
// A start is on the constraints when it is so to rounding of what people write in decks.
constexpr double kOnConstraints = 1e-9;
// Longest half window of a multiplier's mean, in steps.
constexpr double kMostHalfWindow = 1e5;

Vector vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

void put(std::ostream& out, const Vector& v) {
  io::put(out, std::span<const double>(v.data(), static_cast<std::size_t>(v.size())));
}

void append_columns(std::vector<std::string>& columns, const char* letter, Index count) {
  for (Index i = 0; i < count; ++i) columns.push_back(fmt::format("{}{}", letter, i));
}

void append(std::vector<double>& row, const Vector& v) {
  row.insert(row.end(), v.begin(), v.end());
}

/// Systems in R^n.
///
/// The multiplier of a penalty is a mean over steps before and after, so that the integration runs
/// ahead of the step that is told by half that window.
class RnCase : public MechanicsCase {
 public:
  explicit RnCase(const Deck& deck)
      : name_(scheme_name(deck.mechanics.integrator.scheme)),
        h_(deck.mechanics.integrator.step),
        is_dna_(deck.system.kind == "dna"),
        is_free_(deck.system.kind == "three-body-plane"),
        rigid_(is_rigid(deck.mechanics.integrator.scheme)),
        problem_(make_experiment(deck)),
        method_(make_method(deck.mechanics.integrator, problem_)) {
    const MechanicsDeck& m = deck.mechanics;
    if (problem_.constraint && !rigid_ && m.trajectory) {
      omega2_ = *m.integrator.omega * *m.integrator.omega;
      const double half = std::round(0.5 * m.trajectory->window / h_);
      if (half > kMostHalfWindow) {
        throw InputError(
            {problem_at(deck, fmt::format("[observe.trajectory] window = {} is more "
                                          "than {} steps; want less",
                                          m.trajectory->window, 2.0 * kMostHalfWindow))});
      }
      half_ = static_cast<Index>(half);
    }
    if (rigid_) check_start(deck);
    State start{problem_.position, problem_.velocity, {}, {}};
    largest_x_ = kBlownUp * (1.0 + start.x.lpNorm<Eigen::Infinity>());
    largest_v_ = kBlownUp * (1.0 + start.v.lpNorm<Eigen::Infinity>());
    try {
      method_->begin(start);
    } catch (const NumericalError& error) {
      throw NumericalError(fmt::format("\"{}\" failed at step 0: {}", name_, error.what()));
    }
    push(std::move(start));
    look_ahead();
  }

  void step() override {
    if (ahead_.size() == 1) advance_last();
    if (ahead_.size() == 1) throw NumericalError(failure_);
    ahead_.pop_front();
    ++step_;
    if (static_cast<Index>(means_.size()) > half_ && first_mean_ < step_ - half_) {
      means_.pop_front();
      ++first_mean_;
    }
    look_ahead();
  }

  std::vector<std::string> columns() const override {
    std::vector<std::string> columns;
    append_columns(columns, "q", now().x.size());
    append_columns(columns, "v", now().x.size());
    append_columns(columns, "lambda", lambda().size());
    return columns;
  }

  std::vector<double> row() const override {
    std::vector<double> row;
    append(row, now().x);
    append(row, now().v);
    append(row, lambda());
    return row;
  }

  std::vector<Quantity> energies() const override {
    const double kinetic = problem_.soft->kinetic(now().v);
    const double potential = problem_.soft->potential(now().x);
    std::vector<Quantity> values{{"potential", potential}};
    double total = potential + kinetic;
    if (problem_.constraint) {
      const double penalty = rigid_ ? 0.0 : problem_.whole().potential(now().x) - potential;
      values.push_back({"penalty", penalty});
      total += penalty;
    }
    values.push_back({"kinetic", kinetic});
    values.push_back({"total", total});
    if (is_dna_) values.push_back({"theta_bar", now().x.mean()});
    return values;
  }

  std::vector<Quantity> conserved() const override {
    const mechanics::MechanicalSystem& system = rigid_ ? *problem_.soft : problem_.whole();
    std::vector<Quantity> values{{"energy", mechanics::energy(system, now())}};
    if (is_free_) {
      const Vector p = mechanics::linear_momentum(system, now().v, 2);
      values.push_back({"px", p[0]});
      values.push_back({"py", p[1]});
      values.push_back({"lz", mechanics::angular_momentum_z(system, now().x, now().v, 2)});
    }
    if (problem_.constraint) {
      values.push_back(
          {"constraint_max", problem_.constraint->values(now().x).lpNorm<Eigen::Infinity>()});
    }
    return values;
  }

  mechanics::Costs costs() const override { return method_->costs(); }

  void save(std::ostream& out) const override {
    io::put(out, std::int64_t{step_});
    io::put(out, std::int64_t{first_mean_});
    io::put(out, std::string_view(failure_));
    io::put(out, static_cast<std::uint64_t>(ahead_.size()));
    for (const State& s : ahead_) {
      for (const Vector* v : {&s.x, &s.v, &s.f, &s.lambda}) put(out, *v);
    }
    io::put(out, static_cast<std::uint64_t>(means_.size()));
    for (const Vector& v : means_) put(out, v);
  }

  void load(std::istream& in) override {
    step_ = io::get_i64(in);
    first_mean_ = io::get_i64(in);
    failure_ = io::get_string(in);
    ahead_.resize(io::get_u64(in));
    for (State& s : ahead_) {
      for (Vector* v : {&s.x, &s.v, &s.f, &s.lambda}) *v = vector_of(io::get_doubles(in));
    }
    means_.resize(io::get_u64(in));
    for (Vector& v : means_) v = vector_of(io::get_doubles(in));
  }

 private:
  static Problem problem_at(const Deck& deck, std::string message) {
    return {deck.path, 0, 0, std::move(message)};
  }

  void check_start(const Deck& deck) const {
    const Vector g = problem_.constraint->values(problem_.position);
    const Vector rates = problem_.constraint->rates(problem_.position, problem_.velocity);
    std::vector<Problem> problems;
    for (const auto& [what, values] : {std::pair("position", g), {"velocity", rates}}) {
      Index worst = 0;
      const double size = values.cwiseAbs().maxCoeff(&worst);
      if (size <= kOnConstraints) continue;
      problems.push_back(problem_at(
          deck, fmt::format("the start {} does not keep constraint {} (it is {:.3g} and not 0); "
                            "\"{}\" needs a start on the constraints",
                            what, worst + 1, values[worst], name_)));
    }
    if (!problems.empty()) throw InputError(std::move(problems));
  }

  const State& now() const { return ahead_.front(); }

  void push(State s) {
    if (omega2_ > 0.0) means_.push_back(omega2_ * problem_.constraint->values(s.x));
    ahead_.push_back(std::move(s));
  }

  void look_ahead() {
    while (static_cast<Index>(ahead_.size()) <= half_ && failure_.empty()) advance_last();
  }

  /// Adds the next step, or notes why there is none.
  void advance_last() {
    if (!failure_.empty()) return;
    const std::int64_t next = step_ + static_cast<std::int64_t>(ahead_.size());
    const auto fail = [&](const std::string& why) {
      failure_ = fmt::format("\"{}\" failed at step {} (time {:g}): {}", name_, next,
                             static_cast<double>(next) * h_, why);
    };
    State s = ahead_.back();
    try {
      method_->step(s);
    } catch (const NumericalError& error) {
      return fail(error.what());
    }
    const double x = s.x.lpNorm<Eigen::Infinity>(), v = s.v.lpNorm<Eigen::Infinity>();
    if (!s.x.allFinite() || !s.v.allFinite() || x > largest_x_ || v > largest_v_) {
      return fail(
          fmt::format("it blew up, the largest coordinate is {:.3g} and the largest "
                      "velocity {:.3g}. A smaller step, or a smaller omega times the "
                      "step, may help",
                      x, v));
    }
    push(std::move(s));
  }

  /// Of the rigid constraints, or the mean of omega² g by the trapezoidal rule.
  Vector lambda() const {
    if (omega2_ == 0.0) return now().lambda;
    if (half_ == 0) return means_.front();
    // Steps from first_mean_ on, as far as they reach on both sides.
    const Index begin = std::max<Index>(0, step_ - half_ - first_mean_);
    const Index end =
        std::min<Index>(static_cast<Index>(means_.size()) - 1, step_ + half_ - first_mean_);
    if (begin == end) return means_[static_cast<std::size_t>(begin)];
    Vector sum =
        0.5 * (means_[static_cast<std::size_t>(begin)] + means_[static_cast<std::size_t>(end)]);
    for (Index k = begin + 1; k < end; ++k) sum += means_[static_cast<std::size_t>(k)];
    return sum / static_cast<double>(end - begin);
  }

  std::string name_;
  double h_;
  bool is_dna_, is_free_, rigid_;
  Experiment problem_;
  std::unique_ptr<mechanics::Method> method_;
  double omega2_ = 0.0;  // 0 where no mean is needed
  Index half_ = 0;       // of the window, in steps
  double largest_x_ = 0.0, largest_v_ = 0.0;
  std::int64_t step_ = 0;
  std::int64_t first_mean_ = 0;  // step of the first of means_
  std::deque<State> ahead_;      // this step, and those after it
  std::deque<Vector> means_;     // omega² g of steps about this one
  std::string failure_;          // of the step after the last of ahead_
};

}  // namespace

Experiment make_experiment(const Deck& deck) {
  const MechanicsSystemSection& system = deck.mechanics.system;
  // Without a penalty the strength is not used.
  const double omega = deck.mechanics.integrator.omega.value_or(1.0);
  Experiment problem;
  if (deck.system.kind == "dna") {
    const mechanics::Dna::Parameters parameters{system.n, system.a, system.x0, system.epsilon,
                                                system.ends == DnaEnds::periodic};
    const Vector xi = system.xi.empty() ? mechanics::standard_normals(system.seed, system.n)
                                        : vector_of(system.xi);
    problem = mechanics::make_dna(parameters, xi);
  } else if (deck.system.kind == "three-body-plane") {
    problem = mechanics::make_three_body_plane(omega);
  } else {
    mechanics::Pendula pendula = deck.system.kind == "double-pendulum"
                                     ? mechanics::double_pendulum()
                                     : mechanics::pendulum_chain(system.n);
    if (!system.masses.empty()) pendula.masses = vector_of(system.masses);
    if (!system.lengths.empty()) pendula.lengths = system.lengths;
    pendula.gravity = system.gravity;
    problem = mechanics::make_pendula(pendula, omega);
  }
  if (!system.position.empty()) problem.position = vector_of(system.position);
  if (!system.velocity.empty()) problem.velocity = vector_of(system.velocity);
  return problem;
}

std::unique_ptr<mechanics::Method> make_method(const MechanicsIntegratorSection& integrator,
                                               const Experiment& problem) {
  using S = MechanicsScheme;
  using mechanics::NewmarkOneStep;
  const mechanics::MechanicalSystem& whole = problem.whole();
  const double beta = integrator.beta.value_or(0.0);
  const auto make = [&](double h) -> std::unique_ptr<mechanics::Method> {
    switch (integrator.scheme) {
      case S::verlet:
        return std::make_unique<mechanics::Verlet>(whole, h);
      case S::zs:
        return std::make_unique<mechanics::Zs>(whole, h, beta);
      case S::zss:
        return std::make_unique<mechanics::Zss>(whole, h, beta);
      case S::zss_stiff:
        return std::make_unique<mechanics::ZssStiff>(whole, h, beta);
      case S::pushforward_newmark:
        return std::make_unique<mechanics::PushforwardNewmark>(whole, h, beta);
      case S::newmark:
        return std::make_unique<mechanics::Newmark>(whole, h, beta);
      case S::newmark_one_step:
        return std::make_unique<NewmarkOneStep>(
            whole, h, beta,
            integrator.acceleration == OneStepAcceleration::force
                ? NewmarkOneStep::Acceleration::force
                : NewmarkOneStep::Acceleration::linearised);
      case S::variational_euler:
        return std::make_unique<mechanics::VariationalEuler>(whole, h);
      case S::midpoint:
        return std::make_unique<mechanics::Midpoint>(whole, h);
      case S::shake:
        return std::make_unique<mechanics::Shake>(*problem.soft, *problem.constraint, h);
      case S::rattle:
        return std::make_unique<mechanics::Rattle>(*problem.soft, *problem.constraint, h);
    }
    return nullptr;
  };
  if (integrator.compose == Composition::none) return make(integrator.step);
  return std::make_unique<mechanics::Yoshida4>(integrator.step, make);
}

std::unique_ptr<MechanicsCase> make_mechanics_case(const Deck& deck) {
  return std::make_unique<RnCase>(deck);
}

}  // namespace tarn
