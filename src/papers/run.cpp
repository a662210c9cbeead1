#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <deque>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "io/draw.hpp"
#include "io/json.hpp"
#include "methods.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/version.hpp"

/// @file
/// Systems, their starts and methods from decks, the cases that runs advance, and the runs.

namespace tarn::papers {
namespace {

namespace fs = std::filesystem;

// Tolerance for a start on the constraints: decks contain rounded numbers.
constexpr double kOnConstraints = 1e-9;
// Maximum half window of the multiplier averages, in steps.
constexpr double kMostHalfWindow = 1e5;

/// Whether the system consists of pendula, or of spherical pendula.
bool is_pendula(const PaperDeck& deck) {
  return deck.system.kind.find("pendulum") != std::string::npos;
}
bool is_three_dimensional(const PaperDeck& deck) {
  return is_pendula(deck) && kind_of(deck).dimensions == 3;
}

/// Whether positions and velocities of decks and tables are relative to the joints.
bool gives_rods(const PaperDeck& deck) { return deck.system.kind == "double-spherical-pendulum"; }

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
SystemKeys pendula_of(const PaperDeck& deck) {
  const std::string& kind = deck.system.kind;
  SystemKeys pendula = deck.own.system;
  SystemKeys paper = kind == "double-pendulum"             ? double_pendulum()
                     : kind == "pendulum-chain"            ? pendulum_chain(pendula.n)
                     : kind == "double-spherical-pendulum" ? double_spherical_pendulum()
                                                           : spherical_pendulum();
  if (!pendula.lengths.empty()) {
    // The directions of the rods are those of the paper.
    const bool has_points = !gives_rods(deck);
    const Index dimensions = kind_of(deck).dimensions;
    Vector rods = vector_of(paper.position);
    if (has_points) rods = rods_of(rods, dimensions);
    for (std::size_t k = 0; k < paper.lengths.size(); ++k) {
      rods.segment(dimensions * static_cast<Index>(k), dimensions) *=
          pendula.lengths[k] / paper.lengths[k];
    }
    if (has_points) rods = points_of(rods, dimensions);
    paper.position.assign(rods.begin(), rods.end());
  }
  fill(pendula.masses, paper.masses);
  fill(pendula.lengths, paper.lengths);
  fill(pendula.position, paper.position);
  fill(pendula.velocity, paper.velocity);
  if (kind == "spherical-pendulum") pendula.lengths = {vector_of(pendula.position).norm()};
  return pendula;
}

/// The system of a deck in R^n with its initial data.
Experiment make_experiment(const PaperDeck& deck) {
  const SystemKeys& system = deck.own.system;
  // From either section; unused without a penalty.
  const double omega = system.omega.value_or(deck.own.integrator.omega.value_or(1.0));
  if (is_pendula(deck)) return make_pendula(pendula_of(deck), omega);
  Experiment problem;
  if (deck.system.kind == "dna") {
    problem = make_dna(
        system, system.xi.empty() ? standard_normals(system.seed, system.n) : vector_of(system.xi));
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
  const BandMatrix gram = g.gram(problem.position, problem.position, problem.soft->masses());
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
        system_(problem_.equations(rigid_).system),
        method_(make_method(keys_, problem_.equations(rigid_))) {
    const Keys& m = deck.own;
    if (problem_.constraint && !rigid_ && m.trajectory) {
      omega2_ = std::pow(problem_.omega, 2);
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

  void step() override { method_->step(points_.front().state); }
  void checked_step() override {
    look_ahead(2);
    if (std::ssize(points_) == now_ + 1) throw NumericalError(failure_);
    ++now_;
    if (now_ > half_) {
      points_.pop_front();
      --now_;
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
    const Method::EnergyPlace at = method_->energy_place(now());
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
  const State& now() const { return points_[static_cast<std::size_t>(now_)].state; }

  void push(State s) {
    Vector penalty;
    if (omega2_ > 0.0) penalty = omega2_ * problem_.constraint->values(s.x);
    points_.push_back({std::move(s), std::move(penalty)});
  }

  /// Steps until there are this many states from the reported one on, or records why a step failed.
  void look_ahead(Index states) {
    while (std::ssize(points_) < now_ + states && failure_.empty()) {
      State s = points_.back().state;
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
    if (points_.size() == 1) return points_.front().penalty;
    Vector sum = 0.5 * (points_.front().penalty + points_.back().penalty);
    for (std::size_t k = 1; k + 1 < points_.size(); ++k) sum += points_[k].penalty;
    return sum / static_cast<double>(points_.size() - 1);
  }

  struct Point {
    State state;
    Vector penalty;  ///< omega² g, if its mean is needed
  };

  const PaperDeck& deck_;
  const IntegratorKeys& keys_;
  bool rigid_;
  Experiment problem_;
  const MechanicalSystem& system_;  // that is integrated
  std::unique_ptr<Method> method_;
  double omega2_ = 0.0;  // 0 if no mean is needed
  Index half_ = 0;       // half window, in steps
  double largest_x_ = 0.0, largest_v_ = 0.0;
  std::deque<Point> points_;  // half a window on both sides of the reported step, where it exists
  Index now_ = 0;             // the reported step
  std::string failure_;       // why the step after the last of points_ failed
};

/// The projection onto the slow manifold; each iterate is a step.
class SlowManifoldCase : public Case {
 public:
  explicit SlowManifoldCase(const PaperDeck& deck)
      : problem_(make_experiment(deck)),
        iterates_(project_onto_slow(problem_.equations(false), deck.own.integrator.tolerance,
                                    problem_.position, problem_.velocity, costs_)) {
    costs_.steps = costs_.iterations;
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

/// The deck, with missing masses, lengths and initial data taken from the paper.
PaperDeck with_initial_data(PaperDeck deck) {
  SystemKeys& system = deck.own.system;
  const std::string& kind = deck.system.kind;
  const bool is_top = kind == "heavy-top";
  if (kind == "magnet") {
    const SystemKeys paper = paper_magnet();
    fill(system.rotation, paper.rotation);
    fill(system.angular_velocity, paper.angular_velocity);
  } else if (kind == "free-body" || is_top) {
    fill(system.alpha, Eigen::Vector3d(0.44, 0.5, 1.0));
    const Index n = std::ssize(system.alpha);
    fill(system.rotation, rows_of(Matrix::Identity(n, n)));
    fill(system.momentum, rows_of(paper_momentum(is_top, n)));
    fill(system.chi, Eigen::Vector3d(0.0, 0.0, 1.0));
    fill(system.direction, Eigen::Vector3d(0.0, 1.0, 0.0));
  } else if (is_pendula(deck)) {
    system = pendula_of(deck);
  } else {
    const Experiment start = make_experiment(deck);
    // The positions of a strand follow from n, the noise and the seed.
    if (kind != "dna") fill(system.position, start.position);
    fill(system.velocity, start.velocity);
  }
  return deck;
}

/// @param deck must outlive the case
/// @throws InputError if a scheme with constraints cannot start from the given data
std::unique_ptr<Case> make_case(const PaperDeck& deck) {
  const PaperDeck full = with_initial_data(deck);
  const SystemKeys& system = full.own.system;
  const IntegratorKeys& integrator = full.own.integrator;
  const std::string& kind = deck.system.kind;
  if (integrator.scheme == "slow-manifold") return std::make_unique<SlowManifoldCase>(deck);
  if (kind == "magnet") return make_magnet(system, integrator);
  if (kind == "free-body") return make_free_body(system, integrator);
  if (kind == "heavy-top") return make_heavy_top(system, integrator);
  if (!integrator.scheme.starts_with("variational-of:")) return std::make_unique<RnCase>(deck);
  check_on_constraints(deck, make_experiment(deck));
  return make_variational_of(system, integrator);
}

/// A column over the rows of a table.
struct Change {
  std::string name;
  double start = 0.0, largest = 0.0, last = 0.0;
};

/// A table with one row every given number of steps.
struct Table {
  std::int64_t every;
  bool has_time;
  std::vector<Quantity> (Case::*values)() const;
  io::CsvWriter csv;
  std::vector<Change> changes;  ///< of each value
};

/// The shortest core time of all steps of a deck in repetitions for this time [s]. Short runs are
/// timed several at once, because the clock counts microseconds.
double shortest_time(PaperDeck deck, std::int64_t steps, double timing_s) {
  // Means of multipliers look ahead of the reported step.
  deck.own.trajectory.reset();
  constexpr double kClock_s = 1e-3;
  const auto began = std::chrono::steady_clock::now();
  double shortest = std::numeric_limits<double>::infinity();
  std::size_t together = 1;
  do {
    std::vector<std::unique_ptr<Case>> cases;
    for (std::size_t k = 0; k < together; ++k) cases.push_back(make_case(deck));
    const std::clock_t start = std::clock();
    for (const auto& one : cases) {
      for (std::int64_t step = 0; step < steps; ++step) one->step();
    }
    const double all_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (all_s < kClock_s && together < 1000) {
      together *= 2;
      continue;
    }
    shortest = std::min(shortest, all_s / static_cast<double>(together));
  } while (!std::isfinite(shortest) ||
           std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() <
               timing_s);
  return shortest;
}

/// Creates the folder, or removes the files of an earlier run.
/// @throws InputError if they would be replaced without `overwrite`
void prepare(const std::string& folder, bool overwrite) {
  io::make_folder(folder);
  std::error_code error;
  for (const char* name :
       {"trajectory", "iterations", "energies", "conservation", "blow-up-0000", "run"}) {
    for (const char* type : {".csv", ".svg", ".png", ".json"}) {
      const std::string path = fmt::format("{}/{}{}", folder, name, type);
      if (!fs::exists(path, error)) continue;
      if (!overwrite) {
        throw InputError(fmt::format(
            "{} already contains a run: choose another folder with --out, or use --overwrite",
            folder));
      }
      fs::remove(path, error);
      if (error) io::throw_io_error("remove", path, error.value());
    }
  }
}

class Run {
 public:
  Run(const PaperDeck& deck, const Options& options)
      : deck_(deck),
        options_(options),
        folder_(options.out_dir.empty() ? "out/" + deck.name : options.out_dir),
        physics_(decks::write_deck(
            schema(), deck, [](const decks::Key& key) { return !key.may_change_on_resume; })),
        case_(make_case(deck)),
        last_step_(case_->steps().value_or(deck.own.run.steps)) {
    prepare(folder_, options.overwrite);
    make_tables();
  }

  std::string run() {
    try {
      write_rows();
      while (step_ < last_step_) {
        step();
        write_rows();
      }
      flush();
      if (options_.timing_s > 0.0) seconds_ = shortest_time(deck_, last_step_, options_.timing_s);
    } catch (const NumericalError& error) {
      const std::string name = "blow-up-0000";
      add_table(name, 1, &Case::row);
      write_row(tables_.back());
      flush();
      write_record("failed", error.what());
      throw NumericalError(
          fmt::format("{}; the last good state is in '{}/{}.csv'", error.what(), folder_, name));
    }
    write_record("finished");
    std::string text = summary();
    if (!options_.pictures) return text;
    for (const Message& message : io::draw_pictures(folder_).messages) text += message.text + '\n';
    return text;
  }

 private:
  void add_table(const std::string& name, std::int64_t every,
                 std::vector<Quantity> (Case::*values)() const) {
    std::string text = fmt::format("tarn {}; {}, {}; physics {:016x}", kVersion, deck_.system.kind,
                                   deck_.own.integrator.scheme, io::checksum(physics_));
    if (name == "trajectory") {
      text += "; " + trajectory_column_text(deck_);
    }
    const bool has_time = name != "iterations";
    std::vector<std::string> header{"iteration"};
    if (has_time) header = {"step", "time"};
    std::vector<Change> changes;
    for (const Quantity& q : (*case_.*values)()) {
      header.push_back(q.name);
      changes.push_back({q.name, q.value});
    }
    tables_.push_back({every,
                       has_time,
                       values,
                       {fmt::format("{}/{}.csv", folder_, name), std::move(header)},
                       std::move(changes)});
    tables_.back().csv.create(text);
    if (name == "conservation") conserved_ = tables_.size() - 1;
  }

  void make_tables() {
    const Keys& keys = deck_.own;
    if (keys.trajectory) add_table("trajectory", keys.trajectory->every, &Case::row);
    if (!case_->iterate().empty()) add_table("iterations", 1, &Case::iterate);
    if (keys.energies) add_table("energies", keys.energies->every, &Case::energies);
    if (keys.conservation) add_table("conservation", keys.conservation->every, &Case::conserved);
  }

  /// @throws NumericalError with the number of the step
  void step() {
    const IntegratorKeys& keys = deck_.own.integrator;
    try {
      case_->checked_step();
    } catch (const NumericalError& error) {
      throw NumericalError(fmt::format("\"{}\" failed at step {} (time {:g}): {}", keys.scheme,
                                       step_ + 1, static_cast<double>(step_ + 1) * keys.step,
                                       error.what()));
    }
    ++step_;
  }
  void write_rows() {
    for (Table& table : tables_) {
      if (step_ % table.every == 0) write_row(table);
    }
  }
  void write_row(Table& table) {
    table.csv.cell(step_);
    // t = step * h, never accumulated.
    if (table.has_time) table.csv.cell(static_cast<double>(step_) * deck_.own.integrator.step);
    const std::vector<Quantity> row = (*case_.*table.values)();
    for (std::size_t k = 0; k < row.size(); ++k) {
      table.csv.cell(row[k].value);
      Change& change = table.changes[k];
      change.last = row[k].value - change.start;
      change.largest = std::max(change.largest, std::abs(change.last));
    }
    table.csv.end_row();
  }
  void flush() {
    for (Table& table : tables_) table.csv.flush();
  }
  /// The conserved quantities over the rows of conservation.csv.
  std::vector<Change> changes() const {
    return conserved_ ? tables_[*conserved_].changes : std::vector<Change>();
  }

  void write_record(std::string_view status, std::string_view error = {}) const {
    const Costs costs = case_->costs();
    std::vector<std::string> conserved;
    for (const Change& change : changes()) {
      conserved.push_back(io::JsonObject()
                              .add("name", io::json(std::string_view(change.name)))
                              .add("start", io::json(change.start))
                              .add("largest_change", io::json(change.largest))
                              .add("last_change", io::json(change.last))
                              .line());
    }
    const SystemKeys& system = deck_.own.system;
    const bool is_drawn =
        deck_.system.kind == "dna" && system.xi.empty() && system.position.empty();
    const std::string text = decks::write_deck(schema(), with_initial_data(deck_),
                                               [](const decks::Key&) { return true; });
    io::JsonObject object;
    object.add("status", io::json(status));
    if (!error.empty()) object.add("error", io::json(error));
    object.add("tarn_version", io::json(std::string_view(kVersion)))
        .add("deck_path", io::json(std::string_view(deck_.path)))
        .add("deck", io::json(std::string_view(text)))
        .add("seed", is_drawn ? fmt::to_string(system.seed) : "null")
        .add("steps_done", io::json(step_))
        .add("core_seconds", io::json(seconds_))
        .add("counted_steps", io::json(costs.steps))
        .add("force_evaluations", io::json(costs.forces))
        .add("hessian_evaluations", io::json(costs.hessians))
        .add("third_derivative_evaluations", io::json(costs.third_derivatives))
        .add("linear_solves", io::json(costs.linear_solves))
        .add("iterations", io::json(costs.iterations))
        .add("conserved", io::json_array(conserved));
    io::write_file(folder_ + "/run.json", object.text() + "\n");
  }

  std::string summary() const {
    std::string text = fmt::format("{}: {} steps; files are in {}\n", deck_.name, step_, folder_);
    for (const Change& c : changes()) {
      text += fmt::format("{:<16} {:>12.6g}, largest change {:.2g}, final change {:+.2g}\n", c.name,
                          c.start, c.largest, c.last);
    }
    return text;
  }

  const PaperDeck& deck_;
  const Options& options_;
  std::string folder_, physics_;
  std::unique_ptr<Case> case_;
  std::int64_t step_ = 0, last_step_;
  double seconds_ = std::numeric_limits<double>::quiet_NaN();
  std::vector<Table> tables_;
  std::optional<std::size_t> conserved_;  ///< number of conservation.csv
};

}  // namespace

std::string run_deck(const PaperDeck& deck, const Options& options) {
  return Run(deck, options).run();
}

}  // namespace tarn::papers
