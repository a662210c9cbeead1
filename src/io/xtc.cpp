#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "frame_formats.hpp"
#include "tarn/core/error.hpp"
#include "water_atoms.hpp"
#include "xdr.hpp"

namespace tarn::io {
namespace {

constexpr std::int32_t kMagic = 1995;
// Up to this number, atoms are stored as floats.
constexpr std::int64_t kNotCompressed = 9;
// What tarn writes: 10^-4 A.
constexpr float kUnitsPerNm = 1e5f;

/// Sizes of small differences: an atom near its reference atom is stored as three integers below
/// one of these sizes. Three integers of size k are one number of k bits, so each is below 2^(k/3).
constexpr std::array<std::int64_t, 73> kSmallSizes{
    0,        0,        0,       0,       0,       0,       0,       0,       0,       8,
    10,       12,       16,      20,      25,      32,      40,      50,      64,      80,
    101,      128,      161,     203,     256,     322,     406,     512,     645,     812,
    1024,     1290,     1625,    2048,    2580,    3250,    4096,    5060,    6501,    8192,
    10321,    13003,    16384,   20642,   26007,   32768,   41285,   52015,   65536,   82570,
    104031,   131072,   165140,  208063,  262144,  330280,  416127,  524287,  660561,  832255,
    1048576,  1321122,  1664510, 2097152, 2642245, 3329021, 4194304, 5284491, 6658042, 8388607,
    10568983, 13316085, 16777216};
constexpr int kSmallest = 9;
constexpr int kLargest = static_cast<int>(kSmallSizes.size()) - 1;
// Larger integers are stored separately, each in its own bits.
constexpr std::int64_t kLargestTogether = 0xffffff;

using Integers = std::array<std::int64_t, 3>;
__extension__ using Wide = unsigned __int128;

std::int64_t small_size(int of) { return kSmallSizes[static_cast<std::size_t>(of)]; }

/// Bit layout of the integers of an atom that is stored without reference to another.
struct Packing {
  explicit Packing(const Integers& of) : sizes(of) {
    together = std::ranges::all_of(sizes, [](std::int64_t s) { return s <= kLargestTogether; });
    Wide product = 1;
    for (std::size_t c = 0; c < 3; ++c) {
      each[c] = std::bit_width(static_cast<std::uint64_t>(sizes[c]));
      product *= static_cast<Wide>(sizes[c]);
    }
    const auto high = static_cast<std::uint64_t>(product >> 64);
    all =
        high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(product));
  }
  Integers sizes;
  bool together = true;
  int all = 0;                ///< bits of all three together
  std::array<int, 3> each{};  ///< or bits of each
};

/// Reads bits, starting with the most significant bit of the first byte.
class BitReader {
 public:
  /// @param damaged throws the error of a damaged file
  BitReader(std::string_view bytes, const std::function<void()>& damaged)
      : bytes_(bytes), damaged_(damaged) {}

  /// 32 and less.
  std::uint32_t bits(int count) {
    std::uint32_t value = 0;
    while (count > 0) {
      if (at_ / 8 >= bytes_.size()) damaged_();
      const int left = 8 - static_cast<int>(at_ % 8), taken = std::min(left, count);
      const auto byte = static_cast<unsigned char>(bytes_[at_ / 8]);
      value = value << taken | ((byte >> (left - taken)) & ((1u << taken) - 1u));
      at_ += static_cast<std::size_t>(taken);
      count -= taken;
    }
    return value;
  }
  /// Three integers as one number, byte by byte, the least significant one first.
  Integers together(int count, const Integers& sizes) {
    Wide number = 0;
    for (int shift = 0; count > 0; shift += 8, count -= 8) {
      number |= static_cast<Wide>(bits(std::min(count, 8))) << shift;
    }
    Integers values{};
    for (std::size_t c = 3; c-- > 1;) {
      const auto size = static_cast<Wide>(sizes[c]);
      values[c] = static_cast<std::int64_t>(number % size);
      number /= size;
    }
    values[0] = static_cast<std::int64_t>(number & 0xffffffffu);
    return values;
  }
  Integers packed(const Packing& packing) {
    if (packing.together) return together(packing.all, packing.sizes);
    Integers values{};
    for (std::size_t c = 0; c < 3; ++c) values[c] = bits(packing.each[c]);
    return values;
  }

