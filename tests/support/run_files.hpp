#pragma once

#include "tarn/io/formats.hpp"
#include "testing.hpp"

/// @file
/// The files of two runs that must be the same.

namespace tarn::test {

inline void expect_same_frames(const std::string& a, const std::string& b) {
  const auto left = io::open_frames(a), right = io::open_frames(b);
  int frames = 0;
  while (const auto frame = left->next()) {
    const auto other = right->next();
    ASSERT_TRUE(other) << "after " << frames << " frames";
    EXPECT_EQ(frame->positions_A, other->positions_A);
    EXPECT_EQ(frame->comment, other->comment);
    ++frames;
  }
  EXPECT_GT(frames, 0);
  EXPECT_FALSE(right->next()) << "after " << frames << " frames";
}

/// All files in two output folders, except run.json, which contains times and names of devices.
inline void expect_same_files(const std::string& a, const std::string& b) {
  auto left = contents_of(a), right = contents_of(b);
  EXPECT_EQ(left.erase("run.json") + right.erase("run.json"), 2u);
  ASSERT_EQ(left.size(), right.size());
  for (const auto& [name, text] : left) {
    ASSERT_TRUE(right.contains(name)) << name;
    if (name.ends_with(".h5")) {  // HDF5 does not guarantee the same bytes
      expect_same_frames(a + "/" + name, b + "/" + name);
    } else {
      EXPECT_TRUE(right.at(name) == text) << name;
    }
  }
}

}  // namespace tarn::test
