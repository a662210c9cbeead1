#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tarn/core/units.hpp"
#include "tarn/io/formats.hpp"

/// @file
/// Readers and writers of each format, for the table of formats. A reader throws IoError or
/// InputError if the file cannot be read; looks_like_*() examines the first bytes of a file. XYZ
/// has its own header.

namespace tarn::io {

std::unique_ptr<TrajectoryWriter> write_xyz(const TrajectoryInfo& info);

/// @name GRO: fixed columns in nm and nm/ps, any number of frames and of decimals
/// @{
std::unique_ptr<FrameReader> open_gro(const std::string& path);
std::unique_ptr<TrajectoryWriter> write_gro(const TrajectoryInfo& info);
bool looks_like_gro(std::string_view beginning);
/// Text of a file with one structure. @throws NumericalError, IoError
std::string gro_text(const Structure& structure);
/// Text of one frame: nm and nm/ps with gro_decimals(), and a box of zeros, which means no box.
/// @param velocities_A_per_akma empty, or as long as the positions
/// @param title one line; GROMACS reads time and step from "t=<ps> step=<step>" in it
/// @param sites_per_molecule 3, or 4 with M after the atoms of each molecule
/// @throws NumericalError, IoError as gro_decimals()
std::string gro_frame(std::span<const double> positions_A,
                      std::span<const double> velocities_A_per_akma, std::string_view title,
                      int sites_per_molecule = 3);
/// Decimals of the positions of a frame in nm: 7, or fewer if atoms are at -100 nm or below, or at
/// 1000 nm or above. Velocities in nm/ps have one more, and large velocities also reduce the
/// decimals of the positions.
/// @throws NumericalError for a number that is not finite; IoError if a number does not fit with
/// one decimal
int gro_decimals(std::span<const double> positions_A,
                 std::span<const double> velocities_A_per_akma);
/// @}

/// @name PDB with any number of models
/// @{
/// Atoms are the ATOM and HETATM records, by column; serial and residue numbers are arbitrary. END,
/// ENDMDL and MODEL end a frame. Other records are ignored; of CRYST1 only the presence of a box is
/// recorded.
std::unique_ptr<FrameReader> open_pdb(const std::string& path);
std::unique_ptr<TrajectoryWriter> write_pdb(const TrajectoryInfo& info);
bool looks_like_pdb(std::string_view beginning);
/// Text of a file with one structure, without velocities. Bonds are CONECT records, unless there
/// are too many atoms for the serial numbers. @throws NumericalError, IoError
std::string pdb_text(const Structure& structure);
/// The same for positions. @param sites_per_molecule as for gro_frame()
std::string pdb_text(std::span<const double> positions_A, std::string_view title,
                     int sites_per_molecule);
/// Text of one model, after its title, with 0.001 A in the columns of the format. Coordinates too
/// large for the columns lose decimals. @throws NumericalError, IoError as pdb_decimals()
std::string pdb_frame(std::span<const double> positions_A, std::int64_t model,
                      std::string_view title, int sites_per_molecule = 3);
/// Smallest number of decimals of the coordinates of a frame: 3, or as many as fit.
/// @throws NumericalError for a number that is not finite; IoError if a number does not fit without
/// decimals
int pdb_decimals(std::span<const double> positions_A);
/// @}

/// @name Binary trajectories without atom names; with one file per replica, topology.pdb has them
/// @{
/// DCD of CHARMM, NAMD, OpenMM and LAMMPS, positions in single precision: either byte order,
/// records between marks of 4 or 8 bytes, with or without unit cells and fourth coordinates. The
/// number of frames follows from the size of the file: the header of a program that was killed may
/// announce fewer or more.
std::unique_ptr<FrameReader> open_dcd(const std::string& path);
std::unique_ptr<TrajectoryWriter> write_dcd(const TrajectoryInfo& info);
bool looks_like_dcd(std::string_view beginning);
/// TRR of GROMACS, uncompressed: positions, velocities and forces in either precision. Frames
/// without positions are skipped and not counted; a file without any other frame is an error.
std::unique_ptr<FrameReader> open_trr(const std::string& path);
/// Writes in double precision.
std::unique_ptr<TrajectoryWriter> write_trr(const TrajectoryInfo& info);
bool looks_like_trr(std::string_view beginning);
/// XTC of GROMACS, compressed: positions as integers in units of any precision.
std::unique_ptr<FrameReader> open_xtc(const std::string& path);
/// Writes in units of 10^-4 A.
std::unique_ptr<TrajectoryWriter> write_xtc(const TrajectoryInfo& info);
bool looks_like_xtc(std::string_view beginning);
/// @}

/// @name H5MD 1.1, trajectories in HDF5 (de Buyl, Colberg & Höfling 2014,
/// https://www.nongnu.org/h5md)
/// @{
/// Reads the particles groups in the order of their names. The comment of a frame has its group as
/// `replica`.
///
/// The HDF5 library (1.10.8) may crash or hang on damaged bytes without a checksum: strings of
/// variable length, and anything in files of formats before 1.10. In files of write_h5md() only
/// these strings and the positions have no checksum.
std::unique_ptr<FrameReader> open_h5md(const std::string& path);
/// Writes trajectory.h5 with the groups particles/replica-0000 and so on.
///
/// The file is written in HDF5's mode for a single writer and multiple readers (SWMR) and is
/// readable at any time. A program that is killed loses at most the frames of its last second. Its
/// file is marked as open for writing until the run is resumed or `h5clear -s` removes the mark;
/// meanwhile readers must request SWMR. After a failed write, as on a full disk, the file ends with
/// the last complete frames.
std::unique_ptr<TrajectoryWriter> write_h5md(const TrajectoryInfo& info);
bool looks_like_h5md(std::string_view beginning);
/// Version of the HDF5 library that is loaded, "1.10.8".
/// @throws InputError if there is none, or one that does not fit this build: it would abort
std::string hdf5_version();
/// @}

/// @name Molden: normal modes, for molecular viewers
/// @{
/// A normal mode of a cluster.
struct MoldenMode {
  double wavenumber_per_cm = 0.0;         ///< negative: imaginary
  double ir_intensity_km_per_mol = 0.0;   ///< nan: not known
  std::span<const double> displacements;  ///< of the atoms O, H1, H2 of each molecule, 9 N
};

/// Writes the atoms in bohr, and the modes in the given order. Displacements are not converted,
/// because viewers scale them. The file has no intensities if none is known.
///
/// Numbers are in fixed notation, because not all readers accept exponents: six decimals for
/// wavenumbers and intensities, nine for all others. The modes are written one by one.
/// @param title one line
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N
/// @throws NumericalError for a number that is not finite, IoError
/// @throws std::logic_error for a mode with a different number of atoms, or a title of several
/// lines
void write_molden(const std::string& path, std::string_view title,
                  std::span<const double> positions_A, std::span<const MoldenMode> modes);
/// @}

inline constexpr double kAngstromPerNm = 10.0;
inline constexpr double kAngstromPerAkmaPerNmPerPs = kAngstromPerNm * units::picoseconds_per_akma;

/// Writes the first structure of a trajectory with atom names, for formats without them.
void write_topology(const std::string& path, const TrajectoryInfo& info,
                    std::span<const double> positions_A);

/// Location of the atom names: in each frame, or in a topology file beside the trajectory.
enum class AtomNames { in_frames, beside };

/// Decimals in angstrom of positions in single precision.
int decimals_of_float(const TrajectoryFrame& frame);

/// The header of files whose frames are all equally long; part of it changes with every frame.
struct FileHeader {
  std::string bytes;
  std::uint64_t offset = 0;  ///< of the part that changes
  std::string (*counts)(std::int64_t frames, const TrajectoryInfo& info) = nullptr;  ///< this part
  std::uint64_t frame_bytes = 0;
};

/// A format with one file per replica, which grows frame by frame.
struct GrowingFormat {
  std::string_view extension;
  std::string (*frame_bytes)(const TrajectoryInfo& info, const TrajectoryFrame& frame);
  AtomNames names = AtomNames::in_frames;
  /// Decimals in angstrom of the coordinates of a frame, fewer for distant atoms; null: as many.
  int (*decimals)(const TrajectoryFrame& frame) = nullptr;
  FileHeader header = {};
};
/// Writes to trajectory<extension>, or trajectory-0000<extension> and so on, or to the single file
/// given by `info.path`.
std::unique_ptr<TrajectoryWriter> write_frames(const TrajectoryInfo& info, GrowingFormat format);

/// A step in 32 bits; larger steps become the largest number.
std::int32_t step_of_32_bits(std::int64_t step);

}  // namespace tarn::io
