#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tarn/engine.hpp"

namespace tarn {

/// Pictures that were drawn, and why others were not.
struct Pictures {
  std::vector<std::string> paths;
  std::vector<std::string> warnings;
  /// Whether one of the warnings is of a picture that could not be drawn; else they are of tables
  /// that hold nothing to draw.
  bool failed = false;
};

/// Mean of one column of a table after equilibration, over all replicas, or all of one bath.
struct AveragedQuantity {
  std::string table;     ///< name of the file without extension
  std::string quantity;  ///< column, with its unit
  double mean = 0.0;
  double error = 0.0;  ///< standard error; 0 when it is not known
  /// Integrated autocorrelation time of a replica; nothing for what is a result of the whole run.
  std::optional<double> autocorrelation_ps{};
  double independent_samples = 0.0;  ///< that would give this error
  std::int64_t samples = 0;          ///< of all replicas
  bool converged = true;             ///< false: error and autocorrelation time are lower bounds
  /// Where replicas have different baths: the one of those that are meant; nothing: all of them.
  std::optional<double> bath_K{};
  /// Standard deviation of `error` itself; nothing where it is not known.
  std::optional<double> error_of_error{};
  /// Of the second half of the samples from the first half or eighth, where it is more than chance;
  /// else 0.
  double drift = 0.0;
};

/// Reads Frames and writes one kind of file.
///
/// A run calls begin(), then observe() at step 0 and at every multiple of every(). At a checkpoint
/// it calls save(), which flushes what was written; after a restart with the same deck it calls
/// load() instead of begin(), and the files go on as if nothing had happened. All calls come from
/// the thread that runs the deck. What a function throws ends the run and is thrown to the caller;
/// the last checkpoint is kept.
class Observer {
 public:
  virtual ~Observer() = default;

  /// What it writes and with which settings, the same as long as it lives. No two observers of a
  /// run have one name, and a checkpoint restores only an observer of this name.
  virtual std::string name() const = 0;
  /// Names of the files that it writes into the run's folder, as far as they are known before:
  /// nobody else may write them, and they are removed where a run begins anew.
  virtual std::vector<std::string> files() const { return {}; }
  /// Fields that observe() needs in its Frame, which may hold others too.
  virtual unsigned fields() const = 0;
  /// Steps between calls of observe(), 1 or more. Asked anew before each advance: it may change
  /// while the run goes on, as a function of the Frames seen so far only.
  virtual std::int64_t every() const = 0;
  /// Starts new files. @throws IoError
  virtual void begin() = 0;
  virtual void observe(const Frame& frame) = 0;
  /// Takes over the pair counts that the engine keeps, if fields() has kPairCounts: before save()
  /// and before finish(), at whatever step that is. It writes nothing.
  virtual void catch_up(const Frame& /*frame*/) {}
  /// Writes what the observer must remember (sums, file lengths) in binary (tarn/io/binary.hpp),
  /// and flushes its files (tarn/io/append_file.hpp). Called at every checkpoint.
  virtual void save(std::ostream& out) = 0;
  /// Restores what save() wrote and cuts the files back to that moment. @throws IoError
  virtual void load(std::istream& in) = 0;
  /// Writes final tables and flushes; called after the last step, also of a run that was
  /// interrupted and may be resumed.
  virtual void finish() = 0;
  /// Means of what it saw; nothing before there is a sample after equilibration.
  virtual std::vector<AveragedQuantity> averages() const { return {}; }
  /// What has to be told about what it saw, after finish().
  virtual std::vector<std::string> notes() const { return {}; }
  /// Draws the pictures of the files that finish() wrote.
  virtual Pictures draw() { return {}; }
};

/// An every() of observers that need no step but the last: they catch_up(). Step 0 comes too.
inline constexpr std::int64_t kOnlyAtTheEnd = std::int64_t{1} << 60;

}  // namespace tarn
