#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <hdf5.h>

#include "structure_fuzz.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/formats.hpp"

namespace tarn::fuzz {

/// A name in a folder in memory, free again at the end: the HDF5 library opens no file without one.
class H5mdFolder {
 public:
  H5mdFolder() : path_("/dev/shm/tarn-fuzz-" + std::to_string(::getpid())) {
    std::filesystem::create_directory(path_);
  }
  H5mdFolder(const H5mdFolder&) = delete;
  ~H5mdFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string file() const { return path_ + "/trajectory.h5"; }

 private:
  std::string path_;
};

/// The choices that bytes make, one after another; 0 when they are used up.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}
  bool any() const { return !bytes_.empty(); }
  std::size_t of(std::size_t n) {
    std::size_t number = 0;
    for (std::size_t most = 1; most < n && any(); most *= 256) {
      number = number << 8 | static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
    }
    return number % n;
  }

 private:
  std::string_view bytes_;
};

inline io::TrajectoryInfo small_h5md(const std::string& folder) {
  io::TrajectoryInfo info;
  info.folder = folder;
  info.replicas = 2;
  info.molecules = 1;
  info.model = "tip3p";
  info.provenance = "fuzz";
  return info;
}

/// Reads the file, and goes on with it from a checkpoint of one frame a replica.
inline void read_and_continue(const H5mdFolder& folder) {
  const io::Format& format = io::format_of(io::FileFormat::h5md);
  try {
    read_frames(*format.open(folder.file()));
  } catch (const Error&) {
  }
  try {
    std::ostringstream saved;
    for (int replica = 0; replica < 2; ++replica) io::put(saved, std::uint64_t{1});
    std::istringstream in(saved.str());
    const auto writer = format.write(small_h5md(folder.path()));
    writer->load(in);
    const std::vector<double> positions(9, 1.0);
    writer->append({0, 1, 0.5, positions});
    writer->finish();
  } catch (const Error&) {
  }
}

/// A file of the writer, with bytes changed or cut off. Left alone are the collections of strings
/// of variable length ("GCOL"): they have no checksums, and the library crashes on damaged ones.
inline void damaged_h5md(Choices& choices) {
  const H5mdFolder folder;
  {
    const auto writer = io::format_of(io::FileFormat::h5md).write(small_h5md(folder.path()));
    writer->create();
    const std::vector<double> positions(9, 1.0 / 3.0);
    for (int frame = 0; frame < 3; ++frame) {
      for (int replica = 0; replica < 2; ++replica) {
        writer->append({replica, frame, 0.5 * frame, positions});
      }
    }
    writer->finish();
  }
  std::ifstream file(folder.file(), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  // Most bytes are empty room for frames: the others are those that matter.
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (bytes.compare(at, 4, "GCOL") == 0) at += 4096;
    if (at < bytes.size() && bytes[at] != 0) places.push_back(at);
  }
  while (choices.any()) {
    const std::size_t at = places[choices.of(places.size())] + choices.of(2);
    const std::size_t what = choices.of(256);
    if (what == 1) bytes.resize(std::min(bytes.size(), at));
    if (at < bytes.size()) bytes[at] = static_cast<char>(choices.of(256));
  }
  std::ofstream(folder.file(), std::ios::binary) << bytes;
  read_and_continue(folder);
}

/// A sound HDF5 file that is H5MD more or less: types, shapes and attributes as they come.
inline void strange_h5md(Choices& choices) {
  const H5mdFolder folder;
  const hid_t file = H5Fcreate(folder.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const auto group = [&](const char* name) {
    H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  };
  const auto attribute = [&](const char* object, const char* name) {
    constexpr std::array kTexts{"Angstrom", "nm", "ps", "parsec", "tip3p", ""};
    const char* text = kTexts[choices.of(kTexts.size())];
    const std::size_t kind = choices.of(5);
    if (kind == 4) return;
    const hsize_t size = choices.of(3);
    const hid_t space = kind == 3 ? H5Screate_simple(1, &size, nullptr) : H5Screate(H5S_SCALAR);
    const hid_t type = H5Tcopy(kind == 2 ? H5T_NATIVE_INT : H5T_C_S1);
    if (kind != 2) H5Tset_size(type, kind == 0 ? H5T_VARIABLE : 16);
    const hid_t made =
        H5Acreate_by_name(file, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    std::array<char, 64> fixed{};
    std::string_view(text).copy(fixed.data(), 15);
    H5Awrite(made, type, kind == 0 ? static_cast<const void*>(&text) : fixed.data());
    H5Aclose(made);
    H5Tclose(type);
    H5Sclose(space);
  };
  const auto dataset = [&](const char* name, std::vector<hsize_t> shape) {
    // Sometimes not the shape that is right, and sizes that no memory has.
    if (choices.of(4) == 1) shape.resize(choices.of(5), 3);
    if (choices.of(4) == 1 && !shape.empty()) {
      constexpr std::array<hsize_t, 6> kSizes{0, 1, 5, 6, 3'000'000'000, 3ULL << 58};
      shape[choices.of(shape.size())] = kSizes[choices.of(kSizes.size())];
    }
    const std::array<hid_t, 5> types{H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, H5T_STD_I64BE,
                                     H5T_NATIVE_UCHAR, H5T_C_S1};
    const hid_t type = types[choices.of(types.size())];
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    std::vector<hsize_t> chunk(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      chunk[i] = std::clamp<hsize_t>(shape[i], 1, 8);
    }
    if (!shape.empty()) H5Pset_chunk(creation, static_cast<int>(shape.size()), chunk.data());
    const hid_t space =
        shape.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t made = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (made >= 0 && std::all_of(shape.begin(), shape.end(), [](hsize_t n) { return n < 100; })) {
      std::vector<int> values(1 << 10);
      for (int& value : values) value = choices.any() ? static_cast<int>(choices.of(256)) : 1;
      H5Dwrite(made, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    }
    if (made >= 0) H5Dclose(made);
    H5Sclose(space);
    H5Pclose(creation);
  };
  for (const char* name : {"h5md", "particles", "parameters"}) {
    if (choices.of(32) != 1) group(name);
  }
  attribute("parameters", "model");
  const hsize_t frames = 1 + choices.of(4);
  for (const std::string replica : {"particles/replica-0000", "particles/replica-0001"}) {
    group(replica.c_str());
    const std::string position = replica + "/position";
    if (choices.of(8) == 1) {
      dataset(position.c_str(), {frames, 3, 3});
      continue;
    }
    group(position.c_str());
    if (choices.of(2) == 1) dataset((replica + "/species").c_str(), {3});
    if (choices.of(16) != 1) dataset((position + "/value").c_str(), {frames, 3, 3});
    if (choices.of(4) != 1) dataset((position + "/step").c_str(), {frames});
    if (choices.of(4) != 1) dataset((position + "/time").c_str(), {frames});
    attribute((position + "/value").c_str(), "unit");
    attribute((position + "/time").c_str(), "unit");
  }
  H5Fclose(file);
  read_and_continue(folder);
}

/// Trajectories in HDF5 are read or refused in words, and so is going on with them. The bytes are
/// choices, because hardly any bytes are an HDF5 file.
inline void h5md(std::string_view bytes) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Choices choices(bytes);
  choices.of(2) == 0 ? strange_h5md(choices) : damaged_h5md(choices);
}

}  // namespace tarn::fuzz
