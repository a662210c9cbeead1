#include "tarn/deck.hpp"

#include "deck/notes.hpp"
#include "deck/schema.hpp"
#include "deck/source.hpp"
#include "tarn/deck_text.hpp"
#include "testing.hpp"
#include "text_parts.hpp"

namespace tarn {
namespace {

using namespace test;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::string kSmallest = "[system]\nmolecules = 7\n[run]\nsteps = 1000\n";
const std::string kWarm =
    kSmallest + "[thermostat]\nkind = \"gla\"\ntemperature_K = 10.0\nfriction_per_ps = 5.0\n";

const std::string kLibrary =
    "[potential]\nkind = \"library\"\npath = \"libmine.so\"\noptions = \"k = 1\"\n";
const std::string kSocket = "[potential]\nkind = \"socket\"\naddress = \"localhost:31415\"\n";

// Every key of every section as tarn check prints them, with values other than the defaults.
const std::string kEveryKey = R"([system]
kind = "water"
model = "tip4p"
molecules = 12
start = "random"
replicas = 64
seed = 42
velocities = "tangent"
temperature_K = 298.15
relax = false
project = "none"
remove_momentum = true
hydrogen_mass_Da = 2.014
oxygen_mass_Da = 16.5
keep_molecule_mass = false
recentre = true

[integrator]
scheme = "zss-stiff"
timestep_fs = 1.5
beta = 0.4
omega = 20.0
hessian = "gauss-newton"
solver = "dense"

[thermostat]
kind = "gla"
temperature_K = 300.0
friction_amu_per_ps = 0.2045483

[run]
steps = 20000
equilibration_ps = 10.0
precision = "mixed"
device = "cuda:1"
threads = 3

[observe.energies]
every = 7
replicas = "mean"

[observe.conservation]
every = 8
replicas = 3

[observe.cluster]
every = 13
replicas = "mean"
lindemann = false

[observe.rdf]
every = 9
pairs = ["OO", "HH"]
r_max_A = 10.5
bins = 100

[observe.profile]
every = 15
r_max_A = 9.5
bins = 33

[observe.spectrum]
every = 2
resolution_per_cm = 2.5
replicas = 3

[observe.correlation]
every = 3
length_ps = 4.5
replicas = 2

[observe.evaporation]
every = 16
link_A = 7.5

[observe.minima]
every = 14
replicas = 5
isomers = 7
tolerance_kcal_per_mol_A = 1e-05

[observe.trajectory]
every = 11
format = "xyz"
velocities = true
replicas = 2

[checkpoint]
every = 12
every_minutes = 7.5
)";

using Texts = std::vector<std::string>;

Deck parse(const std::string& text, const Texts& overrides = {}, const Texts& removals = {}) {
  return parse_deck(text, "folder/some.deck.toml", overrides, removals);
}

/// The problems for which `read` throws InputError.
template <class Read>
std::vector<Problem> problems_by(const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.problems();
  }
  return {};
}

/// The messages of the problems, with their places.
Texts problems_of(const std::string& text, const Texts& overrides = {},
                  const Texts& removals = {}) {
  Texts texts;
  for (const Problem& problem : problems_by([&] { parse(text, overrides, removals); })) {
    texts.push_back(problem.text());
  }
  return texts;
}

/// The text of the single problem.
std::string problem_of(const std::string& text, const Texts& overrides = {},
                       const Texts& removals = {}) {
  const Texts all = problems_of(text, overrides, removals);
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? std::string{} : all.front();
}

/// The message on a deck that contains this part; "none" if there is none.
Message message_with(const Deck& deck, const std::string& part) {
  for (const Message& message : decks::messages_on(deck)) {
    if (contains(message.text, part)) return message;
  }
  return Message::note("none");
}

// --- Reading a deck ---

/// docs/decks.md lists the other defaults.
TEST(Deck, FillsDefaults) {
  Deck expected;
  expected.path = "folder/some.deck.toml";
  expected.name = "some.deck";
  expected.system.molecules = 7;
  expected.system.velocities = VelocityKind::zero;
  expected.system.relax = false;
  expected.system.oxygen_mass_Da = units::mass_oxygen_Da;
  expected.run.steps = 1000;
  EXPECT_EQ(parse(kSmallest), expected) << resolved_deck(parse(kSmallest));
}

TEST(Deck, ReadsAndWritesEveryKey) {
  EXPECT_EQ(resolved_deck(parse(kEveryKey)), kEveryKey);
  const Deck deck = parse(kEveryKey, {"run.duration_ps=30"});
  EXPECT_EQ(deck.run.steps, 20000);
  EXPECT_EQ(deck.energies->replicas, (ReplicaSelection{ReplicaSelection::Kind::mean, 0}));
  EXPECT_EQ(deck.conservation->replicas, (ReplicaSelection{ReplicaSelection::Kind::first, 3}));
  EXPECT_EQ(deck.rdf->pairs, (std::array<bool, 3>{true, false, true}));
}

TEST(Deck, AnEmptyObserverSectionTurnsTheObserverOn) {
  const Deck deck = parse(kSmallest + "[observe.energies]\n[observe.rdf]\n");
  EXPECT_EQ(deck.energies, ObserveTable{});
  EXPECT_EQ(deck.rdf, ObserveRdf{});
  EXPECT_FALSE(deck.conservation || deck.trajectory);
}

TEST(Deck, AnySpellingOfTomlWillDo) {
  const Deck deck = parse(
      "system.molecules = 0x7\r\nrun = { steps = 1_000 }\r\n"
      "observe = { rdf = { every = 3 } }\r\n");
  EXPECT_EQ(deck.system.molecules, 7);
  EXPECT_EQ(deck.run.steps, 1000);
  ASSERT_TRUE(deck.rdf);
  EXPECT_EQ(deck.rdf->every, 3);
}

TEST(Deck, InfiniteOmegaIsAWordOrANumber) {
  for (const char* omega : {"\"infinite\"", "inf", "+inf"}) {
    const Deck deck =
        parse(kSmallest + "[integrator]\nscheme = \"zss-stiff\"\nomega = " + omega + "\n");
    EXPECT_EQ(deck.integrator.omega, kInfinity);
    EXPECT_FALSE(deck.system.relax) << "rigid bonds do not relax";
  }
}

TEST(Deck, RelaxFollowsTheScheme) {
  EXPECT_TRUE(parse(kSmallest, {"integrator.scheme=zss-stiff"}).system.relax);
  EXPECT_FALSE(parse(kSmallest).system.relax);
  EXPECT_TRUE(parse(kSmallest, {"system.model=spcfw"}).system.relax);
  EXPECT_FALSE(parse(kSmallest + "[integrator]\nscheme = \"shake\"\n").system.relax);
  EXPECT_FALSE(parse(kSmallest + "[integrator]\nscheme = \"settle\"\n").system.relax);
}

TEST(Deck, VelocitiesFollowTheTemperature) {
  using Start = std::pair<VelocityKind, std::optional<double>>;
  const auto start_of = [](const std::string& text, const Texts& overrides) {
    const SystemSection system = parse(text, overrides).system;
    return Start{system.velocities, system.temperature_K};
  };
  EXPECT_EQ(start_of(kSmallest, {}), (Start{VelocityKind::zero, std::nullopt}));
  EXPECT_EQ(start_of(kSmallest, {"system.temperature_K=20"}), (Start{VelocityKind::maxwell, 20.0}));
  EXPECT_EQ(start_of(kWarm, {}), (Start{VelocityKind::maxwell, 10.0}));
  EXPECT_EQ(start_of(kWarm, {"system.temperature_K=20"}), (Start{VelocityKind::maxwell, 20.0}));
  EXPECT_EQ(start_of(kWarm, {"system.velocities=zero"}), (Start{VelocityKind::zero, std::nullopt}));
}

TEST(Deck, DenseSolvesGoWithEveryHessian) {
  for (const std::string hessian : {"gauss-newton", "full", "molecule", "total"}) {
    const Deck deck = parse(kSmallest, {"integrator.scheme=zss-stiff", "integrator.solver=dense",
                                        "integrator.hessian=" + hessian});
    EXPECT_TRUE(uses_dense_solver(make_system(deck, 7).integrator)) << hessian;
  }
}

