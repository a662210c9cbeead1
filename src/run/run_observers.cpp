#include "run_observers.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "io/xyz.hpp"
#include "parallel/frame_parts.hpp"
#include "physics/geometry.hpp"
#include "start/molecule_frame.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/physics/isotopes.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn {

FinalStructures::FinalStructures(const Deck& deck, const RunInfo& info, Engine& engine)
    : model_(deck.system.model),
      isotopes_(isotope_names(
          isotope_masses_Da(deck.system.isotopes, water_model(deck), info.molecules))),
      push_fs2_(push_fs2(deck.integrator)),
      info_(info),
      engine_(engine),
      replicas_(deck.final_structures->replicas.count_of(info.replicas)) {}

std::string FinalStructures::path_of(std::int64_t replica) const {
  if (info_.replicas == 1) return info_.out_dir + "/final.xyz";
  return fmt::format("{}/final-{:04}.xyz", info_.out_dir, replica);
}

void FinalStructures::load(std::istream& /*in*/) {
  for (std::int64_t replica = 0; replica < replicas_; ++replica) {
    std::error_code error;
    std::filesystem::remove(path_of(replica), error);
    if (error) io::throw_io_error("remove", path_of(replica), error.value());
  }
}

void FinalStructures::finish() {
  Frame frame;
  engine_.snapshot(kOwnPositions | kVelocities, frame);
  const std::string system =
      io::system_keys(info_.potential ? info_.potential->name() : "", isotopes_);
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const std::int64_t replica = frame.replica_ids[r];
    if (replica >= replicas_) continue;
    std::string keys = fmt::format("model={} {}step={} time_ps={:.17g} replica={} pbc=\"F F F\"",
                                   model_, system, frame.step, info_.time_ps(frame.step), replica);
    // A run that starts from this file with another time step prints a warning.
    if (push_fs2_ > 0.0) keys += fmt::format(" push_fs2={:.17g}", push_fs2_);
    io::write_file(path_of(replica), io::xyz_frame(frame.own_positions_A_of(r),
                                                   frame.velocities_A_per_akma_of(r), keys));
  }
}

namespace {

/// Longer O-H bonds are broken [A]. Vibrations reach 1.4 A, and an acceptor is 1.7 A away.
constexpr double kBrokenBond_A = 2.0;

}  // namespace

void FirstEventWatch::observe(const Frame& frame) {
  std::unordered_set<std::int64_t> known;
  for (const MoleculeEvent& e : events_) known.insert(e.walker);
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const std::int64_t id = frame.replica_ids[r];
    const std::int64_t walker = walker_at_ ? walker_at_(id) : id;
    if (known.contains(walker)) continue;
    const std::optional<Found> found = find(frame, r);
    if (found) events_.push_back({id, frame.step, found->molecule, walker, found->length_A});
  }
}

std::optional<Message> FirstEventWatch::warning() const {
  constexpr std::size_t kMostNamed = 20;
  if (events_.empty()) return std::nullopt;
  std::string text = describe(events_.front());
  if (events_.size() > 1) {
    text += events_.size() > 2 ? ". Also in replicas " : ". Also in replica ";
  }
  for (std::size_t k = 1; k < events_.size(); ++k) {
    if (k > kMostNamed) {
      text += fmt::format(" and {} more", events_.size() - k);
      break;
    }
    text += fmt::format("{}{} (step {})", k > 1 ? ", " : "", events_[k].replica, events_[k].step);
  }
  return Message::warning(text);
}

std::string EvaporationWatch::describe(const MoleculeEvent& event) const {
  return fmt::format(
      "replica {}: molecule {} evaporated (detected at step {}, more than {:g} A from the rest of "
      "the cluster). Averages now include separate parts; to prevent evaporation, add a wall: "
      "[confinement] radius_A, stiffness_kcal_per_mol_A2",
      event.replica, event.molecule, event.step, analysis::kLink_A);
}

std::optional<FirstEventWatch::Found> EvaporationWatch::find(const Frame& frame,
                                                             std::size_t r) const {
  if (frame.parts[r].molecules_gone == 0) return std::nullopt;
  return Found{frame.parts[r].first_gone, 0.0};
}

std::string DissociationWatch::describe(const MoleculeEvent& event) const {
  return fmt::format(
      "replica {}: an O-H bond of molecule {} broke (detected at step {}, {:.3g} A long). Models "
      "of whole molecules do not describe the fragments; reduce timestep_fs or the temperature",
      event.replica, event.molecule, event.step, event.length_A);
}

