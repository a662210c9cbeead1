#include <regex>
#include <thread>

#include "command.hpp"
#include "csv_columns.hpp"
#include "io/xyz.hpp"
#include "run/run_messages.hpp"
#include "start/molecule_frame.hpp"
#include "start/start_sources.hpp"
#include "tarn/deck.hpp"
#include "tarn/start.hpp"

/// @file
/// Advice with numbers, followed: a deck that does what a message says no longer gets it, and the
/// outcome is the promised one.

namespace tarn {
namespace {

using namespace test;

/// A message, and the options that follow it; $1 and $2 are its numbers.
struct Advice {
  std::string deck;     ///< lines after kBase
  std::string options;  ///< that provoke the message
  std::string message;  ///< regular expression
  std::string follow;   ///< options
};

/// Sections are repeated by --set only.
const std::string kBase =
    "[system]\nmolecules = 8\nreplicas = 4\n"
    "[thermostat]\nkind = \"baoab\"\ntemperature_K = 150\nfriction_per_ps = 5\n";
const std::string kFlexible = " --set system.model=qtip4pf";
const std::string kRings = kFlexible + " --set path_integral.beads=8";
const std::string kOwnBonds =
    " --set system.model=own --set model.oh_A=1 --set model.hoh_degrees=109 --set "
    "model.sigma_A=3.16"
    " --set model.epsilon_kcal_per_mol=0.15 --set model.charge_hydrogen_e=0.42"
    " --set model.stretch=harmonic --set model.stretch_stiffness_kcal_per_mol_A2=90000"
    " --set model.bend_stiffness_kcal_per_mol_rad2=80";

class Advised : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }
  std::string deck(const std::string& lines) const {
    write_text(path("deck.toml"), kBase + lines);
    return path("deck.toml");
  }
  /// The numbers of the message in the output of a command; none without the message.
  static std::vector<std::string> numbers_in(const std::string& text, const std::string& message) {
    std::smatch found;
    if (!std::regex_search(text, found, std::regex(message))) return {};
    return {found.begin() + 1, found.end()};
  }
  static std::string with_numbers(std::string options, const std::vector<std::string>& numbers) {
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const std::string name = '$' + std::to_string(k + 1);
      for (std::size_t at; (at = options.find(name)) != std::string::npos;) {
        options.replace(at, name.size(), numbers[k]);
      }
    }
    return options;
  }

  ScratchFolder folder_;
};

