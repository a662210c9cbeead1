#ifdef TARN_HAVE_HDF5

#include <algorithm>
#include <climits>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "frame_formats.hpp"
#include "hdf5.hpp"
#include "paths.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/state.hpp"
#include "water_atoms.hpp"
#include "words.hpp"

namespace tarn::io {
namespace {

using hdf5::File;

/// A unit of time in picoseconds, or nothing.
std::optional<double> time_ps(std::string_view unit) {
  if (unit == "ps") return 1.0;
  if (unit == "fs") return 1e-3;
  if (unit == "ns") return 1e3;
  if (unit == "s") return 1e12;
  return std::nullopt;
}

/// A unit of velocity such as "nm ps-1" in A/akma, or nothing.
std::optional<double> speed_A_per_akma(std::string_view unit) {
  const std::size_t blank = unit.find(' ');
  if (blank == std::string_view::npos || !unit.ends_with("-1")) return std::nullopt;
  const auto length = length_unit_A(unit.substr(0, blank));
  const auto time = time_ps(unit.substr(blank + 1, unit.size() - blank - 3));
  if (!length || !time) return std::nullopt;
  return *length / *time * units::picoseconds_per_akma;
}

/// Most numbers per byte of a deflated file.
constexpr double kMostOfByte = 258.0;

class H5mdReader final : public FrameReader {
 public:
  explicit H5mdReader(const std::string& path) : file_(path, File::Mode::read) {
    if (!file_.has("h5md") || !file_.has("particles")) {
      fail("this HDF5 file is not an H5MD file: the groups h5md and particles are missing");
    }
    std::error_code ignored;
    bytes_ = std::filesystem::file_size(path, ignored);
    groups_ = file_.names_in("particles");
    if (!file_.has("parameters")) return;
    model_ = file_.text_attribute("parameters", "model");
    potential_ = file_.text_attribute("parameters", "potential");
    for (const char* name : {"beads", "bead"}) {
      const std::optional<double> number = file_.number_attribute("parameters", name);
      if (number) beads_[name] = fmt::format("{}", *number);
    }
  }

  std::optional<Structure> next() override {
    while (frame_ == frames_) {
      if (group_ == groups_.size()) return std::nullopt;
      open_group(groups_[group_++]);
    }
    Structure structure;
    structure.molecules = molecules_;
    structure.has_box = has_box_;
    structure.positions_A = values_of(position_, unit_A_);
    if (velocity_unit_) structure.velocities_A_per_akma = values_of(velocity_, *velocity_unit_);
    structure.comment["replica"] = groups_[group_ - 1];
    structure.comment.insert(beads_.begin(), beads_.end());
    if (!model_.empty()) structure.comment["model"] = model_;
    if (!potential_.empty()) structure.comment["potential"] = potential_;
    if (bath_K_) structure.comment["bath_K"] = fmt::to_string(*bath_K_);
    if (steps_) structure.comment["step"] = fmt::to_string((*steps_)[frame_]);
    if (times_ps_) structure.comment["time_ps"] = fmt::format("{:.17g}", (*times_ps_)[frame_]);
    if (has_deuterium_) structure.messages.push_back(note_on_deuterium(file_.path()));
    ++frame_;
    return structure;
  }
  const std::string& path() const override { return file_.path(); }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(file_.path(), 0, message);
  }

  /// Coordinates or velocities of all atoms of the next frame.
  std::vector<double> values_of(const std::string& element, double unit) const {
    std::vector<double> values(static_cast<std::size_t>(molecules_) * kCoordinatesPerMolecule);
    file_.read(element + "/value", H5T_NATIVE_DOUBLE, values.data(), frame_, 1);
    for (double& x : values) x *= unit;
    check_numbers(file_.path(), fmt::format("{}, frame {} (counted from 0)", element, frame_),
                  element == velocity_ ? "velocity" : "coordinate", values);
    return values;
  }

  /// Limits what a damaged shape can request, in memory and time.
  void check_size(const std::string& name, const std::vector<hsize_t>& shape) const {
    double numbers = 1.0;
    for (const hsize_t n : shape) {
      numbers *= static_cast<double>(n);
      if (n <= INT_MAX && numbers <= kMostOfByte * static_cast<double>(bytes_)) continue;
      fail(fmt::format("{} has the shape {}, more than the file can contain: it is damaged", name,
                       fmt::join(shape, " x ")));
    }
  }

  void open_group(const std::string& name) {
    const std::string group = "particles/" + name;
    position_ = group + "/position";
    frame_ = frames_ = 0;
    if (!file_.has(position_ + "/value")) {
      if (file_.has(position_)) fail(position_ + " is constant in time: it has no value");
      return;
    }
    const std::vector<hsize_t> shape = file_.shape_of(position_ + "/value");
    if (shape.size() != 3 || shape[2] != 3) {
      fail(position_ + "/value must have three dimensions: frames, atoms and x y z");
    }
    check_size(position_ + "/value", shape);
    if (shape[1] == 0 || shape[1] % kAtomsPerMolecule != 0) {
      fail(fmt::format("{} atoms in {} are not a multiple of three, as of water molecules O H H",
                       shape[1], group));
    }
    molecules_ = static_cast<int>(shape[1] / kAtomsPerMolecule);
    const std::string unit = file_.text_attribute(position_ + "/value", "unit");
    const std::optional<double> unit_A = length_unit_A(unit);
    if (!unit_A) {
      fail(
          fmt::format("{}/value has the unit '{}': give it an attribute unit that is Angstrom, nm, "
                      "pm, m or bohr",
                      position_, unit));
    }
    unit_A_ = *unit_A;
    frames_ = shape[0];
    bath_K_ = file_.number_attribute(group, "bath_K");
    check_species(group + "/species", shape[1]);
    has_box_ = false;
    if (file_.has(group + "/box")) {
      const std::vector<std::string> boundary = file_.text_attributes(group + "/box", "boundary");
      has_box_ = std::find(boundary.begin(), boundary.end(), "periodic") != boundary.end();
    }
    // A writer that is running or was killed may not have extended all three datasets.
    steps_ = numbers<std::int64_t>(position_ + "/step", H5T_NATIVE_INT64);
    times_ps_ = numbers<double>(position_ + "/time", H5T_NATIVE_DOUBLE);
    if (steps_) frames_ = std::min<hsize_t>(frames_, steps_->size());
    if (times_ps_) {
      frames_ = std::min<hsize_t>(frames_, times_ps_->size());
      const std::optional<double> unit_ps =
          time_ps(file_.text_attribute(position_ + "/time", "unit"));
      if (unit_ps) {
        for (double& t : *times_ps_) t *= *unit_ps;
      } else {
        times_ps_.reset();
      }
    }
    open_velocity(group + "/velocity", shape);
  }

