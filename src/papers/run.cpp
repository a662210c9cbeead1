#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "io/draw.hpp"
#include "io/json.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/version.hpp"

namespace tarn::papers {
namespace {

namespace fs = std::filesystem;

/// A column over the rows of a table.
struct Change {
  std::string name;
  double start = 0.0, largest = 0.0, last = 0.0;
};

/// A table with one row every given number of steps.
struct Table {
  std::int64_t every;
  bool has_time;
  std::vector<Quantity> (Case::*values)() const;
  io::CsvWriter csv;
  std::vector<Change> changes;  ///< of each value
};

/// The shortest core time of all steps of a deck in repetitions for this time [s]. Short runs are
/// timed several at once, because the clock counts microseconds.
double shortest_time(PaperDeck deck, std::int64_t steps, double timing_s) {
  // Means of multipliers look ahead of the reported step.
  deck.own.trajectory.reset();
  constexpr double kClock_s = 1e-3;
  const auto began = std::chrono::steady_clock::now();
  double shortest = std::numeric_limits<double>::infinity();
  std::size_t together = 1;
  do {
    std::vector<std::unique_ptr<Case>> cases;
    for (std::size_t k = 0; k < together; ++k) cases.push_back(make_case(deck));
    const std::clock_t start = std::clock();
    for (const auto& one : cases) {
      for (std::int64_t step = 0; step < steps; ++step) one->step();
    }
    const double all_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (all_s < kClock_s && together < 1000) {
      together *= 2;
      continue;
    }
    shortest = std::min(shortest, all_s / static_cast<double>(together));
  } while (!std::isfinite(shortest) ||
           std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() <
               timing_s);
  return shortest;
}

/// Creates the folder, or removes the files of an earlier run.
/// @throws InputError if they would be replaced without `overwrite`
void prepare(const std::string& folder, bool overwrite) {
  io::make_folder(folder);
  std::error_code error;
  for (const char* name :
       {"trajectory", "iterations", "energies", "conservation", "blow-up-0000", "run"}) {
    for (const char* type : {".csv", ".svg", ".png", ".json"}) {
      const std::string path = fmt::format("{}/{}{}", folder, name, type);
      if (!fs::exists(path, error)) continue;
      if (!overwrite) {
        throw InputError(fmt::format(
            "{} already contains a run: choose another folder with --out, or use --overwrite",
            folder));
      }
      fs::remove(path, error);
      if (error) io::throw_io_error("remove", path, error.value());
    }
  }
}

class Run {
 public:
  Run(const PaperDeck& deck, const Options& options)
      : deck_(deck),
        options_(options),
        folder_(options.out_dir.empty() ? "out/" + deck.name : options.out_dir),
        physics_(decks::write_deck(
            schema(), deck, [](const decks::Key& key) { return !key.may_change_on_resume; })),
        case_(make_case(deck)),
        last_step_(case_->steps().value_or(deck.own.run.steps)) {
    prepare(folder_, options.overwrite);
    make_tables();
  }

  std::string run() {
    try {
      write_rows();
      while (step_ < last_step_) {
        step();
        write_rows();
      }
      flush();
      if (options_.timing_s > 0.0) seconds_ = shortest_time(deck_, last_step_, options_.timing_s);
    } catch (const NumericalError& error) {
      const std::string name = "blow-up-0000";
      add_table(name, 1, &Case::row);
      write_row(tables_.back());
      flush();
      write_record("failed", error.what());
      throw NumericalError(
          fmt::format("{}; the last good state is in '{}/{}.csv'", error.what(), folder_, name));
    }
    write_record("finished");
    std::string text = summary();
    if (options_.pictures) {
      for (const Message& message : io::draw_pictures(folder_).messages)
        text += message.text + '\n';
    }
    return text;
  }

 private:
  void add_table(const std::string& name, std::int64_t every,
                 std::vector<Quantity> (Case::*values)() const) {
    std::string text = fmt::format("tarn {}; {}, {}; physics {:016x}", kVersion, deck_.system.kind,
                                   deck_.own.integrator.scheme, io::checksum(physics_));
    if (name == "trajectory") {
      text += "; " + trajectory_column_text(deck_);
    }
    const bool has_time = name != "iterations";
    std::vector<std::string> header{"iteration"};
    if (has_time) header = {"step", "time"};
    std::vector<Change> changes;
    for (const Quantity& q : (*case_.*values)()) {
      header.push_back(q.name);
      changes.push_back({q.name, q.value});
    }
    tables_.push_back({every,
                       has_time,
                       values,
                       {fmt::format("{}/{}.csv", folder_, name), std::move(header)},
                       std::move(changes)});
    tables_.back().csv.create(text);
    if (name == "conservation") conserved_ = tables_.size() - 1;
  }

