#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "frame_formats.hpp"
#include "paths.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/state.hpp"
#include "water_atoms.hpp"
#include "words.hpp"
#include "xyz.hpp"

namespace tarn::io {
namespace {

constexpr std::string_view kMagic = "CORD";
constexpr std::size_t kHeaderBytes = 84;
constexpr std::size_t kTitleBytes = 80;
constexpr std::size_t kBytesOfCount = 4;  // of the lines of the title, before the first
// Bytes of the marks around a record, which give its length: gfortran -frecord-marker=8 and some
// other compilers write the longer ones.
constexpr std::size_t kShortMark = 4, kLongMark = 8;
// Positions in the file: the first mark and "CORD" precede the 20 numbers of the header.
constexpr std::uint64_t kFirstNumber = 8;

/// The 20 numbers of the header, by index.
enum Number : std::size_t {
  kFrames = 0,
  kFirstStep = 1,
  kEvery = 2,
  kLastStep = 3,
  kFixedAtoms = 8,
  kTimestep = 9,
  kHasCell = 10,
  kHasFourth = 11,
  kVersion = 19,
};
// CHARMM 24: the time step is a float, and the flags of cell and fourth coordinate count.
constexpr std::int32_t kCharmmVersion = 24;
// Length of the dummy cell that some programs write for clusters; others write 0.
constexpr double kDummyLength_A = 1.0;

void put_i32(std::string& out, std::int32_t value) {
  const auto bits = static_cast<std::uint32_t>(value);
  for (int i = 0; i < 4; ++i) out += static_cast<char>((bits >> (8 * i)) & 0xff);
}
void put_float(std::string& out, float value) { put_i32(out, std::bit_cast<std::int32_t>(value)); }
/// Fortran's unformatted record: the length before and after.
std::string record(std::string_view bytes) {
  std::string text;
  put_i32(text, static_cast<std::int32_t>(bytes.size()));
  text += bytes;
  put_i32(text, static_cast<std::int32_t>(bytes.size()));
  return text;
}

/// The numbers that change when frames are added: their count, and the first and last step.
std::string counts(std::int64_t frames, const TrajectoryInfo& info) {
  std::string text;
  put_i32(text, step_of_32_bits(frames));
  put_i32(text, step_of_32_bits(info.first_step));
  put_i32(text, step_of_32_bits(info.every));
  put_i32(text,
          step_of_32_bits(info.first_step + std::max<std::int64_t>(frames - 1, 0) * info.every));
  return text;
}

std::string header(const TrajectoryInfo& info) {
  std::string numbers(kMagic);
  numbers += counts(0, info);
  for (std::size_t i = kLastStep + 1; i < kTimestep; ++i) put_i32(numbers, 0);
  put_float(numbers, static_cast<float>(units::akma_from_fs(info.timestep_fs)));
  for (std::size_t i = kTimestep + 1; i < kVersion; ++i) put_i32(numbers, 0);
  put_i32(numbers, kCharmmVersion);

  std::vector<std::string> lines{info.provenance,
                                 fmt::format("{} A {} steps of {} fs", "atoms O H H, positions in",
                                             info.every, info.timestep_fs)};
  if (info.beads > 1) lines.push_back(fmt::format("beads={}", info.beads));
  if (info.bead) lines.push_back(fmt::format("bead={}", *info.bead));
  std::string title;
  put_i32(title, static_cast<std::int32_t>(lines.size()));
  for (const std::string& line : lines) {
    title += fmt::format("{:<80}", line.substr(0, kTitleBytes));
  }
  std::string atoms;
  put_i32(atoms, info.sites_per_molecule * info.molecules);
  return record(numbers) + record(title) + record(atoms);
}

std::string frame_bytes(const TrajectoryInfo& /*info*/, const TrajectoryFrame& frame) {
  const std::size_t atoms = frame.positions_A.size() / 3;
  std::string text;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::string values;
    values.reserve(4 * atoms);
    for (std::size_t a = 0; a < atoms; ++a) {
      const double value = frame.positions_A[3 * a + axis];
      check_writable(value);
      put_float(values, static_cast<float>(value));
    }
    text += record(values);
  }
  return text;
}

/// What a title written by tarn gives, "tarn 0.3.0; tip4p, 7 molecules ...", the only place for it
/// in a DCD file; nothing in other titles. @return a part of the comment of each frame
std::map<std::string, std::string> comment_in(std::string_view title) {
  title.remove_prefix(std::min(kBytesOfCount, title.size()));
  const std::size_t begin = title.find("; ");
  if (!title.starts_with("tarn ") || begin == std::string_view::npos) return {};
  const std::string_view rest = title.substr(begin + 2);
  const std::string_view model = rest.substr(0, std::min(rest.find(','), rest.find(kWithForces)));
  if (model != kOwnModel && !find_water_model(model)) return {};
  std::map<std::string, std::string> comment{{"model", std::string(model)}};
  const std::string_view line = title.substr(0, kTitleBytes);
  if (const std::size_t at = line.find(kWithForces); at != std::string_view::npos) {
    // The potential, or what has room of it. Its name may contain commas. ", 7 molecules" follows,
    // unless the line is too short.
    const std::string_view name = line.substr(at + kWithForces.size());
    const std::size_t end = name.find(" molecule");
    const auto potential =
        trimmed(name.substr(0, end == std::string_view::npos ? end : name.rfind(", ", end)));
    if (!potential.empty()) comment["potential"] = potential;
  }
  if (title.size() > 2 * kTitleBytes) {  // the third line, "beads=32" or "bead=3"
    const auto entries = parse_comment(title.substr(2 * kTitleBytes, kTitleBytes));
    if (entries.size() == 1 && entries[0].key.starts_with("bead")) {
      comment[entries[0].key] = entries[0].value;
    }
  }
  return comment;
}

class DcdReader final : public FrameReader {
 public:
  explicit DcdReader(const std::string& path)
      : path_(path), stream_(readable_path(path), std::ios::binary) {
    if (!stream_) throw_io_error("read", path, errno);
    find_marks();
    stream_.seekg(0, std::ios::end);
    file_bytes_ = stream_.tellg();
    stream_.seekg(0);
    const std::string block = read_block("its header");
    if (!block.starts_with(kMagic)) fail("not a DCD file of positions: CORD is missing");
    const auto number = [&](Number n) { return i32_at(block, kMagic.size() + 4 * n); };
    const bool charmm = number(kVersion) != 0;
    if (number(kFixedAtoms) != 0) {
      fail(
          "some atoms are fixed and appear in the first frame only: write the file with all atoms "
          "in every frame");
    }
    announced_frames_ = number(kFrames);
    has_cell_ = charmm && number(kHasCell) != 0;
    has_fourth_ = charmm && number(kHasFourth) != 0;
    first_step_ = number(kFirstStep);
    every_ = std::max(number(kEvery), 1);
    double timestep_akma = std::bit_cast<float>(number(kTimestep));
    // X-PLOR: a double that replaces two numbers.
    if (!charmm) timestep_akma = double_at(block, kMagic.size() + 4 * kTimestep);
    timestep_ps_ = units::ps_from_akma(timestep_akma);
    comment_ = comment_in(read_block("its title"));
    const std::string atoms = read_block("its number of atoms");
    atoms_ = atoms.size() == 4 ? i32_at(atoms, 0) : 0;
    check_unnamed_water(path_, atoms_);
  }

