#include "tarn/physics/water_model.hpp"

#include <cmath>
#include <span>

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

std::string comma_list(std::span<const WaterModel> models) {
  std::string names;
  for (const WaterModel& model : models) {
    if (!names.empty()) names += ", ";
    names += model.name;
  }
  return names;
}

}  // namespace

std::string rigid_model_names() { return comma_list(kWaterModels); }
std::string flexible_model_names() { return comma_list(kFlexibleWaterModels); }

std::optional<WaterModel> find_water_model(std::string_view name) {
  for (const WaterModel& model : kWaterModels) {
    if (model.name == name) return model;
  }
  for (const WaterModel& model : kFlexibleWaterModels) {
    if (model.name == name) return model;
  }
  return std::nullopt;
}

}  // namespace tarn