TEST_F(Advised, DecksThatFollowACheckGetNoMessage) {
  const std::string flexible_step = "is long for velocity Verlet.*Use ([0-9.e+-]+) fs or less";
  const std::string wall = "is too stiff.*Use ([0-9.e+-]+) or less";
  const std::string resonance = "resonates.*a step of at most ([0-9.e+-]+) fs";
  const std::string outside = "outside the wall.*increase radius_A to ([0-9.e+-]+)";
  const std::string correlation = "observe.correlation. writes no rows.*";
  const std::string spectrum = "observe.spectrum. writes no rows.*";
  const std::string step = " --set integrator.timestep_fs=$1";
  const std::string stiff =
      " --set confinement.radius_A=9 --set confinement.stiffness_kcal_per_mol_A2=";
  const std::string softer = " --set confinement.stiffness_kcal_per_mol_A2=$1";
  std::vector<Advice> all{
      {"", kFlexible + " --set integrator.timestep_fs=1.26", flexible_step, step},
      {"", kFlexible + " --set integrator.timestep_fs=1.9 --set system.hydrogen_mass_Da=2.014",
       flexible_step, step},
      {"", kOwnBonds + " --set integrator.timestep_fs=0.9", flexible_step, step},
      {"", " --set integrator.timestep_fs=20", "far above.*about ([0-9.]+) fs at 298 K", step},
      {"", stiff + "3e5", wall, softer},
      {"",
       stiff + "3e5 --set integrator.timestep_fs=3.7 --set "
               "system.hydrogen_mass_Da=2.014",
       wall, softer},
      {"", kRings + " --set run.duration_ps=9", "spread within about ([0-9.]+) ps",
       " --set run.equilibration_ps=$1"},
      {"[observe.evaporation]\n[run]\nduration_ps = 500\n",
       " --set thermostat.friction_per_ps=0.013", "equilibration_ps = ([0-9.]+) or more",
       " --set run.equilibration_ps=$1"},
      {"[observe.evaporation]\n[run]\nduration_ps = 50\n",
       " --set thermostat.friction_per_ps=0.013",
       "equilibration_ps = ([0-9.]+) or more and a duration_ps above ([0-9.]+)",
       " --set run.equilibration_ps=$1 --set run.duration_ps=$2.1"},
      {"[observe.spectrum]\nevery = 11\n", kFlexible + " --set run.duration_ps=50",
       "alias.*Use every = ([0-9]+)", " --set observe.spectrum.every=$1"},
      {"[observe.spectrum]\nevery = 3\n",
       " --set integrator.scheme=zss-stiff --set run.duration_ps=50",
       "penalised bonds.*Use every = ([0-9]+)", " --set observe.spectrum.every=$1"},
      {"[confinement]\nradius_A = 0.9\nstiffness_kcal_per_mol_A2 = 2\n", "", outside,
       " --set confinement.radius_A=$1"},
      {"[confinement]\nradius_A = 0.9\nstiffness_kcal_per_mol_A2 = 2\n",
       " --set run.duration_ps=9 --set run.equilibration_ps=1", outside,
       " --set confinement.radius_A=$1"}};
  for (const int beads : {4, 16, 32}) {
    all.push_back({"",
                   kRings + fmt::format(" --set path_integral.free_ring=exact --set "
                                        "integrator.timestep_fs=90 --set path_integral.beads={}",
                                        beads),
                   resonance, step});
  }
  // Runs of all lengths, with intervals and equilibrations that do not divide one another.
  for (const char* run : {"0.9", "3.3", "7.77", "12"}) {
    const std::string length =
        fmt::format(" --set run.duration_ps={} --set run.equilibration_ps=0.211", run);
    const std::string correlated = "[observe.correlation]\nevery = 7\nlength_ps = 9.3\n";
    const std::string resolved = "[observe.spectrum]\nevery = 3\nresolution_per_cm = 1.3\n";
    const std::string longer = "Set .run. duration_ps = ([0-9.]+) or more";
    all.push_back({correlated, length, correlation + longer, " --set run.duration_ps=$1"});
    all.push_back({correlated, length, correlation + "length_ps = ([0-9.]+) or less",
                   " --set observe.correlation.length_ps=$1"});
    all.push_back({resolved, length, spectrum + longer, " --set run.duration_ps=$1"});
    all.push_back({resolved, length, spectrum + "resolution_per_cm = ([0-9.e+]+) or more",
                   " --set observe.spectrum.resolution_per_cm=$1"});
  }
  for (const Advice& advice : all) {
    SCOPED_TRACE(advice.options + ": " + advice.message);
    const bool has_length = contains(advice.deck + advice.options, "duration_ps");
    const std::string command = "check " + deck(advice.deck) + advice.options +
                                (has_length ? "" : " --set run.steps=9") +
                                " --device cuda";  // whose time is not measured
    const std::string before = output_of(command);
    const std::vector<std::string> numbers = numbers_in(before, advice.message);
    ASSERT_FALSE(numbers.empty()) << before;
    const std::string after = output_of(command + with_numbers(advice.follow, numbers));
    const std::string problem = advice.message.substr(0, advice.message.find(".*"));
    EXPECT_FALSE(std::regex_search(after, std::regex(problem))) << after;
  }
}

/// The rows are written at the proposed lengths, and not one sample later.
TEST_F(Advised, ProposedLengthsGiveRows) {
  const std::string command = deck(
      "[observe.correlation]\nevery = 7\nlength_ps = 1.1\n"
      "[observe.spectrum]\nevery = 3\nresolution_per_cm = 22\n");
  const std::string length = " --set run.duration_ps=0.9 --set run.equilibration_ps=0.211";
  const std::string check = output_of("check " + command + length);
  for (const std::string name : {"correlation", "spectrum"}) {
    const std::vector<std::string> numbers =
        numbers_in(check, "observe." + name + ". writes no rows.*duration_ps = ([0-9.]+) or more");
    ASSERT_EQ(numbers.size(), 1u) << check;
    output_of("run --quiet --no-pictures " + command + length +
              " --set run.duration_ps=" + numbers[0] + " --out " + path(name));
    const std::string first = name == "spectrum" ? "wavenumber_per_cm" : "time_ps";
    EXPECT_GT(cells_of(path(name + "/" + name + ".csv"), first).size(), 3u);
  }
}

