#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/engine.hpp"

namespace tarn {

/// Pictures that were drawn, and messages.
struct Pictures {
  std::vector<std::string> paths;
  Messages messages;
  /// Whether a picture could not be drawn; if false, the messages concern tables without data.
  bool failed = false;
};

/// Mean of a table's column after equilibration, over all replicas or those of one bath.
struct AveragedQuantity {
  std::string table;     ///< name of the file without extension
  std::string quantity;  ///< column, with its unit
  double mean = 0.0;
  double error = 0.0;  ///< standard error; 0 if unknown
  /// Integrated autocorrelation time of a replica; nothing for results of the whole run.
  std::optional<double> autocorrelation_ps{};
  double independent_samples = 0.0;  ///< number that corresponds to the error
  std::int64_t samples = 0;          ///< number of samples, of all replicas
  bool converged = true;             ///< false: error and autocorrelation time may be too small
  /// Temperature of the bath, if replicas have different baths; nothing: all replicas.
  std::optional<double> bath_K{};
  /// Standard deviation of `error`; nothing if unknown.
  std::optional<double> error_of_error{};
  /// Difference between the second half of the samples and the first half or eighth, if it is
  /// significant; else 0.
  double drift = 0.0;
  /// With several start structures: the largest deviation of the replicas with one of them from the
  /// others, in standard errors.
  std::optional<double> sigmas_between_starts{};
  /// A larger deviation means that the average depends on the start: it is not converged.
  static constexpr double kMostSigmasBetweenStarts = 3.0;
};

/// How often walkers changed their structure, which makes them forget their start.
struct StructureChanges {
  double per_walker = 0.0;  ///< mean
  const char* what = "";    ///< kind of change, in the plural
  /// With fewer changes, populations and averages may depend on the start.
  static constexpr double kEnough = 10.0;
  bool are_enough() const { return per_walker >= kEnough; }
};

/// Reads Frames and writes one kind of file.
///
/// A run calls begin(), then observe() at step 0 and at every multiple of every(). At a checkpoint
/// it calls save(), which flushes the files. After a restart with the same deck it calls load()
/// instead of begin(); the files then continue without a gap. All calls come from the thread that
/// runs the deck. An exception of an observer ends the run and reaches the caller; the last
/// checkpoint remains valid.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Identifies the output and its settings; must not change. Names are unique within a run, and a
  /// checkpoint restores only an observer with the same name.
  virtual std::string name() const = 0;
  /// Names of its files in the run's folder, if known in advance. No other observer may
  /// write them, and a new run removes them.
  virtual std::vector<std::string> files() const { return {}; }
  /// Fields that observe() requires. The Frame may contain others too.
  virtual unsigned fields() const = 0;
  /// Steps between calls of observe(), at least 1. It is called before each advance and may change
  /// during the run, but only as a function of the Frames so far.
  virtual std::int64_t every() const = 0;
  /// Fields that catch_up() requires: sums that engines accumulate between frames.
  virtual unsigned accumulated() const { return fields() & kPairCounts; }
  /// Adds the settings that its fields require. Called at the start of run_loop().
  virtual void configure(MeasureSettings& /*settings*/) const {}
  /// Offers the engine, whose History may replace arrays in frames. Called at the start of
  /// run_loop(), after begin() or load().
  virtual void keep_in(Engine& /*engine*/) {}
  /// Whether observe() may be called while the engine computes later steps: true if it uses nothing
  /// but the frame, and does not change every().
  virtual bool may_lag() const { return false; }
  /// Whether observe() must follow that of all other observers of the step, because it reads them.
  virtual bool reads_observers() const { return false; }
  /// Starts new files. @throws IoError
  virtual void begin() {}
  virtual void observe(const Frame& frame) = 0;
  /// Receives the engine's sums if accumulated() is not empty. Called at any step, before save()
  /// and finish(). It writes nothing.
  virtual void catch_up(const Frame& /*frame*/) {}
  /// Writes the observer's state (sums, file lengths) in binary (tarn/io/binary.hpp), and flushes
  /// its files (tarn/io/atomic_file.hpp). Called at every checkpoint.
  virtual void save(std::ostream& out) = 0;
  /// Restores the state of save() and truncates the files accordingly. @throws IoError
  virtual void load(std::istream& in) = 0;
  /// Writes final tables and flushes. Called after the last step, also of an interrupted run that
  /// may be resumed.
  virtual void finish() {}
  /// Means of its quantities; empty if there is no sample after equilibration.
  virtual std::vector<AveragedQuantity> averages() const { return {}; }
  /// How often the walkers changed their structure, if the observer knows it.
  virtual std::optional<StructureChanges> structure_changes() const { return std::nullopt; }
  /// Messages about the results; called after finish().
  virtual Messages messages() const { return {}; }
  /// Draws pictures from the files written by finish().
  virtual Pictures draw() { return {}; }
};

/// Value of every() for observers that need only the final catch_up(). They also observe step 0.
inline constexpr std::int64_t kLastStepOnly = std::int64_t{1} << 60;

}  // namespace tarn
