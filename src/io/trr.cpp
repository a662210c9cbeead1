#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "frame_formats.hpp"
#include "tarn/core/error.hpp"
#include "water_atoms.hpp"
#include "xdr.hpp"

namespace tarn::io {
namespace {

constexpr std::int32_t kMagic = 1993;
constexpr std::string_view kVersion = "GMX_trn_file";

/// The numbers of a header in their order: first the sizes in bytes of the following blocks.
enum Number : std::size_t {
  kInputs,
  kEnergies,
  kBox,
  kVirial,
  kPressure,
  kTopology,
  kSymbols,
  kPositions,
  kVelocities,
  kForces,
  kAtoms,
  kStep,
  kResults,
  kNumbers
};

std::string frame_bytes(const TrajectoryInfo& /*info*/, const TrajectoryFrame& frame) {
  const auto bytes = [](std::size_t numbers) {
    return static_cast<std::int32_t>(numbers * sizeof(double));
  };
  std::array<std::int32_t, kNumbers> header{};
  header[kBox] = bytes(9);
  header[kPositions] = bytes(frame.positions_A.size());
  header[kVelocities] = bytes(frame.velocities_A_per_akma.size());
  header[kAtoms] = static_cast<std::int32_t>(frame.positions_A.size() / 3);
  header[kStep] = step_of_32_bits(frame.step);
  std::string text;
  put_xdr(text, kMagic);
  put_xdr(text, static_cast<std::int32_t>(kVersion.size()) + 1);
  put_xdr(text, static_cast<std::int32_t>(kVersion.size()));
  text += kVersion;
  pad_xdr(text);
  for (const std::int32_t number : header) put_xdr(text, number);
  put_xdr(text, frame.time_ps);
  put_xdr(text, 0.0);                              // lambda
  for (int i = 0; i < 9; ++i) put_xdr(text, 0.0);  // no box
  const auto put = [&](std::span<const double> values, double unit) {
    for (const double value : values) {
      check_writable(value);
      put_xdr(text, value / unit);
    }
  };
  put(frame.positions_A, kAngstromPerNm);
  put(frame.velocities_A_per_akma, kAngstromPerAkmaPerNmPerPs);
  return text;
}

class TrrReader final : public XdrReader {
 public:
  using XdrReader::XdrReader;

  std::optional<Structure> next() override {
    while (!at_end()) {
      expect(kMagic, "TRR");
      // The length with and without the terminating 0, and the text.
      constexpr auto kLength = static_cast<std::int32_t>(kVersion.size());
      if (i32() != kLength + 1 || i32() != kLength || bytes(kLength) != kVersion) {
        fail("the file is damaged or not a TRR file: GMX_trn_file is missing");
      }
      std::array<std::int64_t, kNumbers> header{};
      for (std::int64_t& number : header) number = i32();
      const std::int64_t numbers = 3 * header[kAtoms];
      // An invalid length must not be mistaken for a truncated file. GROMACS never writes inputs,
      // energies, topology and symbols.
      std::size_t size = 0;  // of a real
      for (const auto& [bytes, count] : {std::pair{header[kInputs], std::int64_t{0}},
                                         {header[kEnergies], 0},
                                         {header[kBox], 9},
                                         {header[kVirial], 9},
                                         {header[kPressure], 9},
                                         {header[kTopology], 0},
                                         {header[kSymbols], 0},
                                         {header[kPositions], numbers},
                                         {header[kVelocities], numbers},
                                         {header[kForces], numbers}}) {
        if (bytes == 0) continue;
        const auto of_each = static_cast<std::size_t>(bytes == 4 * count ? 4 : 8);
        if (header[kAtoms] < 1 || bytes != static_cast<std::int64_t>(of_each) * count ||
            (size != 0 && size != of_each)) {
          fail("the file is damaged: its lengths do not match its number of atoms");
        }
        size = of_each;
      }
      if (size == 0) size = sizeof(float);  // no data apart from skipped blocks
      const double time_ps = real(size);
      real(size);  // lambda
      std::vector<double> positions_A, velocities_A_per_akma;
      const bool has_box = header[kBox] != 0 && read_box(size);
      bytes(header[kVirial]);
      bytes(header[kPressure]);
      if (header[kPositions] != 0) positions_A = reals(numbers, size, kAngstromPerNm);
      if (header[kVelocities] != 0) {
        velocities_A_per_akma = reals(numbers, size, kAngstromPerAkmaPerNmPerPs);
      }
      bytes(header[kForces]);
      if (!positions_A.empty()) {
        return take(std::move(positions_A), std::move(velocities_A_per_akma), has_box,
                    header[kStep],
                    size == 4 ? fmt::format("{}", static_cast<float>(time_ps))
                              : fmt::format("{}", time_ps));
      }
      ++passed_over_;
    }
    if (passed_over_ > 0 && frame_ == 0) {
      throw InputError(path(), 0,
                       fmt::format("none of the {} frames has positions (perhaps nstxout = 0 in "
                                   "the run); use the XTC file of that run",
                                   passed_over_));
    }
    return std::nullopt;
  }

 private:
  std::int64_t passed_over_ = 0;
};

}  // namespace

std::unique_ptr<FrameReader> open_trr(const std::string& path) {
  return std::make_unique<TrrReader>(path);
}

std::unique_ptr<TrajectoryWriter> write_trr(const TrajectoryInfo& info) {
  return write_frames(info, {".trr", frame_bytes, AtomNames::beside});
}

bool looks_like_trr(std::string_view beginning) { return first_xdr_number(beginning) == kMagic; }

}  // namespace tarn::io