TEST(Deck, DurationsAreRoundedUpToWholeSteps) {
  const auto steps = [](const std::string& duration_ps, const std::string& timestep_fs) {
    return parse("[system]\nmolecules = 1\n",
                 {"run.duration_ps=" + duration_ps, "integrator.timestep_fs=" + timestep_fs})
        .run.steps;
  };
  EXPECT_EQ(steps("0", "2"), 0);
  EXPECT_EQ(steps("10", "2"), 5000);
  EXPECT_EQ(steps("0.3", "0.1"), 3000);  // 0.3/0.1 is not whole in binary
  EXPECT_EQ(steps("0.0011", "1"), 2);
  EXPECT_EQ(steps("2.4444105", "2.4444105"), 1000);
  EXPECT_EQ(steps("1e9", "1"), 1'000'000'000'000);
}

TEST(Deck, TheSchemeFollowsTheModel) {
  const auto expect_scheme = [](std::string_view model, Scheme scheme, double timestep_fs) {
    SCOPED_TRACE(std::string(model));
    const Deck deck = parse(kSmallest, {"system.model=" + std::string(model)});
    EXPECT_EQ(deck.integrator.scheme, scheme);
    EXPECT_EQ(deck.integrator.timestep_fs, timestep_fs);
    EXPECT_EQ(make_system(deck, 7).model.name, model);
  };
  for (const WaterModel& model : kWaterModels) expect_scheme(model.name, Scheme::settle, 2.0);
  for (const WaterModel& model : kFlexibleWaterModels) {
    expect_scheme(model.name, Scheme::verlet, 0.5);
  }
  const std::string own =
      "[system]\nmolecules = 2\nmodel = \"own\"\n[run]\nsteps = 1\n[model]\noh_A = 1.0\n"
      "hoh_degrees = 112.0\nsigma_A = 3.2\nepsilon_kcal_per_mol = 0.15\ncharge_hydrogen_e = 0.4\n";
  EXPECT_EQ(parse(own).integrator.scheme, Scheme::settle);
  EXPECT_EQ(parse(own + "stretch = \"harmonic\"\nstretch_stiffness_kcal_per_mol_A2 = 1000.0\n"
                        "bend_stiffness_kcal_per_mol_rad2 = 75.9\n")
                .integrator.scheme,
            Scheme::verlet);
  // Another key of the section changes nothing, a scheme in the deck does.
  EXPECT_EQ(parse(kSmallest, {"integrator.timestep_fs=1"}).integrator.scheme, Scheme::settle);
  EXPECT_EQ(parse(kSmallest, {"system.model=spcfw", "integrator.scheme=zss-stiff"})
                .integrator.timestep_fs,
            2.0);
}

TEST(Deck, AThermostatIsBaoabUnlessItsKindIsGiven) {
  const Texts bath{"thermostat.temperature_K=100", "thermostat.friction_per_ps=5"};
  EXPECT_EQ(parse(kSmallest, bath).thermostat.kind, Thermostat::baoab);
  EXPECT_EQ(parse(kSmallest).thermostat.kind, Thermostat::none);
  EXPECT_EQ(parse(kWarm).thermostat.kind, Thermostat::gla);
  EXPECT_EQ(parse(kWarm, {}, {"thermostat.kind"}).thermostat.kind, Thermostat::baoab);
  EXPECT_EQ(parse(kSmallest + "[thermostat]\nkind = \"none\"\n").thermostat.kind, Thermostat::none);
  // The defaults of flexible models are those that ring polymers require.
  EXPECT_NO_THROW(parse(kSmallest + "[path_integral]\nbeads = 64\n",
                        {"system.model=qtip4pf", bath[0], bath[1]}));
}

// --- Problems; tests/unit/bad_decks_test.cpp contains the complete list ---

TEST(DeckProblems, CarryFileLineAndColumn) {
  EXPECT_TRUE(contains(problem_of("[system]\nmolecules = 7\n[run]\n  steps = -1\n"),
                       "folder/some.deck.toml:4:11: steps = -1 is out of range"));
  // Those of the whole deck have no line.
  EXPECT_EQ(problem_of("[system]\nmolecules = 7\n"),
            "folder/some.deck.toml: [run] needs steps or duration_ps");
}

TEST(DeckProblems, ComeInTheOrderOfTheLinesAndThenOfTheCommandLine) {
  const Texts all = problems_of("[run]\nsteps = -1\nthread = 1\n[system]\nmolecules = 0\n",
                                {"run.device=gpu", "observe.rdf.every=0", "sytem.seed=1"});
  ASSERT_EQ(all.size(), 6u);
  expect_parts({{all[0], ":2:9: steps"},
                {all[1], ":3:1: unknown key \"thread\""},
                {all[2], ":5:13: molecules"},
                {all[3], "--set sytem.seed=1: unknown section [sytem] (did you mean [system]"},
                {all[4], "--set run.device=gpu: device = \"gpu\""},
                {all[5], "--set observe.rdf.every=0: every = 0 is out of range"}});
}

TEST(DeckProblems, HostileDecksAreProblemsAndNoCrash) {
  const std::string long_value = kSmallest + "[integrator]\nscheme = \"" + std::string(5000, 'x');
  EXPECT_LT(problem_of(long_value + "\"\n").size(), 300u);
  const std::vector<std::string> nested =
      problems_of("a = " + std::string(100000, '[') + std::string(100000, ']'));
  ASSERT_EQ(nested.size(), 3u);  // the deck is also incomplete
  std::string key = "a";
  for (int i = 0; i < 100000; ++i) key += ".a";
  const std::string no_text = "[run]\nsteps = 1\n[system]\nmolecules = 1\nmodel = \"\xff\xfe\"\n";
  expect_parts({{nested[2], "toml:1:261: not valid TOML"},
                {problem_of(no_text), "toml:5:9: not valid TOML"},
                {problem_of(std::string("[system]\n\0", 10)), "toml:2:1: not valid TOML"},
                {problem_of(key + " = 1\n"), "this key has too many parts"},
                {problem_of("[" + key + "]\n"), "this key has too many parts"}});
}

// --- Overrides ---

TEST(DeckOverrides, ReplaceAndAdd) {
  const Deck deck =
      parse(kSmallest, {"system.molecules=3", "observe.rdf.every=5", "observe.rdf.pairs=[\"OO\"]",
                        "run.device = cpu ", "integrator.omega=infinite",
                        "integrator.scheme=zss-stiff", "system.seed=2 # why not"});
  EXPECT_EQ(deck.system.molecules, 3);
  EXPECT_EQ(deck.run.device, "cpu");
  EXPECT_EQ(deck.integrator.omega, kInfinity);
  EXPECT_EQ(deck.system.seed, 2u);
  ASSERT_TRUE(deck.rdf);
  EXPECT_EQ(deck.rdf->every, 5);
  EXPECT_EQ(deck.rdf->pairs, (std::array<bool, 3>{true, false, false}));
}

TEST(DeckOverrides, ReplaceTheKeyThatTheyExclude) {
  EXPECT_EQ(parse(kSmallest, {"run.steps=5", "run.steps=6"}).run.steps, 6) << "the last one counts";
  EXPECT_EQ(parse(kSmallest + "threads = -1\n", {"run.threads=2"}).run.threads, 2);
  EXPECT_EQ(parse(kSmallest, {"run.duration_ps=1"}).run.steps, 500);
  const Deck deck = parse(kWarm, {"thermostat.friction_amu_per_ps=0.2"});
  EXPECT_FALSE(deck.thermostat.friction_per_ps);
  EXPECT_EQ(deck.thermostat.friction_amu_per_ps, 0.2);
  EXPECT_TRUE(
      contains(problem_of(kSmallest, {"run.duration_ps=1", "run.steps=5"}), "exclude each other"));
}

TEST(DeckOverrides, FileNamesStayText) {
  EXPECT_EQ(parse("[run]\nsteps = 1\n", {"system.file=1e5"}).system.file, "1e5");
  EXPECT_EQ(parse("[run]\nsteps = 1\n", {"system.file=a b.xyz"}).system.file, "a b.xyz");
  EXPECT_EQ(parse("[run]\nsteps = 1\n", {"system.file=\"7\""}).system.file, "7");
}

