#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "parallel/frame_parts.hpp"
#include "run_observers.hpp"
#include "start/molecule_frame.hpp"

namespace tarn {
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
