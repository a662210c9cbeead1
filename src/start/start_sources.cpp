#include "start_sources.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/text.hpp"
#include "molecule_frame.hpp"
#include "tarn/core/error.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

/// Smaller moves onto the rigid geometry are round-off of the file and not worth a note [A].
constexpr double kNotedMove_A = 1e-6;

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

void prepare_file(const std::string& path, const System& system, bool on_constraints, bool relaxed,
                  const std::function<bool()>& should_continue, io::Structure& file,
                  Messages& messages) {
  const WaterModel& model = system.model;
  std::vector<double>& x = file.positions_A;
  io::check_bond_lengths(model, model.is_flexible(), x, path);
  if (const auto made_for = file.model(); made_for && *made_for != model.name) {
    messages.push_back(Message::note(
        fmt::format("{} was made for {}, and this deck uses {}", path, *made_for, model.name)));
  }
  if (on_constraints) append(make_rigid(model, x, path), messages);
  if (!relaxed) return;
  Surface surface{model, file.molecules};
  if (!model.is_flexible()) surface.omega = system.integrator.omega;
  const MinimiseResult r = run_alone(surface, {.should_continue = should_continue},
                                     [&](Quenches& quenches) { return relax(quenches, x); });
  messages.push_back(Message::note(fmt::format(
      "relaxed to V0 + V1 = {:.6f} kcal/mol in {} iterations{}", r.energy_kcal_per_mol,
      r.iterations,
      r.converged
          ? ""
          : fmt::format("; not converged, the largest remaining gradient is {:.2g} kcal/mol/A",
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

namespace {

/// "H from 1.008 to 2.014 Da, ..."; empty if the masses are the same.
std::string changed_masses(const System& before, const System& after) {
  constexpr double kRounding_Da = 1e-9;
  const ClusterMasses then(before), now(after);
  std::vector<std::string> changes;
  for (std::size_t m = 0; m < static_cast<std::size_t>(after.molecules); ++m) {
    for (const std::size_t atom : {1, 2, 0}) {
      const double then_Da = then.atom_Da(m, atom), now_Da = now.atom_Da(m, atom);
      if (std::abs(now_Da - then_Da) <= kRounding_Da) continue;
      std::string change =
          fmt::format("{} from {:g} to {:g} Da", atom == 0 ? "O" : "H", then_Da, now_Da);
      if (std::ranges::find(changes, change) == changes.end()) changes.push_back(std::move(change));
    }
    if (then.isotopes.empty() && now.isotopes.empty()) break;
  }
  return fmt::format("{}", fmt::join(changes, ", "));
}

}  // namespace

void prepare_state(const Deck& deck, const System& system, StartState& start, Messages& messages) {
  const WaterModel& model = system.model;
  convert_push(deck, start);
  const Deck& source = start.deck;
  const bool same_scheme = source.integrator.scheme == deck.integrator.scheme;
  const System then = make_system(source, start.state.molecules);
  const WaterModel& other = then.model;
  const bool same_shape = other.r_oh_A == model.r_oh_A && other.r_hh_A() == model.r_hh_A();
  const bool same_masses = changed_masses(then, system).empty();
  const bool same_bonds = !keeps_bonds_rigid(deck) || (same_push(source, deck) && same_scheme);
  std::vector<double>& x = start.state.positions_A;
  // Velocity components along rigid bonds move nothing in their own scheme; elsewhere they would
  // be motion.
  if (is_rigid(source.integrator.scheme) && !(same_shape && same_masses && same_scheme)) {
    project_onto_constraints(then, x, start.state.velocities_A_per_akma);
  }
  if (model.is_flexible() || (same_shape && same_bonds)) return;
  append(make_rigid(model, x, start.path, start.state.molecules), messages);
  if (is_rigid(deck.integrator.scheme)) {
    project_onto_constraints(system, x, start.state.velocities_A_per_akma);
  }
}

}  // namespace start

std::optional<Message> make_rigid(const WaterModel& model, std::span<double> positions_A,
                                  const std::string& path, int molecules) {
  const std::size_t size =
      molecules > 0 ? static_cast<std::size_t>(molecules) * 9 : positions_A.size();
  for (std::size_t at = 0; at < positions_A.size(); at += size) {
    io::check_bond_lengths(
        model, model.is_flexible(), positions_A.subspan(at, size),
        size == positions_A.size() ? path : fmt::format("{}, replica {}", path, at / size));
  }
  const RigidFit fit = fit_rigid_geometry(model, positions_A);
  if (fit.largest_move_A <= kNotedMove_A) return std::nullopt;
  const std::string place =
      molecules > 0
          ? fmt::format("{} of replica {}", fit.molecule % molecules, fit.molecule / molecules)
          : fmt::to_string(fit.molecule);
  return Message::note(
      fmt::format("the molecules of {} were put onto the rigid geometry of {}: an atom of molecule "
                  "{} moved {:.2g} A, the most",
                  path, model.name, place, fit.largest_move_A));
}

}  // namespace tarn

namespace tarn::start {
namespace {

Message no_momentum(const std::string& what) {
  return Message::warning(what +
                          " no momentum. Set remove_momentum = true: temperatures then leave out "
                          "those six degrees of freedom");
}

/// Share of the kinetic energy that is rigid motion of the whole cluster; nothing at rest.
std::optional<double> rigid_motion_share(const ClusterMasses& masses, const io::Structure& file) {
  const std::vector<double>& v = file.velocities_A_per_akma;
  std::vector<double> internal = v;
  remove_momentum(masses, file.positions_A, internal);
  double rigid = 0.0, total = 0.0;
  for (std::size_t c = 0; c < v.size(); ++c) {
    const double mass_Da = masses.atom_Da(c / 9, c / 3 % 3);
    rigid += mass_Da * (v[c] - internal[c]) * (v[c] - internal[c]);
    total += mass_Da * v[c] * v[c];
  }
  if (total == 0.0) return std::nullopt;
  return rigid / total;
}

/// "8 beads at 100 K". @param temperatures_K of all replicas; 0: unknown
std::string rings_text(int beads, const std::vector<double>& temperatures_K) {
  const auto [low, high] = std::minmax_element(temperatures_K.begin(), temperatures_K.end());
  const std::string count = beads == 1 ? "no beads" : fmt::format("{} beads", beads);
  if (*low == 0.0) return count;
  if (*low == *high) return fmt::format("{} at {:g} K", count, *low);
  return fmt::format("{} at {:g} to {:g} K", count, *low, *high);
}

/// The frequencies, after rings_text().
std::string frequencies_text(const PathIntegralSpec& rings) {
  if (rings.frequencies == RingFrequencies::trotter) return " and frequencies = \"trotter\"";
  return fmt::format(" and economised frequencies up to {:g}/cm", rings.highest_wavenumber_per_cm);
}

/// Temperatures of the replicas that start from the state, or that left it.
std::vector<double> temperatures_of(const System& system, int replicas, int of_state) {
  std::vector<double> all_K;
  for (int r = 0; r < replicas; ++r) {
    all_K.push_back(replica_temperature_K(system, of_state == 1 ? 0 : r));
  }
  return all_K;
}

/// Ring polymers that start from a run with other beads, temperatures or masses, and are averaged
/// before they reach equilibrium.
std::optional<Message> warning_of_rings(const Deck& deck, const StartState& start) {
  // Beads spread within 0.05 ps; other temperatures take longer.
  constexpr double kSpread_ps = 0.05, kHeating_ps = 1.0;
  if (!deck.path_integral || deck.path_integral->beads == 1) return std::nullopt;
  const PathIntegralSection& rings = *deck.path_integral;
  const int molecules = start.state.molecules, replicas = deck.system.replicas;
  const System then = make_system(start.deck, molecules), now = make_system(deck, molecules);
  const std::vector<double> then_K = temperatures_of(then, replicas, start.state.replicas());
  const std::vector<double> now_K = temperatures_of(now, replicas, replicas);
  std::string masses = changed_masses(then, now);
  // The numbers of the modes, of which the highest wavenumber of a fit is one.
  const PathIntegralSpec &a = then.path_integral, &b = now.path_integral;
  const bool same_frequencies = (a.frequencies == b.frequencies &&
                                 (a.frequencies == RingFrequencies::trotter ||
                                  a.highest_wavenumber_per_cm == b.highest_wavenumber_per_cm)) ||
                                start.state.beads == 1;
  if (start.state.beads == rings.beads && then_K == now_K && masses.empty() && same_frequencies) {
    return std::nullopt;
  }
  const bool stays = rings.method == RingMethod::rpmd;
  const double needed_ps = then_K == now_K ? kSpread_ps : kHeating_ps;
  if (!stays && deck.run.equilibration_ps >= needed_ps) return std::nullopt;
  if (!masses.empty()) masses = "; masses change: " + masses;
  const auto text = [&](int beads, const std::vector<double>& all_K, const PathIntegralSpec& spec) {
    return rings_text(beads, all_K) + (same_frequencies ? "" : frequencies_text(spec));
  };
  const std::string wanted = text(rings.beads, now_K, b);
  return Message::warning(fmt::format(
      "[system] state: {} comes from a run with {}, and this deck has {}{}: the ring polymers do "
      "not start in equilibrium{}",
      start.path, text(start.state.beads, then_K, a), wanted, masses,
      stays ? fmt::format(", which method = \"rpmd\" never reaches. Start from the state of a pimd "
                          "run with {} and the same masses",
                          wanted)
            : ". Set [run] equilibration_ps to leave the first picoseconds out of averages"));
}

/// A state of a run with another water model.
std::optional<Message> note_on_model(const Deck& deck, const StartState& start) {
  const Deck& source = start.deck;
  if (source.system.model == kOwnModel && deck.system.model == kOwnModel) {
    if (source.model == deck.model) return std::nullopt;
    return Message::note(
        fmt::format("{} comes from a run with other values in [model]", start.path));
  }
  if (source.system.model == deck.system.model) return std::nullopt;
  return Message::note(fmt::format("{} comes from a run with model {}, and this deck uses {}",
                                   start.path, source.system.model, deck.system.model));
}

/// Velocities of a run with other masses.
std::optional<Message> note_on_masses(const Deck& deck, const StartState& start) {
  if (deck.system.velocities != VelocityKind::state) return std::nullopt;
  const int molecules = start.state.molecules;
  const std::string changes =
      changed_masses(make_system(start.deck, molecules), make_system(deck, molecules));
  if (changes.empty()) return std::nullopt;
  return Message::note(
      fmt::format("masses change ({}): velocities are kept, so the temperature changes", changes));
}

}  // namespace

std::optional<Message> warning_of_momentum(const Deck& deck, const std::string& path,
                                           const ClusterMasses& masses, const io::Structure& file) {
  if (deck.system.remove_momentum || deck.thermostat.kind != Thermostat::none) return std::nullopt;
  // Thermal velocities exceed this share by far; the rounding of velocities with six digits does
  // not.
  constexpr double kLargestShare = 1e-6;
  const std::optional<double> share = rigid_motion_share(masses, file);
  if (!share || !(*share <= kLargestShare)) return std::nullopt;
  return no_momentum("the cluster of " + path + " has");
}

std::optional<Message> warning_of_momentum(const Deck& deck, const StartState& start) {
  if (deck.system.velocities != VelocityKind::state || deck.system.remove_momentum) {
    return std::nullopt;
  }
  if (deck.thermostat.kind != Thermostat::none) return std::nullopt;
  if (!make_system(start.deck, start.state.molecules).zero_momentum) return std::nullopt;
  return no_momentum("the run of " + start.path + " had");
}

Messages messages_on_state(const Deck& deck, const StartState& start) {
  Messages messages;
  append(warning_of_rings(deck, start), messages);
  append(note_on_model(deck, start), messages);
  append(note_on_masses(deck, start), messages);
  append(warning_of_momentum(deck, start), messages);
  return messages;
}

std::optional<Message> warning_of_push(const Deck& deck, const std::string& path,
                                       const io::Structure& file) {
  const std::optional<double> old_push = file.push_fs2();
  const double push = push_fs2(deck.integrator);
  if (!old_push || push == *old_push || keeps_bonds_rigid(deck)) return std::nullopt;
  return Message::warning(fmt::format(
      "{} has positions x = q - b h^2 a with b h^2 = {:.4g} fs^2, and this deck has {:.4g}: bond "
      "vibrations change their amplitude. Start from that run with state, or set project",
      path, *old_push, push));
}

std::optional<Message> warning_of_copies(const Deck& deck, bool shared_starts) {
  const bool same_velocities = !is_drawn(deck.system.velocities);
  if (deck.system.replicas == 1 || !shared_starts || !same_velocities) return std::nullopt;
  if (deck.thermostat.kind != Thermostat::none) return std::nullopt;
  return Message::warning(
      "replicas with the same positions and velocities stay identical without a thermostat. Draw "
      "velocities, or run one replica");
}

std::optional<Message> message_on_wall(const Deck& deck, const System& system, const State& state) {
  // Thermal motion takes molecules about that far into a soft wall.
  constexpr double kNoted_A = 1.0;
  const double radius_A = system.confinement.radius_A;
  if (system.confinement.stiffness_kcal_per_mol_A2 == 0.0) return std::nullopt;
  double furthest_A = 0.0;
  int replicas = 0;
  for (std::size_t first = 0; first < state.positions_A.size(); first += state.coordinates()) {
    const double here_A =
        farthest_oxygen_A(system, std::span(&state.positions_A[first], state.coordinates()));
    furthest_A = std::max(furthest_A, here_A);
    replicas += here_A > radius_A + kNoted_A;
  }
  if (replicas == 0) return std::nullopt;
  const std::string found = fmt::format(
      "{} of {} replicas start{} outside the wall: oxygens are up to {:.3g} A from the centre of "
      "mass, and radius_A = {:.4g}. ",
      replicas, state.replicas(), replicas == 1 ? "s" : "", furthest_A, radius_A);
  const bool few = 2 * replicas <= state.replicas();
  if (few && deck.run.equilibration_ps > 0.0) {
    return Message::note(found + "The wall pushes them in during the equilibration");
  }
  return Message::warning(fmt::format(
      "{}The wall pushes them in and heats the clusters: increase radius_A to {}{}", found,
      rounded_up(furthest_A), few ? ", or leave the start out by [run] equilibration_ps" : ""));
}

}  // namespace tarn::start