TEST(DeckOverrides, ProblemsNameThem) {
  for (const auto& [override_, message] : std::vector<std::pair<std::string, std::string>>{
           {"run.steps", "--set run.steps: expected section.key=value"},
           {"steps=5", "--set steps=5: expected section.key=value"},
           {"=5", "--set =5: expected section.key=value"},
           {"run..steps=5", "--set run..steps=5: expected section.key=value"},
           {"run.steps=", "--set run.steps=: the value is missing"},
           {"run.stpes=5",
            "--set run.stpes=5: unknown key \"stpes\" in [run] (did you mean \"steps\"?)"},
           {"observe.every=5", "--set observe.every=5: [observe] contains sections and no keys"},
           {"run.steps=5.0", "--set run.steps=5.0: steps = 5.0 is a floating-point number"},
           {"run.steps=many", "--set run.steps=many: steps = many is not an integer"},
           {"system.seed=5\nreplicas=3", "seed = \"5\\u000Areplicas=3\" is a string"}}) {
    EXPECT_TRUE(contains(problem_of(kSmallest, {override_}), message)) << override_;
  }
}

TEST(DeckRemovals, TakeKeysAndSectionsAway) {
  const std::string text = kWarm + "[confinement]\nradius_A = 9\nstiffness_kcal_per_mol_A2 = 2\n" +
                           "[observe.rdf]\nevery = 5\n[observe.energies]\nevery = 7\n";
  const auto without = [&](const Texts& removals, const Texts& overrides = {}) {
    return parse(text, overrides, removals);
  };
  EXPECT_FALSE(without({"confinement"}).confinement);
  EXPECT_FALSE(without({"observe.rdf"}).rdf);
  EXPECT_TRUE(without({"observe.rdf"}).energies);
  const Deck unobserved = without({"observe", "confinement", "confinement.radius_A"});
  EXPECT_FALSE(unobserved.rdf || unobserved.energies || unobserved.confinement);
  EXPECT_EQ(without({"observe.rdf.every"}).rdf->every, ObserveRdf{}.every);
  const Deck cold = without({"thermostat"});
  EXPECT_EQ(cold.thermostat, ThermostatSection{});
  EXPECT_EQ(parse(resolved_deck(cold)), cold);
  // --set applies after --unset.
  EXPECT_EQ(without({"thermostat"}, {"thermostat.kind=none"}).thermostat, ThermostatSection{});
  EXPECT_EQ(without({"confinement.radius_A"}, {"confinement.radius_A=4"}).confinement->radius_A, 4);
  EXPECT_EQ(without({"run.steps"}, {"run.duration_ps=1"}).run.steps, 500);
  // Also for invalid keys, and for the kind, which determines the keys.
  EXPECT_EQ(parse(kSmallest + "stpes = 3\n[rnu]\na = 1\n", {}, {"run.stpes", "rnu"}),
            parse(kSmallest));
  EXPECT_EQ(parse(kSmallest + "threads = 0\n", {}, {"run.threads"}), parse(kSmallest));
  EXPECT_EQ(
      parse("[run]\nsteps = 1000\n[system]\nmolecules = 7\nkind = \"dna\"\n", {}, {"system.kind"}),
      parse(kSmallest));
}

TEST(DeckRemovals, OfMissingKeysAreProblems) {
  for (const auto& [removal, message] : std::vector<std::pair<std::string, std::string>>{
           {"confinement",
            "--unset confinement: the deck has no such section or key; expected section or "},
           {"observe", "--unset observe: the deck has no such"},
           {"thermostat.frition_per_ps", "(did you mean thermostat.friction_per_ps?)"},
           {"thermosat", "(did you mean thermostat?)"},
           {"friction_per_ps", "(did you mean thermostat.friction_per_ps?)"},
           {"run.steps=5", "(did you mean run.steps?)"},
           {"", "--unset : the deck has no such"},
           {"run.steps", "folder/some.deck.toml:3:2: [run] needs steps or duration_ps"}}) {
    EXPECT_TRUE(contains(problem_of(kWarm, {}, {removal}), message));
  }
}

// --- The resolved deck ---

TEST(ResolvedDeck, ReadsBackTheSame) {
  for (const std::string& text :
       {kSmallest, kWarm, kEveryKey,
        kSmallest + "[integrator]\nscheme = \"settle\"\ntimestep_fs = 0.1\n",
        kSmallest + "[integrator]\nscheme = \"shake\"\ntolerance = 1.2345678901234567e-9\n",
        kSmallest + "[integrator]\nscheme = \"zss-stiff\"\nomega = \"infinite\"\n"
                    "timestep_fs = 2.4444104999999997\n",
        std::string(
            "[system]\nfile = \"start.xyz\"\n[run]\nduration_ps = 1.0\n[observe.trajectory]\n"),
        std::string("[system]\nfile = \"a \\\"b\\\" \\\\c\\t\\u00e9.xyz\"\nmolecules = 3\n[run]\n"
                    "steps = 0\n")}) {
    const Deck deck = parse(text);
    const std::string resolved = resolved_deck(deck);
    EXPECT_EQ(parse(resolved), deck) << resolved;
    EXPECT_EQ(resolved_deck(parse(resolved)), resolved);
  }
}

/// Formats that lose digits far from the origin are written relative to the centre of mass.
TEST(ResolvedDeck, RecentresForFormatsOfLimitedRange) {
  for (const std::string format : {"dcd", "xtc", "gro", "pdb", "xyz", "trr"}) {
    const bool is_limited = format != "xyz" && format != "trr";
    for (const std::string recentre : {"", "false", "true"}) {
      SCOPED_TRACE(format + recentre);
      Texts overrides{"observe.trajectory.format=" + format};
      if (!recentre.empty()) overrides.push_back("system.recentre=" + recentre);
      const Deck deck = parse(kWarm, overrides);
      EXPECT_EQ(deck.system.recentre, recentre.empty() ? is_limited : recentre == "true");
      EXPECT_EQ(message_with(deck, "recentre = false: the cluster drifts").text != "none",
                is_limited && recentre == "false");
    }
  }
  EXPECT_FALSE(parse(kWarm).system.recentre);
  const Deck limited = parse(kWarm, {"observe.trajectory.format=xtc"});
  EXPECT_TRUE(contains(resolved_deck(limited), "recentre = true"));
}

TEST(PhysicsFingerprint, OmitsOnlyKeysThatResumedRunsMayChange) {
  struct Case {
    std::string text;
    std::vector<const char*> same, other;
  };
  for (const Case& c : std::vector<Case>{
           {kWarm + "[integrator]\nscheme = \"zss-stiff\"\n",
            {"run.steps=5000", "run.duration_ps=50", "run.device=cpu", "run.threads=2",
             "checkpoint.every=10", "checkpoint.every_minutes=1", "system.recentre=true"},
            {"system.seed=2", "system.replicas=2", "system.model=spc", "system.temperature_K=11",
             "integrator.timestep_fs=2.0000000000000004", "integrator.omega=inf",
             "thermostat.temperature_K=11", "thermostat.friction_per_ps=6", "run.precision=mixed",
             "run.equilibration_ps=1", "observe.energies.every=100", "observe.rdf.bins=10"}},
           {kWarm + kLibrary, {}, {"potential.path=b.so", "potential.options=b"}},
           {kWarm + kSocket,
            {"potential.address=unix:b", "potential.clients=2", "potential.timeout_s=1"},
            {}}}) {
    const std::string own = physics_fingerprint(parse(c.text));
    EXPECT_NE(own, physics_fingerprint(parse(kWarm)));
    for (const char* key : c.same) EXPECT_EQ(physics_fingerprint(parse(c.text, {key})), own) << key;
    for (const char* key : c.other)
      EXPECT_NE(physics_fingerprint(parse(c.text, {key})), own) << key;
  }
}

// --- Potentials ---

