#include "experiment.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dormand_prince.hpp"
#include "slow_manifold.hpp"
#include "tarn/core/error.hpp"
#include "variational_of.hpp"

namespace tarn::papers {
namespace {

// Tolerance for a start on the constraints: decks contain rounded numbers.
constexpr double kOnConstraints = 1e-9;

/// Inverse of relative_to_joints().
Vector from_relative(Vector rods) {
  rods.tail(3) += rods.head(3).eval();
  return rods;
}

/// Sets the lengths of the rods and keeps their directions.
void set_lengths(Pendula& pendula, const std::vector<double>& lengths) {
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

Matrix square_matrix(const std::vector<double>& rows, Index n) {
  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMatrix>(rows.data(), n, n);
}

std::vector<double> rows_of(const Matrix& matrix) {
  std::vector<double> rows;
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) rows.push_back(matrix(i, j));
  }
  return rows;
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

void fill_magnet(SystemKeys& system) {
  const Magnet paper;
  fill(system.rotation, rows_of(paper.rotation));
  fill(system.angular_velocity, paper.angular_velocity);
}

void fill_rigid_body(SystemKeys& system, bool heavy) {
  fill(system.alpha, Eigen::Vector3d(0.44, 0.5, 1.0));
  const auto n = static_cast<Index>(system.alpha.size());
  fill(system.rotation, rows_of(Matrix::Identity(n, n)));
  fill(system.momentum, rows_of(paper_momentum(heavy, n)));
  fill(system.chi, Eigen::Vector3d(0.0, 0.0, 1.0));
  fill(system.direction, Eigen::Vector3d(0.0, 1.0, 0.0));
}

/// The pendula of a deck, starting from the paper's initial data.
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
  return pendula;
}

Magnet magnet_of(const PaperDeck& deck) {
  const SystemKeys& system = deck.own.system;
  Magnet magnet;
  magnet.b_mu = system.b_mu;
  magnet.h = deck.own.integrator.step;
  magnet.rotation = square_matrix(system.rotation, 3);
  magnet.angular_velocity = vector_of(system.angular_velocity);
  return magnet;
}

std::unique_ptr<Dynamics> make_magnet(const PaperDeck& deck) {
  const IntegratorKeys& integrator = deck.own.integrator;
  const Magnet magnet = magnet_of(deck);
  if (integrator.scheme == Scheme::rk4) {
    return std::make_unique<RungeKuttaMagnet>(magnet);
  }
  if (integrator.scheme == Scheme::cayley_variational_euler) {
    return std::make_unique<CayleyVariationalEuler>(magnet);
  }
  using L = LinearisedSo3;
  return std::make_unique<L>(
      magnet, *integrator.omega, *integrator.beta,
      integrator.quadrature == MagnetQuadrature::first_order ? L::Quadrature::first_order
                                                             : L::Quadrature::trapezoidal,
      integrator.a_mass == MagnetAMass::paper ? L::AMass::paper : L::AMass::consistent);
}

std::unique_ptr<Dynamics> make_rigid_body(const PaperDeck& deck) {
  const SystemKeys& system = deck.own.system;
  const IntegratorKeys& integrator = deck.own.integrator;
  const Vector alpha = vector_of(system.alpha);
  const Index n = alpha.size();
  const Matrix momentum = square_matrix(system.momentum, n);
  if (deck.system.kind == "free-body") {
    using Body = FreeBody;
    return std::make_unique<Body>(
        integrator.scheme == Scheme::rk4 ? Body::Scheme::runge_kutta : Body::Scheme::moser_veselov,
        alpha, square_matrix(system.rotation, n), momentum, integrator.step);
  }
  using Top = HeavyTop;
  const Top::Scheme scheme = integrator.scheme == Scheme::rattle ? Top::Scheme::rattle
                             : integrator.scheme == Scheme::rk4  ? Top::Scheme::runge_kutta
                                                                 : Top::Scheme::constrained_euler;
  return std::make_unique<Top>(scheme, alpha, vector_of(system.chi), system.c, momentum,
                               vector_of(system.direction), integrator.step);
}

template <class System>
std::unique_ptr<Dynamics> make_variational(const PaperDeck& deck, System system) {
  const IntegratorKeys& integrator = deck.own.integrator;
  const Experiment experiment = make_experiment(deck);
  check_on_constraints(deck, experiment);
  system.gravity = deck.own.system.gravity;
  if constexpr (System::d == 1) {
    system.lengths = {experiment.position.norm()};
  } else {
    const Pendula pendula = pendula_of(deck);
    std::copy(pendula.masses.begin(), pendula.masses.end(), system.masses.begin());
    std::copy(pendula.lengths.begin(), pendula.lengths.end(), system.lengths.begin());
  }
  const Layer layer = integrator.scheme == Scheme::variational_of_euler ? Layer::euler
                      : integrator.scheme == Scheme::variational_of_rk2 ? Layer::rk2
                                                                        : Layer::rk4;
  return std::make_unique<VariationalOf<System>>(system, layer, integrator.step, integrator.bias,
                                                 experiment.position, experiment.velocity);
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
  throw InputError({Problem{
      deck.path, 0, 0,
      fmt::format("the constraints are singular at the start: {}; choose another start", which)}});
}

}  // namespace

