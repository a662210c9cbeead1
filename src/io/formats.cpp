#include "tarn/io/formats.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <ranges>

#include <fmt/format.h>

#include "frame_formats.hpp"
#include "paths.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "words.hpp"
#include "xyz.hpp"

namespace tarn::io {
namespace {

std::unique_ptr<FrameReader> open_xyz(const std::string& path) {
  return std::make_unique<XyzReader>(path);
}

bool looks_like_xyz(std::string_view beginning) {
  for (const std::string_view line : split(beginning, '\n')) {
    if (!is_blank(line)) return parse_count(trimmed(line)) > 0;
  }
  return false;
}

/// The extension with the dot, in lower case.
std::string extension_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension;
}

const Format* format_of_name(const std::string& path) {
  const std::string extension = extension_of(path);
  for (const Format& format : formats()) {
    if (std::ranges::find(format.extensions, extension) != format.extensions.end()) return &format;
  }
  return nullptr;
}

/// ".xyz, .gro, .pdb".
std::string extension_list(bool of_structures) {
  std::string list;
  for (const Format& format : formats()) {
    if (of_structures && format.structure_text == nullptr) continue;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", format.extensions.front());
  }
  return list;
}

/// The format of a name. @throws InputError
const Format& named_format(const std::string& path, bool of_structures) {
  const Format* format = format_of_name(path);
  if (format == nullptr || (of_structures && format->structure_text == nullptr)) {
    throw InputError(fmt::format("'{}': the file name of a {} must end with one of {}", path,
                                 of_structures ? "structure" : "trajectory",
                                 extension_list(of_structures)));
  }
  return *format;
}

/// Whether a file is compressed, by the first bytes of gzip, xz, bzip2, zstd and zip.
bool is_compressed(std::string_view beginning) {
  using namespace std::string_view_literals;
  constexpr std::array kMagic{"\x1f\x8b"sv,
                              "\xfd"
                              "7zXZ"sv,
                              "BZh"sv, "\x28\xb5\x2f\xfd"sv, "PK\x03\x04"sv};
  return std::ranges::any_of(
      kMagic, [beginning](std::string_view magic) { return beginning.starts_with(magic); });
}

/// Advice for converting a file of another program, by its name; empty: none.
std::string cure_for(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension == ".tng") {
    return "convert it with GROMACS: gmx trjconv -f in.tng -o out.trr";
  }
  if (extension == ".tpr") {
    return "convert it with GROMACS: gmx editconf -f in.tpr -o out.gro";
  }
  if (extension == ".cpt" || extension == ".g96") {
    return fmt::format("convert it with GROMACS: gmx trjconv -f in{} -s in.tpr -o out.gro",
                       extension);
  }
  if (extension == ".nc") return "convert it with cpptraj of Amber: trajout out.dcd";
  if (extension == ".lammpstrj") {
    return "write an XYZ file with LAMMPS: dump ID all xyz 100 out.xyz, and dump_modify ID sort id "
           "element O H";
  }
  return {};
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> table{
      {.id = FileFormat::xyz,
       .name = "xyz",
       .meaning = "extended XYZ, all digits",
       .extensions = {".xyz", ".exyz", ".extxyz"},
       .looks_like = looks_like_xyz,
       .open = open_xyz,
       .write = write_xyz,
       .structure_text = xyz_text,
       .has_velocities = true,
       .keeps_digits = true},
      {.id = FileFormat::h5md,
       .name = "h5md",
       .meaning = "H5MD 1.1, all digits, one file `trajectory.h5` for all replicas",
       .extensions = {".h5", ".h5md", ".hdf5"},
       .looks_like = looks_like_h5md,
       .open = open_h5md,
       .write = write_h5md,
       .has_velocities = true,
       .keeps_digits = true},
      {.id = FileFormat::dcd,
       .name = "dcd",
       .meaning = "DCD in single precision, with a `topology.pdb` beside it",
       .extensions = {".dcd"},
       .looks_like = looks_like_dcd,
       .open = open_dcd,
       .write = write_dcd,
       .names_atoms = false},
      {.id = FileFormat::xtc,
       .name = "xtc",
       .meaning = "GROMACS, compressed, 10⁻⁴ Å, with a `topology.pdb` beside it",
       .extensions = {".xtc"},
       .looks_like = looks_like_xtc,
       .open = open_xtc,
       .write = write_xtc,
       .names_atoms = false,
       .has_steps_of_32_bits = true,
       .has_comments = false},
      {.id = FileFormat::trr,
       .name = "trr",
       .meaning = "GROMACS, double precision, with a `topology.pdb` beside it",
       .extensions = {".trr"},
       .looks_like = looks_like_trr,
       .open = open_trr,
       .write = write_trr,
       .has_velocities = true,
       .names_atoms = false,
       .has_steps_of_32_bits = true,
       .has_comments = false,
       .keeps_digits = true},
      {.id = FileFormat::gro,
       .name = "gro",
       .meaning = "GROMACS, 10⁻⁶ Å",
       .extensions = {".gro"},
       .looks_like = looks_like_gro,
       .open = open_gro,
       .write = write_gro,
       .structure_text = gro_text,
       .has_velocities = true},
      {.id = FileFormat::pdb,
       .name = "pdb",
       .meaning = "PDB with one model per frame, 0.001 Å",
       .extensions = {".pdb", ".ent"},
       .looks_like = looks_like_pdb,
       .open = open_pdb,
       .write = write_pdb,
       .structure_text = pdb_text},
  };
  return table;
}