TEST(Potential, SectionIsRead) {
  EXPECT_EQ(potential_kind(parse(kWarm)), PotentialKind::model);
  EXPECT_FALSE(potential_path(parse(kWarm)));
  EXPECT_EQ(potential_kind(parse(kWarm + "[potential]\n")), PotentialKind::model);
  const Deck library = parse(kWarm + kLibrary);
  EXPECT_EQ(potential_kind(library), PotentialKind::library);
  EXPECT_EQ(potential_path(library), "folder/libmine.so");
  EXPECT_EQ(library.potential->options, "k = 1");
  // A number given by --set is a text.
  EXPECT_EQ(parse(kWarm + kLibrary, {"potential.options=7"}).potential->options, "7");
  EXPECT_EQ(parse(kWarm + kLibrary, {"potential.options=\"\""}).potential->options, "");
  const Deck socket = parse(kWarm + kSocket, {"potential.clients=4", "potential.timeout_s=9"});
  EXPECT_EQ(socket.potential->address, "localhost:31415");
  EXPECT_EQ(socket.potential->clients, 4);
  EXPECT_EQ(socket.potential->timeout_s, 9.0);
}

TEST(Potential, DefaultsAreThoseOfFlexibleMolecules) {
  for (const std::string& potential : {kLibrary, kSocket, std::string("[potential]\n")}) {
    for (const char* scheme : {"verlet", "shake", "rattle", "settle"}) {
      const Deck deck = parse(kWarm + potential, {std::string("integrator.scheme=") + scheme});
      EXPECT_EQ(parse(resolved_deck(deck)), deck) << resolved_deck(deck);
    }
  }
  const Deck deck = parse(kWarm + kLibrary, {"integrator.scheme=verlet"});
  EXPECT_EQ(deck.integrator.timestep_fs, 0.5);
  EXPECT_FALSE(deck.system.relax);
  EXPECT_FALSE(contains(resolved_deck(deck), "omega"));
  EXPECT_EQ(decks::messages_on(deck).size(), 1u);  // no [observe.*] section
  EXPECT_FALSE(parse(kWarm + kLibrary, {"system.model=qtip4pf"}).system.relax);
  EXPECT_EQ(parse(kWarm + kLibrary).integrator.scheme, Scheme::settle);
  EXPECT_EQ(parse(kWarm + kLibrary).integrator.timestep_fs, 2.0);
  EXPECT_TRUE(parse(kWarm + "[potential]\n", {"integrator.scheme=verlet"}).system.relax);
}

/// A minimised start at rest without a thermostat does not move.
TEST(Deck, AFrozenRunIsAWarning) {
  const auto is_frozen = [](const std::string& system, const std::string& more = "") {
    const Deck deck = parse("[system]\nmolecules = 6\n" + system + "[run]\nsteps = 10\n" + more);
    return message_with(deck, "nothing moves").level == Level::warning;
  };
  EXPECT_TRUE(is_frozen(""));
  EXPECT_TRUE(is_frozen("velocities = \"zero\"\n"));
  EXPECT_FALSE(is_frozen("start = \"random\"\n"));
  EXPECT_FALSE(is_frozen("velocities = \"maxwell\"\ntemperature_K = 100.0\n"));
  EXPECT_FALSE(is_frozen("", "[thermostat]\ntemperature_K = 10.0\nfriction_per_ps = 5.0\n"));
}

TEST(Potential, SupportsPathIntegralsAndExchange) {
  EXPECT_EQ(problems_of(kSmallest + kLibrary +
                            "[thermostat]\ntemperatures_K = [100, 150]\nfriction_per_ps = 5\n"
                            "[exchange]\n[path_integral]\nbeads = 16\n",
                        {"system.model=qtip4pf", "system.replicas=2"}),
            Texts{});
}

TEST(Potential, MessagesOnChargesOfTheModel) {
  for (const auto& [section, part] : {std::pair{"cluster", "cluster.csv has no dipole moments"},
                                      {"spectrum", "infrared absorption is that of the charges"}}) {
    const Deck deck = parse(kWarm + kSocket + "[observe." + section + "]\n");
    EXPECT_NE(message_with(deck, part).text, "none") << section;
  }
}

// --- Another scheme ---

TEST(WithScheme, DropsUnusedKeys) {
  const std::string stiff = "integrator.scheme=zss-stiff";
  const Deck deck = parse(kWarm, {stiff, "integrator.omega=20", "integrator.beta=0.4"});
  const Deck shake = with_scheme(deck, "shake");
  EXPECT_EQ(shake, parse(kWarm, {"integrator.scheme=shake"}));
  EXPECT_FALSE(shake.system.relax);
  EXPECT_EQ(with_scheme(deck, "zss-stiff"), deck);
  EXPECT_EQ(with_scheme(shake, "zss-stiff"), parse(kWarm, {stiff}));
}

TEST(WithScheme, TakesKeys) {
  const Deck deck = parse(kWarm, {"integrator.scheme=zss-stiff", "integrator.omega=20"});
  const Deck other = with_scheme(deck, "zss-stiff:omega=infinite:beta=0.4:hessian=gauss-newton");
  EXPECT_EQ(other.integrator.omega, kInfinity);
  EXPECT_EQ(other.integrator.beta, 0.4);
  EXPECT_FALSE(other.system.relax);
  EXPECT_TRUE(with_scheme(other, "zss-stiff:omega=50").system.relax);
  EXPECT_EQ(with_scheme(deck, "shake:tolerance=1e-6").integrator.tolerance, 1e-6);
  const Deck longer_steps = with_scheme(deck, "settle:timestep_fs=4");
  EXPECT_EQ(longer_steps.integrator.timestep_fs, 4.0);
  EXPECT_EQ(static_cast<double>(longer_steps.run.steps) * 4.0,
            static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs);
}

TEST(WithScheme, ProblemsNameIt) {
  for (const auto& [spec, message] : std::vector<std::pair<std::string, std::string>>{
           {"newmark-one-step:omega=infinite", "scheme = \"newmark-one-step\" needs finite omega"},
           {"zss-stiff:omga=3", "unknown key \"omga\""},
           {"shake:tolerance", "expected key=value"},
           {"zss-stiff:scheme=shake", "write the scheme first, as in shake"}}) {
    const auto problems = problems_by([&, &scheme = spec] { with_scheme(parse(kWarm), scheme); });
    ASSERT_FALSE(problems.empty()) << spec << " was accepted";
    EXPECT_TRUE(contains(problems[0].text(), "--schemes " + spec + ": " + message));
    EXPECT_EQ(problems[0].line, 0);
  }
}

// --- Files ---

class DeckFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    write_text(folder_.file(name), text);
    return folder_.file(name);
  }

  static std::vector<Problem> problems_of_file(const std::string& path, const Texts& overrides) {
    return problems_by([&] { load_deck(path, overrides); });
  }
  /// The message for a rejected deck with one problem; empty if it is accepted.
  static std::string message_of(const std::string& path, const Texts& overrides) {
    const auto problems = problems_of_file(path, overrides);
    return problems.empty() ? std::string{} : InputError(problems).what();
  }

  ScratchFolder folder_;
};

/// A structure with the given number of molecules.
std::string row_of(int molecules) {
  std::string text = std::to_string(3 * molecules) + "\n\n";
  for (int m = 0; m < molecules; ++m) {
    const std::string x = std::to_string(3 * m);
    text += "O " + x + " 0 0\nH " + x + " 0.96 0\nH " + x + " -0.24 0.93\n";
  }
  return text;
}

TEST_F(DeckFiles, AreReadWithTheirName) {
  // A byte order mark is permitted.
  const std::string path = write("water7.toml", "\xEF\xBB\xBF" + kSmallest);
  const Deck deck = load_deck(path, {"system.seed=3"});
  EXPECT_EQ(deck.path, path);
  EXPECT_EQ(deck.name, "water7");
  EXPECT_EQ(deck.system.seed, 3u);
  EXPECT_THROW(load_deck(folder_.file("nowhere.toml")), IoError);
  EXPECT_THROW(load_deck(folder_.path()), IoError);
}

/// Reported together with the other problems of the deck, for every scheme, as in the start itself.
TEST_F(DeckFiles, StructuresHaveTheLengthsOfTheModel) {
  std::string text = row_of(2);
  text.replace(text.rfind("0.93"), 4, "1.43");
  write("long.xyz", text);
  const std::string path = write("a.toml", "[run]\nsteps = -1\n[system]\nfile = \"long.xyz\"\n");
  for (const std::string scheme : {"settle", "zss-stiff"}) {
    const auto problems = problems_of_file(path, {"integrator.scheme=" + scheme});
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(problems[0].line, 2);
    EXPECT_TRUE(contains(problems[1].text(), folder_.file("long.xyz") +
                                                 ": molecule 1 has O-H2 = 1.45 A, and tip3p has "));
  }
  EXPECT_TRUE(contains(message_of(path, {"run.steps=1", "system.model=spce"}), "and spce has 1 A"));
  // Bond lengths of an unknown model are not checked.
  EXPECT_FALSE(contains(message_of(path, {"run.steps=1", "system.model=spx"}), "has O-H2"));
}

