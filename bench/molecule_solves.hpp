#pragma once

#include <cstddef>
#include <memory>

namespace tarn::bench {

/// The linear solves of many molecules on the device, with their coordinates in its memory: the
/// structured ones of the steps, or dense ones by cuSOLVER.
class MoleculeSolves {
 public:
  /// @throws DeviceError when cuSOLVER is needed and cannot be had, or memory is short
  MoleculeSolves(int molecules, bool dense);
  ~MoleculeSolves();

  /// Seconds of `repeats` solves of all molecules, by events.
  double seconds(int repeats);
  /// Relative rms difference between the accelerations found and those of the host.
  double error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarn::bench
