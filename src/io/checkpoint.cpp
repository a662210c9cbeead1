#include "checkpoint.hpp"

#include <limits>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "archive.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"

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

/// Passes bytes to a file and to a checksum, without a copy of large arrays; or counts them.
class CheckedFile final : public std::streambuf {
 public:
  /// @param file null: only count
  explicit CheckedFile(AtomicFile* file) : file_(file) { waiting_.reserve(kPiece); }

  std::uint64_t count() const { return count_ + waiting_.size(); }
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
    count_ += bytes.size();
    if (file_ == nullptr) return;
    checksum_.add(bytes);
    file_->write(bytes);
  }

  AtomicFile* file_;
  std::uint64_t count_ = 0;  // without those that wait
  LongChecksum checksum_;
  std::string waiting_;
};

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

void archive_atom(Archive& a, AtomId& id) {
  std::int64_t atom = id.atom;
  a(id.molecule, atom);
  if (!a.is_reading()) return;
  if (atom < 0 || atom >= kAtomsPerMolecule) {
    throw IoError(
        "the checkpoint refers to an atom that does not exist: it does not match this program");
  }
  id.atom = static_cast<int>(atom);
}

void archive_blow_up(Archive& a, BlowUp& blow_up) {
  a(blow_up.replica, blow_up.step, blow_up.molecule);
  archive_atom(a, blow_up.closest.a);
  archive_atom(a, blow_up.closest.b);
  a(blow_up.closest.distance_A);
  archive_atom(a, blow_up.largest_force.at);
  a(blow_up.largest_force.force_kcal_per_mol_A);
  std::int64_t flags = std::int64_t{blow_up.seen_in_last_good_state} +
                       2 * std::int64_t{blow_up.potential_was_not_finite} +
                       4 * static_cast<std::int64_t>(blow_up.failure);
  a(flags);
  if (!a.is_reading()) return;
  blow_up.seen_in_last_good_state = (flags & 1) != 0;
  blow_up.potential_was_not_finite = (flags & 2) != 0;
  blow_up.failure = static_cast<ImageFailure>(flags / 4);
}

/// Does not change a checkpoint that is written.
void archive(Archive& a, Checkpoint& checkpoint) {
  State& state = checkpoint.state;
  a(checkpoint.tarn_version, checkpoint.physics, checkpoint.device);
  std::int64_t molecules = state.molecules, beads = state.beads;
  a(molecules, beads, state.step, state.replica_ids, state.positions_A, state.velocities_A_per_akma,
    state.heat_kcal_per_mol);
  if (a.is_reading()) {
    // The number of coordinates must fit an int.
    constexpr std::int64_t kMost = std::numeric_limits<int>::max() / kCoordinatesPerMolecule;
    state.molecules = molecules < 0 || molecules > kMost ? -1 : static_cast<int>(molecules);
    state.beads = beads < 1 || beads > kMaxBeads ? 0 : static_cast<int>(beads);
    check_size(state);
  }
  a.list(checkpoint.blow_ups, [&](BlowUp& blow_up) { archive_blow_up(a, blow_up); });
  a.list(checkpoint.observers, [&](ObserverRecord& record) { a(record.name, record.bytes); });
}

void put(std::ostream& out, const Checkpoint& checkpoint) {
  Archive a(out);
  archive(a, const_cast<Checkpoint&>(checkpoint));
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  CheckedFile counter(nullptr);
  std::ostream counted(&counter);
  put(counted, checkpoint);
  std::ostringstream head;
  head << kMagic;
  put(head, kCheckpointFormat);
  put(head, counter.count());

  AtomicFile file(path);
  file.write(std::move(head).str());
  CheckedFile contents(&file);
  std::ostream out(&contents);
  out.exceptions(std::ios::badbit);  // the exceptions of the file leave the stream
  put(out, checkpoint);
  std::ostringstream tail;
  put(tail, contents.checksum());
  file.write(std::move(tail).str());
  file.commit();
}

Checkpoint read_checkpoint(const std::string& path) {
  std::string file = read_file(path);
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
  LongChecksum checksum;
  checksum.add(std::string_view(file).substr(kContentsBegin, length));
  if (file.size() - length != kContentsBegin + kWord ||
      checksum.value() != word_at(file, kContentsBegin + length)) {
    refuse(path, "it is damaged (the checksum differs). Restore a copy or restart the run");
  }
  file.resize(kContentsBegin + length);
  std::istringstream in(std::move(file));
  in.seekg(kContentsBegin);
  Archive contents(in);
  Checkpoint checkpoint;
  archive(contents, checkpoint);
  return checkpoint;
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
