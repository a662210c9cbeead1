#pragma once

#include <atomic>
#include <chrono>
#include <iterator>
#include <new>
#include <thread>

#include "analysis/rdf.hpp"
#include "exchange_states.hpp"
#include "interface/moments.hpp"
#include "observe/trajectory_frames.hpp"
#include "physics/geometry.hpp"
#include "tarn/engine.hpp"
#include "tarn/exchange.hpp"
#include "tarn/physics/triple.hpp"
#include "testing.hpp"

namespace tarn::test {

/// The scripted behaviour of a FakeEngine.
struct FakeScript {
  std::map<std::int64_t, std::int64_t> blow_ups{};  ///< replica id -> step
  /// Replica id -> step at which its last molecule jumps 100 A away.
  std::map<std::int64_t, std::int64_t> departures{};
  /// Replica id -> step at which the last hydrogen of its molecule 1 jumps 5 A away.
  std::map<std::int64_t, std::int64_t> broken_bonds{};
  bool indefinite_hessian_a_blow_up = false;  ///< counted by report()
  double seconds_per_step = 0.0;
  std::int64_t no_memory_at = -1;     ///< advancing to this step throws std::bad_alloc
  std::int64_t not_a_number_at = -1;  ///< energies of this step and later are NaN
  /// Called when a copy of the state is completed, with the step of the copy.
  std::function<void(std::int64_t)> completes_state{};
  std::atomic<std::int64_t>* reached = nullptr;  ///< the step, for other threads
  std::vector<std::int64_t>* advances = nullptr;
  std::vector<unsigned>* snapshots = nullptr;
};

/// An engine with arithmetic instead of physics. The motion of a replica is a function of its id
/// and state only, so that the laws hold.
class FakeEngine : public Engine {
 public:
  FakeEngine(State start, PairCountRequest counts, double timestep_ps, FakeScript script = {})
      : state_(std::move(start)),
        request_(counts),
        timestep_ps_(timestep_ps),
        script_(std::move(script)),
        counts_(static_cast<std::size_t>(counts.groups * kPairClasses * counts.bins), 0),
        samples_(static_cast<std::size_t>(counts.groups), 0),
        is_stopped_(state_.replica_ids.size(), false) {}

  void advance(std::int64_t n_steps) override {
    if (n_steps < 1) throw std::logic_error("advance by nothing");
    if (script_.advances) script_.advances->push_back(n_steps);
    for (std::int64_t i = 0; i < n_steps; ++i) step_once();
  }
  std::int64_t step() const override { return state_.step; }

