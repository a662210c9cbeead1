#ifdef TARN_HAVE_HDF5

#include <algorithm>
#include <chrono>
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
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/state.hpp"
#include "tarn/version.hpp"
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
    for (const char* name : {"model", "potential"}) {
      const std::string text = file_.text_attribute("parameters", name);
      if (!text.empty()) comment_[name] = text;
    }
    for (const char* name : {"beads", "bead"}) {
      const std::optional<double> number = file_.number_attribute("parameters", name);
      if (number) comment_[name] = fmt::format("{}", *number);
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
    structure.comment = comment_;
    structure.comment["replica"] = groups_[group_ - 1];
    if (bath_K_) structure.comment["bath_K"] = fmt::to_string(*bath_K_);
    if (steps_) structure.comment["step"] = fmt::to_string((*steps_)[frame_]);
    if (times_ps_) structure.comment["time_ps"] = fmt::format("{:.17g}", (*times_ps_)[frame_]);
    if (has_deuterium_) structure.messages.push_back(note_on_deuterium(file_.path()));
    ++frame_;
    return structure;
  }
  const std::string& path() const override { return file_.path(); }

 private:
  template <class... T>
  [[noreturn]] void fail(fmt::format_string<T...> message, T&&... values) const {
    throw InputError(file_.path(), 0, fmt::format(message, std::forward<T>(values)...));
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
      fail("{} has the shape {}, more than the file can contain: it is damaged", name,
           fmt::join(shape, " x "));
    }
  }

  void open_group(const std::string& name) {
    const std::string group = "particles/" + name;
    position_ = group + "/position";
    frame_ = frames_ = 0;
    if (!file_.has(position_ + "/value")) {
      if (file_.has(position_)) fail("{} is constant in time: it has no value", position_);
      return;
    }
    const std::vector<hsize_t> shape = file_.shape_of(position_ + "/value");
    if (shape.size() != 3 || shape[2] != 3) {
      fail("{}/value must have three dimensions: frames, atoms and x y z", position_);
    }
    check_size(position_ + "/value", shape);
    if (shape[1] == 0 || shape[1] % kAtomsPerMolecule != 0) {
      fail("{} atoms in {} are not a multiple of three, as of water molecules O H H", shape[1],
           group);
    }
    molecules_ = static_cast<int>(shape[1] / kAtomsPerMolecule);
    const std::string unit = file_.text_attribute(position_ + "/value", "unit");
    const std::optional<double> unit_A = length_unit_A(unit);
    if (!unit_A) {
      fail(
          "{}/value has the unit '{}': give it an attribute unit that is Angstrom, nm, pm, m or "
          "bohr",
          position_, unit);
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
          "{}: atom {} has the atomic number {}; the atoms of each molecule must be in the order O "
          "H H",
          name, a, species[a]);
    }
  }

  void check_names(const std::string& name, const std::vector<std::string>& names) {
    for (std::size_t a = 0; a < names.size(); ++a) {
      const AtomKind expected = a % kAtomsPerMolecule == 0 ? AtomKind::oxygen : AtomKind::hydrogen;
      has_deuterium_ = has_deuterium_ || is_deuterium(names[a]);
      if (kind_of_atom(names[a]) == expected) continue;
      fail("{}: atom {} is '{}'; the atoms of each molecule must be in the order O H H", name, a,
           names[a]);
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
  std::map<std::string, std::string> comment_;  // of each frame
};

// Frames are buffered up to this size or for one second. A flush of many replicas takes longer; the
// next one is delayed so that flushing takes at most a tenth of the time. The cost of a flush is
// proportional to the number of datasets, so the buffer grows with the replicas.
constexpr std::size_t kMostBuffered = std::size_t{1} << 24;
constexpr std::size_t kMostBufferedOfReplica = std::size_t{1} << 14;
constexpr std::chrono::seconds kFlushInterval{1};
constexpr int kShareOfFlushing = 10;

std::string group_of(std::size_t replica) {
  return fmt::format("particles/replica-{:04}", replica);
}

/// Rows of a chunk: about 64 KiB, less where many replicas would make the smallest file large.
hsize_t rows_in_chunk(std::size_t row_bytes, int replicas) {
  const std::size_t bytes =
      std::clamp<std::size_t>((std::size_t{1} << 24) / replicas, 1 << 12, 1 << 16);
  return std::max<hsize_t>(bytes / row_bytes, 1);
}

class H5mdWriter final : public TrajectoryWriter {
 public:
  explicit H5mdWriter(const TrajectoryInfo& info)
      : info_(info),
        path_(info.path.empty() ? info.folder + "/trajectory.h5" : info.path),
        coordinates_(static_cast<std::size_t>(info.molecules) * kCoordinatesPerMolecule),
        most_buffered_(std::max(kMostBuffered,
                                kMostBufferedOfReplica * static_cast<std::size_t>(info.replicas))),
        replicas_(static_cast<std::size_t>(info.replicas)) {}
  ~H5mdWriter() override {
    try {
      finish();
    } catch (const std::exception&) {  // a destructor must not throw
    }
  }

  void create() override {
    file_.reset();
    put_in_place([this](const std::string& temporary) {
      File file(temporary, File::Mode::create);
      write_head(file);
      for (std::size_t r = 0; r < replicas_.size(); ++r) make_replica(file, r);
      file.close();
    });
    for (Replica& replica : replicas_) replica = {};
    begin_appending();
  }

  void append(const TrajectoryFrame& frame) override {
    for (const double x : frame.positions_A) check_writable(x);
    for (const double v : frame.velocities_A_per_akma) check_writable(v);
    Replica& replica = replicas_[static_cast<std::size_t>(frame.replica)];
    replica.steps.push_back(frame.step);
    replica.times_ps.push_back(frame.time_ps);
    replica.positions_A.insert(replica.positions_A.end(), frame.positions_A.begin(),
                               frame.positions_A.end());
    buffered_ += frame.positions_A.size_bytes();
    if (info_.velocities) {
      for (const double v : frame.velocities_A_per_akma) {
        replica.velocities_A_per_ps.push_back(v / units::picoseconds_per_akma);
      }
      buffered_ += frame.velocities_A_per_akma.size_bytes();
    }
    if (buffered_ >= most_buffered_ || Clock::now() >= next_flush_) flush();
  }

  void save(std::ostream& out) override {
    flush();
    sync_file(path_);
    for (const Replica& replica : replicas_) put(out, replica.frames);
  }

  void load(std::istream& in) override {
    file_.reset();
    for (Replica& replica : replicas_) replica = {get_u64(in), {}, {}, {}};
    if (!matches_checkpoint()) cut_a_copy();
    begin_appending();
  }

  void finish() override {
    if (!file_) return;
    flush();
    file_->close();
    file_.reset();
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Replica {
    std::uint64_t frames = 0;  // complete in the file
    // Not yet written:
    std::vector<std::int64_t> steps;
    std::vector<double> times_ps;
    std::vector<double> positions_A;
    std::vector<double> velocities_A_per_ps{};
  };

  void begin_appending() {
    file_.emplace(path_, File::Mode::append);
    buffered_ = 0;
    next_flush_ = Clock::now() + kFlushInterval;
  }

  void write_head(const File& file) const {
    file.make_group("h5md");
    file.set_attribute("h5md", "version", std::vector<int>{1, 1});
    file.make_group("h5md/author");
    file.set_attribute("h5md/author", "name", "not given");
    file.make_group("h5md/creator");
    file.set_attribute("h5md/creator", "name", "tarn");
    file.set_attribute("h5md/creator", "version", kVersion);
    file.make_group("h5md/modules");
    file.make_group("h5md/modules/units");
    file.set_attribute("h5md/modules/units", "version", std::vector<int>{1, 0});
    file.make_group("parameters");
    if (!info_.model.empty()) file.set_attribute("parameters", "model", info_.model);
    if (!info_.potential.empty()) file.set_attribute("parameters", "potential", info_.potential);
    file.set_attribute("parameters", "provenance", info_.provenance);
    if (info_.beads > 1) file.set_attribute("parameters", "beads", std::vector{info_.beads});
    if (info_.bead) file.set_attribute("parameters", "bead", std::vector{*info_.bead});
    file.make_group("particles");
  }

  void make_replica(const File& file, std::size_t r) const {
    const std::string group = group_of(r);
    const int atoms = kAtomsPerMolecule * info_.molecules;
    std::vector<int> species(static_cast<std::size_t>(atoms));
    for (std::size_t a = 0; a < species.size(); ++a) {
      species[a] = kAtomicNumbers[a % kAtomicNumbers.size()];
    }
    file.make_group(group);
    if (!info_.baths_K.empty()) {
      file.set_attribute(group, "bath_K", info_.baths_K.at(r));
    }
    file.make_group(group + "/box");
    file.set_attribute(group + "/box", "dimension", std::vector<int>{3});
    file.set_attribute(group + "/box", "boundary", std::vector<std::string>(3, "none"));
    file.make_numbers(group + "/species", species);
    const std::string position = group + "/position";
    file.make_group(position);
    const hsize_t rows = rows_in_chunk(8 * coordinates_, info_.replicas);
    const hsize_t many_rows = std::max<hsize_t>(rows, 64);
    file.make_growing(position + "/step", H5T_STD_I64LE, {}, many_rows);
    file.make_growing(position + "/time", H5T_IEEE_F64LE, {}, many_rows);
    file.make_growing(position + "/value", H5T_IEEE_F64LE, {static_cast<hsize_t>(atoms), 3}, rows);
    file.set_attribute(position + "/time", "unit", "ps");
    file.set_attribute(position + "/value", "unit", "Angstrom");
    if (!info_.velocities) return;
    const std::string velocity = group + "/velocity";
    file.make_group(velocity);
    file.make_growing(velocity + "/value", H5T_IEEE_F64LE, {static_cast<hsize_t>(atoms), 3}, rows);
    file.set_attribute(velocity + "/value", "unit", "Angstrom ps-1");
    // Elements of the same steps may share them.
    file.link(position + "/step", velocity + "/step");
    file.link(position + "/time", velocity + "/time");
  }

  void flush() {
    const auto began = Clock::now();
    try {
      write_buffers();
    } catch (...) {
      cut_back();
      throw;
    }
    for (Replica& replica : replicas_) {
      replica = {replica.frames + replica.steps.size(), {}, {}, {}};
    }
    buffered_ = 0;
    const auto took = Clock::now() - began;
    next_flush_ = began + std::max<Clock::duration>(kFlushInterval, kShareOfFlushing * took);
  }

  void write_buffers() const {
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      const Replica& replica = replicas_[r];
      const hsize_t rows = replica.steps.size();
      if (rows == 0) continue;
      // Values before steps: a concurrent reader that finds a step also finds its positions.
      const std::string group = group_of(r);
      if (info_.velocities) {
        file_->append(file_->open(group + "/velocity"), "value", H5T_NATIVE_DOUBLE,
                      replica.velocities_A_per_ps.data(), rows);
      }
      const hdf5::Handle position = file_->open(group + "/position");
      file_->append(position, "value", H5T_NATIVE_DOUBLE, replica.positions_A.data(), rows);
      file_->append(position, "time", H5T_NATIVE_DOUBLE, replica.times_ps.data(), rows);
      file_->append(position, "step", H5T_NATIVE_INT64, replica.steps.data(), rows);
    }
    file_->flush();
  }

  /// Removes incomplete frames after a failed write: closing the file writes as much as fits, for
  /// example steps without their positions.
  void cut_back() {
    for (Replica& replica : replicas_) replica = {replica.frames, {}, {}, {}};
    buffered_ = 0;
    file_.reset();
    try {
      cut(path_);
    } catch (const Error&) {  // the first error is the one to report
    }
  }

  /// Datasets that grow in the group of a replica.
  std::vector<std::string> elements() const {
    std::vector<std::string> names{"/position/step", "/position/time", "/position/value"};
    if (info_.velocities) names.emplace_back("/velocity/value");
    return names;
  }

  /// Whether the file was closed with the number of frames in the checkpoint.
  /// @throws IoError if it contains fewer
  bool matches_checkpoint() const {
    const File file(path_, File::Mode::read);
    bool matches = !file.has_writer();
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      for (const std::string& element : elements()) {
        const std::string name = group_of(r) + element;
        const std::vector<hsize_t> shape =
            file.has(name) ? file.shape_of(name) : std::vector<hsize_t>{0};
        if (shape.empty() || shape[0] < replicas_[r].frames) {
          throw IoError(fmt::format(
              "cannot continue '{}': {} has {} frames and the checkpoint {}. The file was changed "
              "after the checkpoint was written; restore it or restart the run.",
              path_, name, shape.empty() ? 0 : shape[0], replicas_[r].frames));
        }
        matches = matches && shape[0] == replicas_[r].frames;
      }
    }
    return matches;
  }

  /// In SWMR mode datasets can only grow, and readers must not see an unfinished change.
  void cut_a_copy() const {
    put_in_place([this](const std::string& temporary) {
      std::error_code error;
      std::filesystem::copy_file(path_, temporary,
                                 std::filesystem::copy_options::overwrite_existing, error);
      if (error) throw_io_error("write", temporary, error.value());
      cut(temporary);
    });
  }

  /// Removes all frames behind those that are known to be complete.
  void cut(const std::string& path) const {
    File file(path, File::Mode::change);
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      for (const std::string& element : elements()) {
        file.resize(group_of(r) + element, replicas_[r].frames);
      }
    }
    file.close();
  }

  /// Writes the file under a temporary name and renames it when it is complete.
  template <class Make>
  void put_in_place(const Make& make) const {
    const std::string final_path = through_links(path_);
    const std::string temporary = temporary_name(final_path);
    try {
      make(temporary);
    } catch (...) {
      std::error_code ignored;
      std::filesystem::remove(temporary, ignored);
      throw;
    }
    commit_file(temporary, final_path);
  }

  TrajectoryInfo info_;
  std::string path_;
  std::size_t coordinates_;    // of one frame
  std::size_t most_buffered_;  // bytes of positions and velocities
  std::vector<Replica> replicas_;
  std::optional<File> file_;
  std::size_t buffered_ = 0;  // bytes of positions and velocities
  Clock::time_point next_flush_{};
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

std::unique_ptr<TrajectoryWriter> write_h5md(const TrajectoryInfo& info) {
  return std::make_unique<H5mdWriter>(info);
}

}  // namespace tarn::io

#endif
