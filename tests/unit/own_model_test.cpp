

#include "tarn/deck.hpp"
#include "tarn/deck_text.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;

constexpr const char* kOwn =
    "[model]\noh_A = 0.8724\nhoh_degrees = 103.6\nsigma_A = 3.16655\n"
    "epsilon_kcal_per_mol = 0.21280\ncharge_hydrogen_e = 0.6791\nom_A = 0.1594\n";
constexpr const char* kRest = "[system]\nmolecules = 2\n[run]\nsteps = 1\n";

TEST(OwnModel, ASectionIsEnough) {
  const WaterModel own = water_model_of_text(kOwn, "own");
  const WaterModel opc = *find_water_model("opc");
  EXPECT_EQ(own.name, kOwnModel);
  EXPECT_EQ(own.lj_a_kcal_A12_per_mol, opc.lj_a_kcal_A12_per_mol);
  EXPECT_EQ(own.charge_m_e, opc.charge_m_e);
  EXPECT_EQ(own.r_om_A, opc.r_om_A);
}

TEST(OwnModel, OnlyTheModelOfADeckIsRead) {
  const std::string other =
      "[system]\nfile = \"nowhere.xyz\"\nno_such_key = 1\n[thermostat]\nkind = \"none of them\"\n";
  EXPECT_EQ(water_model_of_text(kOwn + other, "own").name, kOwnModel);
  EXPECT_EQ(water_model_of_text("[system]\nmodel = \"spce\"\n", "own").name, "spce");
  const WaterModel heavy = water_model_of_text(
      std::string(kOwn) + "[system]\noxygen_mass_Da = 17.0\nhydrogen_mass_Da = 2.0\n", "own");
  EXPECT_EQ(heavy.mass_o_Da, 17.0);
  EXPECT_EQ(heavy.mass_h_Da, 2.0);
}

TEST(OwnModel, ProblemsOfTheModelAreReported) {
  for (const auto& [text, words] : std::vector<std::pair<std::string, const char*>>{
           {"[run]\nsteps = 1\n", "names no water model"},
           {"[system]\nkind = \"magnet\"\n", "a system of the papers"},
           {std::string(kOwn) + "sigma = 3\n", "own.toml:8:1: unknown key"},
           {"[model]\noh_A = 1.0\n", "sigma_A"}}) {
    expect_throws<InputError>({words}, [&, &t = text] { water_model_of_text(t, "own.toml"); });
  }
}

TEST(OwnModel, ADeckNeedsNoName) {
  const Deck deck = parse_deck(std::string(kRest) + kOwn, "a.toml");
  EXPECT_EQ(deck.system.model, kOwnModel);
  EXPECT_EQ(parse_deck(resolved_deck(deck), "b.toml").model, deck.model);
}

TEST(OwnModel, ADeckNamesTheFileOfAModel) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.file("models"));
  write_text(folder.file("models/own.toml"), std::string(kOwn) + "[run]\nno_such_key = 1\n");
  const std::string name = folder.file("a.toml");
  const std::string text =
      "[system]\nmodel = \"models/own.toml\"\nmolecules = 2\n[run]\nsteps = 1\n";
  const Deck deck = parse_deck(text, name);
  EXPECT_EQ(deck.system.model, kOwnModel);
  EXPECT_EQ(deck.model, parse_deck(std::string(kRest) + kOwn, "a.toml").model);
  EXPECT_EQ(parse_deck(text, name, {"model.om_A=0.15"}).model->om_A, 0.15);
  expect_throws<InputError>({"exclude each other"}, [&] { parse_deck(text + kOwn, name); });
  write_text(folder.file("empty.toml"), "[run]\n");
  write_text(folder.file("wrong.toml"), std::string(kOwn) + "sigma = 3\n");
  for (const auto& [model, words] :
       {std::pair("nowhere.toml", "there is no such file with a water model"),
        {"empty.toml", "empty.toml has no section [model]"},
        {"wrong.toml", "wrong.toml:8:1: unknown key"}}) {
    const std::string change = std::string("system.model=") + model;
    expect_throws<InputError>({words}, [&] { parse_deck(kRest, name, {change}); });
  }
}

TEST(Overrides, ATableIsASection) {
  const auto with = [](const std::string& change) { return parse_deck(kRest, "a.toml", {change}); };
  EXPECT_FALSE(parse_deck(kRest, "a.toml").final_structures);
  EXPECT_TRUE(with("observe.final={}").final_structures);
  EXPECT_TRUE(with("observe={final={}, energies={every=7}}").final_structures);
  EXPECT_EQ(with("observe.energies={every=7}").energies->every, 7);
  EXPECT_EQ(with("run={steps=3}").run.steps, 3);
  expect_throws<InputError>({"unknown section"}, [&] { with("observe.finale={}"); });
  expect_throws<InputError>({"unknown key"}, [&] { with("observe.final={no=1}"); });
  expect_throws<InputError>({"expected section.key=value"}, [&] { with("run=3"); });
}

}  // namespace
}  // namespace tarn
