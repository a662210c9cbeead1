#include "tarn/physics/water_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "flexible.hpp"
#include "model_table.hpp"
#include "tarn/physics/parameters.hpp"

namespace tarn {

double WaterModel::r_hh_A() const {
  return 2.0 * r_oh_A * std::sin(0.5 * angle_hoh_degrees * units::pi / 180.0);
}

double WaterModel::m_site_weight() const {
  if (m_site_gamma != 0.0) return 0.5 * (1.0 - m_site_gamma);
  return r_om_A / (2.0 * r_oh_A * std::cos(0.5 * angle_hoh_degrees * units::pi / 180.0));
}

double WaterModel::dipole_charge_e() const { return charge_h_e + m_site_weight() * charge_m_e; }

std::array<double, 3> WaterModel::squared_lengths_A2() const {
  const double oh2 = r_oh_A * r_oh_A;
  const double hh = r_hh_A();
  return {oh2, oh2, hh * hh};
}

namespace {

std::string comma_list(std::span<const WaterModel> models, bool flexible) {
  std::string names;
  for (const WaterModel& model : models) {
    if (model.is_flexible() != flexible) continue;
    if (!names.empty()) names += ", ";
    names += model.name;
  }
  return names;
}

}  // namespace

std::string rigid_model_names() { return comma_list(kWaterModels, false); }
std::string flexible_model_names() { return comma_list(water_models(), true); }

std::span<const WaterModel> water_models() {
  static const std::vector<WaterModel> all = [] {
    std::vector<WaterModel> models(kWaterModels.begin(), kWaterModels.end());
    models.insert(models.end(), kFlexibleWaterModels.begin(), kFlexibleWaterModels.end());
    models.insert(models.end(), kManyBodyModels.begin(), kManyBodyModels.end());
    return models;
  }();
  return all;
}

std::optional<WaterModel> find_water_model(std::string_view name) {
  for (const WaterModel& model : water_models()) {
    if (model.name == name) return model;
  }
  return std::nullopt;
}

namespace {

struct Paper {
  std::string_view name, title, source;
};

/// The full references are in docs/equations-sources.md.
constexpr std::array<Paper, 17> kPapers{{
    {"tip3p", "TIP3P", "Jorgensen et al. 1983"},
    {"spc", "SPC", "Jorgensen et al. 1983"},
    {"spce", "SPC/E", "Berendsen et al. 1987"},
    {"bf", "BF", "Jorgensen et al. 1983"},
    {"tips2", "TIPS2", "Jorgensen et al. 1983"},
    {"tip4p", "TIP4P", "Jorgensen et al. 1983"},
    {"tip4pew", "TIP4P-Ew", "Horn et al. 2004"},
    {"tip4p2005", "TIP4P/2005", "Abascal & Vega 2005"},
    {"tip4pice", "TIP4P/Ice", "Abascal et al. 2005"},
    {"opc", "OPC", "Izadi et al. 2014"},
    {"opc3", "OPC3", "Izadi & Onufriev 2016"},
    {"qtip4pf", "q-TIP4P/F", "Habershon, Markland & Manolopoulos 2009"},
    {"tip4p2005f", "TIP4P/2005f", "González & Abascal 2011"},
    {"spcfw", "SPC/Fw", "Wu, Tepper & Voth 2006"},
    {"qspcfw", "q-SPC/Fw", "Paesani et al. 2006"},
    {"mbpol", "MB-pol", "Babin, Medders & Paesani 2014"},
    {"dang-chang", "Dang-Chang", "Dang & Chang 1997"},
}};

}  // namespace

std::string_view stretch_name(Stretch stretch) {
  constexpr std::array<std::string_view, 4> kNames{"rigid", "harmonic", "quartic", "morse"};
  return kNames[static_cast<std::size_t>(stretch)];
}

ModelDescription describe_model(const WaterModel& model, std::string name) {
  ModelDescription d{model, std::move(name), {}, {}};
  d.title = model.name;
  for (const Paper& paper : kPapers) {
    if (paper.name != model.name) continue;
    d.title = paper.title;
    d.source = paper.source;
  }
  // |r_H1 + r_H2 - 2 r_O|, the vector of equations (2) and (28).
  const double both_A =
      2.0 * model.r_oh_A * std::cos(0.5 * model.angle_hoh_degrees * units::pi / 180.0);
  const double a = model.lj_a_kcal_A12_per_mol, c = model.lj_c_kcal_A6_per_mol;
  d.om_A = model.m_site_weight() * both_A;
  if (a > 0.0) {  // MB-pol has no Lennard-Jones term
    d.sigma_A = std::pow(a / c, 1.0 / 6.0);
    d.epsilon_kcal_per_mol = c * c / (4.0 * a);
  }
  d.dipole_D = model.dipole_charge_e() * both_A * units::debye_per_e_A;
  return d;
}

std::vector<ModelDescription> describe_models() {
  std::vector<ModelDescription> all;
  for (const WaterModel& m : water_models()) all.push_back(describe_model(m, std::string(m.name)));
  return all;
}

std::array<double, 3> molecule_wavenumbers_per_cm(const WaterModel& model) {
  const double half = 0.5 * model.angle_hoh_degrees * units::pi / 180.0;
  const double x = model.r_oh_A * std::sin(half), y = model.r_oh_A * std::cos(half);
  const InternalCoordinates<double> c =
      internal_coordinates(Triple<double>{{0.0, 0.0, 0.0}, {x, y, 0.0}, {-x, y, 0.0}});
  const auto k = internal_potentials(c, flexible_parameters(model));
  const SymmetricMatrix3<double> g = wilson_matrix(c, masses(model));
  // r1 - r2 is a normal coordinate, r1 + r2 and the angle are coupled.
  const double stretch = k.r1.second * (g.s11 + g.s12), bend = k.angle.second * g.s33;
  const double coupling2 = 2.0 * k.r1.second * k.angle.second * g.s13 * g.s13;
  const double mean = 0.5 * (stretch + bend), half_difference = 0.5 * (stretch - bend);
  const double split = std::sqrt(half_difference * half_difference + coupling2);
  std::array<double, 3> all{mean - split, mean + split, k.r1.second * (g.s11 - g.s12)};
  for (double& square : all) square = units::wavenumber_per_cm(std::sqrt(square));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace tarn