TEST_F(DeckFiles, StructuresAreRelativeToTheDeck) {
  const std::string text = "[run]\nsteps = 1\n[system]\nfile = \"start.xyz\"\n";
  const std::string path = write("a.toml", text);
  const auto problems = problems_of_file(path, {"run.steps=-1"});
  ASSERT_EQ(problems.size(), 2u) << "the structure is missing";
  EXPECT_EQ(problems[0].line, 4);
  EXPECT_TRUE(contains(problems[0].message, "there is no file " + folder_.path()));
  EXPECT_TRUE(problems[0].message.ends_with(
      "; paths in a deck and in --set are relative to the folder of the deck"));
  // A file that is in the current folder.
  write_text("deck-files-here.xyz", row_of(1));
  const std::string here = message_of(path, {"system.file=deck-files-here.xyz"});
  std::filesystem::remove("deck-files-here.xyz");
  EXPECT_TRUE(contains(here, "relative to the folder of the deck: write \""));
  EXPECT_TRUE(contains(here, "/deck-files-here.xyz\""));
  EXPECT_TRUE(message_of(path, {"system.file=/nowhere/s.xyz"}).ends_with("/nowhere/s.xyz"));
  const std::string structure = write("start.xyz", row_of(1));
  const auto paths = [](const Deck& deck) {
    std::string all;
    for (const StructureSource& source : structure_sources(deck)) {
      all += source.path + (source.frame ? fmt::format("[{}] ", *source.frame) : " ");
    }
    return all;
  };
  EXPECT_EQ(paths(load_deck(path)), structure + " ");
  EXPECT_EQ(paths(parse_deck(text, "a.toml")), "start.xyz ");
  EXPECT_EQ(paths(parse_deck(text, "a.toml", {"system.file=/b/c.xyz"})), "/b/c.xyz ");
  EXPECT_EQ(paths(parse(kSmallest)), "");
  const auto several =
      parse_deck(text, "d/a.toml",
                 {"system.replicas=4", R"(system.files=["a.xyz","b.xyz:3","/c:d.xyz","12:7:0"])"});
  EXPECT_EQ(paths(several), "d/a.xyz d/b.xyz[3] /c:d.xyz d/12:7[0] ");
  // --set with one of file, files and state replaces the others.
  EXPECT_EQ(several.system.file, std::nullopt);
  EXPECT_EQ(paths(parse_deck("[run]\nsteps = 1\n[system]\nfiles = [\"a.xyz\"]\n", "a.toml",
                             {"system.file=b.xyz"})),
            "b.xyz ");
}

TEST_F(DeckFiles, AreCheckedTogetherWithTheStructure) {
  std::string damaged = row_of(2);
  damaged.replace(damaged.find("0.96"), 4, "nan");
  const std::string structure = write("start.xyz", damaged);
  const std::string path =
      write("a.toml", "[run]\nsteps = 1\n[system]\nfile = \"start.xyz\"\nmodle = \"spc\"\n");
  const auto problems = problems_of_file(path, {"run.steps=-1"});
  ASSERT_EQ(problems.size(), 3u);
  expect_parts({{problems[0].text(), "a.toml:5:1: unknown key"},
                {problems[1].text(), "--set run.steps=-1"},
                {problems[2].text(), structure + ":4:"}});
}

/// The rules use the number of molecules in the file.
TEST_F(DeckFiles, FollowTheRulesForTheMoleculesOfTheStructure) {
  write("start.xyz", row_of(200));
  const std::string path = write("a.toml", "[run]\nsteps = 1\n[system]\nfile = \"start.xyz\"\n");
  const auto refusal = [&](const Texts& set) { return message_of(path, set); };
  EXPECT_EQ(refusal({"system.molecules=200"}), "");
  EXPECT_EQ(refusal({"system.molecules=7"}),
            "--set system.molecules=7: molecules = 7, but the structure has 200");
  const std::string few = "system.replicas=500", many = "system.replicas=600";
  EXPECT_EQ(refusal({few, "observe.cluster.every=1"}), "");
  EXPECT_TRUE(contains(refusal({many, "observe.cluster.every=1"}), "Lindemann index"));
  EXPECT_EQ(refusal({"system.replicas=500000"}), "");
  EXPECT_TRUE(contains(refusal({"system.replicas=500001"}), "--set system.replicas=500001: "));
  EXPECT_TRUE(contains(refusal({"integrator.scheme=zss-stiff", "integrator.hessian=total"}),
                       "at most 128 molecules, not 200"));
}

// --- Warnings ---

/// Steps of the exact flow of the free ring polymer. First resonances: 1.2583 fs with 32 beads at
/// 298 K, 0.3125 fs with 128 beads at 300 K.
TEST(DeckWarnings, ExactRingsResonate) {
  const auto warning = [](int beads, const std::string& temperature_K, double step_fs,
                          const std::string& free_ring = "exact") {
    const Deck deck =
        parse(kSmallest,
              {"system.model=qtip4pf", "system.replicas=2",
               "path_integral.beads=" + std::to_string(beads), "path_integral.frequencies=trotter",
               "path_integral.free_ring=" + free_ring, "thermostat.friction_per_ps=5",
               "thermostat." + temperature_K, "integrator.timestep_fs=" + std::to_string(step_fs)});
    return decks::warning_of_resonance(deck).value_or(Message::warning("none")).text;
  };
  EXPECT_EQ(warning(32, "temperature_K=298", 1.12), "none");
  EXPECT_TRUE(contains(warning(32, "temperature_K=298", 1.14), "is less than 10 % below"));
  EXPECT_TRUE(contains(warning(32, "temperature_K=298", 1.26), "timestep_fs = 1.26 exceeds"));
  EXPECT_EQ(warning(32, "temperature_K=298", 1.26, "cayley"), "none");
  EXPECT_EQ(warning(128, "temperature_K=300", 0.28), "none");
  EXPECT_EQ(warning(128, "temperature_K=300", 0.5),
            "[path_integral] free_ring = \"exact\" resonates: timestep_fs = 0.5 exceeds the first "
            "resonance, 0.312 fs with 128 beads at 300 K, so averages are wrong or replicas blow "
            "up. Use free_ring = \"cayley\", or a step of at most 0.15 fs");
  EXPECT_EQ(warning(128, "temperature_K=300", 0.5, "cayley"), "none");
  // The hottest replica has the fastest modes. A single bead has none, an odd number slower ones.
  EXPECT_EQ(warning(64, "temperatures_K=[100, 150]", 1.12), "none");
  EXPECT_TRUE(contains(warning(64, "temperatures_K=[100, 298]", 1.12), "64 beads at 298 K"));
  EXPECT_EQ(warning(1, "temperature_K=1e6", 4.0), "none");
  EXPECT_EQ(warning(3, "temperature_K=3179", 1.25), "none");  // 2 omega_P would resonate at 1.258
  // Without a thermostat the springs have their own temperature.
  const Deck rpmd = parse(
      kSmallest, {"system.model=qtip4pf", "path_integral.beads=128", "path_integral.method=rpmd",
                  "path_integral.temperature_K=300", "path_integral.free_ring=exact"});
  EXPECT_TRUE(decks::warning_of_resonance(rpmd));
}

