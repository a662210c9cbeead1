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
#include "tarn/mechanics/slow_manifold.hpp"
#include "tarn/mechanics/variational_of.hpp"

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

bool is_in_space(const Deck& deck) { return deck.system.kind.ends_with("spherical-pendulum"); }

/// Strength of the penalty, from either section; without a penalty it is not used.
double omega_of(const Deck& deck) {
  return deck.mechanics.system.omega.value_or(deck.mechanics.integrator.omega.value_or(1.0));
}

/// Two points in space as their differences from the joints, and back.
Vector between_joints(Vector points) {
  points.tail(3) -= points.head(3).eval();
  return points;
}
Vector from_joints(Vector rods) {
  rods.tail(3) += rods.head(3).eval();
  return rods;
}

/// Gives rods other lengths, each in the direction that it has.
void set_lengths(mechanics::Pendula& pendula, const std::vector<double>& lengths) {
  if (lengths.empty()) return;
  const Index dimensions = pendula.position.size() / pendula.masses.size();
  Vector rods = pendula.position;
  const Index rest = rods.size() - dimensions;
  rods.tail(rest) -= pendula.position.head(rest);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    rods.segment(dimensions * static_cast<Index>(k), dimensions) *= lengths[k] / pendula.lengths[k];
  }
  for (Index i = dimensions; i < rods.size(); ++i) rods[i] += rods[i - dimensions];
  pendula.position = rods;
  pendula.lengths = lengths;
}