  std::optional<Structure> next() override {
    if (stream_.peek() == std::ifstream::traits_type::eof()) {
      if (stream_.bad()) throw_io_error("read", path_, errno);
      return std::nullopt;
    }
    frame_begin_ = stream_.tellg();
    const std::string what = fmt::format("frame {} (counted from 0)", frame_);
    const bool has_box = has_cell_ && is_box(read_block(what));
    std::vector<double> positions_A;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::string block = read_block(what);
      if (block.size() != 4 * static_cast<std::size_t>(atoms_)) {
        fail(fmt::format("{} has {} bytes where {} atoms need {}", what, block.size(), atoms_,
                         std::int64_t{4} * atoms_));
      }
      positions_A.resize(3 * static_cast<std::size_t>(atoms_));
      for (std::size_t a = 0; a < static_cast<std::size_t>(atoms_); ++a) {
        positions_A[3 * a + axis] = std::bit_cast<float>(i32_at(block, 4 * a));
      }
    }
    if (has_fourth_) read_block(what);
    Structure structure = water_.take(path_, frame_, std::move(positions_A), {});
    structure.has_box = has_box;
    structure.comment = comment_;
    const std::int64_t step = first_step_ + every_ * frame_;
    structure.comment["step"] = fmt::to_string(step);
    structure.comment["time_ps"] = fmt::format("{}", static_cast<double>(step) * timestep_ps_);
    ++frame_;
    frame_bytes_ = stream_.tellg() - frame_begin_;
    return structure;
  }

  std::string warning_at_end() const override {
    if (announced_frames_ <= frame_) return {};
    return fmt::format(
        "{}: the header announces {} frames and the file contains {}; the program that wrote it "
        "may have been stopped",
        path_, announced_frames_, frame_);
  }

