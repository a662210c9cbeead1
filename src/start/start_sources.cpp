#include "start_sources.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "start_notes.hpp"
#include "tarn/core/error.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/start.hpp"
#include "velocities.hpp"

namespace tarn {
namespace {

/// Smaller moves onto the rigid geometry are round-off of the file and not worth a note [A].
constexpr double kNotedMove_A = 1e-6;

/// @throws InputError if the molecules do not fit the water model
void check_bond_lengths(const WaterModel& model, std::span<const double> x,
                        const std::string& path) {
  std::vector<Problem> problems = io::bond_length_problems(model, x, path);
  if (!problems.empty()) throw InputError(std::move(problems));
}

bool same_push(const Deck& source, const Deck& deck) {
  return push_fs2(source.integrator) == push_fs2(deck.integrator) &&
         start::keeps_bonds_rigid(source) == start::keeps_bonds_rigid(deck);
}

/// Converts the positions x of a push-forward scheme to those of another scheme or step, with the
/// same reported positions q and accelerations. The difference matters for vibrating bonds, which
/// dominate x - q. With rigid bonds x becomes q.
void convert_push(const Deck& deck, StartState& start) {
  const double old_push = push_fs2(start.deck.integrator);
  const double push = start::keeps_bonds_rigid(deck) ? 0.0 : push_fs2(deck.integrator);
  if (old_push == 0.0 || same_push(start.deck, deck)) return;
  const System source = make_system(start.deck, start.state.molecules);
  Frame frame;
  make_cpu_engine(source, start.state, {}, deck.run.threads)->snapshot(kPositions, frame);
  std::vector<double>& x = start.state.positions_A;
  if (frame.positions_A.size() != x.size()) {
    throw NumericalError(
        fmt::format("{}: the accelerations of its run cannot be computed", start.path));
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double q = frame.positions_A[i];
    x[i] = q - push / old_push * (q - x[i]);
  }
}

}  // namespace

namespace start {

bool keeps_bonds_rigid(const Deck& deck) {
  return is_rigid(deck.integrator.scheme) || std::isinf(deck.integrator.omega);
}

MinimiseResult relax(ForceField& force_field, double omega, std::span<double> positions_A,
                     const std::function<bool()>& should_continue) {
  const MinimiseOptions options{
      1e-7, std::min(2'000, max_quench_iterations(force_field.molecules())), should_continue};
  if (force_field.model().is_flexible()) return quench(force_field, positions_A, options);
  return relax_penalised(force_field, omega, positions_A, options);
}

void prepare_file(const std::string& path, const System& system, bool on_constraints, bool relaxed,
                  const std::function<bool()>& should_continue, io::Structure& file,
                  Messages& messages) {
  const WaterModel& model = system.model;
  std::vector<double>& x = file.positions_A;
  check_bond_lengths(model, x, path);
  if (const auto made_for = file.model(); made_for && *made_for != model.name) {
    messages.push_back(Message::note(
        fmt::format("{} was made for {}, and this deck uses {}", path, *made_for, model.name)));
  }
  if (on_constraints) append(make_rigid(model, x, path), messages);
  if (!relaxed) return;
  ForceField force_field(model, system.molecules);
  const MinimiseResult r = relax(force_field, system.integrator.omega, x, should_continue);
  messages.push_back(Message::note(
      fmt::format("relaxed to V0 + V1 = {:.6f} kcal/mol in {} iterations{}", r.energy_kcal_per_mol,
                  r.iterations,
                  r.converged ? ""
                              : fmt::format("; not converged, the largest remaining gradient is "
                                            "{:.2g} kcal/mol/A",
                                            r.max_gradient_kcal_per_mol_A))));
}

StartState checked_state(const Deck& deck) {
  StartState start = read_start_state(deck);
  std::vector<Problem> problems;
  for (const KeyProblem& p : start_state_problems(deck, start)) {
    problems.push_back({deck.path, 0, 0, fmt::format("[{}] {}", p.key, p.message)});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return start;
}

void prepare_state(const Deck& deck, const WaterModel& model, StartState& start,
                   Messages& messages) {
  convert_push(deck, start);
  const Deck& source = start.deck;
  const bool same_scheme = source.integrator.scheme == deck.integrator.scheme;
  const WaterModel other = make_system(source, start.state.molecules).model;
  const bool same_shape = other.r_oh_A == model.r_oh_A && other.r_hh_A() == model.r_hh_A();
  const bool same_masses = other.mass_o_Da == model.mass_o_Da && other.mass_h_Da == model.mass_h_Da;
  const bool same_bonds = !keeps_bonds_rigid(deck) || (same_push(source, deck) && same_scheme);
  std::vector<double>& x = start.state.positions_A;
  // Velocity components along rigid bonds move nothing in their own scheme; elsewhere they would
  // be motion.
  if (is_rigid(source.integrator.scheme) && !(same_shape && same_masses && same_scheme)) {
    project_onto_constraints(other, x, start.state.velocities_A_per_akma);
  }
  if (model.is_flexible() || (same_shape && same_bonds)) return;
  append(make_rigid(model, x, start.path, start.state.molecules), messages);
  if (is_rigid(deck.integrator.scheme)) {
    project_onto_constraints(model, x, start.state.velocities_A_per_akma);
  }
}

}  // namespace start

std::optional<Message> make_rigid(const WaterModel& model, std::span<double> positions_A,
                                  const std::string& path, int molecules) {
  const std::size_t size =
      molecules > 0 ? static_cast<std::size_t>(molecules) * 9 : positions_A.size();
  for (std::size_t at = 0; at < positions_A.size(); at += size) {
    check_bond_lengths(
        model, positions_A.subspan(at, size),
        size == positions_A.size() ? path : fmt::format("{}, replica {}", path, at / size));
  }
  const RigidFit fit = fit_rigid_geometry(model, positions_A);
  if (fit.largest_move_A <= kNotedMove_A) return std::nullopt;
  const std::string place =
      molecules > 0
          ? fmt::format("{} of replica {}", fit.molecule % molecules, fit.molecule / molecules)
          : fmt::to_string(fit.molecule);
  return Message::note(fmt::format(
      "the molecules of {} were put onto the rigid geometry of {}: an atom of molecule {} moved "
      "{:.2g} A, the most",
      path, model.name, place, fit.largest_move_A));
}

}  // namespace tarn
