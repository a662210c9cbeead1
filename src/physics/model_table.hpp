#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/physics/water_model.hpp"

/// @file
/// The built-in water models for readers: titles, sources, and numbers that follow from their
/// parameters.

namespace tarn {

/// A water model with the numbers that papers print.
struct ModelDescription {
  WaterModel model;
  std::string name;         ///< in decks
  std::string_view title;   ///< as in papers: "TIP4P/2005"
  std::string_view source;  ///< "Abascal & Vega 2005"; empty for a model that a deck defines
  double om_A = 0.0;        ///< distance of M from O at the geometry of the model; 0: no M
  double sigma_A = 0.0;     ///< of the Lennard-Jones term
  double epsilon_kcal_per_mol = 0.0;
  double dipole_D = 0.0;  ///< of a molecule at the geometry of the model [debye]

  int sites() const { return model.has_m_site() ? 4 : 3; }
};

/// "harmonic", "quartic", "morse", or "rigid".
std::string_view stretch_name(Stretch stretch);

/// @param name of the model, or the path of its deck
ModelDescription describe_model(const WaterModel& model, std::string name);

/// All built-in models: the rigid ones, then the flexible ones.
std::vector<ModelDescription> describe_models();

/// Harmonic wavenumbers of one molecule of a flexible model at its minimum, in ascending order,
/// equation (85) [1/cm].
std::array<double, 3> molecule_wavenumbers_per_cm(const WaterModel& model);

}  // namespace tarn
