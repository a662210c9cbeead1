#include "checkpoint.hpp"

#include <limits>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string_view>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"

namespace tarn::io {
namespace {

// The high byte and the line ends reveal a transfer in text mode, which changes the file.
constexpr std::string_view kMagic = "\x89TARN\r\n\n";
constexpr std::size_t kWord = 8;
constexpr std::size_t kContentsBegin = 3 * kWord;

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw IoError(fmt::format("cannot use the checkpoint '{}': {}", path, why));
}

std::uint64_t word_at(std::string_view file, std::size_t offset) {
  std::istringstream in{std::string(file.substr(offset, kWord))};
  return get_u64(in);
}

void put_atom(std::ostream& out, const AtomId& id) {
  put(out, static_cast<std::int64_t>(id.molecule));
  put(out, static_cast<std::int64_t>(id.atom));
}

AtomId get_atom(std::istream& in) {
  const std::int64_t molecule = get_i64(in);
  const std::int64_t atom = get_i64(in);
  if (atom < 0 || atom >= kAtomsPerMolecule) {
    throw IoError(
        "the checkpoint refers to an atom that does not exist: it does not match this program");
  }
  return {static_cast<int>(molecule), static_cast<int>(atom)};
}

void put_blow_up(std::ostream& out, const BlowUp& blow_up) {
  put(out, blow_up.replica);
  put(out, blow_up.step);
  put(out, static_cast<std::int64_t>(blow_up.molecule));
  put_atom(out, blow_up.closest.a);
  put_atom(out, blow_up.closest.b);
  put(out, blow_up.closest.distance_A);
  put_atom(out, blow_up.largest_force.at);
  put(out, blow_up.largest_force.force_kcal_per_mol_A);
  put(out, std::int64_t{blow_up.seen_in_last_good_state} +
               2 * std::int64_t{blow_up.potential_was_not_finite} +
               4 * static_cast<std::int64_t>(blow_up.failure));
}

BlowUp get_blow_up(std::istream& in) {
  BlowUp blow_up;
  blow_up.replica = get_i64(in);
  blow_up.step = get_i64(in);
  blow_up.molecule = static_cast<int>(get_i64(in));
  blow_up.closest.a = get_atom(in);
  blow_up.closest.b = get_atom(in);
  blow_up.closest.distance_A = get_double(in);
  blow_up.largest_force.at = get_atom(in);
  blow_up.largest_force.force_kcal_per_mol_A = get_double(in);
  const std::int64_t flags = get_i64(in);
  blow_up.seen_in_last_good_state = (flags & 1) != 0;
  blow_up.potential_was_not_finite = (flags & 2) != 0;
  blow_up.failure = static_cast<ImageFailure>(flags / 4);
  return blow_up;
}

void put_contents(std::ostream& out, const Checkpoint& checkpoint) {
  put(out, std::string_view(checkpoint.tarn_version));
  put(out, std::string_view(checkpoint.physics));
  put(out, std::string_view(checkpoint.device));
  const State& state = checkpoint.state;
  put(out, static_cast<std::int64_t>(state.molecules));
  put(out, static_cast<std::int64_t>(state.beads));
  put(out, state.step);
  put(out, std::span<const std::int64_t>(state.replica_ids));
  put(out, std::span<const double>(state.positions_A));
  put(out, std::span<const double>(state.velocities_A_per_akma));
  put(out, std::span<const double>(state.heat_kcal_per_mol));
  put(out, static_cast<std::uint64_t>(checkpoint.blow_ups.size()));
  for (const BlowUp& blow_up : checkpoint.blow_ups) put_blow_up(out, blow_up);
  put(out, static_cast<std::uint64_t>(checkpoint.observers.size()));
  for (const ObserverRecord& record : checkpoint.observers) {
    put(out, std::string_view(record.name));
    put(out, std::string_view(record.bytes));
  }
}

/// Counts the bytes that are written to it.
class ByteCounter final : public std::streambuf {
 public:
  std::uint64_t count() const { return count_; }

 private:
  int_type overflow(int_type) override {
    ++count_;
    return 0;
  }
  std::streamsize xsputn(const char*, std::streamsize size) override {
    count_ += static_cast<std::uint64_t>(size);
    return size;
  }

  std::uint64_t count_ = 0;
};

/// Passes bytes to a file and to a checksum, without a copy of large arrays.
class CheckedFile final : public std::streambuf {
 public:
  explicit CheckedFile(AtomicFile& file) : file_(file) { waiting_.reserve(kPiece); }

  std::uint64_t checksum() {
    flush();
    return checksum_.value();
  }

 private:
  /// Bytes that are still in the cache when they are written.
  static constexpr std::size_t kPiece = std::size_t{1} << 18;

  int_type overflow(int_type c) override {
    const char byte = traits_type::to_char_type(c);
    xsputn(&byte, 1);
    return c;
  }
  std::streamsize xsputn(const char* bytes, std::streamsize size) override {
    std::string_view left(bytes, static_cast<std::size_t>(size));
    if (waiting_.size() + left.size() <= kPiece) {
      waiting_ += left;
      return size;
    }
    flush();
    for (; left.size() > kPiece; left.remove_prefix(kPiece)) write(left.substr(0, kPiece));
    waiting_ = left;
    return size;
  }
  void flush() {
    write(waiting_);
    waiting_.clear();
  }
  void write(std::string_view bytes) {
    checksum_.add(bytes);
    file_.write(bytes);
  }