/// @throws InputError where the gradients of the constraints at the start do not determine the
/// multipliers
void check_gradients(const Deck& deck, const Experiment& problem) {
  const mechanics::Constraint& g = *problem.constraint;
  mechanics::BandMatrix gram(g.count(), g.coupling());
  g.add_gram(problem.position, problem.position, problem.soft->masses(), 1.0, gram);
  if (gram.solve(Vector::Ones(g.count())).allFinite()) return;
  std::string which = "their gradients depend on each other";
  for (Index i = 0; i < g.count(); ++i) {
    if (!g.gradient(i, g.at(i, problem.position)).isZero(0.0)) continue;
    which = fmt::format("constraint {} has no gradient there", i + 1);
    break;
  }
  throw InputError({Problem{
      deck.path, 0, 0,
      fmt::format("the constraints are singular at the start: {}; start elsewhere", which)}});
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
        dimensions_(is_in_space(deck) ? 3 : 2),
        rods_(deck.system.kind == "double-spherical-pendulum"),
        rigid_(is_rigid(deck.mechanics.integrator.scheme) || is_in_space(deck)),
        problem_(make_experiment(deck)),
        method_(make_method(deck, problem_)) {
    const MechanicsDeck& m = deck.mechanics;
    if (problem_.constraint && !rigid_ && m.trajectory) {
      omega2_ = std::pow(omega_of(deck), 2);
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
    append(row, rods_ ? between_joints(now().x) : now().x);
    append(row, rods_ ? between_joints(now().v) : now().v);
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
    if (dimensions_ == 3) {
      values.push_back({"lz", mechanics::angular_momentum_z(system, now().x, now().v, 3)});
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
    check_gradients(deck, problem_);
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
      return fail(fmt::format(
          "it blew up, the largest coordinate is {:.3g} and the largest "
          "velocity {:.3g}. A smaller step{} may help",
          x, v, problem_.constraint && !rigid_ ? ", or a smaller omega times the step," : ""));
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
  bool is_dna_, is_free_;
  Index dimensions_;
  bool rods_;  // positions and velocities are told relative to the joints
  bool rigid_;
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

/// A system on a manifold.
class DynamicsCase : public MechanicsCase {
 public:
  DynamicsCase(const Deck& deck, std::unique_ptr<mechanics::Dynamics> dynamics)
      : name_(scheme_name(deck.mechanics.integrator.scheme)),
        h_(deck.mechanics.integrator.step),
        dynamics_(std::move(dynamics)),
        largest_(kBlownUp * (1.0 + dynamics_->q.lpNorm<Eigen::Infinity>() +
                             dynamics_->v.lpNorm<Eigen::Infinity>())) {}

  void step() override {
    q_before_ = dynamics_->q;
    v_before_ = dynamics_->v;
    const auto fail = [&](const std::string& why) {
      dynamics_->q = q_before_;
      dynamics_->v = v_before_;
      throw NumericalError(fmt::format("\"{}\" failed at step {} (time {:g}): {}", name_, step_ + 1,
                                       static_cast<double>(step_ + 1) * h_, why));
    };
    try {
      dynamics_->step();
    } catch (const NumericalError& error) {
      fail(error.what());
    }
    const double size =
        std::max(dynamics_->q.lpNorm<Eigen::Infinity>(), dynamics_->v.lpNorm<Eigen::Infinity>());
    if (!dynamics_->q.allFinite() || !dynamics_->v.allFinite() || size > largest_) {
      fail(fmt::format("it blew up, the largest number is {:.3g}. A smaller step may help", size));
    }
    ++step_;
  }

  std::vector<std::string> columns() const override {
    std::vector<std::string> columns;
    append_columns(columns, "q", dynamics_->q.size());
    append_columns(columns, "v", dynamics_->v.size());
    return columns;
  }

  std::vector<double> row() const override {
    std::vector<double> row;
    append(row, dynamics_->q);
    append(row, dynamics_->v);
    return row;
  }

  std::vector<Quantity> energies() const override { return {{"total", dynamics_->energy()}}; }

  std::vector<Quantity> conserved() const override {
    std::vector<Quantity> values{{"energy", dynamics_->energy()}};
    for (const mechanics::Invariant& i : dynamics_->invariants())
      values.push_back({i.name, i.value});
    return values;
  }

  mechanics::Costs costs() const override { return dynamics_->costs(); }

  void save(std::ostream& out) const override {
    io::put(out, std::int64_t{step_});
    put(out, dynamics_->q);
    put(out, dynamics_->v);
  }
  void load(std::istream& in) override {
    step_ = io::get_i64(in);
    dynamics_->q = vector_of(io::get_doubles(in));
    dynamics_->v = vector_of(io::get_doubles(in));
  }

 private:
  std::string name_;
  double h_;
  std::unique_ptr<mechanics::Dynamics> dynamics_;
  Vector q_before_, v_before_;  // the step, which may fail
  double largest_;
  std::int64_t step_ = 0;
};

/// The projection onto the slow manifold; its steps are the iterates.
class SlowManifoldCase : public MechanicsCase {
 public:
  explicit SlowManifoldCase(const Deck& deck)
      : problem_(make_experiment(deck)),
        iterates_(mechanics::project_onto_slow_manifold(
            mechanics::CountedSystem(*problem_.penalised, costs_), *problem_.constraint,
            omega_of(deck), problem_.position, problem_.velocity,
            deck.mechanics.integrator.tolerance)) {
    costs_.iterations = costs_.steps = static_cast<std::int64_t>(iterates_.size()) - 1;
  }

  void step() override { ++step_; }
  std::optional<std::int64_t> steps() const override { return costs_.steps; }

  std::vector<std::string> columns() const override {
    std::vector<std::string> columns;
    append_columns(columns, "q", now().x.size());
    append_columns(columns, "v", now().x.size());
    return columns;
  }
  std::vector<double> row() const override {
    std::vector<double> row;
    append(row, now().x);
    append(row, now().v);
    return row;
  }
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
    return {{"constraint_max", now().g.lpNorm<Eigen::Infinity>()}};
  }
  mechanics::Costs costs() const override { return costs_; }
  void save(std::ostream& out) const override { io::put(out, std::int64_t{step_}); }
  void load(std::istream& in) override { step_ = io::get_i64(in); }

 private:
  const mechanics::SlowIterate& now() const { return iterates_[static_cast<std::size_t>(step_)]; }

  Experiment problem_;
  mechanics::Costs costs_;
  std::vector<mechanics::SlowIterate> iterates_;
  std::int64_t step_ = 0;
};

mechanics::Matrix square_matrix(const std::vector<double>& rows, Index n) {
  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMatrix>(rows.data(), n, n);
}

std::vector<double> rows_of(const mechanics::Matrix& matrix) {
  std::vector<double> rows;
  for (Index i = 0; i < matrix.rows(); ++i) append(rows, matrix.row(i).transpose());
  return rows;
}

/// Takes the paper's numbers where the deck gives none.
template <class Values>
void fill(std::vector<double>& list, const Values& values) {
  if (list.empty()) list.assign(values.begin(), values.end());
}

/// The angular momentum in the body where the deck gives none.
mechanics::Matrix paper_momentum(bool heavy, Index n) {
  mechanics::Matrix momentum = mechanics::Matrix::Zero(n, n);
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

void fill_magnet(MechanicsSystemSection& system) {
  const mechanics::Magnet paper;
  fill(system.rotation, rows_of(paper.rotation));
  fill(system.angular_velocity, paper.angular_velocity);
}

void fill_rigid_body(MechanicsSystemSection& system, bool heavy) {
  fill(system.alpha, Eigen::Vector3d(0.44, 0.5, 1.0));
  const auto n = static_cast<Index>(system.alpha.size());
  fill(system.rotation, rows_of(mechanics::Matrix::Identity(n, n)));
  fill(system.momentum, rows_of(paper_momentum(heavy, n)));
  fill(system.chi, Eigen::Vector3d(0.0, 0.0, 1.0));
  fill(system.direction, Eigen::Vector3d(0.0, 1.0, 0.0));
}

/// The pendula of a deck, with the paper's start.
mechanics::Pendula pendula_of(const Deck& deck) {
  const std::string& kind = deck.system.kind;
  const MechanicsSystemSection& system = deck.mechanics.system;
  mechanics::Pendula pendula = kind == "double-pendulum"  ? mechanics::double_pendulum()
                               : kind == "pendulum-chain" ? mechanics::pendulum_chain(system.n)
                               : kind == "double-spherical-pendulum"
                                   ? mechanics::double_spherical_pendulum()
                                   : mechanics::spherical_pendulum();
  if (!system.masses.empty()) pendula.masses = vector_of(system.masses);
  set_lengths(pendula, system.lengths);
  pendula.gravity = system.gravity;
  return pendula;
}

mechanics::Magnet magnet_of(const Deck& deck) {
  const MechanicsSystemSection& system = deck.mechanics.system;
  mechanics::Magnet magnet;
  magnet.b_mu = system.b_mu;
  magnet.h = deck.mechanics.integrator.step;
  magnet.rotation = square_matrix(system.rotation, 3);
  magnet.angular_velocity = vector_of(system.angular_velocity);
  return magnet;
}

std::unique_ptr<mechanics::Dynamics> make_magnet(const Deck& deck) {
  const MechanicsIntegratorSection& integrator = deck.mechanics.integrator;
  const mechanics::Magnet magnet = magnet_of(deck);
  if (integrator.scheme == MechanicsScheme::cayley_variational_euler) {
    return std::make_unique<mechanics::CayleyVariationalEuler>(magnet);
  }
  using L = mechanics::LinearisedSo3;
  return std::make_unique<L>(
      magnet, *integrator.omega, *integrator.beta,
      integrator.quadrature == MagnetQuadrature::first_order ? L::Quadrature::first_order
                                                             : L::Quadrature::trapezoidal,
      integrator.a_mass == MagnetAMass::paper ? L::AMass::paper : L::AMass::consistent);
}

std::unique_ptr<mechanics::Dynamics> make_rigid_body(const Deck& deck) {
  const MechanicsSystemSection& system = deck.mechanics.system;
  const MechanicsIntegratorSection& integrator = deck.mechanics.integrator;
  const Vector alpha = vector_of(system.alpha);
  const Index n = alpha.size();
  const mechanics::Matrix momentum = square_matrix(system.momentum, n);
  if (deck.system.kind == "free-body") {
    return std::make_unique<mechanics::MoserVeselov>(alpha, square_matrix(system.rotation, n),
                                                     momentum, integrator.step);
  }
  using Top = mechanics::HeavyTop;
  return std::make_unique<Top>(integrator.scheme == MechanicsScheme::rattle
                                   ? Top::Scheme::rattle
                                   : Top::Scheme::constrained_euler,
                               alpha, vector_of(system.chi), system.c, momentum,
                               vector_of(system.direction), integrator.step);
}

std::unique_ptr<mechanics::Dynamics> make_variational(const Deck& deck) {
  const MechanicsIntegratorSection& integrator = deck.mechanics.integrator;
  const Experiment experiment = make_experiment(deck);
  check_gradients(deck, experiment);
  const mechanics::SphericalPendulum pendulum{
      {1.0}, {experiment.position.norm()}, deck.mechanics.system.gravity};
  using mechanics::Layer;
  const Layer layer = integrator.scheme == MechanicsScheme::variational_of_euler ? Layer::euler
                      : integrator.scheme == MechanicsScheme::variational_of_rk2 ? Layer::rk2
                                                                                 : Layer::rk4;
  return std::make_unique<mechanics::VariationalOf<mechanics::SphericalPendulum>>(
      pendulum, layer, integrator.step, integrator.bias, experiment.position, experiment.velocity);
}

}  // namespace

Experiment make_experiment(const Deck& deck) {
  const MechanicsSystemSection& system = deck.mechanics.system;
  const double omega = omega_of(deck);
  Experiment problem;
  if (deck.system.kind == "dna") {
    const mechanics::Dna::Parameters parameters{system.n, system.a, system.x0, system.epsilon,
                                                system.ends == DnaEnds::periodic};
    const Vector xi = system.xi.empty() ? mechanics::standard_normals(system.seed, system.n)
                                        : vector_of(system.xi);
    problem = mechanics::make_dna(parameters, xi);
  } else if (deck.system.kind == "three-body-plane") {
    problem = mechanics::make_three_body_plane(omega);
  } else if (deck.system.kind == "double-spring") {
    problem = mechanics::make_double_spring(omega);
    if (deck.mechanics.integrator.scheme != MechanicsScheme::slow_manifold) {
      // AST (31)-(32), on the constraints: there its solutions in time start.
      problem.position = Eigen::Vector4d(1.0, 0.0, 2.0, 0.0);
    }
  } else if (is_in_space(deck)) {
    const bool two = deck.system.kind == "double-spherical-pendulum";
    mechanics::Pendula pendula = pendula_of(deck);
    const auto points = [&](const std::vector<double>& given) {
      return two ? from_joints(vector_of(given)) : vector_of(given);
    };
    if (!system.position.empty()) pendula.position = points(system.position);
    if (!system.velocity.empty()) pendula.velocity = points(system.velocity);
    if (!two) pendula.lengths = {pendula.position.norm()};
    return mechanics::make_spherical_pendula(pendula, omega);
  } else {
    problem = mechanics::make_pendula(pendula_of(deck), omega);
  }
  if (!system.position.empty()) problem.position = vector_of(system.position);
  if (!system.velocity.empty()) problem.velocity = vector_of(system.velocity);
  return problem;
}

std::unique_ptr<mechanics::Method> make_method(const Deck& deck, const Experiment& problem) {
  const MechanicsIntegratorSection& integrator = deck.mechanics.integrator;
  const bool in_space = is_in_space(deck);
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
        if (in_space) {
          return std::make_unique<mechanics::ConstrainedMidpoint>(*problem.soft,
                                                                  *problem.constraint, h);
        }
        return std::make_unique<mechanics::Midpoint>(whole, h);
      case S::midpoint_hamilton:
        return std::make_unique<mechanics::ConstrainedMidpoint>(
            *problem.soft, *problem.constraint, h,
            mechanics::ConstrainedMidpoint::Equations::hamilton);
      case S::shake:
        return std::make_unique<mechanics::Shake>(*problem.soft, *problem.constraint, h);
      case S::rattle:
        return std::make_unique<mechanics::Rattle>(*problem.soft, *problem.constraint, h);
      case S::rk4:
        return std::make_unique<mechanics::Rk4>(whole, h);
      case S::rk4_projected:
        return std::make_unique<mechanics::ProjectedRk4>(*problem.penalised, *problem.constraint,
                                                         omega_of(deck), integrator.tolerance, h);
      default:  // of systems on manifolds
        return nullptr;
    }
  };
  if (integrator.compose == Composition::none) return make(integrator.step);
  return std::make_unique<mechanics::Yoshida4>(integrator.step, make);
}

Deck with_initial_data(Deck deck) {
  MechanicsSystemSection& system = deck.mechanics.system;
  const std::string& kind = deck.system.kind;
  if (kind == "magnet") {
    fill_magnet(system);
  } else if (kind == "free-body" || kind == "heavy-top") {
    fill_rigid_body(system, kind == "heavy-top");
  } else {
    if (kind.ends_with("pendulum") || kind == "pendulum-chain") {
      const mechanics::Pendula pendula = pendula_of(deck);
      fill(system.masses, pendula.masses);
      fill(system.lengths, pendula.lengths);
    }
    const Experiment start = make_experiment(deck);
    const bool rods = kind == "double-spherical-pendulum";
    // Of a strand the positions are told by n, the noise and the seed.
    if (kind != "dna")
      fill(system.position, rods ? between_joints(start.position) : start.position);
    fill(system.velocity, rods ? between_joints(start.velocity) : start.velocity);
  }
  return deck;
}

std::unique_ptr<MechanicsCase> make_mechanics_case(const Deck& deck) {
  using S = MechanicsScheme;
  const std::string& kind = deck.system.kind;
  const S scheme = deck.mechanics.integrator.scheme;
  if (scheme == S::slow_manifold) return std::make_unique<SlowManifoldCase>(deck);
  if (kind == "magnet")
    return std::make_unique<DynamicsCase>(deck, make_magnet(with_initial_data(deck)));
  if (kind == "free-body" || kind == "heavy-top") {
    return std::make_unique<DynamicsCase>(deck, make_rigid_body(with_initial_data(deck)));
  }
  if (kind == "spherical-pendulum" && scheme != S::rattle) {
    return std::make_unique<DynamicsCase>(deck, make_variational(deck));
  }
  return std::make_unique<RnCase>(deck);
}

std::unique_ptr<MechanicsCase> make_runge_kutta_magnet(const Deck& deck) {
  return std::make_unique<DynamicsCase>(
      deck, std::make_unique<mechanics::RungeKuttaMagnet>(magnet_of(with_initial_data(deck))));
}

bool solves_rigid_equations(const Deck& deck) {
  const std::string& kind = deck.system.kind;
  const MechanicsScheme scheme = deck.mechanics.integrator.scheme;
  if (kind == "magnet") return scheme == MechanicsScheme::cayley_variational_euler;
  return kind == "dna" || kind == "free-body" || kind == "heavy-top" || is_in_space(deck) ||
         is_rigid(scheme);
}

}  // namespace tarn