  /// Velocities are read if they are of the same atoms at the same steps, in a known unit.
  void open_velocity(const std::string& name, const std::vector<hsize_t>& of_positions) {
    velocity_ = name;
    velocity_unit_.reset();
    if (!steps_ || !file_.has(name + "/value")) return;
    const std::vector<hsize_t> shape = file_.shape_of(name + "/value");
    if (shape.size() != 3 || shape[1] != of_positions[1] || shape[2] != 3) return;
    if (numbers<std::int64_t>(name + "/step", H5T_NATIVE_INT64) != steps_) return;
    check_size(name + "/value", shape);
    velocity_unit_ = speed_A_per_akma(file_.text_attribute(name + "/value", "unit"));
    if (velocity_unit_) frames_ = std::min<hsize_t>(frames_, shape[0]);
  }

  /// Step or time of each frame: listed, or a scalar interval with the attribute `offset`.
  template <class T>
  std::optional<std::vector<T>> numbers(const std::string& name, hid_t type) const {
    if (!file_.has(name) || !file_.is_number(name)) return std::nullopt;
    const std::vector<hsize_t> shape = file_.shape_of(name);
    if (shape.empty()) {
      T interval{};
      file_.read(name, type, &interval, 0, 1);
      const auto offset = static_cast<T>(file_.number_attribute(name, "offset").value_or(0.0));
      std::vector<T> values(frames_);
      for (hsize_t i = 0; i < frames_; ++i) values[i] = offset + static_cast<T>(i) * interval;
      return values;
    }
    if (shape.size() != 1) return std::nullopt;
    check_size(name, shape);
    std::vector<T> values(shape[0]);
    if (!values.empty()) file_.read(name, type, values.data(), 0, shape[0]);
    return values;
  }

  /// Species that are atomic numbers or names must be O H H. Other numbers have no fixed meaning.
  void check_species(const std::string& name, hsize_t atoms) {
    has_deuterium_ = false;
    if (!file_.has(name)) return;
    const std::vector<hsize_t> shape = file_.shape_of(name);
    if (shape.size() != 1 || shape[0] != atoms) return;
    if (const std::vector<std::string> names = file_.texts(name); !names.empty()) {
      return check_names(name, names);
    }
    if (!file_.is_number(name)) return;
    std::vector<int> species(atoms);
    file_.read(name, H5T_NATIVE_INT, species.data(), 0, atoms);
    if (std::any_of(species.begin(), species.end(),
                    [](int s) { return s != kAtomicNumbers[0] && s != kAtomicNumbers[1]; })) {
      return;
    }
    for (std::size_t a = 0; a < species.size(); ++a) {
      if (species[a] == kAtomicNumbers[a % kAtomicNumbers.size()]) continue;
      fail(
          fmt::format("{}: atom {} has the atomic number {}; the atoms of each "
                      "molecule must be in the order O H H",
                      name, a, species[a]));
    }
  }

  void check_names(const std::string& name, const std::vector<std::string>& names) {
    for (std::size_t a = 0; a < names.size(); ++a) {
      const AtomKind expected = a % kAtomsPerMolecule == 0 ? AtomKind::oxygen : AtomKind::hydrogen;
      has_deuterium_ = has_deuterium_ || is_deuterium(names[a]);
      if (kind_of_atom(names[a]) == expected) continue;
      fail(fmt::format("{}: atom {} is '{}'; the atoms of each molecule must be in the order O H H",
                       name, a, names[a]));
    }
  }

  File file_;
  std::uintmax_t bytes_ = 0;
  std::vector<std::string> groups_;
  std::size_t group_ = 0;  // the next one
  std::string position_;
  int molecules_ = 0;
  bool has_box_ = false, has_deuterium_ = false;
  std::optional<double> bath_K_;
  double unit_A_ = 1.0;
  std::string velocity_;
  std::optional<double> velocity_unit_;  // in A/akma; none: no velocities
  hsize_t frames_ = 0;
  hsize_t frame_ = 0;
  std::optional<std::vector<std::int64_t>> steps_;
  std::optional<std::vector<double>> times_ps_;
  std::string model_, potential_;
  std::map<std::string, std::string> beads_;  // for the comment of each frame
};

}  // namespace

std::unique_ptr<FrameReader> open_h5md(const std::string& path) {
  // The library needs a seekable file.
  if (readable_path(path) != path) {
    throw InputError(path, 0, "H5MD cannot be read from a pipe; give the name of a file");
  }
  if (!File::is_hdf5(path)) {
    throw InputError(path, 0, "not an HDF5 file: it does not begin as one");
  }
  return std::make_unique<H5mdReader>(path);
}

}  // namespace tarn::io

#endif
