

#include "csv_columns.hpp"
#include "fake_run.hpp"
#include "io/checkpoint.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/observe/quantity_table.hpp"
#include "text_parts.hpp"

// Observers of a program that uses the library, in runs with an engine of arithmetic.

namespace tarn {
namespace {

namespace fs = std::filesystem;
using namespace test;

const std::string kLadder =
    "[thermostat]\nkind = \"gla\"\nfriction_per_ps = 1.0\ntemperatures_K = [100.0, 150.0, 300.0]\n"
    "[exchange]\nevery = 5\n";

/// What the tests look at: the first coordinate of a replica.
double first_coordinate(const Frame& frame, std::size_t r) { return frame.positions_A_of(r)[0]; }

QuantityTable first_coordinates() {
  QuantityTable table;
  table.file = "mine";
  table.columns = {"x_A", "x_squared_A2"};
  table.every = 7;
  table.values = [](const Frame& frame, std::size_t r, std::span<double> values) {
    values[0] = first_coordinate(frame, r);
    values[1] = values[0] * values[0];
  };
  return table;
}

/// The table of first coordinates, or a table that is a little different.
ObserverMaker table_with(const std::function<void(QuantityTable&)>& change = {}) {
  QuantityTable table = first_coordinates();
  if (change) change(table);
  return quantity_table(table);
}

/// The largest first coordinate of all replicas so far: an observer written out, whose file and
/// memory go with checkpoints.
class Record final : public Observer {
 public:
  struct Settings {
    std::string name = "record", file = "record.txt";
    std::int64_t every = 3;
    std::int64_t fails_at = -1;
    bool fails_with_a_number = false;
  };
  Record(const RunInfo& run, Settings settings)
      : settings_(std::move(settings)), file_(run.out_dir + "/" + settings_.file) {}

  std::string name() const override { return settings_.name; }
  std::vector<std::string> files() const override { return {settings_.file}; }
  unsigned fields() const override { return kPositions; }
  std::int64_t every() const override { return settings_.every; }
  void begin() override { file_.create(); }
  void observe(const Frame& frame) override {
    if (frame.step == settings_.fails_at) {
      if (settings_.fails_with_a_number) throw 7;
      throw std::runtime_error("mine has failed");
    }
    for (std::size_t r = 0; r < frame.live(); ++r) {
      const double x = first_coordinate(frame, r);
      if (x <= largest_A_) continue;
      largest_A_ = x;
      file_.append(std::to_string(frame.step) + "\n");
    }
  }
  void save(std::ostream& out) override {
    file_.sync();
    io::put(out, file_.length());
    io::put(out, largest_A_);
  }
  void load(std::istream& in) override {
    file_.cut(io::get_u64(in));
    largest_A_ = io::get_double(in);
  }
  void finish() override { file_.flush(); }
  std::vector<AveragedQuantity> averages() const override {
    return {{"record", "largest_x_A", largest_A_}};
  }
  Messages messages() const override { return {Message::note("the record stands")}; }
  Pictures draw() override { return {{"drawn by hand"}, {Message::warning("the paper is torn")}}; }

 private:
  Settings settings_;
  io::AppendFile file_;
  double largest_A_ = -std::numeric_limits<double>::infinity();
};

ObserverMaker record(Record::Settings settings = {}) {
  return [settings](const RunInfo& run) { return std::make_unique<Record>(run, settings); };
}

class CustomObservers : public FakeRuns {
 protected:
  RunResult run(const Deck& d, std::vector<ObserverMaker> observers, RunOptions options = {}) {
    options.out_dir = out_;
    options.observers = std::move(observers);
    options.on_message = [this](const Message& message) {
      if (contains(message.text, "too few independent") || message.text == "a note") return;
      messages_.push_back(message);
    };
    return run_deck(d, options, parts());
  }
  RunResult resume(const Deck& d, std::vector<ObserverMaker> observers) {
    return run(d, std::move(observers), to_out(&RunOptions::resume));
  }
  /// What the run with these observers is refused for.
  std::string refusal(std::vector<ObserverMaker> observers) {
    const std::string message =
        message_of<InputError>([&] { run(deck(10), std::move(observers)); });
    EXPECT_FALSE(fs::exists(out_)) << "a refused run leaves nothing";
    return message;
  }

