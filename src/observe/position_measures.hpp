#pragma once

#include <map>

#include "interface/moments.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/engine.hpp"

namespace tarn {

/// Fills the rows that follow from the positions of a Frame, for frames of files, which no engine
/// measures.
class PositionMeasures {
 public:
  /// Continues the Lindemann sums of the settings.
  PositionMeasures(const WaterModel& model, const MeasureSettings& settings);

  /// Fills kShape, kParts, kLindemann, their moments and kRadialCounts of `fields`, and adds the
  /// distances of the frame to the Lindemann sums where the settings ask for them.
  /// @param frame with positions; kParts takes the velocities as 0 where there are none
  void fill(unsigned fields, Frame& frame);
  /// Fills kLindemannSums, of the replicas in the frame.
  void put_sums(Frame& frame) const;
  /// Lindemann sums so far, by replica id.
  const std::map<std::int64_t, analysis::LindemannIndex>& indices() const { return indices_; }

 private:
  WaterModel model_;
  MeasureSettings settings_;
  ReplicaGroups groups_;
  std::map<std::int64_t, analysis::LindemannIndex> indices_;  ///< by replica id
};

}  // namespace tarn
