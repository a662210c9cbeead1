#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "io/json.hpp"
#include "physics/model_table.hpp"
#include "tarn/deck_text.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
  std::vector<std::string> models;
  bool json = false, markdown = false;
};

/// A table of texts; the first row is the head.
using Rows = std::vector<std::vector<std::string>>;

/// "-" for parameters that a model does not have.
std::string or_none(double value, std::string text) { return value == 0.0 ? "-" : text; }

/// @param html whether the page has signs that are not ASCII
Rows model_rows(const std::vector<ModelDescription>& models, bool html) {
  Rows rows{html ? std::vector<std::string>{"model", "in decks", "sites", "bonds", "r_OH (Å)",
                                            "H–O–H (°)", "r_OM (Å)", "q_H (e)", "σ (Å)",
                                            "ε (kcal/mol)", "dipole (D)", "source"}
                 : std::vector<std::string>{"model", "in decks", "sites", "bonds", "r_OH/A",
                                            "HOH/deg", "r_OM/A", "q_H/e", "sigma/A",
                                            "eps/(kcal/mol)", "dipole/D", "source"}};
  for (const ModelDescription& d : models) {
    const WaterModel& m = d.model;
    rows.push_back(
        {std::string(d.title), html ? fmt::format("`{}`", d.name) : d.name,
         fmt::to_string(d.sites()), m.is_flexible() ? "flexible" : "rigid",
         fmt::format("{:.6g}", m.r_oh_A), fmt::format("{:.6g}", m.angle_hoh_degrees),
         or_none(d.om_A, fmt::format("{:.4g}", d.om_A)), fmt::format("{:.6g}", m.charge_h_e),
         or_none(d.sigma_A, fmt::format("{:.6g}", d.sigma_A)),
         or_none(d.sigma_A, fmt::format("{:.5g}", d.epsilon_kcal_per_mol)),
         fmt::format("{:.3f}", d.dipole_D), d.source.empty() ? "-" : std::string(d.source)});
  }
  return rows;
}

/// The intramolecular potentials of the flexible models.
Rows bond_rows(const std::vector<ModelDescription>& models, bool html) {
  Rows rows{html ? std::vector<std::string>{"model", "bonds", "k (kcal/mol/Å²)", "D (kcal/mol)",
                                            "α (1/Å)", "bend k (kcal/mol/rad²)", "γ of M"}
                 : std::vector<std::string>{"model", "bonds", "k/(kcal/mol/A2)", "D/(kcal/mol)",
                                            "alpha*A", "bend k/(kcal/mol/rad2)", "gamma of M"}};
  const auto number = [](double x) { return or_none(x, fmt::format("{:.6g}", x)); };
  for (const ModelDescription& d : models) {
    const IntramolecularModel& b = d.model.intramolecular;
    if (!d.model.is_flexible() || d.model.is_many_body()) continue;
    rows.push_back({std::string(d.title),
                    b.stretch == Stretch::morse ? "Morse" : std::string(stretch_name(b.stretch)),
                    number(b.stretch_stiffness_kcal_per_mol_A2), number(b.depth_kcal_per_mol),
                    number(b.alpha_per_A), number(b.bend_stiffness_kcal_per_mol_rad2),
                    number(d.model.m_site_gamma)});
  }
  return rows;
}

void print_markdown(const Rows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    fmt::print("| {} |\n", fmt::join(rows[i], " | "));
    if (i > 0) continue;
    for (std::size_t c = 0; c < rows[i].size(); ++c) fmt::print("|---");
    fmt::print("|\n");
  }
}

/// The names are those of the keys of [model] where these exist.
std::string json_of(const ModelDescription& d) {
  const WaterModel& m = d.model;
  const IntramolecularModel& b = m.intramolecular;
  const auto if_used = [](double value) { return value == 0.0 ? "null" : io::json(value); };
  io::JsonObject json;
  json.add("name", io::json(d.name)).add("title", io::json(d.title));
  json.add("flexible", m.is_flexible() ? "true" : "false");
  json.add("many_body", m.is_many_body() ? "true" : "false");
  json.add("sites", io::json(std::int64_t{d.sites()}));
  json.add("oh_A", io::json(m.r_oh_A)).add("hoh_degrees", io::json(m.angle_hoh_degrees));
  json.add("om_A", io::json(d.om_A)).add("gamma", if_used(m.m_site_gamma));
  json.add("charge_hydrogen_e", io::json(m.charge_h_e)).add("sigma_A", io::json(d.sigma_A));
  json.add("epsilon_kcal_per_mol", io::json(d.epsilon_kcal_per_mol));
  json.add("dipole_D", io::json(d.dipole_D)).add("stretch", io::json(stretch_name(b.stretch)));
  json.add("stretch_stiffness_kcal_per_mol_A2", if_used(b.stretch_stiffness_kcal_per_mol_A2));
  json.add("stretch_depth_kcal_per_mol", if_used(b.depth_kcal_per_mol));
  json.add("stretch_alpha_per_A", if_used(b.alpha_per_A));
  json.add("bend_stiffness_kcal_per_mol_rad2", if_used(b.bend_stiffness_kcal_per_mol_rad2));
  json.add("oxygen_mass_Da", io::json(m.mass_o_Da)).add("hydrogen_mass_Da", io::json(m.mass_h_Da));
  json.add("source", d.source.empty() ? "null" : io::json(d.source));
  return json.line();
}

void models(const Arguments& a) {
  std::vector<ModelDescription> all;
  for (const std::string& name : a.models) {
    all.push_back(describe_model(water_model_named(name), name));
  }
  if (a.models.empty()) all = describe_models();
  if (a.json) {
    std::vector<std::string> lines;
    for (const ModelDescription& d : all) lines.push_back(json_of(d));
    fmt::print("{}\n", io::JsonObject().add("models", io::json_array(lines)).text());
    return;
  }
  const auto print = [&](const Rows& rows) {
    a.markdown ? print_markdown(rows) : fmt::print("{}\n", aligned_rows(rows));
  };
  print(model_rows(all, a.markdown));
  if (const Rows bonds = bond_rows(all, a.markdown); bonds.size() > 1) {
    fmt::print("\n");
    print(bonds);
  }
  const auto is_mbpol = [](const ModelDescription& d) {
    return d.model.many_body == ManyBodyModel::mbpol;
  };
  if (!a.markdown && std::ranges::any_of(all, is_mbpol)) {
    fmt::print(
        "\nThe tables of MB-pol: copyright (c) 2014 F. Paesani, G. Medders, A. Zonca and R. "
        "Sinkovits, MIT licence\n");
  }
}

}  // namespace

void add_models(Command& app) {
  const auto [command, a] = app.add_subcommand(
      "models", "print the parameters, dipole moments and sources of the water models", models);
  command->add_option("models", a->models,
                      "water models, or files with a [model] section; default: all built-in ones");
  Option* json = command->add_flag("--json", a->json, "print one JSON object");
  command->add_flag("--markdown", a->markdown, "print Markdown tables")->excludes(json);
}

}  // namespace tarn::cli