Vector vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

bool is_three_dimensional(const PaperDeck& deck) {
  return deck.system.kind.ends_with("spherical-pendulum");
}

double omega_of(const PaperDeck& deck) {
  return deck.own.system.omega.value_or(deck.own.integrator.omega.value_or(1.0));
}

Vector relative_to_joints(Vector points) {
  points.tail(3) -= points.head(3).eval();
  return points;
}

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
         fmt::format("the initial {0} violates constraint {1} ({2} is {3:.3g} instead of 0). "
                     "\"{4}\" needs a start on the constraints{5}; change the {0}, or omit it to "
                     "use the paper's",
                     what, worst + 1, is_rate ? "its rate" : "its value", values[worst],
                     scheme_name(deck.own.integrator.scheme),
                     is_rate ? " with velocities tangent to them" : "")});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  check_gradients(deck, problem);
}

Experiment make_experiment(const PaperDeck& deck) {
  const SystemKeys& system = deck.own.system;
  const double omega = omega_of(deck);
  Experiment problem;
  if (deck.system.kind == "dna") {
    const Dna::Parameters parameters{system.n, system.a, system.x0, system.epsilon,
                                     system.ends == DnaEnds::periodic};
    const Vector xi =
        system.xi.empty() ? standard_normals(system.seed, system.n) : vector_of(system.xi);
    problem = make_dna(parameters, xi);
  } else if (deck.system.kind == "three-body-plane") {
    problem = make_three_body_plane(omega);
  } else if (deck.system.kind == "double-spring") {
    problem = make_double_spring(omega);
    if (deck.own.integrator.scheme != Scheme::slow_manifold) {
      // AST (31)-(32), on the constraints: the start of its time-dependent solutions.
      problem.position = Eigen::Vector4d(1.0, 0.0, 2.0, 0.0);
    }
  } else if (is_three_dimensional(deck)) {
    const bool two = deck.system.kind == "double-spherical-pendulum";
    Pendula pendula = pendula_of(deck);
    const auto points = [&](const std::vector<double>& given) {
      return two ? from_relative(vector_of(given)) : vector_of(given);
    };
    if (!system.position.empty()) pendula.position = points(system.position);
    if (!system.velocity.empty()) pendula.velocity = points(system.velocity);
    if (!two) pendula.lengths = {pendula.position.norm()};
    return make_spherical_pendula(pendula, omega);
  } else {
    problem = make_pendula(pendula_of(deck), omega);
  }
  if (!system.position.empty()) problem.position = vector_of(system.position);
  if (!system.velocity.empty()) problem.velocity = vector_of(system.velocity);
  return problem;
}