const Format& format_of(FileFormat id) {
  return *std::find_if(formats().begin(), formats().end(),
                       [id](const Format& format) { return format.id == id; });
}

std::string format_names() {
  return fmt::format("{}", fmt::join(formats() | std::views::transform(&Format::name), ", "));
}

std::string format_extensions() { return extension_list(false); }

const Format& format_for_writing(const std::string& path) { return named_format(path, true); }

const Format& trajectory_format_of(const std::string& path) { return named_format(path, false); }

std::unique_ptr<FrameReader> open_frames(const std::string& path) {
  const std::string beginning = read_file(readable_path(path), 1 << 13);
  if (beginning.empty()) throw InputError(path, 0, "the file is empty");
  if (is_compressed(beginning)) {
    throw InputError(
        path, 0, "the file is compressed: decompress it first, or pass <(zcat in.gz) or similar");
  }
  const Format* by_name = format_of_name(path);
  if (by_name != nullptr && by_name->looks_like(beginning)) return by_name->open(path);
  for (const Format& format : formats()) {
    if (!format.looks_like(beginning)) continue;
    if (by_name == nullptr) return format.open(path);
    throw InputError(
        path, 0,
        fmt::format("the name indicates {} but the contents look like {}: rename the file to "
                    "end with {}",
                    by_name->name, format.name, format.extensions.front()));
  }
  // The reader of that format reports where it fails.
  if (by_name != nullptr) return by_name->open(path);
  if (const std::string cure = cure_for(path); !cure.empty()) {
    throw InputError(path, 0, "tarn cannot read this format; " + cure);
  }
  throw InputError(path, 0,
                   fmt::format("unknown format: neither the name nor the contents identify "
                               "it. Rename the file to end with one of {}",
                               extension_list(false)));
}

bool looks_like_h5md(std::string_view beginning) {
  return beginning.starts_with("\x89HDF\r\n\x1a\n");
}

#ifdef TARN_HAVE_HDF5

bool has_h5md() { return true; }

#else

std::string hdf5_version() {
  throw InputError(
      "this build of tarn has no HDF5 and cannot read or write H5MD. Install libhdf5-dev and build "
      "again, or choose another format");
}
std::unique_ptr<FrameReader> open_h5md(const std::string&) { throw InputError(hdf5_version()); }
std::unique_ptr<TrajectoryWriter> write_h5md(const TrajectoryInfo&) {
  throw InputError(hdf5_version());
}
bool has_h5md() { return false; }

#endif

}  // namespace tarn::io