  void snapshot(unsigned requested, Frame& frame) override {
    if (script_.snapshots) script_.snapshots->push_back(requested);
    const unsigned fields = row_fields_for(requested) | (requested & ~kGroupFields);
    frame = {};
    frame.step = state_.step;
    frame.time_ps = static_cast<double>(state_.step) * timestep_ps_;
    frame.molecules = state_.molecules;
    const std::size_t size = state_.coordinates();
    for (std::size_t r = 0; r < is_stopped_.size(); ++r) {
      if (is_stopped_[r]) continue;
      frame.replica_ids.push_back(state_.replica_ids[r]);
      const double* x = &state_.positions_A[r * size];
      const double* v = &state_.velocities_A_per_akma[r * size];
      frame.positions_A.insert(frame.positions_A.end(), x, x + size);
      if (fields & kOwnPositions) {
        frame.own_positions_A.insert(frame.own_positions_A.end(), x, x + size);
      }
      frame.velocities_A_per_akma.insert(frame.velocities_A_per_akma.end(), v, v + size);
      const bool is_bad = script_.not_a_number_at >= 0 && step() >= script_.not_a_number_at;
      const double e = is_bad ? std::nan("") : x[0] + v[1];
      if (fields & kEnergies) {
        Energies& all = frame.energies.emplace_back();
        all.potential_kcal_per_mol = e;
        all.bond_kcal_per_mol = 0.5 * e;
        all.wall_kcal_per_mol = x[2];
        all.kinetic_kcal_per_mol = x[3];
        all.total_kcal_per_mol = x[4] * x[4];
        all.physical_kcal_per_mol = x[6];
      }
      if (fields & kExchangeEnergies) {
        frame.exchange_energies_kcal_per_mol.push_back(x[4] * x[4] - x[3]);
      }
      if (fields & kMultipliers) {
        for (int m = 0; m < 3 * frame.molecules; ++m) {
          frame.multipliers_kcal_per_mol_A2.push_back(x[m]);
        }
      }
      if (fields & kHeat) frame.heat_kcal_per_mol.push_back(x[7]);
      if (fields & kConservation) {
        frame.conservation.push_back({e, {v[0], v[1], v[2]}, {x[0], x[1], x[2]}, x[5] * x[5]});
      }
    }
    if (fields & kGeometry) measure_geometry(frame);
    if (requested & (kShape | kParts | kLindemann | kLindemannSums | kShapeMoments |
                     kLindemannMoments | kRadialCounts)) {
      measures_.fill(requested, frame);
      put_sums(frame);
    }
    fill_moments(requested, false, groups_, 1, frame);
    if (!(fields & kPositions)) frame.positions_A.clear();
    if (!(fields & kVelocities)) frame.velocities_A_per_akma.clear();
    if (fields & kPairCounts) {
      frame.pair_counts = counts_;
      frame.pair_samples = samples_;
    }
  }
  void measure_with(const MeasureSettings& settings) override {
    measures_ = PositionMeasures(model_, settings, indices_of(settings.lindemann_sums));
    groups_ = ReplicaGroups(settings.moment_groups);
  }
  void exchange(std::span<const StateExchange> pairs) override {
    exchange_states({}, state_, pairs);
  }
  State state() const override { return state_; }
  std::function<State()> begin_state() const override {
    if (!script_.completes_state) return Engine::begin_state();
    return [copy = state_, completes = script_.completes_state] {
      completes(copy.step);
      return copy;
    };
  }
  std::vector<BlowUp> blow_ups() const override { return blow_ups_; }
  EngineReport report() const override {
    return {3.0,
            1.0,
            0.5,
            0.5,
            40,
            10,
            script_.indefinite_hessian_a_blow_up ? static_cast<std::int64_t>(blow_ups_.size()) : 0};
  }
  std::string description() const override { return "fake \"engine\""; }