/// Economised frequencies for averages, with the highest wavenumber of the molecule and its masses;
/// those of Trotter for dynamics.
TEST(Deck, FrequenciesOfRingPolymers) {
  const Texts pimd{"system.model=qtip4pf", "path_integral.beads=8", "thermostat.temperature_K=100",
                   "thermostat.friction_per_ps=5"};
  const auto parsed = [&](const Texts& more) {
    Texts keys = pimd;
    keys.insert(keys.end(), more.begin(), more.end());
    return *parse(kSmallest, keys).path_integral;
  };
  EXPECT_EQ(parsed({}).frequencies, RingFrequencies::economised);
  // 1.03 times 3920.36 and 2876.1/cm, rounded up.
  EXPECT_EQ(parsed({}).highest_wavenumber_per_cm, 4038.0);
  EXPECT_EQ(parsed({"system.hydrogen_mass_Da=2.014102"}).highest_wavenumber_per_cm, 2963.0);
  EXPECT_EQ(parsed({"path_integral.highest_wavenumber_per_cm=4000"}).highest_wavenumber_per_cm,
            4000.0);
  const PathIntegralSection trotter = parsed({"path_integral.frequencies=trotter"});
  EXPECT_EQ(trotter.frequencies, RingFrequencies::trotter);
  EXPECT_FALSE(trotter.highest_wavenumber_per_cm);
  EXPECT_EQ(parsed({"path_integral.method=trpmd"}).frequencies, RingFrequencies::trotter);
  const Deck deck = parse(kSmallest, pimd);
  const System system = make_system(deck, 7);
  EXPECT_EQ(system.path_integral.frequencies, RingFrequencies::economised);
  EXPECT_EQ(system.path_integral.highest_wavenumber_per_cm, 4038.0);
  EXPECT_EQ(parse(resolved_deck(deck)).path_integral, deck.path_integral);
}

/// Samples must be shorter than half a period of the fastest motion: 4.17 fs for O-H stretches of
/// 4000/cm, 12.8 fs for librations of 1300/cm.
TEST(DeckWarnings, SpectraThatAlias) {
  const auto warning = [](const char* model, const char* scheme, int every,
                          const std::string& more = "run.steps=1000000") {
    const Deck deck =
        parse(kSmallest, {std::string("system.model=") + model,
                          std::string("integrator.scheme=") + scheme, "integrator.timestep_fs=0.5",
                          "thermostat.temperature_K=100", "thermostat.friction_per_ps=5", more,
                          "observe.spectrum.every=" + std::to_string(every)});
    return message_with(deck, "alias").text;
  };
  expect_parts({
      {warning("tip3p", "settle", 25), "none"},
      {warning("tip3p", "settle", 100),
       "samples 50 fs apart alias the librations of the molecules to lower wavenumbers. "
       "Use every = 25"},
      {warning("tip3p", "shake", 26), "the librations"},
      {warning("tip3p", "settle", 26, "system.hydrogen_mass_Da=2.014"), "none"},
      {warning("tip3p", "zss-stiff", 2, "integrator.omega=100"), "penalised"},
      {warning("qtip4pf", "verlet", 8), "none"},
      {warning("qtip4pf", "verlet", 9), "the O-H stretches to lower wavenumbers. Use every = 8"},
  });
}

// --- Units ---

TEST(MakeSystem, ConvertsUnitsOnce) {
  // Paper mode: h = 0.05 and gamma = 0.01 in units of sqrt(Da A^2/(kcal/mol)) = 48.88821 fs.
  const System system = make_system(
      parse(kSmallest,
            {"system.seed=9", "run.precision=mixed", "integrator.scheme=zss-stiff",
             "integrator.timestep_fs=2.4444105", "integrator.beta=0.4", "integrator.omega=20",
             "integrator.solver=dense", "thermostat.kind=gla", "thermostat.temperature_K=10.06",
             "thermostat.friction_amu_per_ps=0.2045483"}),
      7);
  EXPECT_EQ(system.model.name, "tip3p");
  EXPECT_EQ(system.molecules, 7);
  EXPECT_EQ(system.seed, 9u);
  EXPECT_EQ(system.precision, Precision::mixed);
  EXPECT_EQ(system.integrator.scheme, Scheme::zss_stiff);
  EXPECT_NEAR(system.integrator.timestep_akma, 0.05, few_roundings());
  EXPECT_EQ(system.integrator.beta, 0.4);
  EXPECT_EQ(system.integrator.omega, 20.0);
  EXPECT_EQ(system.integrator.solver, Solver::dense);
  EXPECT_EQ(system.thermostat.kind, Thermostat::gla);
  EXPECT_EQ(system.thermostat.temperature_K, 10.06);
  // The deck has seven digits of 0.01/0.04888821: accurate to half a unit of the last digit.
  EXPECT_NEAR(system.thermostat.friction_oxygen_per_akma, 0.01 / 15.9994, 2.5e-7 * 0.01 / 15.9994);
  EXPECT_NEAR(system.thermostat.friction_hydrogen_per_akma, 0.01 / 1.008, 2.5e-7 * 0.01 / 1.008);
}

TEST(MakeSystem, KeepMoleculeMassTakesTheMassFromTheOxygen) {
  const std::string text =
      "[system]\nmolecules = 7\nhydrogen_mass_Da = 3.024\nkeep_molecule_mass = true\n"
      "[run]\nsteps = 1\n"
      "[thermostat]\nkind = \"gla\"\ntemperature_K = 10.0\nfriction_amu_per_ps = 0.2045483\n";
  const System light = make_system(parse(kSmallest), 7), heavy = make_system(parse(text), 7);
  EXPECT_EQ(heavy.model.mass_h_Da, 3.024);
  EXPECT_NEAR(heavy.model.molecule_mass_Da(), light.model.molecule_mass_Da(), few_roundings(18.0));
  // Friction per mass uses the masses of the dynamics.
  EXPECT_NEAR(heavy.thermostat.friction_hydrogen_per_akma, 0.01 / 3.024, 2.5e-7 * 0.01 / 3.024);
  const double oxygen_Da = 15.9994 - 2.0 * (3.024 - 1.008);
  EXPECT_NEAR(heavy.thermostat.friction_oxygen_per_akma, 0.01 / oxygen_Da,
              2.5e-7 * 0.01 / oxygen_Da);
  // The record of the run contains it.
  const std::string resolved = resolved_deck(parse(text));
  EXPECT_TRUE(contains(resolved, "hydrogen_mass_Da = 3.024\nkeep_molecule_mass = true\n"));
  EXPECT_EQ(parse(resolved), parse(text));
  // Normal modes use the masses of the isotopes.
  EXPECT_EQ(water_model(parse(text)).mass_h_Da, units::mass_hydrogen_Da);
  EXPECT_EQ(water_model(parse(text)).mass_o_Da, units::mass_oxygen_Da);
}

/// The parameters of a built-in model, bit for bit.
TEST(MakeSystem, AModelOfOnesOwnIsItsNumbers) {
  for (const char* name : {"opc", "opc3", "tip4p2005", "tip4pew"}) {
    const WaterModel known = find_water_model(name).value();
    const double sigma_A =
        std::pow(known.lj_a_kcal_A12_per_mol / known.lj_c_kcal_A6_per_mol, 1.0 / 6);
    const double epsilon = known.lj_c_kcal_A6_per_mol * known.lj_c_kcal_A6_per_mol /
                           (4.0 * known.lj_a_kcal_A12_per_mol);
    const WaterModel own = water_model(parse(fmt::format(
        "[system]\nmodel = \"own\"\nmolecules = 7\n[model]\noh_A = {:.17g}\nhoh_degrees = {:.17g}\n"
        "sigma_A = {:.17g}\nepsilon_kcal_per_mol = {:.17g}\ncharge_hydrogen_e = {:.17g}\n{}[run]\n"
        "steps = 1\n",
        known.r_oh_A, known.angle_hoh_degrees, sigma_A, epsilon, known.charge_h_e,
        known.has_m_site() ? fmt::format("om_A = {:.17g}\n", known.r_om_A) : "")));
    EXPECT_EQ(own.name, "own");
    for (double WaterModel::*const number :
         {&WaterModel::r_oh_A, &WaterModel::angle_hoh_degrees, &WaterModel::charge_o_e,
          &WaterModel::charge_h_e, &WaterModel::charge_m_e, &WaterModel::r_om_A,
          &WaterModel::mass_h_Da, &WaterModel::mass_o_Da}) {
      EXPECT_EQ(own.*number, known.*number) << name;
    }
    // A and C go through the twelfth power of a root: 12 (1/6 + 2) and some more roundings.
    EXPECT_NEAR(own.lj_a_kcal_A12_per_mol / known.lj_a_kcal_A12_per_mol, 1.0, 40 * 0x1p-53);
    EXPECT_NEAR(own.lj_c_kcal_A6_per_mol / known.lj_c_kcal_A6_per_mol, 1.0, 30 * 0x1p-53);
  }
  // The printed numbers are those of the built-in model.
  const WaterModel opc = water_model(parse(
      "[system]\nmodel = \"own\"\nmolecules = 7\n[model]\noh_A = 0.8724\nhoh_degrees = 103.6\n"
      "sigma_A = 3.16655\nepsilon_kcal_per_mol = 0.21280\ncharge_hydrogen_e = 0.6791\n"
      "om_A = 0.1594\n[run]\nsteps = 1\n"));
  EXPECT_EQ(opc.lj_a_kcal_A12_per_mol, find_water_model("opc")->lj_a_kcal_A12_per_mol);
  EXPECT_EQ(opc.lj_c_kcal_A6_per_mol, find_water_model("opc")->lj_c_kcal_A6_per_mol);
}

