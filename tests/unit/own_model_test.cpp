#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/model_by_name.hpp"

namespace tarn {
namespace {

constexpr const char* kOwn =
    "[model]\noh_A = 0.8724\nhoh_degrees = 103.6\nsigma_A = 3.16655\n"
    "epsilon_kcal_per_mol = 0.21280\ncharge_hydrogen_e = 0.6791\nom_A = 0.1594\n";
constexpr const char* kRest = "[system]\nmolecules = 2\n[run]\nsteps = 1\n";

template <class Read>
std::string error_of(const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

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
  const auto error = [](const std::string& text) {
    return error_of([&] { water_model_of_text(text, "own.toml"); });
  };
  EXPECT_TRUE(contains(error("[run]\nsteps = 1\n"), "names no water model"));
  EXPECT_TRUE(contains(error("[system]\nkind = \"magnet\"\n"), "a system of the papers"));
  EXPECT_TRUE(contains(error(std::string(kOwn) + "sigma = 3\n"), "own.toml:8:1: unknown key"));
  EXPECT_TRUE(contains(error("[model]\noh_A = 1.0\n"), "sigma_A"));
}

TEST(OwnModel, ADeckNeedsNoName) {
  const Deck deck = parse_deck(std::string(kRest) + kOwn, "a.toml");
  EXPECT_EQ(deck.system.model, kOwnModel);
  EXPECT_EQ(parse_deck(resolved_deck(deck), "b.toml").model, deck.model);
  const std::string other =
      error_of([] { parse_deck(std::string(kRest) + kOwn, "a.toml", {"system.model=spce"}); });
  EXPECT_TRUE(contains(other, "[model] is not used with model = \"spce\"")) << other;
}

TEST(OwnModel, ADeckNamesTheFileOfAModel) {
  const test::ScratchFolder folder;
  const std::filesystem::path path(folder.path());
  std::filesystem::create_directory(path / "models");
  std::ofstream(path / "models/own.toml") << kOwn << "[run]\nno_such_key = 1\n";
  const std::string name = (path / "a.toml").string();
  const std::string text =
      "[system]\nmodel = \"models/own.toml\"\nmolecules = 2\n[run]\nsteps = 1\n";
  const Deck deck = parse_deck(text, name);
  EXPECT_EQ(deck.system.model, kOwnModel);
  EXPECT_EQ(deck.model, parse_deck(std::string(kRest) + kOwn, "a.toml").model);
  EXPECT_EQ(parse_deck(text, name, {"model.om_A=0.15"}).model->om_A, 0.15);
  EXPECT_TRUE(contains(error_of([&] { parse_deck(text + kOwn, name); }), "exclude each other"));
  const auto named = [&](const std::string& model) {
    return error_of([&] { parse_deck(kRest, name, {"system.model=" + model}); });
  };
  EXPECT_TRUE(contains(named("nowhere.toml"), "there is no such file with a water model"));
  std::ofstream(path / "empty.toml") << "[run]\n";
  EXPECT_TRUE(contains(named("empty.toml"), "empty.toml has no section [model]"));
  std::ofstream(path / "wrong.toml") << kOwn << "sigma = 3\n";
  EXPECT_TRUE(contains(named("wrong.toml"), "wrong.toml:8:1: unknown key"));
}

TEST(Overrides, ATableIsASection) {
  const auto with = [](const std::string& change) { return parse_deck(kRest, "a.toml", {change}); };
  EXPECT_FALSE(parse_deck(kRest, "a.toml").final_structures);
  EXPECT_TRUE(with("observe.final={}").final_structures);
  EXPECT_TRUE(with("observe={final={}, energies={every=7}}").final_structures);
  EXPECT_EQ(with("observe.energies={every=7}").energies->every, 7);
  EXPECT_EQ(with("run={steps=3}").run.steps, 3);
  EXPECT_TRUE(contains(error_of([&] { with("observe.finale={}"); }), "unknown section"));
  EXPECT_TRUE(contains(error_of([&] { with("observe.final={no=1}"); }), "unknown key"));
  EXPECT_TRUE(contains(error_of([&] { with("run=3"); }), "expected section.key=value"));
}

}  // namespace
}  // namespace tarn