  /// All frames are as long as the first one.
  bool is_cut_off() const override {
    return frame_bytes_ > 0 && file_bytes_ - frame_begin_ < frame_bytes_;
  }
  const std::string& path() const override { return path_; }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw InputError(path_, 0, message); }

  /// Finds the byte order and the size of the marks from those of the header.
  void find_marks() {
    std::string beginning(kLongMark, '\0');
    stream_.read(beginning.data(), kLongMark);
    if (stream_.bad()) throw_io_error("read", path_, errno);
    // The long one first: a short one is followed by "CORD", which no long one contains.
    for (const std::size_t mark_bytes : {kLongMark, kShortMark}) {
      for (const bool swapped : {false, true}) {
        mark_bytes_ = mark_bytes;
        swapped_ = swapped;
        if (stream_ && length_in(beginning.substr(0, mark_bytes)) == kHeaderBytes) return;
      }
    }
    fail("not a DCD file: it does not begin with the length of a header, 84 bytes");
  }

  std::int64_t length_in(const std::string& mark) const {
    if (mark.size() == kShortMark) return i32_at(mark, 0);
    return std::bit_cast<std::int64_t>(u64_at(mark, 0));
  }

  /// The length that the next mark gives; -1 at the end of the file.
  std::int64_t read_mark() {
    std::string mark(mark_bytes_, '\0');
    const auto bytes = static_cast<std::streamsize>(mark_bytes_);
    return stream_.read(mark.data(), bytes) ? length_in(mark) : -1;
  }

  /// Reads a record: the bytes between two marks that give their number.
  std::string read_block(std::string_view what) {
    const std::int64_t length = read_mark();
    // A wrong length must not ask for more memory than the file has bytes.
    const bool fits = length >= 0 && stream_ && length <= file_bytes_ - stream_.tellg();
    std::string block(fits ? static_cast<std::size_t>(length) : 0, '\0');
    stream_.read(block.data(), static_cast<std::streamsize>(block.size()));
    const bool whole = fits && stream_ && read_mark() == length;
    if (stream_.bad()) throw_io_error("read", path_, errno);
    if (!whole) {
      fail(fmt::format("the file is cut off or damaged in {}", what));
    }
    return block;
  }

  std::int32_t i32_at(const std::string& block, std::size_t offset) const {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t shift = 8 * (swapped_ ? 3 - i : i);
      bits |= static_cast<std::uint32_t>(static_cast<unsigned char>(block[offset + i])) << shift;
    }
    return static_cast<std::int32_t>(bits);
  }

  std::uint64_t u64_at(const std::string& block, std::size_t offset) const {
    const auto low = static_cast<std::uint32_t>(i32_at(block, offset + (swapped_ ? 4 : 0)));
    const auto high = static_cast<std::uint32_t>(i32_at(block, offset + (swapped_ ? 0 : 4)));
    return std::uint64_t{high} << 32 | low;
  }

  double double_at(const std::string& block, std::size_t offset) const {
    return std::bit_cast<double>(u64_at(block, offset));
  }

  /// Whether a cell (A, gamma, B, beta, alpha, C) is more than a dummy.
  bool is_box(const std::string& cell) const {
    constexpr std::array<std::size_t, 3> kLengths{0, 2, 5};  // the angles are between them
    if (cell.size() < 6 * sizeof(double)) return false;
    return std::any_of(kLengths.begin(), kLengths.end(), [&](std::size_t k) {
      const double length_A = double_at(cell, k * sizeof(double));
      return std::isfinite(length_A) && length_A > kDummyLength_A;
    });
  }

  std::string path_;
  std::ifstream stream_;
  std::streamoff file_bytes_ = 0;
  std::streamoff frame_begin_ = 0, frame_bytes_ = 0;  // of the last frame, and of each
  bool swapped_ = false;
  std::size_t mark_bytes_ = 4;
  std::int64_t announced_frames_ = 0;  // by the header
  bool has_cell_ = false;
  bool has_fourth_ = false;
  std::map<std::string, std::string> comment_;  // of the title
  std::int32_t atoms_ = 0;
  UnnamedWater water_;
  std::int32_t frame_ = 0;
  std::int64_t first_step_ = 0;
  std::int64_t every_ = 1;
  double timestep_ps_ = 0.0;
};

}  // namespace

std::unique_ptr<FrameReader> open_dcd(const std::string& path) {
  return std::make_unique<DcdReader>(path);
}

std::unique_ptr<TrajectoryWriter> write_dcd(const TrajectoryInfo& info) {
  const auto axis_bytes = 8 + 4 * static_cast<std::uint64_t>(info.sites_per_molecule) *
                                  static_cast<std::uint64_t>(info.molecules);
  return write_frames(info, {".dcd",
                             frame_bytes,
                             AtomNames::beside,
                             decimals_of_float,
                             {header(info), kFirstNumber, counts, 3 * axis_bytes}});
}

bool looks_like_dcd(std::string_view beginning) {
  return beginning.size() > kLongMark + kMagic.size() &&
         (beginning.substr(kShortMark, kMagic.size()) == kMagic ||
          beginning.substr(kLongMark, kMagic.size()) == kMagic);
}

}  // namespace tarn::io
