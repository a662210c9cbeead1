// Adds two observers to a run that can be resumed: a table and a histogram.
// usage: own_observer FOLDER STEPS     continues the run in FOLDER if there is one
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tarn/core/error.hpp>
#include <tarn/deck.hpp>
#include <tarn/io/atomic_file.hpp>
#include <tarn/io/binary.hpp>
#include <tarn/observe/quantity_table.hpp>
#include <tarn/run.hpp>

namespace {

double oo_distance_A(std::span<const double> positions_A, std::size_t i, std::size_t j) {
  const double *a = &positions_A[9 * i], *b = &positions_A[9 * j];
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// A table of a quantity of each replica, with averages and errors, a picture and restarts.
tarn::ObserverMaker shortest_distance() {
  return tarn::quantity_table({
      .file = "shortest",
      .columns = {"oo_shortest_A"},
      .every = 10,
      .values =
          [](const tarn::Frame& frame, std::size_t r, std::span<double> values) {
            values[0] = HUGE_VAL;
            for (std::size_t i = 1; i < static_cast<std::size_t>(frame.molecules); ++i) {
              for (std::size_t j = 0; j < i; ++j) {
                values[0] = std::min(values[0], oo_distance_A(frame.positions_A_of(r), i, j));
              }
            }
          },
  });
}

/// Other observers are classes. save() must write everything that later steps need.
class Histogram final : public tarn::Observer {
 public:
  explicit Histogram(const tarn::RunInfo& run) : run_(run), counts_(100, 0) {}

  std::string name() const override { return "O-O histogram every 20"; }
  std::vector<std::string> files() const override { return {"oo_histogram.csv"}; }
  unsigned fields() const override { return tarn::kPositions; }
  std::int64_t every() const override { return 20; }
  void begin() override {}
  void observe(const tarn::Frame& frame) override {
    if (frame.step < run_.first_averaged_step) return;
    for (std::size_t r = 0; r < frame.live(); ++r) {
      const double distance_A = oo_distance_A(frame.positions_A_of(r), 0, 1);
      ++counts_[std::min<std::size_t>(static_cast<std::size_t>(10.0 * distance_A), 99)];
    }
  }
  void save(std::ostream& out) override {
    tarn::io::put(out, std::span<const std::int64_t>(counts_));
  }
  void load(std::istream& in) override { counts_ = tarn::io::get_all<std::int64_t>(in); }
  void finish() override {
    std::string text = "# " + run_.provenance + "\noo_A,count\n";
    for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
      text += std::to_string(0.1 * static_cast<double>(bin)) + ',' + std::to_string(counts_[bin]);
      text += '\n';
    }
    tarn::io::write_file(run_.out_dir + "/oo_histogram.csv", text);
  }

 private:
  tarn::RunInfo run_;
  std::vector<std::int64_t> counts_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw tarn::InputError("usage: own_observer FOLDER STEPS");
  const tarn::Deck deck = tarn::parse_deck(R"(
[system]
model = "tip3p"
molecules = 4
replicas = 16
[integrator]
scheme = "settle"
timestep_fs = 2.0
[thermostat]
kind = "baoab"
temperature_K = 60.0
friction_per_ps = 5.0
[run]
steps = 0
)",
                                           "tetramers.toml", {std::string("run.steps=") + argv[2]});
  tarn::RunOptions options;
  options.out_dir = argv[1];
  options.resume = std::filesystem::exists(options.out_dir + "/checkpoint.bin");
  options.observers = {shortest_distance(),
                       [](const tarn::RunInfo& run) { return std::make_unique<Histogram>(run); }};
  const tarn::RunResult result = tarn::run_deck(deck, options);
  for (const tarn::AveragedQuantity& a : result.averages) {
    std::printf("%s: %.3f +- %.3f\n", a.quantity.c_str(), a.mean, a.error);
  }
} catch (const tarn::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