  Messages messages_;
};

TEST_F(CustomObservers, ATableHasTheValuesTheirMeansAndErrors) {
  Deck d = deck(70);
  d.run.equilibration_ps = 0.042;  // 21 steps
  const RunResult result = run(d, {table_with()});
  const auto table = columns_of(out_ + "/mine.csv");
  // The same by an engine alone.
  FakeEngine engine(fake_start(kMolecules, 3), {}, 0.002);
  Frame frame;
  std::size_t row = 0;
  double sum = 0.0;
  for (int step = 0; step <= 70; step += 7) {
    if (step > 0) engine.advance(7);
    engine.snapshot(kPositions, frame);
    for (std::size_t r = 0; r < 3; ++r, ++row) {
      const double x = frame.positions_A[r * 9 * kMolecules];
      ASSERT_LT(row, table.at("x_A").size());
      EXPECT_EQ(table.at("step")[row], step);
      EXPECT_EQ(table.at("time_ps")[row], step * 2.0 / 1000.0);
      EXPECT_EQ(table.at("replica")[row], static_cast<double>(r));
      EXPECT_EQ(table.at("x_A")[row], x);
      EXPECT_EQ(table.at("x_squared_A2")[row], x * x);
      EXPECT_LT(std::abs(x), 1.0);
      if (step >= 21) sum += x;
    }
  }
  EXPECT_EQ(table.at("x_A").size(), row);
  ASSERT_EQ(result.averages.size(), 2u);
  const AveragedQuantity& x = result.averages[0];
  EXPECT_EQ(x.table, "mine");
  EXPECT_EQ(x.quantity, "x_A");
  EXPECT_EQ(x.samples, 24);
  // 24 roundings of numbers below 1, and as many in the sum
  EXPECT_NEAR(x.mean, sum / 24.0, 1e-14);
  EXPECT_GT(x.error, 0.0);
  EXPECT_EQ(result.averages[1].quantity, "x_squared_A2");
  EXPECT_TRUE(contains(read_text(out_ + "/averages.csv"), "\nmine,x_A,"));
  EXPECT_TRUE(contains(run_json(), "{\"table\": \"mine\", \"quantity\": \"x_A\""));
}

TEST_F(CustomObservers, AResumedRunIsTheSameBytes) {
  const auto memory = std::make_shared<double>(0.0);
  const auto observers = [&]() -> std::vector<ObserverMaker> {
    *memory = 0.0;
    return {table_with(), record(), table_with([&](QuantityTable& sum) {  // of all that was seen
              sum.file = "sum";
              sum.columns = {"sum_A"};
              sum.values = [=](const Frame& frame, std::size_t r, std::span<double> values) {
                values[0] = *memory += first_coordinate(frame, r);
              };
              sum.save = [=](std::ostream& out) { io::put(out, *memory); };
              sum.load = [=](std::istream& in) { *memory = io::get_double(in); };
            }),
            table_with([](QuantityTable& mean) {
              mean.file = "mean";
              mean.replicas = {ReplicaSelection::Kind::mean};
            })};
  };
  const std::string energies = "[observe.energies]\nevery = 7\n[checkpoint]\nevery = 50\n";
  for (const std::string& more : {energies, energies + kLadder}) {
    for (const bool stops : {false, true}) {
      script_.blow_ups.clear();
      if (stops) script_.blow_ups = {{1, 56}};
      fs::remove_all(out_);
      run(deck(300, more), observers());
      const auto straight = files();
      ASSERT_TRUE(straight.contains("record.txt"));
      for (const std::int64_t first : {1, 49, 50, 51, 133, 299}) {
        fs::remove_all(out_);
        run(deck(first, more), observers());
        resume(deck(300, more), observers());
        EXPECT_EQ(files(), straight) << "stopped at " << first;
      }
    }
  }
}

TEST_F(CustomObservers, ReceiveTheStateBeforeExchange) {
  const ObserverMaker energy = table_with([](QuantityTable& table) {
    table.columns = {"mine"};
    table.every = 5;
    table.fields = kEnergies;
    table.values = [](const Frame& frame, std::size_t r, std::span<double> values) {
      values[0] = frame.energies[r].potential_kcal_per_mol;
    };
  });
  const RunResult result = run(deck(100, kLadder + "[observe.energies]\nevery = 5\n"), {energy});
  ASSERT_TRUE(result.exchange);
  EXPECT_GT(result.exchange->pairs[0].accepted + result.exchange->pairs[1].accepted, 0);
  EXPECT_EQ(columns_of(out_ + "/mine.csv").at("mine"),
            columns_of(out_ + "/energies.csv").at("potential_kcal_per_mol"));
  // Means are those of each bath.
  std::map<double, std::vector<double>> means;
  for (const AveragedQuantity& a : result.averages) {
    if (a.quantity != "mine" && a.quantity != "potential_kcal_per_mol") continue;
    ASSERT_TRUE(a.bath_K);
    means[*a.bath_K].push_back(a.mean);
  }
  ASSERT_EQ(means.size(), 3u);
  for (const auto& [bath_K, both] : means) {
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(both[0], both[1]);
  }
}

TEST_F(CustomObservers, AveragesOfBathsAreReportedInAnyOrder) {
  run(deck(35, kLadder), {record(), table_with()});
  expect_parts_of(read_text(out_ + "/averages.csv"),
                  {"table,quantity,bath_K,mean,", "\nrecord,largest_x_A,nan,", "\nmine,x_A,150,"});
}

TEST_F(CustomObservers, NotesPicturesAndAveragesReachTheResult) {
  const RunResult result = run(deck(10), {record()});
  EXPECT_EQ(result.pictures, std::vector<std::string>{"drawn by hand"});
  EXPECT_EQ(messages_,
            (Messages{Message::note("the record stands"), Message::warning("the paper is torn")}));
  ASSERT_EQ(result.averages.size(), 1u);
  EXPECT_EQ(result.averages[0].quantity, "largest_x_A");
}

TEST_F(CustomObservers, StoppedReplicasAreLeftOut) {
  script_.blow_ups = {{1, 20}};
  const RunResult result = run(deck(35), {table_with()});
  EXPECT_EQ(columns_of(out_ + "/mine.csv").at("replica"),
            (std::vector<double>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2, 0, 2, 0, 2}));
  EXPECT_EQ(result.averages[0].samples, 15);
}

TEST_F(CustomObservers, UnknownValuesAreInNoAverage) {
  QuantityTable table = first_coordinates();
  table.values = [](const Frame& frame, std::size_t r, std::span<double> values) {
    values[0] = first_coordinate(frame, r);
    if (frame.step % 14 == 0) values[1] = 2.0;  // and no number otherwise
  };
  expect_throws<NumericalError>({"x_squared_A2"}, [&] { run(deck(28), {quantity_table(table)}); });
  EXPECT_TRUE(contains(run_json(), "may_be_unknown"));
  fs::remove_all(out_);
  table.may_be_unknown = true;
  const RunResult result = run(deck(28), {quantity_table(table)});
  EXPECT_TRUE(contains(read_text(out_ + "/mine.csv"), ",nan\n"));
  ASSERT_EQ(result.averages.size(), 2u);
  EXPECT_EQ(result.averages[0].samples, 15);
  EXPECT_EQ(result.averages[1].samples, 9);
  EXPECT_EQ(result.averages[1].mean, 2.0);
  // A column of which nothing is ever known has no average.
  fs::remove_all(out_);
  table.values = [](const Frame&, std::size_t, std::span<double> values) { values[0] = 1.0; };
  EXPECT_EQ(run(deck(28), {quantity_table(table)}).averages.size(), 1u);
}

TEST_F(CustomObservers, AnotherSetIsRefusedAndNothingIsChanged) {
  const auto mine = table_with();
  run(deck(30), {mine, record()});
  const auto before = contents_of(out_);
  const auto refused = [&](std::vector<ObserverMaker> observers, std::int64_t steps) {
    const std::string message =
        message_of<InputError>([&] { resume(deck(steps), std::move(observers)); });
    EXPECT_EQ(contents_of(out_), before);
    return message;
  };
  const auto other = record({.name = "other", .file = "other.txt"});
  expect_parts({
      {refused({mine}, 40), "the run had an observer 'record'"},
      {refused({}, 40), "had an observer 'mine every 7 replicas all of x_A, "},
      {refused({mine, record(), other}, 40), "'other' is new"},
      {refused({mine, record(), other}, 30), "'other' is new"},  // of a run that has ended
  });
  // A table with other settings is another one.
  using T = QuantityTable;
  for (const auto change : std::vector<void (*)(T&)>{
           [](T& t) { t.every = 14; }, [](T& t) { t.columns[1] = "x_cubed_A3"; },
           [](T& t) { t.settings = "within 3 A"; }, [](T& t) { t.may_be_unknown = true; },
           [](T& t) { t.steady = true; }}) {
    EXPECT_TRUE(contains(refused({table_with(change), record()}, 40), "mine"));
  }
  EXPECT_TRUE(resume(deck(30), {mine, record()}).already_finished);
  EXPECT_EQ(resume(deck(40), {record(), mine}).steps_done, 40) << "their order is free";
}

TEST_F(CustomObservers, NamesAndFilesAreTheirOwn) {
  const auto with_file = [](const std::string& file) { return record({.file = file}); };
  for (const char* file : {"", ".", "..", "../x", "/tmp/x", "a/b"}) {
    EXPECT_TRUE(contains(refusal({with_file(file)}), "not a plain file name"));
  }
  for (const char* file : {"run.json", "checkpoint.bin", "energies.csv", "trajectory-0003.dcd"}) {
    EXPECT_TRUE(contains(refusal({with_file(file)}), "the run writes a file with this name"));
  }
  const auto often = table_with([](QuantityTable& table) { table.every = 1; });
  const auto energies = table_with([](QuantityTable& table) { table.file = "energies"; });
  expect_parts({
      {refusal({record(), record()}), "another observer writes this file"},
      {refusal({record(), with_file("other.txt")}), "two observers have the name 'rec"},
      {refusal({energies}), "'energies.csv'"},
      {refusal({table_with(), often}), "another observer writes this file"},
      {refusal({{}}), "empty function"},
  });
  // None at all is fine.
  EXPECT_EQ(run(deck(5), {[](const RunInfo&) { return nullptr; }}).steps_done, 5);
}

TEST_F(CustomObservers, ATableThatCannotBeIsRefusedAtOnce) {
  const auto refused = [](const auto& change) {
    return message_of<InputError>([&] { table_with(change); });
  };
  using T = QuantityTable;
  for (const char* file : {"", "a/b", "mine.csv", "my table"}) {
    EXPECT_TRUE(contains(refused([&](T& t) { t.file = file; }), "invalid file name"));
  }
  for (const char* column : {"", "a,b", "a\nb", "#a", "a\"b"}) {
    EXPECT_TRUE(contains(refused([&](T& t) { t.columns[0] = column; }), "not a valid column name"));
  }
  for (const char* column : {"x_squared_A2", "x_squared_A2_err", "step", "replica"}) {
    EXPECT_TRUE(contains(refused([&](T& t) { t.columns[0] = column; }), "exists twice"));
  }
  const ReplicaSelection none{ReplicaSelection::Kind::first, 0};
  expect_parts({
      {refused([](T& t) { t.columns.clear(); }), "no columns"},
      {refused([](T& t) { t.every = 0; }), "every = 0"},
      {refused([](T& t) { t.values = nullptr; }), "give a function"},
      {refused([](T& t) { t.save = [](std::ostream&) {}; }), "both save and load"},
      {refused([](T& t) { t.load = [](std::istream&) {}; }), "both save and load"},
      {refused([](T& t) { t.steady = t.may_be_unknown = true; }), "mutually exclusive"},
      {refused([&](T& t) { t.replicas = none; }), "must be at least 1"},
  });
  // That of an observer is read in the run.
  expect_throws<InputError>({"'record' returned every() = 0"},
                            [&] { run(deck(5), {record({.every = 0})}); });
}

TEST_F(CustomObservers, ExceptionsPropagateAndTheRunCanResume) {
  const Deck d = deck(100, "[observe.energies]\nevery = 5\n[checkpoint]\nevery = 30\n");
  run(d, {record()});
  const auto straight = files();
  Record::Settings bad;
  bad.fails_at = 75;
  fs::remove_all(out_);
  EXPECT_EQ(message_of<std::runtime_error>([&] { run(d, {record(bad)}); }), "mine has failed");
  expect_parts_of(run_json(), {"\"status\": \"failed\"", "mine has failed"});
  EXPECT_EQ(io::read_checkpoint(out_ + "/checkpoint.bin").state.step, 60);
  bad.fails_with_a_number = true;
  EXPECT_THROW(resume(d, {record(bad)}), int);
  EXPECT_TRUE(contains(run_json(), "\"status\": \"failed\""));
  EXPECT_FALSE(fs::exists(out_ + "/.tarn-lock"));
  resume(d, {record()});
  EXPECT_EQ(files(), straight);
}

TEST_F(CustomObservers, UnrequestedFieldsThrow) {
  const auto energies = table_with([](QuantityTable& table) { table.fields = kEnergies; });
  expect_throws<std::out_of_range>({"not requested"}, [&] { run(deck(7), {energies}); });
  Frame frame;
  FakeEngine(fake_start(2, 3), {}, 0.002).snapshot(kPositions | kVelocities | kOwnPositions, frame);
  EXPECT_EQ(frame.live(), 3u);
  EXPECT_EQ(frame.coordinates(), 18u);
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(frame.positions_A_of(r).data(), &frame.positions_A[18 * r]);
    EXPECT_EQ(frame.positions_A_of(r).size(), 18u);
    EXPECT_EQ(frame.own_positions_A_of(r).data(), &frame.own_positions_A[18 * r]);
    EXPECT_EQ(frame.velocities_A_per_akma_of(r).data(), &frame.velocities_A_per_akma[18 * r]);
  }
  EXPECT_THROW(frame.positions_A_of(3), std::out_of_range);
}