 private:
  void measure_geometry(Frame& frame) const {
    frame.geometry.clear();
    for (std::size_t r = 0; r < is_stopped_.size(); ++r) {
      if (is_stopped_[r]) continue;
      const auto n = static_cast<std::size_t>(state_.molecules);
      double all[GeometryTerm::kNumbers];
      for (std::size_t m = 0; m < n; ++m) {
        double terms[GeometryTerm::kNumbers];
        geometry_terms(molecule_at(state_.positions_A.data(), r * n + m), terms);
        m == 0 ? static_cast<void>(std::copy(std::begin(terms), std::end(terms), all))
               : add_geometry(terms, all);
      }
      const MoleculeGeometry geometry = molecule_geometry(all, state_.molecules);
      frame.geometry.push_back({geometry, geometry});
    }
  }
  static PositionMeasures::Indices indices_of(const LindemannSums& sums) {
    PositionMeasures::Indices indices;
    for (std::size_t r = 0; r < sums.replica_ids.size(); ++r) {
      const auto part = [&](const std::vector<double>& all) {
        const std::size_t pairs = all.size() / sums.replica_ids.size();
        const auto of_replica = std::span(all).subspan(r * pairs, pairs);
        return std::vector<double>(of_replica.begin(), of_replica.end());
      };
      indices[sums.replica_ids[r]].restore(
          {sums.samples, part(sums.means_A), part(sums.squares_A2)});
    }
    return indices;
  }
  void put_sums(Frame& frame) const {
    LindemannSums& sums = frame.lindemann_sums;
    sums = {0, {}, {}, {}};
    for (const std::int64_t id : frame.replica_ids) {
      const auto found = measures_.indices().find(id);
      if (found == measures_.indices().end() || found->second.memory().samples == 0) continue;
      const analysis::LindemannIndex::Memory& memory = found->second.memory();
      sums.samples = memory.samples;
      sums.replica_ids.push_back(id);
      sums.means_A.insert(sums.means_A.end(), memory.means_A.begin(), memory.means_A.end());
      sums.squares_A2.insert(sums.squares_A2.end(), memory.squares_A2.begin(),
                             memory.squares_A2.end());
    }
  }
  void step_once() {
    if (state_.step + 1 == script_.no_memory_at) throw std::bad_alloc();
    for (std::size_t r = 0; state_.step == 0 && r < is_stopped_.size(); ++r) count(r);
    ++state_.step;
    if (script_.reached) *script_.reached = state_.step;
    const std::size_t size = state_.coordinates();
    for (std::size_t r = 0; r < is_stopped_.size(); ++r) {
      const std::int64_t id = state_.replica_ids[r];
      if (is_stopped_[r]) continue;
      const auto planned = script_.blow_ups.find(id);
      if (planned != script_.blow_ups.end() && planned->second <= state_.step) {
        is_stopped_[r] = true;
        blow_ups_.push_back({id, state_.step, 1, {{0, 0}, {1, 2}, 0.5}, {{1, 2}, 2e5}, true});
        continue;
      }
      for (std::size_t c = r * size; c < (r + 1) * size; ++c) {
        double& x = state_.positions_A[c];
        double& v = state_.velocities_A_per_akma[c];
        v = 0.9 * v + 0.1 * std::sin(4.0 * x + static_cast<double>(id));
        // Hydrogens follow their oxygen, and vibrate.
        const std::size_t oxygen = c - c % kCoordinatesPerMolecule + c % 3;
        x += 0.05 * state_.velocities_A_per_akma[oxygen];
        if (c != oxygen) x += 1e-3 * v;
      }
      const auto departure = script_.departures.find(id);
      if (departure != script_.departures.end() && departure->second == state_.step) {
        for (std::size_t atom = 1; atom <= 3; ++atom) {
          state_.positions_A[(r + 1) * size - 3 * atom] += 100.0;
        }
      }
      const auto broken = script_.broken_bonds.find(id);
      if (broken != script_.broken_bonds.end() && broken->second == state_.step) {
        state_.positions_A[r * size + 15] += 5.0;
      }
      count(r);
    }
    if (script_.seconds_per_step > 0.0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(script_.seconds_per_step));
    }
  }
  void count(std::size_t r) {
    if (!request_.enabled || step() % request_.every != 0 || step() < request_.first_step) return;
    const auto group = static_cast<std::size_t>(state_.replica_ids[r] % request_.groups);
    const auto bins = static_cast<std::size_t>(request_.bins);
    const std::size_t size = state_.coordinates();
    analysis::count_pairs(
        std::span(state_.positions_A).subspan(r * size, size), request_.r_max_A, request_.bins,
        std::span(counts_).subspan(group * kPairClasses * bins, kPairClasses * bins));
    ++samples_[group];
  }

  State state_;
  WaterModel model_ = *find_water_model("tip3p");
  PositionMeasures measures_{model_, {}};
  ReplicaGroups groups_;
  PairCountRequest request_;
  double timestep_ps_;
  FakeScript script_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::int64_t> samples_;
  std::vector<bool> is_stopped_;
  std::vector<BlowUp> blow_ups_;
};

/// Molecules on a line, 3 A apart, the replicas a little different.
inline State fake_start(int molecules, int replicas) {
  State state;
  state.molecules = molecules;
  for (int r = 0; r < replicas; ++r) {
    state.replica_ids.push_back(r);
    for (int m = 0; m < molecules; ++m) {
      const double x = 3.0 * m + 0.01 * r;
      for (const double c : {x, 0.1, 0.2, x + 0.9, 0.3, 0.4, x - 0.2, 0.9, 0.5}) {
        state.positions_A.push_back(c);
        state.velocities_A_per_akma.push_back(0.01 * c);
      }
    }
  }
  return state;
}

}  // namespace tarn::test