/// Walls of the proposed radius do not act on cold clusters: no oxygen comes near.
TEST_F(Advised, ProposedWallsLeaveColdClustersAlone) {
  const WaterModel model = *find_water_model("tip3p");
  for (const int molecules : {1, 2, 8, 20}) {
    SCOPED_TRACE(molecules);
    const std::string command =
        deck("[observe.trajectory]\nevery = 50\nreplicas = 1\n[run]\nsteps = 2000\n") +
        fmt::format(" --set system.molecules={} --set thermostat.temperature_K=60", molecules);
    const std::vector<std::string> radius =
        numbers_in(output_of("check " + command), "radius_A = ([0-9.]+) acts only");
    ASSERT_EQ(radius.size(), 1u);
    const std::string wall =
        " --set confinement.stiffness_kcal_per_mol_A2=2 --set confinement.radius_A=" + radius[0];
    EXPECT_FALSE(contains(output_of("check " + command + wall), "outside the wall"));
    const std::string out = path(std::to_string(molecules));
    output_of("run --quiet --no-pictures " + command + wall + " --out " + out);
    io::XyzReader frames(out + "/trajectory-0000.xyz");
    int count = 0;
    for (; const auto frame = frames.next(); ++count) {
      EXPECT_LT(start::farthest_oxygen_A(model, frame->positions_A), std::stod(radius[0]));
    }
    EXPECT_EQ(count, 41);
  }
}

/// A few starts outside the wall are normal before the averages begin; others ask for an action.
TEST_F(Advised, StartsOutsideTheWall) {
  Deck d = parse_deck(kBase +
                          "[confinement]\nradius_A = 6\nstiffness_kcal_per_mol_A2 = 2\n"
                          "[run]\nduration_ps = 9\n",
                      "a.toml", {"system.molecules=2"});
  const System system = make_system(d, 2);
  State state;
  state.molecules = 2;
  for (int r = 0; r < 4; ++r) {
    const std::vector<double> x = random_cluster(system.model, 2, 1, r);
    state.positions_A.insert(state.positions_A.end(), x.begin(), x.end());
    state.replica_ids.push_back(r);
  }
  EXPECT_FALSE(start::message_on_wall(d, system, state));
  for (const int outside : {1, 2, 3}) {
    for (std::size_t c = 0; c < 9; ++c) {
      state.positions_A[18 * static_cast<std::size_t>(outside) + c] += 20.0;
    }
    for (const double equilibration_ps : {0.0, 1.0}) {
      d.run.equilibration_ps = equilibration_ps;
      const std::optional<Message> message = start::message_on_wall(d, system, state);
      ASSERT_TRUE(message);
      const bool few = outside <= 2;
      EXPECT_EQ(message->level, few && equilibration_ps > 0.0 ? Level::note : Level::warning);
      EXPECT_EQ(contains(message->text, "or leave the start out by [run] equilibration_ps"),
                few && equilibration_ps == 0.0);
    }
  }
}

/// Radii and time steps of the likely causes of a blow-up, for clusters of every size.
TEST_F(Advised, RemediesOfBlowUpsRemoveTheirCause) {
  Deck d = parse_deck(kBase + "[run]\nsteps = 1\n", "a.toml");
  BlowUp late;
  late.step = 1'000'000;
  for (const int molecules : {1, 2, 3, 8, 33, 100, 1000, 20000}) {
    d.confinement = ConfinementSection{};
    d.confinement->stiffness_kcal_per_mol_A2 = 1.0;
    d.confinement->radius_A = 0.2;
    d.confinement->radius_A = number_after(describe(late, d, 0, molecules), "use a radius_A of ");
    EXPECT_FALSE(contains(describe(late, d, 0, molecules), "[confinement]")) << molecules;
  }
  d.confinement.reset();
  d.integrator.timestep_fs = 25.0;
  d.integrator.timestep_fs = number_after(describe(late, d, 0, 8), "try timestep_fs = ");
  EXPECT_FALSE(contains(describe(late, d, 0, 8), "stability limit"));
  const std::string command = "run --quiet --no-pictures " + deck("[run]\nsteps = 500\n") +
                              " --set thermostat.temperature_K=400 --set integrator.timestep_fs=";
  output_of(command + "40 --out " + path("long"), 3);
  output_of(fmt::format("{}{:g} --out {}", command, d.integrator.timestep_fs, path("ok")));
}