  void make_tables() {
    const Keys& keys = deck_.own;
    if (keys.trajectory) add_table("trajectory", keys.trajectory->every, &Case::row);
    if (!case_->iterate().empty()) add_table("iterations", 1, &Case::iterate);
    if (keys.energies) add_table("energies", keys.energies->every, &Case::energies);
    if (keys.conservation) add_table("conservation", keys.conservation->every, &Case::conserved);
  }

  /// @throws NumericalError with the number of the step
  void step() {
    const IntegratorKeys& keys = deck_.own.integrator;
    try {
      case_->checked_step();
    } catch (const NumericalError& error) {
      throw NumericalError(fmt::format("\"{}\" failed at step {} (time {:g}): {}", keys.scheme,
                                       step_ + 1, static_cast<double>(step_ + 1) * keys.step,
                                       error.what()));
    }
    ++step_;
  }
  void write_rows() {
    for (Table& table : tables_) {
      if (step_ % table.every == 0) write_row(table);
    }
  }
  void write_row(Table& table) {
    table.csv.cell(step_);
    // t = step * h, never accumulated.
    if (table.has_time) table.csv.cell(static_cast<double>(step_) * deck_.own.integrator.step);
    const std::vector<Quantity> row = (*case_.*table.values)();
    for (std::size_t k = 0; k < row.size(); ++k) {
      table.csv.cell(row[k].value);
      Change& change = table.changes[k];
      change.last = row[k].value - change.start;
      change.largest = std::max(change.largest, std::abs(change.last));
    }
    table.csv.end_row();
  }
  void flush() {
    for (Table& table : tables_) table.csv.flush();
  }
  /// The conserved quantities over the rows of conservation.csv.
  std::vector<Change> changes() const {
    return conserved_ ? tables_[*conserved_].changes : std::vector<Change>();
  }

  void write_record(std::string_view status, std::string_view error = {}) const {
    const Costs costs = case_->costs();
    std::vector<std::string> conserved;
    for (const Change& change : changes()) {
      conserved.push_back(io::JsonObject()
                              .add("name", io::json(std::string_view(change.name)))
                              .add("start", io::json(change.start))
                              .add("largest_change", io::json(change.largest))
                              .add("last_change", io::json(change.last))
                              .line());
    }
    const SystemKeys& system = deck_.own.system;
    const bool is_drawn =
        deck_.system.kind == "dna" && system.xi.empty() && system.position.empty();
    const std::string text = decks::write_deck(schema(), with_initial_data(deck_),
                                               [](const decks::Key&) { return true; });
    io::JsonObject object;
    object.add("status", io::json(status));
    if (!error.empty()) object.add("error", io::json(error));
    object.add("tarn_version", io::json(std::string_view(kVersion)))
        .add("deck_path", io::json(std::string_view(deck_.path)))
        .add("deck", io::json(std::string_view(text)))
        .add("seed", is_drawn ? fmt::to_string(system.seed) : "null")
        .add("steps_done", io::json(step_))
        .add("core_seconds", io::json(seconds_))
        .add("counted_steps", io::json(costs.steps))
        .add("force_evaluations", io::json(costs.forces))
        .add("hessian_evaluations", io::json(costs.hessians))
        .add("third_derivative_evaluations", io::json(costs.third_derivatives))
        .add("linear_solves", io::json(costs.linear_solves))
        .add("iterations", io::json(costs.iterations))
        .add("conserved", io::json_array(conserved));
    io::write_file(folder_ + "/run.json", object.text() + "\n");
  }

  std::string summary() const {
    std::string text = fmt::format("{}: {} steps; files are in {}\n", deck_.name, step_, folder_);
    for (const Change& c : changes()) {
      text += fmt::format("{:<16} {:>12.6g}, largest change {:.2g}, final change {:+.2g}\n", c.name,
                          c.start, c.largest, c.last);
    }
    return text;
  }

  const PaperDeck& deck_;
  const Options& options_;
  std::string folder_, physics_;
  std::unique_ptr<Case> case_;
  std::int64_t step_ = 0, last_step_;
  double seconds_ = std::numeric_limits<double>::quiet_NaN();
  std::vector<Table> tables_;
  std::optional<std::size_t> conserved_;  ///< number of conservation.csv
};

}  // namespace

std::string run_deck(const PaperDeck& deck, const Options& options) {
  return Run(deck, options).run();
}

}  // namespace tarn::papers
