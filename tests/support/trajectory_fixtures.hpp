#pragma once

#include "tarn/io/formats.hpp"
#include "testing.hpp"

namespace tarn::test {

/// Positions of a few molecules on a line, O-H 0.96 A, shifted a little from step to step.
inline std::vector<double> some_positions(int molecules, std::int64_t step,
                                          std::int64_t replica = 0) {
  std::vector<double> x;
  const double shift =
      0.01 * std::sin(0.37 * static_cast<double>(step)) + 0.1 * static_cast<double>(replica);
  for (int m = 0; m < molecules; ++m) {
    const double o = 3.0 * m - 4.0 / 3.0 + shift;
    x.insert(x.end(), {o, shift, -1.0 / 7.0, o + 0.96, shift, -1.0 / 7.0, o - 0.24, shift + 0.93,
                       -1.0 / 7.0});
  }
  return x;
}

/// The formats of this build.
inline std::vector<std::reference_wrapper<const io::Format>> available_formats() {
  std::vector<std::reference_wrapper<const io::Format>> all;
  for (const io::Format& format : io::formats()) {
    if (format.id != io::FileFormat::h5md || io::has_h5md()) all.push_back(format);
  }
  return all;
}

inline std::vector<io::Structure> frames_of(const std::string& path) {
  std::vector<io::Structure> frames;
  const auto reader = io::open_frames(path);
  while (auto frame = reader->next()) frames.push_back(std::move(*frame));
  return frames;
}

/// All frames of a trajectory as text, to compare files whose bytes may differ.
inline std::string text_of_frames(const std::string& path) {
  std::string text;
  const auto reader = io::open_frames(path);
  while (const auto frame = reader->next()) {
    for (const auto& [key, value] : frame->comment) text += fmt::format("{}={} ", key, value);
    text += fmt::format("\n{:.17g}\n", fmt::join(frame->positions_A, " "));
  }
  return text;
}

/// Like contents_of(), but HDF5 files are represented by their frames.
inline std::map<std::string, std::string> contents_of_run(const std::string& folder) {
  auto files = contents_of(folder);
  for (auto& [name, text] : files) {
    if (name.ends_with(".h5")) text = text_of_frames(folder + "/" + name);
  }
  return files;
}

}  // namespace tarn::test
