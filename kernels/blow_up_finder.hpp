#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "interface/measure.hpp"
#include "kernels/replica_memory.hpp"
#include "tarn/engine.hpp"

namespace tarn::gpu {

/// Describes the replicas that the device has stopped.
class BlowUpFinder {
 public:
  explicit BlowUpFinder(const System& system)
      : measure_(system),
        pair_(pair_parameters<double>(system.model)),
        m_site_(system.model.has_m_site()) {}

  /// All blow-ups so far, in order of replica.
  std::vector<BlowUp> find(const ReplicaMemory& replicas) const;

 private:
  Measure measure_;
  PairParameters<double> pair_;
  bool m_site_;
  /// By place in the batch. The kept state of a stopped replica does not change, so that each is
  /// described once.
  mutable std::map<std::size_t, BlowUp> found_;
};

}  // namespace tarn::gpu