TEST(MakeSystem, IsotopesHaveTheirMasses) {
  const std::string text =
      "[system]\nmolecules = 7\nhydrogen_mass_Da = 2.014\noxygen_mass_Da = 15.999\n[run]\n"
      "steps = 1\n";
  const Deck deck = parse(text);
  for (const WaterModel& model : {make_system(deck, 7).model, water_model(deck)}) {
    EXPECT_EQ(model.mass_h_Da, 2.014);
    EXPECT_EQ(model.mass_o_Da, 15.999);
  }
  EXPECT_EQ(parse(resolved_deck(deck)), deck);
  EXPECT_NE(physics_fingerprint(deck),
            physics_fingerprint(parse(text, {"system.oxygen_mass_Da=16"})));
  // The oxygen keeps its mass, also that of an own model.
  const std::string own =
      "[system]\nmodel = \"own\"\nmolecules = 7\nhydrogen_mass_Da = 2.014\n[model]\noh_A = 1.0\n"
      "hoh_degrees = 109.47\nsigma_A = 3.166\nepsilon_kcal_per_mol = 0.1553\n"
      "charge_hydrogen_e = 0.41\n[run]\nsteps = 1\n";
  for (const Deck& heavy : {parse(text, {}, {"system.oxygen_mass_Da"}), parse(own)}) {
    for (const WaterModel& model : {make_system(heavy, 7).model, water_model(heavy)}) {
      EXPECT_EQ(model.mass_h_Da, 2.014);
      EXPECT_EQ(model.mass_o_Da, 15.9994);
    }
    EXPECT_TRUE(contains(resolved_deck(heavy), "oxygen_mass_Da = 15.9994\n"));
  }
}

TEST(MakeSystem, OneRateIsTheSameForAllAtoms) {
  const auto warm = make_system(parse(kWarm), 7).thermostat;
  EXPECT_DOUBLE_EQ(warm.friction_oxygen_per_akma, 5.0 * 0.04888821);
  EXPECT_EQ(warm.friction_hydrogen_per_akma, warm.friction_oxygen_per_akma);
  const auto none = make_system(parse(kSmallest), 7).thermostat;
  EXPECT_EQ(none.kind, Thermostat::none);
  EXPECT_EQ(none.temperature_K, 0.0);
  EXPECT_EQ(none.friction_oxygen_per_akma, 0.0);
  EXPECT_EQ(none.friction_hydrogen_per_akma, 0.0);
}

/// Largest numbers of molecules of a structure for which observers have memory.
TEST(MakeSystem, RefusesObserversThatNeedTooMuchMemory) {
  struct Case {
    int replicas;
    const char* section;
    int fits, does_not;  ///< 0: all do
  };
  for (const Case& c : {
           // 4472 * 4471 / 2 pairs are just below 10^7.
           Case{1, "[observe.cluster]\n", 4472, 4473},
           {1, "[observe.cluster]\nlindemann = false\n", 4473, 0},
           // 2 fs, 5/cm: 4860 samples; 9 * 229 * 10 * 4860 is more than 10^8.
           {10, "[observe.spectrum]\n", 228, 229},
           {10, "[observe.spectrum]\nreplicas = 2\n", 1140, 0},
           {10, "[observe.spectrum]\nevery = 4\n", 800, 0},
           // 2 fs, every = 10, 10 ps: 500 lags, 9000 numbers in two windows, and 323 for each
           // molecule in 17 origins; 100 * 323 * 3200 is more than 10^8.
           {100, "[observe.correlation]\n", 3000, 3200},
           {100, "[observe.correlation]\nreplicas = 50\n", 6000, 0},
       }) {
    SCOPED_TRACE(c.section);
    const Deck deck = parse(fmt::format(
        "[system]\nfile = \"a.xyz\"\nreplicas = {}\n[run]\nsteps = 1\n{}", c.replicas, c.section));
    EXPECT_EQ(make_system(deck, c.fits).molecules, c.fits);
    if (c.does_not > 0) {
      EXPECT_THROW(make_system(deck, c.does_not), InputError);
    }
  }
  // Up to the next 4 * 2^a 3^b 5^c from 4805.
  EXPECT_EQ(spectrum_samples({}, 2.0), 4860u);
  EXPECT_EQ(correlation_lags({}, 2.0), 500u);
}