std::optional<FirstEventWatch::Found> DissociationWatch::find(const Frame& frame,
                                                              std::size_t r) const {
  if (!(frame.geometry[r].reported.oh_longest_A > kBrokenBond_A)) return std::nullopt;
  Frame now;
  engine_.snapshot(kPositions, now);
  const std::span<const double> x = now.positions_A_of(r);
  Found longest;
  for (std::size_t m = 0; m < x.size() / kCoordinatesPerMolecule; ++m) {
    double terms[GeometryTerm::kNumbers];
    geometry_terms(molecule_at(x.data(), m), terms);
    if (!(terms[GeometryTerm::kLongest] > longest.length_A)) continue;
    longest = {static_cast<int>(m), terms[GeometryTerm::kLongest]};
  }
  if (!(longest.length_A > kBrokenBond_A)) return std::nullopt;
  return longest;
}

namespace {

using parallel::append_replica;
using parallel::empty_like;

void centre(const ClusterMasses& masses, std::size_t molecules, std::vector<double>& positions_A) {
  const std::size_t size = molecules * kCoordinatesPerMolecule;
  for (std::size_t begin = 0; begin < positions_A.size(); begin += size) {
    start::move_centre_to_origin(masses, std::span(positions_A).subspan(begin, size));
  }
}

class CentredEngine final : public Engine {
 public:
  CentredEngine(std::unique_ptr<Engine> engine, const ClusterMasses& masses)
      : engine_(std::move(engine)), masses_(masses) {}

  void advance(std::int64_t n_steps) override { engine_->advance(n_steps); }
  void begin_advance(std::int64_t n_steps) override { engine_->begin_advance(n_steps); }
  void wait() override { engine_->wait(); }
  void measure_with(const MeasureSettings& settings) override { engine_->measure_with(settings); }
  std::unique_ptr<History> keep_history(const HistoryRequest& request) override {
    return engine_->keep_history(request);  // displacements are relative to the centre of mass
  }
  bool begin_snapshot(unsigned fields) override { return engine_->begin_snapshot(fields); }
  void finish_snapshot(Frame& frame) override { engine_->finish_snapshot(frame); }
  std::int64_t step() const override { return engine_->step(); }
  void snapshot(unsigned fields, Frame& frame) override {
    engine_->snapshot(fields, frame);
    const auto molecules = static_cast<std::size_t>(frame.molecules);
    centre(masses_, molecules, frame.positions_A);
    centre(masses_, molecules, frame.own_positions_A);
    // The centre of mass of all beads is that of the centroids.
    centre(masses_, molecules * static_cast<std::size_t>(frame.beads), frame.beads_A);
  }
  void exchange(std::span<const StateExchange> pairs) override { engine_->exchange(pairs); }
  State state() const override { return engine_->state(); }
  std::function<State()> begin_state() const override { return engine_->begin_state(); }
  std::vector<BlowUp> blow_ups() const override { return engine_->blow_ups(); }
  EngineReport report() const override { return engine_->report(); }
  std::string description() const override { return engine_->description(); }
  std::string arithmetic() const override { return engine_->arithmetic(); }
  bool is_asynchronous() const override { return engine_->is_asynchronous(); }
  std::vector<EnginePart> parts() const override { return engine_->parts(); }

 private:
  std::unique_ptr<Engine> engine_;
  ClusterMasses masses_;
};

}  // namespace

LiveAndStopped split(State state, const std::vector<BlowUp>& blow_ups) {
  if (blow_ups.empty()) {
    State none = empty_like(state);
    return {std::move(state), std::move(none)};
  }
  std::set<std::int64_t> stopped;
  for (const BlowUp& blow_up : blow_ups) stopped.insert(blow_up.replica);
  LiveAndStopped parts{empty_like(state), empty_like(state)};
  for (std::size_t r = 0; r < state.replica_ids.size(); ++r) {
    append_replica(state, r, stopped.contains(state.replica_ids[r]) ? parts.stopped : parts.live);
  }
  return parts;
}

State join(State live, const State& stopped) {
  if (stopped.replica_ids.empty()) return live;
  State all = empty_like(live);
  std::size_t s = 0;
  for (std::size_t r = 0; r <= live.replica_ids.size(); ++r) {
    while (s < stopped.replica_ids.size() &&
           (r == live.replica_ids.size() || stopped.replica_ids[s] < live.replica_ids[r])) {
      append_replica(stopped, s++, all);
    }
    if (r < live.replica_ids.size()) append_replica(live, r, all);
  }
  return all;
}

std::unique_ptr<Engine> centred(std::unique_ptr<Engine> engine, const ClusterMasses& masses) {
  return std::make_unique<CentredEngine>(std::move(engine), masses);
}

}  // namespace tarn
