#include "water_models.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "deck/suggest.hpp"
#include "tarn/core/error.hpp"

namespace tarn::cli {

WaterModel water_model_named(const std::string& name) {
  if (const auto model = find_water_model(name)) return *model;
  std::vector<std::string_view> names;
  for (const WaterModel& model : kWaterModels) names.push_back(model.name);
  const std::string meant = decks::nearest(name, names).name;
  throw InputError(fmt::format("unknown water model '{}'{}: use one of {}", name,
                               meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant),
                               fmt::join(names, ", ")));
}

}  // namespace tarn::cli