TEST(MakeSystem, CountsTheSumsBehindTheErrorsOfASpectrum) {
  // 2 fs, 0.05/cm: 480 300 samples and a few. A segment of a molecule is 4.3 million numbers; an
  // error bar has 6 + 2 doubles for each of floor(log2(segments)) + 1 levels, and one more.
  const std::string text =
      "[system]\nfile = \"a.xyz\"\n[observe.spectrum]\nresolution_per_cm = 0.05\n[run]\nsteps = ";
  const Deck one_step = parse(text + "1\n");
  const std::size_t samples = spectrum_samples(*one_step.spectrum, one_step.integrator.timestep_fs);
  ASSERT_GE(samples, 480'300u);
  ASSERT_LE(samples, 500'000u);
  const auto steps = [&](int segments) {
    return std::to_string(segments * static_cast<std::int64_t>(samples) / 2) + "\n";
  };
  const auto numbers = [&](int levels) {
    return static_cast<double>(samples) * (9.0 + 2.0 * (1.0 + 8.0 * levels));
  };
  ASSERT_LT(numbers(12), 1e8);
  ASSERT_GT(numbers(13), 1e8);
  EXPECT_EQ(make_system(parse(text + steps(4095)), 1).molecules, 1);
  EXPECT_THROW(make_system(parse(text + steps(4097)), 1), InputError);
}

TEST(MakeSystem, ChecksTheNumberOfMoleculesOfAFile) {
  const std::string text = "[run]\nsteps = 1\n[system]\nfile = \"a.xyz\"\n";
  EXPECT_EQ(make_system(parse(text), 12).molecules, 12);
  EXPECT_THROW(make_system(parse(text), 0), InputError);
  EXPECT_THROW(make_system(parse(text), kMaxMolecules + 1), InputError);
  EXPECT_THROW(make_system(parse(text + "replicas = 1000000\n"), 101), InputError);
  const Deck bound = parse(text + "molecules = 7\n");
  EXPECT_EQ(make_system(bound, 7).molecules, 7);
  EXPECT_EQ(message_of<InputError>([&] { make_system(bound, 12); }),
            "folder/some.deck.toml: [system] molecules = 7, but the structure has 12");
}

TEST(MakePairCountRequest, StartsAfterEquilibration) {
  EXPECT_FALSE(make_pair_count_request(parse(kSmallest)).enabled);
  const PairCountRequest request = make_pair_count_request(parse(kEveryKey));
  EXPECT_TRUE(request.enabled);
  EXPECT_EQ(request.pairs, (std::array<bool, 3>{true, false, true}));
  EXPECT_EQ(request.r_max_A, 10.5);
  EXPECT_EQ(request.bins, 100);
  EXPECT_EQ(request.every, 9);
  EXPECT_EQ(request.first_step, 6667);  // ceil(10 ps / 1.5 fs)
  const Deck whole = parse(kSmallest, {"observe.rdf.every=1", "run.equilibration_ps=0.6"});
  EXPECT_EQ(make_pair_count_request(whole).first_step, 300);
}

TEST(MakePairCountRequest, KeepsBathsApart) {
  const auto groups_of = [](int replicas, int baths, double rise_K, int bins = 100) {
    Deck deck = parse(kEveryKey);
    deck.rdf->bins = bins;
    deck.system.replicas = replicas;
    deck.thermostat.kind = Thermostat::gla;
    deck.thermostat.temperatures_K.clear();
    for (int b = 0; b < baths; ++b) deck.thermostat.temperatures_K.push_back(100.0 + b * rise_K);
    return make_pair_count_request(deck).groups;
  };
  EXPECT_EQ(groups_of(1000, 1, 10.0), 32);
  EXPECT_EQ(groups_of(1000, 5, 0.0), 32) << "one temperature";
  EXPECT_EQ(groups_of(7, 5, 10.0), 10) << "two replicas of a bath are two groups";
  EXPECT_EQ(groups_of(100, 5, 10.0), 100);
  EXPECT_EQ(groups_of(1000, 5, 10.0), 160);
  EXPECT_EQ(groups_of(100'000, 200, 0.1), 6400);
  EXPECT_EQ(groups_of(100'000, 200, 0.1, 1000), 1000) << "at most 10^6 bins";
  EXPECT_EQ(groups_of(100'000, 2500, 0.1), 10'000);
}

TEST(MakePairCountRequest, NeedsHistogramsThatFitIntoMemory) {
  const auto problems = [](int baths, int bins) {
    std::string temperatures = "100";
    for (int b = 1; b < baths; ++b) temperatures += ", " + std::to_string(100 + b);
    return problems_of(kSmallest,
                       {"system.replicas=" + std::to_string(baths), "thermostat.friction_per_ps=1",
                        "thermostat.temperatures_K=[" + temperatures + "]",
                        "observe.rdf.bins=" + std::to_string(bins)})
        .size();
  };
  EXPECT_EQ(problems(1, 100'000), 0u);
  EXPECT_EQ(problems(20, 12'500), 0u);
  EXPECT_EQ(problems(4096, 61), 0u);
  EXPECT_EQ(problems(20, 12'501), 1u);
  EXPECT_EQ(problems(4097, 1), 1u);
}

// --- Suggestions ---

TEST(EditDistance, CountsSwapsAsOne) {
  for (const auto& [a, b, distance] : {std::tuple{"", "", 0u},
                                       {"abc", "", 3u},
                                       {"", "abc", 3u},
                                       {"steps", "STEPS", 0u},
                                       {"setps", "steps", 1u},
                                       {"step", "steps", 1u},
                                       {"stepss", "steps", 1u},
                                       {"staps", "steps", 1u},
                                       {"kitten", "sitting", 3u}}) {
    EXPECT_EQ(decks::edit_distance(a, b), distance) << a << ' ' << b;
  }
}

TEST(Nearest, SuggestsTheNearestNameIfItIsClose) {
  const std::vector<std::string_view> thermostats{"none", "gla", "baoab"};
  const std::vector<std::string_view> schemes{"zss-stiff", "verlet", "shake", "rattle", "settle"};
  const std::vector<std::string_view> four_sites{"tip4p", "tip4pew", "tip4p2005"};
  struct Case {
    std::vector<std::string_view> words, names;
    const char* nearest;
  };
  for (const Case& c :
       std::vector<Case>{{{"setle"}, {"shake", "settle"}, "settle"},
                         {{"temperature"}, {"tolerance", "temperature_K"}, "temperature_K"},
                         {{"oo"}, {"OH", "OO"}, "OO"},
                         {{"langevin", "Langevin", "LangevinMiddleIntegrator", "sd", "v-rescale",
                           "Nose-Hoover", "nvt"},
                          thermostats,
                          "baoab"},
                         {{"NVE"}, thermostats, "none"},
                         {{"leapfrog", "leap-frog", "Leap Frog", "md", "md-vv", "velocity-verlet",
                           "VerletIntegrator"},
                          schemes,
                          "verlet"},
                         {{"lincs"}, schemes, "settle"},
                         {{"tau_t"}, {"temperature_K", "friction_per_ps"}, "friction_per_ps"},
                         {{"nstxout"}, {"every", "replicas"}, "every"},
                         // Other spellings of a name come before names that differ by a letter.
                         {{"tip4p-2005", "TIP4P/2005"}, four_sites, "tip4p2005"},
                         {{"SPC/E"}, {"spc", "spce"}, "spce"},
                         {{"rk5"}, {"rk4", "euler"}, ""},
                         {{"///", "nonsense", ""}, {"shake", "settle"}, ""},
                         {{"anything"}, {}, ""}}) {
    for (const std::string_view word : c.words) {
      EXPECT_EQ(decks::nearest(word, c.names).name, c.nearest) << word;
    }
  }
  EXPECT_EQ(decks::nearest(std::string(100000, 'x'), {"shake"}).name, "");
  // Other models and methods are no typing errors.
  const std::vector<std::string_view> models{"tip3p", "spc", "spce", "tip4p", "opc3", "qtip4pf"};
  for (const char* other : {"tip5p", "tip3p-fb", "st2", "swm4-ndp", "tip4p/f", "mbpol"}) {
    EXPECT_EQ(decks::nearest_model(other, models).name, "") << other;
  }
  EXPECT_EQ(decks::nearest_model("tipp3", models).name, "tip3p");
  EXPECT_EQ(decks::nearest_model("SPC/E", models).name, "spce");
}

// --- The keys of problems ---

const std::string kFaultyDeck = R"([system]
modle = "tip3p"
molecules = 7
[integrator]
scheme = "settle"
omega = 100.0
[observe.rdf]
pairs = ["OO",
  "XX"]
[thermostat]
[observe.cluster]
bins = 3
)";

TEST(DeckText, ProblemsHaveKeysAndAdvice) {
  std::map<std::string, std::string> advice;
  for (const Problem& p : problems_by([] {
         load_deck_text(kFaultyDeck, "a.toml", {"run.precison=double", "run.steps=10"},
                        {"observe.none"});
       })) {
    advice[key_of(p, kFaultyDeck, "a.toml")] = advice_of(p);
  }
  EXPECT_EQ(advice["system.modle"], "did you mean \"model\"?");
  EXPECT_TRUE(advice["integrator.omega"].starts_with("it requires"));
  EXPECT_EQ(advice["run.precison"], "did you mean \"precision\"?");
  for (const char* key : {"observe.rdf.pairs", "observe.cluster.bins", "observe.none"}) {
    EXPECT_TRUE(advice.contains(key)) << key;
  }
  // Other problems have neither.
  EXPECT_EQ(key_of({"other.xyz", 3, 1, ""}, kFaultyDeck, "a.toml"), "");
  EXPECT_EQ(key_of({"a.toml", 0, 0, ""}, kFaultyDeck, "a.toml"), "");
  EXPECT_EQ(key_of({"a.toml", 1, 1, ""}, "[system", "a.toml"), "");
  EXPECT_EQ(advice_of({"", 0, 0, "without"}), "");
}

TEST(DeckText, IsReadFromFiles) {
  const ScratchFolder folder;
  write_text(folder.file("a.toml"), kFaultyDeck);
  EXPECT_EQ(read_deck_text(folder.file("a.toml")), kFaultyDeck);
  EXPECT_THROW(read_deck_text(folder.file("missing.toml")), IoError);
  EXPECT_THROW(read_deck_text(folder.path()), IoError);
}

// --- The reference page ---

TEST(DeckReference, IsThePageInTheDocumentation) {
  EXPECT_EQ(read_text(TARN_SOURCE_DIR "/docs/decks.md"), deck_reference())
      << "docs/decks.md is out of date; renew it: tarn check --reference > docs/decks.md";
}

/// Rules appear in the section whose keys they concern.
TEST(DeckReference, EveryRuleIsInASectionAndItsExampleRuns) {
  const std::string page = deck_reference();
  for (const decks::Rule& rule : decks::water_schema().rules) {
    EXPECT_NE(page.find(fmt::format("- {}\n", rule.text)), std::string::npos) << rule.text;
  }
  const std::string open = "```toml\n";
  const std::size_t begin = page.find(open) + open.size();
  EXPECT_EQ(parse(page.substr(begin, page.find("```", begin) - begin)).run.steps, 500000);
}

}  // namespace
}  // namespace tarn