  AtomicFile& file_;
  LongChecksum checksum_;
  std::string waiting_;
};

/// Reads bytes in memory.
class BytesInMemory final : public std::streambuf {
 public:
  explicit BytesInMemory(std::string_view bytes) {
    char* const begin = const_cast<char*>(bytes.data());  // which is not written to
    setg(begin, begin, begin + bytes.size());
  }

 private:
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) override {
    const char* const base = from == std::ios::beg   ? eback()
                             : from == std::ios::cur ? gptr()
                                                     : egptr();
    return seekpos(base - eback() + offset, std::ios::in);
  }
  pos_type seekpos(pos_type place, std::ios_base::openmode) override {
    const auto offset = static_cast<off_type>(place);
    if (offset < 0 || offset > egptr() - eback()) return off_type{-1};
    setg(eback(), eback() + offset, egptr());
    return place;
  }
};

int get_molecules(std::istream& in) {
  const std::int64_t molecules = get_i64(in);
  // The number of coordinates must fit an int.
  constexpr std::int64_t kMost = std::numeric_limits<int>::max() / kCoordinatesPerMolecule;
  return molecules < 0 || molecules > kMost ? -1 : static_cast<int>(molecules);
}

/// Detects states that were never valid; the checksum detects later damage.
void check_size(const State& state) {
  const std::size_t numbers = state.replica_ids.size() * state.ring_coordinates();
  if (state.molecules < 0 || state.beads < 1 || state.step < 0 ||
      state.positions_A.size() != numbers || state.velocities_A_per_akma.size() != numbers ||
      (!state.heat_kcal_per_mol.empty() &&
       state.heat_kcal_per_mol.size() != numbers / kCoordinatesPerMolecule)) {
    throw IoError("the state in the checkpoint has the wrong size: it does not match this program");
  }
}

Checkpoint parse_contents(std::string_view contents) {
  BytesInMemory bytes(contents);
  std::istream in(&bytes);
  Checkpoint checkpoint;
  checkpoint.tarn_version = get_string(in);
  checkpoint.physics = get_string(in);
  checkpoint.device = get_string(in);
  State& state = checkpoint.state;
  state.molecules = get_molecules(in);
  const std::int64_t beads = get_i64(in);
  state.beads = beads < 1 || beads > kMaxBeads ? 0 : static_cast<int>(beads);
  state.step = get_i64(in);
  state.replica_ids = get_i64s(in);
  state.positions_A = get_doubles(in);
  state.velocities_A_per_akma = get_doubles(in);
  state.heat_kcal_per_mol = get_doubles(in);
  check_size(state);
  const std::uint64_t blow_ups = get_u64(in);
  for (std::uint64_t i = 0; i < blow_ups; ++i) checkpoint.blow_ups.push_back(get_blow_up(in));
  const std::uint64_t observers = get_u64(in);
  for (std::uint64_t i = 0; i < observers; ++i) {
    ObserverRecord record;
    record.name = get_string(in);
    record.bytes = get_string(in);
    checkpoint.observers.push_back(std::move(record));
  }
  return checkpoint;
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  ByteCounter counter;
  std::ostream counted(&counter);
  put_contents(counted, checkpoint);
  std::ostringstream head;
  head << kMagic;
  put(head, kCheckpointFormat);
  put(head, counter.count());

  AtomicFile file(path);
  file.write(std::move(head).str());
  CheckedFile contents(file);
  std::ostream out(&contents);
  out.exceptions(std::ios::badbit);  // the exceptions of the file leave the stream
  put_contents(out, checkpoint);
  std::ostringstream tail;
  put(tail, contents.checksum());
  file.write(std::move(tail).str());
  file.commit();
}

Checkpoint read_checkpoint(const std::string& path) {
  const std::string file = read_file(path);
  if (file.empty()) refuse(path, "it is empty");
  if (file.substr(0, kMagic.size()) != kMagic.substr(0, file.size())) {
    refuse(path, "this is not a checkpoint of tarn");
  }
  if (file.size() < kContentsBegin) {
    refuse(path, fmt::format("it is cut off after {} bytes", file.size()));
  }
  const std::uint64_t version = word_at(file, kWord);
  if (version != kCheckpointFormat) {
    refuse(path, fmt::format("it has format version {}, this program reads version {}. Resume with "
                             "the program that wrote it or restart the run",
                             version, kCheckpointFormat));
  }
  const std::uint64_t length = word_at(file, 2 * kWord);
  if (length > file.size() || file.size() - length < kContentsBegin + kWord) {
    refuse(path, fmt::format("it is cut off after {} bytes. Restore a copy or restart the run",
                             file.size()));
  }
  const std::string_view contents = std::string_view(file).substr(kContentsBegin, length);
  LongChecksum checksum;
  checksum.add(contents);
  if (file.size() - length != kContentsBegin + kWord ||
      checksum.value() != word_at(file, kContentsBegin + length)) {
    refuse(path, "it is damaged (the checksum differs). Restore a copy or restart the run");
  }
  return parse_contents(contents);
}

void read_record(const ObserverRecord& record, const std::function<void(std::istream&)>& load) {
  std::istringstream bytes(record.bytes);
  try {
    load(bytes);
  } catch (const LayoutError& error) {
    throw LayoutError(
        fmt::format("the state of '{}' in the checkpoint does not match this program: {}",
                    record.name, error.what()));
  }
}

}  // namespace tarn::io
