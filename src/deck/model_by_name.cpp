#include "tarn/model_by_name.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "checker.hpp"
#include "schema.hpp"
#include "suggest.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_text.hpp"

namespace tarn {

std::optional<Deck> deck_of_model(const std::string& name) {
  if (!name.ends_with(".toml")) return std::nullopt;
  return decks::Checker(name, true).check_model(read_toml_text(name, decks::kModelFile));
}

WaterModel water_model_of_text(const std::string& text, const std::string& name) {
  return water_model(decks::Checker(name, true).check_model(text));
}

WaterModel water_model_named(const std::string& name) {
  if (const std::optional<Deck> deck = deck_of_model(name)) return water_model(*deck);
  if (name == kOwnModel) {
    throw InputError(
        "water model 'own' is defined in a file with a section [model]: give its path, --model "
        "FILE.toml");
  }
  if (const auto model = find_water_model(name)) return *model;
  std::vector<std::string_view> names;
  for (const WaterModel& model : kWaterModels) names.push_back(model.name);
  for (const WaterModel& model : kFlexibleWaterModels) names.push_back(model.name);
  const std::string meant = decks::nearest_model(name, names).name;
  throw InputError(fmt::format("unknown water model '{}'{}: use one of {}", name,
                               meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant),
                               fmt::join(names, ", ")));
}

void set_masses(std::optional<double> hydrogen_mass_Da, std::optional<double> oxygen_mass_Da,
                WaterModel& model) {
  const auto set = [](std::string_view name, std::optional<double> given_Da, double& mass_Da) {
    if (!given_Da) return;
    const decks::Key& key = *decks::water_schema().find_key("system", name);
    if (!(*given_Da >= key.range.low && *given_Da <= key.range.high)) {
      throw InputError(
          fmt::format("{} = {:g}; expected {}", name, *given_Da, decks::expected_text(key)));
    }
    mass_Da = *given_Da;
  };
  set("hydrogen_mass_Da", hydrogen_mass_Da, model.mass_h_Da);
  set("oxygen_mass_Da", oxygen_mass_Da, model.mass_o_Da);
}

}  // namespace tarn
