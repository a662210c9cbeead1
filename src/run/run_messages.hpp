#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.hpp"
#include "run_observers.hpp"
#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/observer.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"
#include "tarn/system.hpp"

namespace tarn {

/// Messages about the devices that share the replicas: some without replicas, one used twice, or
/// different arithmetic.
Messages part_messages(std::span<const EnginePart> parts);

/// A line per part: "replicas 0 to 31: rank 0 on node1, CPU, avx512, 4 threads". Only the first
/// ones of many.
std::vector<std::string> part_lines(std::span<const EnginePart> parts);

/// Warnings, by bath, for mean energies of ring polymers by the primitive and by the
/// centroid-virial estimator, equation (83), that differ by more than five standard errors.
/// @param averages with those of path_integral.csv; without them there are no warnings
Messages estimator_warnings(const std::vector<AveragedQuantity>& averages, const Deck& deck);

/// Warning for a mean temperature that differs from the bath by more than 3 % and five standard
/// errors. If averages include the start, a lower mean causes a warning only beyond 20 %. A higher
/// mean is attributed to the start if it falls during the run, and otherwise to the time step.
/// Without a thermostat: a note beyond 20 % of the temperature of the initial velocities, `bath_K`.
std::optional<Message> temperature_warning(const AveragedQuantity& temperature_K, double bath_K,
                                           const Deck& deck);

/// Warning for a thermostat whose step is not exact for rigid molecules, because the friction
/// differs between atoms: their temperature is more than half a percent too low; equation (21).
std::optional<Message> friction_warning(const System& system);

/// "replica 1 blew up at step 55 (molecule 1)".
std::string headline(const BlowUp& blow_up);

/// Full message: step, replica, molecule, closest atoms, largest force, likely cause and remedy.
/// @param indefinite_hessians number of indefinite Hessians in all replicas; each stops its replica
/// @param molecules number of molecules per replica
std::string describe(const BlowUp& blow_up, const Deck& deck, std::int64_t indefinite_hessians,
                     int molecules);

/// Adds the same information in JSON: numbers, and the text of describe().
void add_to(io::JsonObject& object, const BlowUp& blow_up, std::string_view text);

/// Wall time of the steps of a run, without its observers.
struct RunCost {
  double seconds = 0.0;
  int threads = 0;           ///< of the CPU of this machine; 0 for a GPU
  double most_factor = 0.0;  ///< on a GPU: of the slowest observers or exchange that were timed
};

/// Estimates the time of a run. On the CPU by steps of a few of its replicas, or of a smaller
/// cluster, on a grid of molecules, in about a tenth of a second; on a GPU from the rates that were
/// measured on one NVIDIA H200. Has no effect on results.
/// @param molecules per cluster
/// @return empty for ring polymers on a GPU, and if the engine cannot be made
std::optional<RunCost> estimated_cost(const Deck& deck, int molecules);

/// Memory of a GPU for the state of a run, without that of CUDA and of observers.
double gpu_bytes(const System& system, std::int64_t replicas);

/// Contents of run.json: the results, and more.
struct RunRecord {
  std::string status;  ///< running, finished, interrupted or failed
  std::string error;   ///< reason of a failure
  int molecules = 0;
  std::int64_t first_step = 0;  ///< 0, or the step it resumed from
  /// If no replica is left, the step of the last blow-up is that which was reached, and no speed is
  /// written.
  RunResult result;
  bool has_replicas = true;
  std::optional<SlowManifoldStart> slow_start;  ///< of a projected start
  std::vector<EnginePart> parts;                ///< written if there are several
  EngineReport engine;
  Messages messages;
  /// Of the whole run, including before a restart.
  MoleculeEvents departures, broken_bonds;
  std::int64_t indefinite_hessians = 0;  ///< of the whole run
};

/// Writes run.json atomically. @throws IoError
void write_record(const std::string& path, const Deck& deck, const RunRecord& record);

/// Reason of a failure, for run.json and the terminal.
std::string failure_reason(const std::exception& error);

/// A note that a resumed run has another length than before; nothing if run.json does not say it.
std::optional<Message> note_on_other_length(const std::string& folder, const Deck& deck);

/// Whether the run.json at this path has the status "finished"; false if there is none.
bool record_is_finished(const std::string& path);

}  // namespace tarn