TEST_F(CustomObservers, FieldsReachTheSnapshot) {
  std::vector<unsigned> snapshots;
  script_.snapshots = &snapshots;
  run(deck(7),
      {table_with([](QuantityTable& table) { table.fields = kPositions | kMultipliers; })});
  EXPECT_EQ(std::ranges::count_if(snapshots, [](unsigned f) { return (f & kMultipliers) != 0; }), 2)
      << "at steps 0 and 7";
}

TEST_F(CustomObservers, OverwriteReplacesTheirFiles) {
  run(deck(10), {record(), table_with()});
  write_text(out_ + "/mine.svg", "of the older run");
  run(deck(10), {table_with()}, to_out(&RunOptions::overwrite));
  EXPECT_FALSE(fs::exists(out_ + "/mine.svg"));
  EXPECT_TRUE(fs::exists(out_ + "/record.txt")) << "nobody says whose that is";
}

TEST_F(CustomObservers, EmptyPartsMatchARun) {
  RunFactories start;  // the start alone
  start.make_start = [](const Deck& of) { return make_start(of); };
  RunOptions options;
  options.device = "cpu";
  options.threads = 1;
  const auto energies = [&](const std::string& name, const RunFactories& parts) {
    options.out_dir = folder_.file(name);
    run_deck(deck(20, "[observe.energies]\nevery = 5\n"), options, parts);
    return read_text(options.out_dir + "/energies.csv");
  };
  EXPECT_EQ(energies("start", start), energies("none", {}));
}

}  // namespace
}  // namespace tarn