/// A ladder that check proposes has the acceptance that it promises: "about 30 %", of a heat
/// capacity of 5 k per molecule; those of liquid clusters are 4 to 7.
TEST_F(Advised, ProposedLaddersHaveTheAcceptance) {
  for (const int molecules : {1, 2, 8, 100, 1000}) {
    const std::string command =
        "check " + deck("[exchange]\nevery = 10\n[run]\nsteps = 9\n") +
        " --set system.start=random --set " +
        fmt::format("system.molecules={} --set system.replicas=", molecules);
    const std::string message =
        "acceptance between neighbouring temperatures is ([0-9]+) %; for "
        "about 30 %, temperatures_K = \\[([^\\]]*)\\]";
    const auto proposed = [&](const std::string& temperatures_K) {
      const auto count = std::count(temperatures_K.begin(), temperatures_K.end(), ',') + 1;
      return numbers_in(output_of(command + fmt::format("{} --unset thermostat.temperature_K --set "
                                                        "'thermostat.temperatures_K=[{}]'",
                                                        count, temperatures_K)),
                        message);
    };
    const std::vector<std::string> first = proposed("60, 310");
    ASSERT_EQ(first.size(), 2u);
    const std::vector<std::string> second = proposed(first[1]);
    ASSERT_EQ(second.size(), 2u);
    EXPECT_GE(std::stoi(second[0]), 29) << molecules;
  }
}

/// The files that check lists are those that the run writes, pictures apart.
class Listed : public Advised {
 protected:
  void expect_files_of(const std::string& words) const {
    SCOPED_TRACE(words);
    const std::vector<std::string> listed =
        numbers_in(output_of("check " + words), "\nfiles in [^:]*: (.*)\n");
    ASSERT_EQ(listed.size(), 1u);
    std::set<std::string> promised, written;
    const std::regex file("([^ ,]*?)(-0000)?(\\.[a-z0-9]+)( to [^ ,]*-([0-9]{4})\\.[a-z0-9]+)?");
    for (std::sregex_iterator at(listed[0].begin(), listed[0].end(), file), end; at != end; ++at) {
      const int last = (*at)[4].matched ? std::stoi((*at)[5]) : 0;
      for (int r = 0; r <= last; ++r) {
        const std::string number = (*at)[2].matched ? fmt::format("-{:04}", r) : "";
        promised.insert((*at)[1].str() + number + (*at)[3].str());
      }
    }
    output_of("run --quiet --no-pictures --overwrite " + words + " --out " + path("out"));
    for (const auto& entry : std::filesystem::directory_iterator(path("out"))) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with('.')) written.insert(name);
    }
    EXPECT_EQ(promised, written) << listed[0];
  }
};

TEST_F(Listed, FilesOfTheDecksOfInputs) {
  for (const auto& entry : std::filesystem::directory_iterator(TARN_SOURCE_DIR "/inputs")) {
    if (entry.path().extension() != ".toml") continue;
    const std::string text = read_text(entry.path().string());
    const bool has_steps = !contains(text, "slow-manifold\"");
    const bool is_water = contains(text, "[system]\nmolecules") || contains(text, "model = ") ||
                          contains(text, "molecules = ") || contains(text, "files = ") ||
                          contains(text, "file = ");
    expect_files_of(entry.path().string() + (has_steps ? " --set run.steps=40" : "") +
                    (is_water ? " --set run.equilibration_ps=0 --set run.threads=1" : ""));
  }
}

TEST_F(Listed, FilesOfReplicasAndTemperatures) {
  const std::string command = deck("[run]\nsteps = 40\n") + " --set system.molecules=2";
  for (const int replicas : {1, 2, 3}) {
    const std::string several = fmt::format(" --set system.replicas={}", replicas);
    for (const auto& [format, selected] :
         {std::pair("xyz", "all"), {"dcd", "1"}, {"xtc", "all"}, {"trr", "1"}}) {
      expect_files_of(command + several + " --set observe.trajectory.format=" + format +
                      " --set observe.trajectory.replicas=" + selected +
                      " --set observe.final.replicas=" + selected);
    }
  }
  const std::string ladder =
      command + " --unset thermostat.temperature_K --set 'thermostat.temperatures_K=[90,100]'";
  for (const std::string more :
       {"exchange.every=10", "observe.rdf.every=9", "observe.profile.every=9",
        "observe.energies.every=9", "observe.minima.every=9", "observe.evaporation.every=9"}) {
    expect_files_of(ladder + " --set " + more);
    if (more != "exchange.every=10") expect_files_of(command + " --set " + more);
  }
}

class AdvisedExchange : public Advised {
 protected:
  /// A run of liquid tetramers in a wall.
  std::string run(const std::string& name, const std::string& temperatures_K, int ladders,
                  const std::string& more = "") const {
    const auto count = std::count(temperatures_K.begin(), temperatures_K.end(), ',') + 1;
    return output_of(
        "run --no-pictures " +
        deck("[exchange]\nevery = 10\n[confinement]\nradius_A = 4.5\n"
             "stiffness_kcal_per_mol_A2 = 2\n[run]\nsteps = 6000\nequilibration_ps = 2\n") +
        " --unset thermostat.temperature_K --set system.molecules=4" +
        fmt::format(" --set 'thermostat.temperatures_K=[{}]' --set system.replicas={} --out {} {}",
                    temperatures_K, count * ladders, path(name), more));
  }
};