 private:
  std::string_view bytes_;
  const std::function<void()>& damaged_;
  std::size_t at_ = 0;
};

class BitWriter {
 public:
  /// 32 and less.
  void bits(int count, std::uint32_t value) {
    for (int i = count - 1; i >= 0; --i) {
      if (used_ % 8 == 0) bytes_ += '\0';
      const std::uint32_t bit = (value >> i) & 1u;
      bytes_.back() =
          static_cast<char>(static_cast<unsigned char>(bytes_.back()) | (bit << (7 - used_ % 8)));
      ++used_;
    }
  }
  void together(int count, const Integers& sizes, const Integers& values) {
    Wide number = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      number = number * static_cast<Wide>(sizes[c]) + static_cast<Wide>(values[c]);
    }
    for (; count > 0; count -= 8, number >>= 8) {
      bits(std::min(count, 8), static_cast<std::uint32_t>(number & 0xffu));
    }
  }
  void packed(const Packing& packing, const Integers& values) {
    if (packing.together) return together(packing.all, packing.sizes, values);
    for (std::size_t c = 0; c < 3; ++c) {
      bits(packing.each[c], static_cast<std::uint32_t>(values[c]));
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::size_t used_ = 0;
};

Integers difference(const Integers& a, const Integers& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

/// The atoms of a frame as integers. @throws IoError if one is too far away
std::vector<Integers> integers_of(std::span<const double> positions_A) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<std::int32_t>::max() / 2 - 2);
  std::vector<Integers> atoms(positions_A.size() / 3);
  for (std::size_t i = 0; i < positions_A.size(); ++i) {
    check_writable(positions_A[i]);
    const double units =
        std::floor(positions_A[i] / kAngstromPerNm * static_cast<double>(kUnitsPerNm) + 0.5);
    if (std::abs(units) > kMost) {
      throw_unwritable(i, fmt::format("is at {:.6g} A", positions_A[i]),
                       "an XTC file with units of 1e-4 A");
    }
    atoms[i / 3][i % 3] = static_cast<std::int64_t>(units);
  }
  return atoms;
}

/// Differences within the molecule at `begin`: O - H1, H2 - O and M - H2. Readers put the first
/// atom in front of its reference atom.
std::vector<Integers> beside(const std::vector<Integers>& atoms, std::size_t begin,
                             std::size_t sites) {
  std::vector<Integers> result{difference(atoms[begin], atoms[begin + 1]),
                               difference(atoms[begin + 2], atoms[begin])};
  if (sites == 4) result.push_back(difference(atoms[begin + 3], atoms[begin + 2]));
  return result;
}

std::string compressed(std::span<const double> positions_A, std::size_t sites) {
  const std::vector<Integers> atoms = integers_of(positions_A);
  Integers least = atoms[0], most = atoms[0];
  std::int64_t widest = 0;
  for (std::size_t a = 0; a < atoms.size(); ++a) {
    for (std::size_t c = 0; c < 3; ++c) {
      least[c] = std::min(least[c], atoms[a][c]);
      most[c] = std::max(most[c], atoms[a][c]);
    }
    if (a % sites != 0) continue;
    for (const Integers& d : beside(atoms, a, sites)) {
      for (const std::int64_t value : d) widest = std::max(widest, std::abs(value));
    }
  }
  int of = kSmallest;
  while (of < kLargest && small_size(of) / 2 <= widest) ++of;
  const bool has_runs = small_size(of) / 2 > widest;
  const std::int64_t size = small_size(of);
  Integers sizes = difference(most, least);
  for (std::int64_t& s : sizes) ++s;
  const Packing packing(sizes);

  BitWriter writer;
  bool run_declared = false;
  for (std::size_t a = 0; a < atoms.size(); ++a) {
    const std::size_t first = has_runs ? a + 1 : a;
    writer.packed(packing, difference(atoms[first], least));
    writer.bits(1, has_runs && !run_declared);
    if (!has_runs) continue;
    // Number of integers that follow, here and for all later molecules; their size stays the same.
    const auto run = static_cast<std::uint32_t>(3 * (sites - 1));
    if (!std::exchange(run_declared, true)) writer.bits(5, run + 1);
    for (Integers d : beside(atoms, a, sites)) {
      for (std::int64_t& value : d) value += size / 2;
      writer.together(of, {size, size, size}, d);
    }
    a += sites - 1;
  }

  std::string text;
  put_xdr(text, kUnitsPerNm);
  for (const Integers& bound : {least, most}) {
    for (const std::int64_t value : bound) put_xdr(text, static_cast<std::int32_t>(value));
  }
  put_xdr(text, static_cast<std::int32_t>(of));
  put_xdr(text, static_cast<std::int32_t>(writer.bytes().size()));
  text += writer.bytes();
  pad_xdr(text);
  return text;
}

std::string frame_bytes(const TrajectoryInfo& info, const TrajectoryFrame& frame) {
  const auto atoms = static_cast<std::int32_t>(frame.positions_A.size() / 3);
  std::string text;
  put_xdr(text, kMagic);
  put_xdr(text, atoms);
  put_xdr(text, step_of_32_bits(frame.step));
  put_xdr(text, static_cast<float>(frame.time_ps));
  for (int i = 0; i < 9; ++i) put_xdr(text, 0.0f);  // no box
  put_xdr(text, atoms);
  if (atoms > kNotCompressed) {
    return text + compressed(frame.positions_A, static_cast<std::size_t>(info.sites_per_molecule));
  }
  for (const double x : frame.positions_A) {
    check_writable(x);
    put_xdr(text, static_cast<float>(x / kAngstromPerNm));
  }
  return text;
}

/// Positions of few atoms are in single precision.
int decimals_of_xtc(const TrajectoryFrame& frame) {
  constexpr int kDecimals = 4;
  const auto atoms = static_cast<std::int64_t>(frame.positions_A.size() / 3);
  return atoms > kNotCompressed ? kDecimals : std::min(kDecimals, decimals_of_float(frame));
}

class XtcReader final : public XdrReader {
 public:
  using XdrReader::XdrReader;

