#include <algorithm>
#include <cmath>
#include <deque>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "run.hpp"
#include "systems.hpp"
#include "tarn/core/error.hpp"

/// @file
/// Systems, their starts and methods from decks, and the cases that runs advance.

namespace tarn::papers {
namespace {

// Tolerance for a start on the constraints: decks contain rounded numbers.
constexpr double kOnConstraints = 1e-9;
// Maximum half window of the multiplier averages, in steps.
constexpr double kMostHalfWindow = 1e5;

Vector vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

/// Whether the system consists of pendula, or of spherical pendula.
bool is_pendula(const PaperDeck& deck) {
  return deck.system.kind.find("pendulum") != std::string::npos;
}
bool is_three_dimensional(const PaperDeck& deck) {
  return is_pendula(deck) && kind_of(deck).dimensions == 3;
}

/// Whether positions and velocities of decks and tables are relative to the joints.
bool gives_rods(const PaperDeck& deck) { return deck.system.kind == "double-spherical-pendulum"; }

/// Strength of the penalty, from either section; unused without a penalty.
double omega_of(const PaperDeck& deck) {
  return deck.own.system.omega.value_or(deck.own.integrator.omega.value_or(1.0));
}

/// Positions, or velocities, of points relative to their joints.
Vector rods_of(const Vector& points, Index dimensions) {
  const Index rest = points.size() - dimensions;
  Vector rods = points;
  rods.tail(rest) -= points.head(rest);
  return rods;
}

/// Inverse of rods_of().
Vector points_of(Vector rods, Index dimensions) {
  for (Index i = dimensions; i < rods.size(); ++i) rods[i] += rods[i - dimensions];
  return rods;
}

/// Sets the lengths of the rods and keeps their directions.
void set_lengths(Pendula& pendula, const std::vector<double>& lengths) {
  if (lengths.empty()) return;
  const Index dimensions = pendula.position.size() / pendula.masses.size();
  Vector rods = rods_of(pendula.position, dimensions);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    rods.segment(dimensions * static_cast<Index>(k), dimensions) *= lengths[k] / pendula.lengths[k];
  }
  pendula.position = points_of(rods, dimensions);
  pendula.lengths = lengths;
}

/// Fills an empty list with the paper's values.
template <class Values>
void fill(std::vector<double>& list, const Values& values) {
  if (list.empty()) list.assign(values.begin(), values.end());
}

/// Default angular momentum in the body frame.
Matrix paper_momentum(bool heavy, Index n) {
  Matrix momentum = Matrix::Zero(n, n);
  if (heavy) {
    // On H = 1 for the other defaults, with m·v = 0.
    momentum(0, 1) = std::sqrt(2.0 * 0.94 * (1.0 - 0.5 / 1.5));
    momentum(1, 2) = -1.0;
  } else {
    for (Index i = 0; i < n; ++i) {
      for (Index j = i + 1; j < n; ++j) {
        momentum(i, j) = std::cos(static_cast<double>(i + 1 + 2 * (j + 1)));
      }
    }
  }
  momentum -= momentum.transpose().eval();
  return momentum;
}

/// The pendula of a deck, with the paper's values where it gives none.
Pendula pendula_of(const PaperDeck& deck) {
  const std::string& kind = deck.system.kind;
  const SystemKeys& system = deck.own.system;
  Pendula pendula = kind == "double-pendulum"             ? double_pendulum()
                    : kind == "pendulum-chain"            ? pendulum_chain(system.n)
                    : kind == "double-spherical-pendulum" ? double_spherical_pendulum()
                                                          : spherical_pendulum();
  if (!system.masses.empty()) pendula.masses = vector_of(system.masses);
  set_lengths(pendula, system.lengths);
  pendula.gravity = system.gravity;
  const auto points = [&](const std::vector<double>& given) {
    return gives_rods(deck) ? points_of(vector_of(given), 3) : vector_of(given);
  };
  if (!system.position.empty()) pendula.position = points(system.position);
  if (!system.velocity.empty()) pendula.velocity = points(system.velocity);
  if (kind == "spherical-pendulum") pendula.lengths = {pendula.position.norm()};
  return pendula;
}

/// The system of a deck in R^n with its initial data.
Experiment make_experiment(const PaperDeck& deck) {
  const SystemKeys& system = deck.own.system;
  const double omega = omega_of(deck);
  if (is_pendula(deck)) return make_pendula(pendula_of(deck), omega);
  Experiment problem;
  if (deck.system.kind == "dna") {
    problem = make_dna(
        {system.n, system.a, system.x0, system.epsilon, system.ends == DnaEnds::periodic},
        system.xi.empty() ? standard_normals(system.seed, system.n) : vector_of(system.xi));
  } else if (deck.system.kind == "three-body-plane") {
    problem = make_three_body_plane(omega);
  } else {
    problem = make_double_spring(omega);
    if (deck.own.integrator.scheme != "slow-manifold") {
      // AST (31)-(32), on the constraints: the start of its time-dependent solutions.
      problem.position = Eigen::Vector4d(1.0, 0.0, 2.0, 0.0);
    }
  }
  if (!system.position.empty()) problem.position = vector_of(system.position);
  if (!system.velocity.empty()) problem.velocity = vector_of(system.velocity);
  return problem;
}

/// @throws InputError if the constraint gradients are linearly dependent
void check_gradients(const PaperDeck& deck, const Experiment& problem) {
  const Constraint& g = *problem.constraint;
  BandMatrix gram(g.count(), g.coupling());
  g.add_gram(problem.position, problem.position, problem.soft->masses(), 1.0, gram);
  if (gram.solve(Vector::Ones(g.count())).allFinite()) return;
  std::string which = "their gradients are linearly dependent";
  for (Index i = 0; i < g.count(); ++i) {
    if (!g.gradient(i, g.at(i, problem.position)).isZero(0.0)) continue;
    which = fmt::format("the gradient of constraint {} is zero", i + 1);
    break;
  }
  throw InputError(
      deck.path, 0,
      fmt::format("the constraints are singular at the start: {}; choose another start", which));
}

/// @throws InputError if the start violates the constraints, if its velocity is not tangent to
/// them, or if the gradients at the start do not determine the multipliers
void check_on_constraints(const PaperDeck& deck, const Experiment& problem) {
  const Vector g = problem.constraint->values(problem.position);
  const Vector rates = problem.constraint->rates(problem.position, problem.velocity);
  std::vector<Problem> problems;
  for (const std::string_view what : {"position", "velocity"}) {
    const bool is_rate = what == "velocity";
    const Vector& values = is_rate ? rates : g;
    Index worst = 0;
    const double size = values.cwiseAbs().maxCoeff(&worst);
    if (size <= kOnConstraints) continue;
    problems.push_back(
        {deck.path, 0, 0,
         fmt::format(
             "the initial {0} violates constraint {1} ({2} is {3:.3g} instead of 0). \"{4}\" needs "
             "a start on the constraints{5}; change the {0}, or omit it to use the paper's",
             what, worst + 1, is_rate ? "its rate" : "its value", values[worst],
             deck.own.integrator.scheme, is_rate ? " with velocities tangent to them" : "")});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  check_gradients(deck, problem);
}

std::unique_ptr<Case> make_magnet(const PaperDeck& deck) {
  const SystemKeys& system = deck.own.system;
  const IntegratorKeys& integrator = deck.own.integrator;
  const Magnet magnet{system.b_mu, integrator.step,
                      matrix_of<Eigen::Matrix3d>(vector_of(system.rotation)),
                      vector_of(system.angular_velocity)};
  if (integrator.scheme == "so3-linearised") {
    return std::make_unique<LinearisedSo3>(magnet, *integrator.omega, *integrator.beta,
                                           integrator.quadrature, integrator.a_mass);
  }
  using S = RotatingMagnet::Scheme;
  return std::make_unique<RotatingMagnet>(
      integrator.scheme == "rk4" ? S::runge_kutta : S::cayley_variational_euler, magnet);
}

std::unique_ptr<Case> make_rigid_body(const PaperDeck& deck) {
  const SystemKeys& system = deck.own.system;
  const double step = deck.own.integrator.step;
  const std::string& scheme = deck.own.integrator.scheme;
  const Vector alpha = vector_of(system.alpha);
  const Matrix momentum = matrix_of(vector_of(system.momentum));
  if (deck.system.kind == "free-body") {
    using S = FreeBody::Scheme;
    return std::make_unique<FreeBody>(scheme == "rk4" ? S::runge_kutta : S::moser_veselov, alpha,
                                      matrix_of(vector_of(system.rotation)), momentum, step);
  }
  using S = HeavyTop::Scheme;
  return std::make_unique<HeavyTop>(scheme == "rattle" ? S::rattle
                                    : scheme == "rk4"  ? S::runge_kutta
                                                       : S::constrained_euler,
                                    alpha, vector_of(system.chi), system.c, momentum,
                                    vector_of(system.direction), step);
}

std::unique_ptr<Case> make_variational(const PaperDeck& deck) {
  const IntegratorKeys& integrator = deck.own.integrator;
  check_on_constraints(deck, make_experiment(deck));
  const Layer layer = integrator.scheme == "variational-of:euler" ? Layer::euler
                      : integrator.scheme == "variational-of:rk2" ? Layer::rk2
                                                                  : Layer::rk4;
  return make_variational_of(pendula_of(deck), layer, integrator.step, integrator.bias);
}

/// The method of a deck with a step h.
std::unique_ptr<Method> simple_method(const PaperDeck& deck, const Experiment& problem, double h) {
  const IntegratorKeys& keys = deck.own.integrator;
  const std::string& name = keys.scheme;
  const double beta = keys.beta.value_or(0.0);
  const MechanicalSystem& whole = problem.whole();
  if (name == "verlet") return std::make_unique<Verlet>(whole, h);
  if (name == "zs") return std::make_unique<Zs>(whole, h, beta);
  if (name == "zss") return std::make_unique<Zss>(whole, h, beta);
  if (name == "zss-stiff") return std::make_unique<ZssStiff>(whole, h, beta, keys.hessian);
  if (name == "pushforward-newmark") return std::make_unique<PushforwardNewmark>(whole, h, beta);
  if (name == "newmark") return std::make_unique<Newmark>(whole, h, beta);
  if (name == "newmark-one-step") {
    return std::make_unique<NewmarkOneStep>(whole, h, beta, keys.acceleration);
  }
  if (name == "variational-euler") return std::make_unique<VariationalEuler>(whole, h);
  if (name == "rk4") return std::make_unique<Rk4>(whole, h);
  const bool in_space = is_three_dimensional(deck);
  if (name == "midpoint" && !in_space) return std::make_unique<Midpoint>(whole, h);
  const MechanicalSystem& soft = *problem.soft;
  const Constraint& constraint = *problem.constraint;
  if (name == "shake") return std::make_unique<Shake>(soft, constraint, h);
  if (name == "rattle") return std::make_unique<Rattle>(soft, constraint, h);
  const SlowManifold manifold{constraint, omega_of(deck), keys.tolerance};
  if (name == "rk4-projected") return std::make_unique<ProjectedRk4>(whole, h, manifold);
  if (name == "dormand-prince") {
    return std::make_unique<AdaptiveSteps>(whole, h, manifold, keys.projections,
                                           keys.relative_tolerance);
  }
  using Equations = ConstrainedMidpoint::Equations;
  return std::make_unique<ConstrainedMidpoint>(
      soft, constraint, h, name == "midpoint" ? Equations::newton : Equations::hamilton);
}

/// The method of a deck.
std::unique_ptr<Method> make_method(const PaperDeck& deck, const Experiment& problem) {
  const auto make = [&](double h) { return simple_method(deck, problem, h); };
  const IntegratorKeys& keys = deck.own.integrator;
  if (keys.compose == Composition::none) return make(keys.step);
  return std::make_unique<Composed>(keys.compose, keys.step, make);
}

/// Systems in R^n.
///
/// Multipliers of a penalty are averaged over a window centred on the reported step. The
/// integration therefore runs half a window ahead of it.
class RnCase : public Case {
 public:
  explicit RnCase(const PaperDeck& deck)
      : deck_(deck),
        keys_(deck.own.integrator),
        rigid_(is_rigid(keys_.scheme) || is_three_dimensional(deck)),
        problem_(make_experiment(deck)),
        system_(rigid_ ? *problem_.soft : problem_.whole()),
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
    const double energy = system_.kinetic(start.v) + std::abs(system_.potential(start.x));
    largest_v_ =
        std::sqrt(kBlownUp) *
        (1.0 + size_of(start.v) + std::sqrt(2.0 * energy / problem_.soft->masses().minCoeff()));
    try {
      method_->begin(start);
    } catch (const NumericalError& error) {
      throw NumericalError(fmt::format("\"{}\" failed at step 0: {}", keys_.scheme, error.what()));
    }
    push(std::move(start));
    look_ahead(half_ + 1);
  }

  void step() override { method_->step(ahead_.front()); }
  void checked_step() override {
    look_ahead(2);
    if (ahead_.size() == 1) throw NumericalError(failure_);
    ahead_.pop_front();
    ++step_;
    if (std::ssize(means_) > half_ && first_mean_ < step_ - half_) {
      means_.pop_front();
      ++first_mean_;
    }
    look_ahead(half_ + 1);
  }

  std::vector<Quantity> row() const override {
    std::vector<Quantity> row = gives_rods(deck_) ? row_of(rods_of(now().x, 3), rods_of(now().v, 3))
                                                  : row_of(now().x, now().v);
    append(row, "lambda", lambda());
    return row;
  }

  std::vector<Quantity> energies() const override {
    const double kinetic = problem_.soft->kinetic(now().v);
    const Method::EnergyPlace at = method_->energy_place(system_, now());
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
    const bool at_forces =
        !deck_.own.conservation || deck_.own.conservation->place == EnergyPlace::forces;
    std::vector<Quantity> values{
        {"energy", at_forces ? energy(system_, *method_, now()) : energy(system_, now())}};
    if (deck_.system.kind == "three-body-plane") {
      const Vector p = linear_momentum(system_, now().v, 2);
      values.push_back({"px", p[0]});
      values.push_back({"py", p[1]});
      values.push_back({"lz", angular_momentum_z(system_, now().x, now().v, 2)});
    }
    if (is_three_dimensional(deck_)) {
      values.push_back({"lz", angular_momentum_z(system_, now().x, now().v, 3)});
    }
    if (problem_.constraint) {
      values.push_back({"constraint_max", size_of(problem_.constraint->values(now().x))});
    }
    return values;
  }

  const Costs& costs() const override { return method_->costs(); }

 private:
  const State& now() const { return ahead_.front(); }

  void push(State s) {
    if (omega2_ > 0.0) means_.push_back(omega2_ * problem_.constraint->values(s.x));
    ahead_.push_back(std::move(s));
  }

  /// Steps until there are this many states, or records why a step failed.
  void look_ahead(Index states) {
    while (std::ssize(ahead_) < states && failure_.empty()) {
      State s = ahead_.back();
      try {
        method_->step(s);
      } catch (const NumericalError& error) {
        failure_ = error.what();
        return;
      }
      const double x = size_of(s.x), v = size_of(s.v);
      if (s.x.allFinite() && s.v.allFinite() && x <= largest_x_ && v <= largest_v_) {
        push(std::move(s));
        continue;
      }
      failure_ = fmt::format(
          "it blew up: largest coordinate {:.3g}, largest velocity {:.3g}. Try a smaller step{}", x,
          v, problem_.constraint && !rigid_ ? " or a smaller product of omega and step" : "");
    }
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
    const Index end = std::min<Index>(std::ssize(means_) - 1, step_ + half_ - first_mean_);
    const auto first = means_.begin() + begin, last = means_.begin() + end;
    if (first == last) return *first;
    Vector sum = 0.5 * (*first + *last);
    for (auto mean = first + 1; mean != last; ++mean) sum += *mean;
    return sum / static_cast<double>(end - begin);
  }

  const PaperDeck& deck_;
  const IntegratorKeys& keys_;
  bool rigid_;
  Experiment problem_;
  const MechanicalSystem& system_;  // that is integrated
  std::unique_ptr<Method> method_;
  double omega2_ = 0.0;  // 0 if no mean is needed
  Index half_ = 0;       // half window, in steps
  double largest_x_ = 0.0, largest_v_ = 0.0;
  std::int64_t step_ = 0, first_mean_ = 0;  // reported step, and step of the first of means_
  std::deque<State> ahead_;                 // the reported step and the following ones
  std::deque<Vector> means_;                // omega² g around the reported step
  std::string failure_;                     // why the step after the last of ahead_ failed
};

/// The projection onto the slow manifold; each iterate is a step.
class SlowManifoldCase : public Case {
 public:
  explicit SlowManifoldCase(const PaperDeck& deck)
      : problem_(make_experiment(deck)),
        iterates_(project_onto(
            {*problem_.constraint, omega_of(deck), deck.own.integrator.tolerance},
            CountedSystem(*problem_.penalised, costs_), problem_.position, problem_.velocity)) {
    costs_.iterations = costs_.steps = static_cast<std::int64_t>(iterates_.size()) - 1;
  }

