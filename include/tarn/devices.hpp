#pragma once

#include <string>
#include <vector>

/// @file
/// The devices of this machine.

namespace tarn {

/// A device that DeviceRequest can name.
struct DeviceDescription {
  std::string name;         ///< "cpu", "cuda:0", ...
  std::string description;  ///< processor and instruction set, or GPU
  int threads = 0;          ///< default number of threads of the CPU; 0 for a GPU
  double memory_GiB = 0.0;  ///< of a GPU; 0 for the CPU
};

/// All devices that can be used; the CPU is the first.
struct Devices {
  std::vector<DeviceDescription> devices;
  std::string note;  ///< why there is no GPU, and what to do; empty if there is one
};
Devices find_devices();

}  // namespace tarn