  std::optional<Structure> next() override {
    if (at_end()) return std::nullopt;
    expect(kMagic, "XTC");
    const std::int64_t atoms = i32();
    const std::int32_t step = i32();
    const auto time_ps = static_cast<float>(real(sizeof(float)));
    const bool has_box = read_box(sizeof(float));
    if (i32() != atoms || atoms < 1) {
      fail("the file is damaged: its two numbers of atoms differ");
    }
    std::vector<double> positions_A = atoms > kNotCompressed
                                          ? compressed_positions_A(atoms)
                                          : reals(3 * atoms, sizeof(float), kAngstromPerNm);
    return take(std::move(positions_A), {}, has_box, step, fmt::format("{}", time_ps));
  }

 private:
  std::vector<double> compressed_positions_A(std::int64_t atoms) {
    const double units_per_nm = real(sizeof(float));
    if (!(units_per_nm > 0.0) || !std::isfinite(units_per_nm)) {
      fail("the file is damaged: its precision is not a positive number");
    }
    Integers least{}, sizes{};
    for (std::int64_t& value : least) value = i32();
    for (std::size_t c = 0; c < 3; ++c) {
      sizes[c] = i32() - least[c] + 1;
      if (sizes[c] < 1 || sizes[c] > std::numeric_limits<std::int32_t>::max()) {
        fail("the file is damaged: its largest positions are below its smallest");
      }
    }
    int of = i32();
    const std::int64_t length = i32();
    // An atom takes at least two bits, and at most three integers of 32 bits and the run code.
    if (atoms > 4 * length || length > 13 * atoms + 1) {
      fail("the file is damaged: its length does not match its number of atoms");
    }
    const std::string packed = bytes(length);
    const std::function<void()> damaged = [this] { fail("the compressed positions are damaged"); };
    BitReader reader(packed, damaged);
    const Packing packing(sizes);
    const double unit_A = kAngstromPerNm / units_per_nm;
    std::vector<double> positions_A;
    const auto put = [&](const Integers& atom) {
      for (const std::int64_t value : atom) {
        positions_A.push_back(static_cast<double>(value) * unit_A);
      }
    };
    int run = 0;  // number of integers that follow, relative to this atom
    for (std::int64_t left = atoms; left > 0; --left) {
      if (of < kSmallest || of > kLargest) damaged();
      Integers atom = reader.packed(packing);
      for (std::size_t c = 0; c < 3; ++c) atom[c] += least[c];
      int change = 0;
      if (reader.bits(1)) {
        const auto code = static_cast<int>(reader.bits(5));
        run = code - code % 3;
        change = code % 3 - 1;
      }
      if (run / 3 >= left) damaged();
      if (run == 0) put(atom);
      const std::int64_t size = small_size(of);
      Integers last = atom;
      for (int k = 0; k < run; k += 3, --left) {
        Integers next = reader.together(of, {size, size, size});
        for (std::size_t c = 0; c < 3; ++c) next[c] += last[c] - size / 2;
        // The first neighbour precedes its reference atom, which compresses water better.
        put(next);
        if (k == 0) put(atom);
        last = next;
      }
      of += change;
    }
    return positions_A;
  }
};

}  // namespace

std::unique_ptr<FrameReader> open_xtc(const std::string& path) {
  return std::make_unique<XtcReader>(path);
}

std::unique_ptr<TrajectoryWriter> write_xtc(const TrajectoryInfo& info) {
  return write_frames(info, {".xtc", frame_bytes, AtomNames::beside, decimals_of_xtc});
}

bool looks_like_xtc(std::string_view beginning) { return first_xdr_number(beginning) == kMagic; }

}  // namespace tarn::io
