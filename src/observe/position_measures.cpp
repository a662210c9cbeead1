#include "position_measures.hpp"

#include <cstddef>
#include <vector>

#include "tarn/core/replica_map.hpp"
#include "tarn/physics/cluster_parts.hpp"

namespace tarn {

PositionMeasures::PositionMeasures(const WaterModel& model, const MeasureSettings& settings)
    : model_(model), settings_(settings), groups_(settings.moment_groups) {
  const LindemannSums& sums = settings.lindemann_sums;
  if (sums.replica_ids.empty()) return;
  const std::size_t pairs = sums.means_A.size() / sums.replica_ids.size();
  for (std::size_t r = 0; r < sums.replica_ids.size(); ++r) {
    const auto part = [&](const std::vector<double>& numbers) {
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(r * pairs);
      return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(pairs));
    };
    indices_[sums.replica_ids[r]].restore(
        {sums.samples, part(sums.means_A), part(sums.squares_A2)});
  }
}

void PositionMeasures::put_sums(Frame& frame) const {
  LindemannSums& sums = frame.lindemann_sums;
  sums = {0, {}, {}, {}};
  for (const std::int64_t id : frame.replica_ids) {
    const auto found = indices_.find(id);
    if (found == indices_.end() || found->second.memory().samples == 0) continue;
    const analysis::LindemannIndex::Memory& memory = found->second.memory();
    sums.samples = memory.samples;
    sums.replica_ids.push_back(id);
    sums.means_A.insert(sums.means_A.end(), memory.means_A.begin(), memory.means_A.end());
    sums.squares_A2.insert(sums.squares_A2.end(), memory.squares_A2.begin(),
                           memory.squares_A2.end());
  }
}

void PositionMeasures::fill(unsigned requested, Frame& frame) {
  const unsigned fields = row_fields_for(requested);
  const std::size_t replicas = frame.live();
  frame.shape.resize(fields & kShape ? replicas : 0);
  frame.parts.resize(fields & kParts ? replicas : 0);
  frame.lindemann.resize(fields & kLindemann ? replicas : 0);
  const std::vector<double> no_velocities(frame.coordinates(), 0.0);
  const LindemannRequest& lindemann = settings_.lindemann;
  for (std::size_t r = 0; r < replicas; ++r) {
    const std::span<const double> q = frame.positions_A_of(r);
    if (fields & kShape) {
      frame.shape[r] = analysis::cluster_measures(q, model_.dipole_charge_e(), masses(model_));
    }
    if (fields & kParts) {
      const bool known = !frame.velocities_A_per_akma.empty();
      frame.parts[r] = cluster_parts(q, known ? frame.velocities_A_per_akma_of(r) : no_velocities,
                                     model_.mass_o_Da, model_.mass_h_Da, settings_.link_A);
    }
    if (!(fields & kLindemann)) continue;
    analysis::LindemannIndex& index = indices_[frame.replica_ids[r]];
    if (lindemann.enabled && frame.step >= lindemann.first_step) index.add(q);
    frame.lindemann[r] = index.value();
  }
  fill_moments(requested & (kShapeMoments | kLindemannMoments), false, groups_, 1, frame);
  if (!(requested & kRadialCounts)) return;
  clear_radial(settings_.radial, frame.radial_counts);
  for (std::size_t r = 0; r < replicas; ++r) {
    add_radial(frame.positions_A_of(r), model_.mass_o_Da, model_.mass_h_Da, settings_.radial,
               sample_group(frame.replica_ids[r], settings_.radial.groups), frame.radial_counts);
  }
}

}  // namespace tarn
