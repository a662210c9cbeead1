#include "kernels/probe_message.hpp"

#include <set>

#include <gtest/gtest.h>

/// @file
/// What is told where there is no device to run on: each cause has its own words and its own cure.

namespace tarn {
namespace {

std::string message(ProbeStatus status) { return probe_message(status, "11.8", "13.0", "words"); }

void expect_words(ProbeStatus status, const std::set<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(message(status).find(word), std::string::npos) << message(status) << ": " << word;
  }
}

TEST(ProbeMessage, NamesTheCauseAndTheCure) {
  EXPECT_EQ(message(ProbeStatus::ok), "");
  expect_words(ProbeStatus::not_built, {"without CUDA", "toolkit 12 or newer", "-DTARN_CUDA=ON"});
  expect_words(ProbeStatus::no_driver, {"no NVIDIA driver", "install", "CUDA 13.0"});
  expect_words(ProbeStatus::driver_too_old,
               {"supports CUDA 11.8", "needs 13.0", "update the driver"});
  expect_words(ProbeStatus::no_device, {"no device", "nvidia-smi", "CUDA_VISIBLE_DEVICES"});
  expect_words(ProbeStatus::failed, {"words"});
}

TEST(ProbeMessage, IsOneLineAndDiffersByCause) {
  std::set<std::string> seen;
  for (ProbeStatus status :
       {ProbeStatus::ok, ProbeStatus::not_built, ProbeStatus::no_driver,
        ProbeStatus::driver_too_old, ProbeStatus::no_device, ProbeStatus::failed}) {
    EXPECT_TRUE(seen.insert(message(status)).second) << message(status);
    EXPECT_EQ(message(status).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace tarn
