#include "mechanics_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "checkpointer.hpp"
#include "mechanics_case.hpp"
#include "mechanics_experiment.hpp"
#include "progress.hpp"
#include "run_folder.hpp"
#include "run_record.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/checkpoint.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/draw.hpp"
#include "tarn/io/json.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kReportInterval_s = 0.25;

/// A table with one row every given number of steps.
class Table {
 public:
  using Values = std::function<std::vector<Quantity>()>;
  /// @param has_time false for a table of iterations
  Table(const std::string& folder, std::string name, std::int64_t every, Values values,
        bool has_time = true)
      : name_(std::move(name)),
        every_(every),
        has_time_(has_time),
        values_(std::move(values)),
        csv_(folder + "/" + name_ + ".csv", header()) {}

  const std::string& name() const { return name_; }
  bool is_due(std::int64_t step) const { return step % every_ == 0; }
  void write(std::int64_t step, double time) {
    csv_.cell(step);
    if (has_time_) csv_.cell(time);
    for (const Quantity& q : values_()) csv_.cell(q.value);
    csv_.end_row();
  }
  io::CsvWriter& csv() { return csv_; }

 private:
  std::vector<std::string> header() const {
    std::vector<std::string> names{"step", "time"};
    if (!has_time_) names = {"iteration"};
    for (const Quantity& q : values_()) names.push_back(q.name);
    return names;
  }

  std::string name_;
  std::int64_t every_;
  bool has_time_;
  Values values_;
  io::CsvWriter csv_;
};

/// Evaluates all rows of a table, including those before a restart.
std::vector<ConservedQuantity> conserved_quantities_in(const std::string& path) {
  io::CsvReader csv(path);
  std::vector<ConservedQuantity> quantities;
  constexpr std::size_t kStepAndTime = 2;
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    const bool first = quantities.empty();
    for (std::size_t k = kStepAndTime; k < cells.size(); ++k) {
      const double value = csv.number(cells[k]);
      if (first) quantities.push_back({csv.header()[k], value});
      ConservedQuantity& q = quantities[k - kStepAndTime];
      q.last_change = value - q.start;
      q.largest_change = std::max(q.largest_change, std::abs(q.last_change));
    }
  }
  return quantities;
}

class MechanicsRun {
 public:
  MechanicsRun(const Deck& deck, const RunOptions& options, RunFolder& folder)
      : deck_(deck),
        options_(options),
        folder_(folder),
        last_step_(deck.mechanics.run.steps),
        case_(make_mechanics_case(deck)) {
    last_step_ = case_->steps().value_or(last_step_);
    checkpoint_.tarn_version = kVersion;
    checkpoint_.physics = physics_fingerprint(deck);
    checkpoint_.device = "cpu";
    make_tables();
  }

  RunResult run() {
    io::Checkpoint before;
    if (folder_.resumes()) {
      before = checkpoint_for(folder_.checkpoint(), checkpoint_.physics, last_step_);
      step_ = first_step_ = before.state.step;
      if (step_ == last_step_ && record_is_finished(folder_.record())) return result(true);
    }
    folder_.prepare();
    if (const auto note = folder_.note_on_lock()) emit(*note);
    try {
      if (folder_.resumes()) load(before);
      write_run_json("running");
      if (options_.on_start) {
        options_.on_start({folder_.path(), checkpoint_.device, 0, 1, first_step_, last_step_});
      }
      if (!folder_.resumes()) {
        for (auto& table : tables_) table->csv().create(provenance(*table));
        write_rows();
        save();
      }
      advance();
      finish();
    } catch (const std::exception& error) {
      record_failure(error);
      throw;
    }
    return result(false);
  }

 private:
  void make_tables() {
    const MechanicsDeck& m = deck_.mechanics;
    const auto add = [&](const char* name, std::int64_t every, Table::Values values) {
      tables_.push_back(std::make_unique<Table>(folder_.path(), name, every, std::move(values)));
    };
    if (m.trajectory) {
      add("trajectory", m.trajectory->every, [this] { return row(); });
    }
    if (!case_->iterate().empty()) {
      tables_.push_back(std::make_unique<Table>(
          folder_.path(), "iterations", 1, [this] { return case_->iterate(); }, false));
    }
    if (m.energies) add("energies", m.energies->every, [this] { return case_->energies(); });
    if (m.conservation) {
      add("conservation", m.conservation->every, [this] { return case_->conserved(); });
    }
  }

