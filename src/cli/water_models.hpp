#pragma once

#include <string>

#include "tarn/physics/water_model.hpp"

namespace tarn::cli {

/// The model of that name. @throws InputError that names all models
WaterModel water_model_named(const std::string& name);

}  // namespace tarn::cli
