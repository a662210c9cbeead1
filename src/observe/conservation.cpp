#include <algorithm>
#include <cmath>

#include "analysis/blocking.hpp"
#include "energy_drift.hpp"
#include "table_observer.hpp"
#include "tarn/analysis/convergence.hpp"
#include "tarn/core/units.hpp"

namespace tarn {
namespace {

void append_conservation(const Frame& frame, std::size_t r, std::vector<double>& values) {
  const Conservation& c = frame.conservation[r];
  values.push_back(c.energy_kcal_per_mol);
  for (const double p : c.momentum_Da_A_per_akma) {
    values.push_back(p / units::picoseconds_per_akma);
  }
  for (const double l : c.angular_momentum_Da_A2_per_akma) {
    values.push_back(l / units::picoseconds_per_akma);
  }
  values.push_back(c.constraint_max_A2);
}

/// Adds the energy drift, for runs without a thermostat: only errors of the scheme change the
/// energy.
void add_drift(TableSpec& spec, std::int64_t every, const RunInfo& info) {
  const auto drift = std::make_shared<EnergyDrift>();
  spec.prepare = [drift, first = info.first_averaged_step](const Frame& frame) {
    if (frame.step < first) return;
    std::vector<double> energies;
    for (const Conservation& c : frame.conservation) energies.push_back(c.energy_kcal_per_mol);
    drift->add(frame.replica_ids, energies);
  };
  spec.archive = [drift](io::Archive& a) { a(*drift); };
  spec.remembers = " with drift";
  spec.more_averages = [drift, interval_ps = info.time_ps(every)] {
    std::vector<AveragedQuantity> all;
    if (const auto result = drift->result()) {
      all.push_back({"conservation", "energy_drift_kcal_per_mol_per_ps",
                     result->slope.mean / interval_ps, result->slope.error / interval_ps,
                     std::nullopt, static_cast<double>(result->replicas), result->replicas,
                     result->converged});
    }
    return all;
  };
}

std::unique_ptr<Observer> make_conservation(const ObserveTable& section,
                                            const ObserverContext& info) {
  TableSpec spec;
  spec.file = "conservation";
  spec.fields = kConservation;
  spec.columns = {"energy_kcal_per_mol", "px_Da_A_per_ps",  "py_Da_A_per_ps",  "pz_Da_A_per_ps",
                  "lx_Da_A2_per_ps",     "ly_Da_A2_per_ps", "lz_Da_A2_per_ps", "constraint_max_A2"};
  spec.values_follow_from_frame = true;
  spec.append_values = append_conservation;
  if (info.baths_K.empty()) add_drift(spec, section.every, info);
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable conservation_observable() {
  return observable(&Deck::conservation, make_conservation, {"conservation.*"},
                    "; energy = Hamiltonian of the ring polymer, a sum over its beads; momenta = "
                    "means over the beads");
}

void EnergyDrift::add(std::span<const std::int64_t> ids, std::span<const double> values) {
  if (full_blocks() == kMost) {
    for (auto& [id, of] : of_replica_) {
      for (std::size_t b = 0; 2 * b + 1 < of.sums.size(); ++b) {
        of.sums[b] = of.sums[2 * b] + of.sums[2 * b + 1];
      }
      of.sums.resize(of.sums.size() / 2);
    }
    length_ *= 2;
  }
  const bool begins = samples_ % length_ == 0;
  for (std::size_t r = 0; r < ids.size(); ++r) {
    Sums& of = of_replica_.try_emplace(ids[r], Sums{values[r]}).first->second;
    if (begins) of.sums.push_back(0.0);
    of.sums.back() += values[r] - of.first;
  }
  ++samples_;
  last_ids_.assign(ids.begin(), ids.end());
}

std::optional<EnergyDrift::Result> EnergyDrift::result() const {
  const std::size_t blocks = full_blocks();
  if (blocks < 3 || last_ids_.empty()) return std::nullopt;
  const auto length = static_cast<double>(length_);
  std::vector<double> times(blocks), means(blocks), slopes;
  for (std::size_t b = 0; b < blocks; ++b) times[b] = length * static_cast<double>(b);
  analysis::LineFit line;
  for (const std::int64_t id : last_ids_) {
    const Sums& of = of_replica_.at(id);
    for (std::size_t b = 0; b < blocks; ++b) means[b] = of.sums[b] / length;
    line = analysis::fit_line(times, means);
    slopes.push_back(line.slope);
  }
  Result result{analysis::mean_and_error(slopes), std::ssize(slopes)};
  if (slopes.size() > 1) return result;
  const double middle = 0.5 * (times.front() + times.back());
  double squares = 0.0, spread = 0.0;
  for (std::size_t b = 0; b < blocks; ++b) {
    means[b] -= line.intercept + line.slope * times[b];
    squares += means[b] * means[b];
    spread += (times[b] - middle) * (times[b] - middle);
  }
  const analysis::Blocking scatter = analysis::blocking(means);
  result.slope.error = std::sqrt(squares / static_cast<double>(blocks - 2) / spread * 2.0 *
                                 scatter.autocorrelation_time);
  result.converged = scatter.converged;
  return result;
}

}  // namespace tarn