TEST_F(AdvisedExchange, AddedTemperaturesExchange) {
  const std::string rare = run("rare", "250, 620", 16);
  const std::vector<std::string> numbers =
      numbers_in(rare, "250 K and 620 K exchange in only .*; add ([0-9]+) temperature");
  ASSERT_EQ(numbers.size(), 1u) << rare;
  std::string ladder = "250";
  const int intervals = std::stoi(numbers[0]) + 1;
  for (int k = 1; k <= intervals; ++k) {
    ladder += fmt::format(", {:.4g}", 250.0 * std::pow(620.0 / 250.0, double(k) / intervals));
  }
  const std::string often = run("often", ladder, 8);
  EXPECT_FALSE(contains(often, "exchange in only")) << often;
}

/// "temperatures_K = [...] would give an acceptance of 48 % between all neighbours".
TEST_F(AdvisedExchange, EvenLaddersHaveThePredictedAcceptance) {
  const std::string uneven = run("uneven", "250, 262, 274, 400", 16);
  const std::vector<std::string> numbers =
      numbers_in(uneven, "temperatures_K = \\[([^\\]]*)\\] would give an acceptance of ([0-9]+) %");
  ASSERT_EQ(numbers.size(), 2u) << uneven;
  run("even", numbers[0], 16);
  const std::string table = path("even/exchange.csv");
  const std::vector<double> acceptance = numbers_of(table, "acceptance"),
                            error = numbers_of(table, "acceptance_err");
  ASSERT_EQ(acceptance.size(), 3u);
  for (std::size_t k = 0; k < acceptance.size(); ++k) {
    // 4.5 sigma of both runs, whose errors are alike, and the rounding to a per cent.
    EXPECT_NEAR(acceptance[k], 0.01 * std::stod(numbers[1]),
                4.5 * std::sqrt(2.0) * error[k] + 0.005)
        << k;
  }
}

/// "Run 3.1 times longer": the changes per walker are then about those that are needed.
TEST_F(AdvisedExchange, LongerRunsHaveEnoughChanges) {
  const std::string three = "--set system.molecules=3 --set run.equilibration_ps=0.5";
  const std::string message = " round trips between .*, ([0-9.]+) per walker, ";
  const std::string brief = run("brief", "300, 330", 32, three + " --set run.steps=500");
  const std::vector<std::string> times = numbers_in(brief, "Run ([0-9.]+) times longer");
  ASSERT_EQ(times.size(), 1u) << brief;
  const auto steps = static_cast<long>(std::ceil(500.0 * std::stod(times[0])));
  const std::string followed =
      run("long", "300, 330", 32, three + fmt::format(" --set run.steps={}", steps));
  const std::vector<std::string> changes = numbers_in(followed, message);
  ASSERT_EQ(changes.size(), 1u) << followed;
  // "About": of 64 walkers with ten round trips each, 4.5 sigma are 18 %; both runs count.
  EXPECT_GE(std::stod(changes[0]), 7.0) << followed;
}

TEST_F(Advised, TheProposedNumberOfThreadsIsThatOfTheProcessors) {
  const std::string command =
      "run --no-pictures " + deck("[run]\nsteps = 1\n") + " --out " + path("out") + " --overwrite ";
  const std::string many = std::to_string(std::thread::hardware_concurrency() + 1);
  const std::vector<std::string> numbers =
      numbers_in(output_of(command + "--threads " + many), "Use --threads ([0-9]+)");
  ASSERT_EQ(numbers.size(), 1u);
  EXPECT_FALSE(contains(output_of(command + "--threads " + numbers[0]), "slows the run"));
}

/// The nearest multiple of a bin width, with the digits that it takes.
TEST_F(Advised, ProposedDistancesAreMultiplesOfTheBinWidth) {
  output_of("cluster --quiet --molecules 3 -o " + path("a.xyz"));
  for (const std::string width : {"0.07", "0.333333333", "0.0123456789"}) {
    const std::string command = "rdf " + path("a.xyz") + " --bin-width-A " + width;
    const std::vector<std::string> numbers =
        numbers_in(output_of(command + " --r-max-A 12.001", 2), "the nearest is ([0-9.]+) A");
    ASSERT_EQ(numbers.size(), 1u) << width;
    output_of(command + " --r-max-A " + numbers[0]);
  }
}

}  // namespace
}  // namespace tarn
