#include "water_models.hpp"

#include "tarn/core/error.hpp"

namespace tarn::cli {

WaterModel water_model_named(const std::string& name) {
  if (const auto model = find_water_model(name)) return *model;
  std::string names;
  for (const WaterModel& model : kWaterModels) {
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  }
  throw InputError("unknown water model '" + name + "': use one of " + names);
}

}  // namespace tarn::cli
