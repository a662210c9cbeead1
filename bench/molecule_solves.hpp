#pragma once

#include <cstddef>
#include <memory>

namespace tarn::bench {

/// Linear solves of many molecules on the device, with coordinates in device memory: the structured
/// solves of the steps, or dense ones by cuSOLVER.
class MoleculeSolves {
 public:
  /// @throws DeviceError if cuSOLVER is needed but not available, or if memory is insufficient
  MoleculeSolves(int molecules, bool dense);
  ~MoleculeSolves();

  /// Time of `repeats` solves of all molecules, by CUDA events [s].
  double seconds(int repeats);
  /// Relative rms difference between these accelerations and those of the host.
  double error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarn::bench