  void step() override { ++step_; }
  void checked_step() override { step(); }
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
  const Costs& costs() const override { return costs_; }

 private:
  const SlowIterate& now() const { return iterates_[step_]; }

  Experiment problem_;
  Costs costs_;
  std::vector<SlowIterate> iterates_;
  std::size_t step_ = 0;
};

}  // namespace

PaperDeck with_initial_data(PaperDeck deck) {
  SystemKeys& system = deck.own.system;
  const std::string& kind = deck.system.kind;
  const bool is_top = kind == "heavy-top";
  if (kind == "magnet") {
    const Magnet paper;
    fill(system.rotation, rows_of(paper.rotation));
    fill(system.angular_velocity, paper.angular_velocity);
  } else if (kind == "free-body" || is_top) {
    fill(system.alpha, Eigen::Vector3d(0.44, 0.5, 1.0));
    const auto n = static_cast<Index>(system.alpha.size());
    fill(system.rotation, rows_of(Matrix::Identity(n, n)));
    fill(system.momentum, rows_of(paper_momentum(is_top, n)));
    fill(system.chi, Eigen::Vector3d(0.0, 0.0, 1.0));
    fill(system.direction, Eigen::Vector3d(0.0, 1.0, 0.0));
  } else {
    if (is_pendula(deck)) {
      const Pendula pendula = pendula_of(deck);
      fill(system.masses, pendula.masses);
      fill(system.lengths, pendula.lengths);
    }
    const Experiment start = make_experiment(deck);
    const auto given = [&](const Vector& points) {
      return gives_rods(deck) ? rods_of(points, 3) : points;
    };
    // The positions of a strand follow from n, the noise and the seed.
    if (kind != "dna") fill(system.position, given(start.position));
    fill(system.velocity, given(start.velocity));
  }
  return deck;
}

std::unique_ptr<Case> make_case(const PaperDeck& deck) {
  const std::string& kind = deck.system.kind;
  const std::string& scheme = deck.own.integrator.scheme;
  if (scheme == "slow-manifold") return std::make_unique<SlowManifoldCase>(deck);
  if (kind == "magnet") return make_magnet(with_initial_data(deck));
  if (kind == "free-body" || kind == "heavy-top") return make_rigid_body(with_initial_data(deck));
  if (scheme.starts_with("variational-of:")) return make_variational(deck);
  return std::make_unique<RnCase>(deck);
}

}  // namespace tarn::papers