  std::vector<Quantity> row() const {
    std::vector<Quantity> values;
    const std::vector<double> row = case_->row();
    const std::vector<std::string> names = case_->columns();
    for (std::size_t k = 0; k < row.size(); ++k) values.push_back({names[k], row[k]});
    return values;
  }

  /// Whether the start is random.
  bool has_seed() const {
    const MechanicsSystemSection& system = deck_.mechanics.system;
    return deck_.system.kind == "dna" && system.xi.empty() && system.position.empty();
  }

  std::string provenance(const Table& table) const {
    std::string text = fmt::format("tarn {}; {}, {}; physics {:016x}", kVersion, deck_.system.kind,
                                   scheme_name(deck_.mechanics.integrator.scheme),
                                   io::checksum(checkpoint_.physics));
    if (table.name() == "trajectory") {
      text += "; " + trajectory_column_text(deck_.system.kind, deck_.mechanics.integrator.scheme);
    }
    return text;
  }

  /// t = step * h, never accumulated.
  double time() const { return static_cast<double>(step_) * deck_.mechanics.integrator.step; }

  void write_rows() {
    for (auto& table : tables_) {
      if (table->is_due(step_)) table->write(step_, time());
    }
  }

  void advance() {
    began_ = Clock::now();
    Clock::time_point last_report = *began_;
    while (step_ < last_step_ && !interrupted_) {
      try {
        case_->step();
      } catch (const NumericalError& error) {
        ended_ = Clock::now();
        throw NumericalError(error.what() + keep_last_good_state());
      }
      ++step_;
      write_rows();
      const std::int64_t every = deck_.checkpoint.every;
      if (every > 0 && step_ % every == 0) save();
      const Clock::time_point now = Clock::now();
      if (std::chrono::duration<double>(now - last_report).count() < kReportInterval_s) continue;
      last_report = now;
      if (options_.on_progress) options_.on_progress(progress());
      interrupted_ = options_.interrupted && options_.interrupted();
      const double seconds = 60.0 * deck_.checkpoint.every_minutes;
      if (seconds > 0.0 && std::chrono::duration<double>(now - saved_).count() >= seconds) save();
    }
    ended_ = Clock::now();
  }

  /// Time spent stepping, until now or until the end.
  double wall_seconds() const {
    if (!began_) return 0.0;
    return std::chrono::duration<double>(ended_.value_or(Clock::now()) - *began_).count();
  }

  Progress progress() const { return progress_of(step_, first_step_, last_step_, wall_seconds()); }

  // --- checkpoints ---

  void save() {
    checkpoint_.state.step = step_;
    checkpoint_.observers.clear();
    for (auto& table : tables_) {
      table->csv().sync();
      std::ostringstream length;
      io::put(length, table->csv().length());
      checkpoint_.observers.push_back({table->name(), std::move(length).str()});
    }
    std::ostringstream state;
    case_->save(state);
    checkpoint_.observers.push_back({"mechanics", std::move(state).str()});
    io::write_checkpoint(folder_.checkpoint(), checkpoint_);
    saved_ = Clock::now();
    if (options_.on_checkpoint) options_.on_checkpoint(step_);
  }

  void load(const io::Checkpoint& before) {
    for (const io::ObserverRecord& record : before.observers) {
      io::read_record(record, [&](std::istream& bytes) {
        if (record.name == "mechanics") case_->load(bytes);
        for (auto& table : tables_) {
          if (table->name() == record.name) table->csv().cut(io::get_u64(bytes));
        }
      });
    }
  }

  // --- the end ---

  /// After a failed step: writes all files of a run that ends here.
  /// @return suffix of the error message
  std::string keep_last_good_state() {
    try {
      save();
      const std::string name = fs::path(blow_up_file_name(0)).stem().string();
      Table state(folder_.path(), name, 1, [this] { return row(); });
      state.csv().create(provenance(state));
      state.write(step_, time());
      state.csv().sync();
      read_conserved();
      draw();
      return fmt::format("; the last good state is in '{}'", folder_.file(name + ".csv"));
    } catch (const std::exception&) {  // report the first error
      return {};
    }
  }

  void finish() {
    save();
    for (auto& table : tables_) table->csv().flush();
    read_conserved();
    if (!interrupted_) draw();
    write_run_json(interrupted_ ? "interrupted" : "finished");
  }

  void read_conserved() {
    if (deck_.mechanics.conservation)
      conserved_ = conserved_quantities_in(folder_.file("conservation.csv"));
  }

  void emit(const Message& message) {
    messages_.push_back(message);
    if (options_.on_message) options_.on_message(message);
  }