std::unique_ptr<Method> make_method(const PaperDeck& deck, const Experiment& problem) {
  const IntegratorKeys& integrator = deck.own.integrator;
  const bool in_space = is_three_dimensional(deck);
  using S = Scheme;
  const MechanicalSystem& whole = problem.whole();
  const double beta = integrator.beta.value_or(0.0);
  const auto make = [&](double h) -> std::unique_ptr<Method> {
    switch (integrator.scheme) {
      case S::verlet:
        return std::make_unique<Verlet>(whole, h);
      case S::zs:
        return std::make_unique<Zs>(whole, h, beta);
      case S::zss:
        return std::make_unique<Zss>(whole, h, beta);
      case S::zss_stiff:
        return std::make_unique<ZssStiff>(whole, h, beta,
                                          integrator.hessian == PenaltyHessian::gauss_newton
                                              ? ZssStiff::Hessian::gauss_newton
                                              : ZssStiff::Hessian::full);
      case S::pushforward_newmark:
        return std::make_unique<PushforwardNewmark>(whole, h, beta);
      case S::newmark:
        return std::make_unique<Newmark>(whole, h, beta);
      case S::newmark_one_step:
        return std::make_unique<NewmarkOneStep>(
            whole, h, beta,
            integrator.acceleration == OneStepAcceleration::force
                ? NewmarkOneStep::Acceleration::force
                : NewmarkOneStep::Acceleration::linearised);
      case S::variational_euler:
        return std::make_unique<VariationalEuler>(whole, h);
      case S::midpoint:
        if (in_space) {
          return std::make_unique<ConstrainedMidpoint>(*problem.soft, *problem.constraint, h);
        }
        return std::make_unique<Midpoint>(whole, h);
      case S::midpoint_hamilton:
        return std::make_unique<ConstrainedMidpoint>(*problem.soft, *problem.constraint, h,
                                                     ConstrainedMidpoint::Equations::hamilton);
      case S::shake:
        return std::make_unique<Shake>(*problem.soft, *problem.constraint, h);
      case S::rattle:
        return std::make_unique<Rattle>(*problem.soft, *problem.constraint, h);
      case S::rk4:
        return std::make_unique<Rk4>(whole, h);
      case S::rk4_projected:
        return std::make_unique<ProjectedRk4>(*problem.penalised, *problem.constraint,
                                              omega_of(deck), integrator.tolerance, h);
      case S::dormand_prince:
        return std::make_unique<AdaptiveSteps>(whole, *problem.constraint, omega_of(deck),
                                               integrator.tolerance, integrator.projections,
                                               integrator.relative_tolerance, h);
      default:  // schemes of systems on manifolds
        return nullptr;
    }
  };
  if (integrator.compose == Composition::none) return make(integrator.step);
  return std::make_unique<Composed>(integrator.compose == Composition::yoshida4
                                        ? Composed::Kind::triple_jump
                                        : Composed::Kind::suzuki,
                                    integrator.step, make);
}

PaperDeck with_initial_data(PaperDeck deck) {
  SystemKeys& system = deck.own.system;
  const std::string& kind = deck.system.kind;
  if (kind == "magnet") {
    fill_magnet(system);
  } else if (kind == "free-body" || kind == "heavy-top") {
    fill_rigid_body(system, kind == "heavy-top");
  } else {
    if (kind.ends_with("pendulum") || kind == "pendulum-chain") {
      const Pendula pendula = pendula_of(deck);
      fill(system.masses, pendula.masses);
      fill(system.lengths, pendula.lengths);
    }
    const Experiment start = make_experiment(deck);
    const bool rods = kind == "double-spherical-pendulum";
    // The positions of a strand follow from n, the noise and the seed.
    if (kind != "dna")
      fill(system.position, rods ? relative_to_joints(start.position) : start.position);
    fill(system.velocity, rods ? relative_to_joints(start.velocity) : start.velocity);
  }
  return deck;
}

std::unique_ptr<Dynamics> make_dynamics(const PaperDeck& deck) {
  const std::string& kind = deck.system.kind;
  if (kind == "magnet") return make_magnet(with_initial_data(deck));
  if (kind == "free-body" || kind == "heavy-top") return make_rigid_body(with_initial_data(deck));
  if (!scheme_name(deck.own.integrator.scheme).starts_with("variational-of:")) return nullptr;
  if (kind == "spherical-pendulum") return make_variational(deck, SphericalPendulum{{1.0}, {}});
  if (kind == "double-pendulum") return make_variational(deck, PlanarDoublePendulum{});
  return nullptr;
}

}  // namespace tarn::papers
