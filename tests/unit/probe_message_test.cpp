#include "kernels/probe_message.hpp"

#include "testing.hpp"

/// @file
/// What is told where there is no device to run on: each cause has its own words and its own cure.

namespace tarn {
namespace {

TEST(ProbeMessage, IsOneLineThatNamesTheCauseAndTheCure) {
  std::set<std::string> seen;
  for (const auto& [status, words] : std::vector<std::pair<ProbeStatus, std::vector<std::string>>>{
           {ProbeStatus::ok, {}},
           {ProbeStatus::not_built, {"without CUDA", "toolkit 12 or newer", "-DTARN_CUDA=ON"}},
           {ProbeStatus::no_driver, {"no NVIDIA driver", "install", "CUDA 13.0"}},
           {ProbeStatus::driver_too_old, {"supports CUDA 11.8", "needs 13.0", "update the driver"}},
           {ProbeStatus::no_device, {"no device", "nvidia-smi", "CUDA_VISIBLE_DEVICES"}},
           {ProbeStatus::failed, {"words"}}}) {
    const std::string text = probe_message(status, "11.8", "13.0", "words");
    for (const std::string& word : words) EXPECT_TRUE(test::contains(text, word));
    EXPECT_TRUE(seen.insert(text).second) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(text.empty(), status == ProbeStatus::ok);
  }
}

}  // namespace
}  // namespace tarn