  void draw() {
    if (!options_.pictures) return;
    const Pictures pictures = io::draw_pictures(folder_.path());
    pictures_ = pictures.paths;
    for (const Message& message : pictures.messages) {
      if (std::find(messages_.begin(), messages_.end(), message) == messages_.end()) emit(message);
    }
  }

  std::vector<std::string> changes_json() const {
    std::vector<std::string> objects;
    for (const ConservedQuantity& q : conserved_) {
      io::JsonObject object;
      object.add("name", io::json(std::string_view(q.name)))
          .add("start", io::json(q.start))
          .add("largest_change", io::json(q.largest_change))
          .add("last_change", io::json(q.last_change));
      objects.push_back(object.line());
    }
    return objects;
  }

  void write_run_json(const std::string& status, const std::string& error = {}) const {
    const Progress p = progress();
    const mechanics::Costs costs = case_->costs();
    const auto per_step = [&](std::int64_t count) {
      return io::json(
          costs.steps > 0 ? static_cast<double>(count) / static_cast<double>(costs.steps) : 0.0);
    };
    io::JsonObject object;
    object.add("status", io::json(std::string_view(status)));
    if (!error.empty()) object.add("error", io::json(std::string_view(error)));
    object.add("tarn_version", io::json(std::string_view(kVersion)))
        .add("deck_path", io::json(std::string_view(deck_.path)))
        .add("deck", io::json(std::string_view(resolved_deck(with_initial_data(deck_)))))
        .add("physics",
             io::json(std::string_view(fmt::format("{:016x}", io::checksum(checkpoint_.physics)))))
        .add("device", io::json(std::string_view("cpu")))
        .add("seed", has_seed() ? fmt::to_string(deck_.mechanics.system.seed) : "null")
        .add("first_step", io::json(first_step_))
        .add("steps_done", io::json(step_))
        .add("wall_seconds", io::json(p.elapsed_seconds))
        .add("steps_per_second", io::json(p.steps_per_second))
        .add("stage_shares", "null")  // steps are too short to time their parts
        .add("counted_steps", io::json(costs.steps))
        .add("force_evaluations", io::json(costs.forces))
        .add("hessian_evaluations", io::json(costs.hessians))
        .add("third_derivative_evaluations", io::json(costs.third_derivatives))
        .add("linear_solves", io::json(costs.linear_solves))
        .add("iterations", io::json(costs.iterations))
        .add("linear_solves_per_step", per_step(costs.linear_solves))
        .add("iterations_per_step", per_step(costs.iterations))
        .add("conserved", io::json_array(changes_json()))
        .add("notes", io::json_strings(texts_of(Level::note, messages_)))
        .add("warnings", io::json_strings(texts_of(Level::warning, messages_)))
        .add("pictures", io::json_strings(pictures_));
    io::write_file(folder_.record(), object.text() + "\n");
  }

  /// Flushes the tables and writes run.json, if possible.
  void record_failure(const std::exception& error) {
    try {
      for (auto& table : tables_) table->csv().flush();
      write_run_json("failed", failure_reason(error));
    } catch (const std::exception&) {  // report the first error
    }
  }

  RunResult result(bool already_finished) const {
    const Progress p = progress();
    RunResult r;
    r.out_dir = folder_.path();
    r.steps_done = step_;
    r.interrupted = interrupted_;
    r.already_finished = already_finished;
    r.wall_seconds = p.elapsed_seconds;
    r.steps_per_second = p.steps_per_second;
    r.conserved = conserved_;
    r.pictures = pictures_;
    r.device = "cpu";
    return r;
  }

  const Deck& deck_;
  const RunOptions& options_;
  RunFolder& folder_;
  std::int64_t last_step_;
  std::unique_ptr<MechanicsCase> case_;
  std::vector<std::unique_ptr<Table>> tables_;
  io::Checkpoint checkpoint_;
  std::int64_t step_ = 0, first_step_ = 0;
  bool interrupted_ = false;
  std::optional<Clock::time_point> began_, ended_;  // start and end of stepping
  Clock::time_point saved_ = Clock::now();
  std::vector<ConservedQuantity> conserved_;
  Messages messages_;
  std::vector<std::string> pictures_;
};

}  // namespace

void refuse_cuda(const std::optional<std::string>& device) {
  if (device && device->starts_with("cuda")) {
    throw DeviceError("mechanical systems run only on the CPU; use --device cpu or omit --device");
  }
}

RunResult run_mechanics(const Deck& deck, const RunOptions& options) {
  refuse_cuda(options.device);
  RunFolder folder(deck, options);
  return MechanicsRun(deck, options, folder).run();
}

}  // namespace tarn
