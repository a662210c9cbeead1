#include "compare_record.hpp"

#include <fmt/format.h>

#include "tarn/io/atomic_file.hpp"
#include "tarn/io/json.hpp"
#include "tarn/version.hpp"

namespace tarn {

void write_compare_record(const Deck& deck, const std::vector<std::string>& schemes,
                          const CompareOptions& options, const CompareResult& result,
                          std::string_view status, std::string_view error) {
  std::vector<std::string> steps;
  for (const double step : options.steps) steps.push_back(io::json(step));
  std::vector<std::string> beads;
  for (const int number : options.beads) beads.push_back(fmt::format("{}", number));
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? std::string("null") : io::json(std::string_view(text));
  };
  io::JsonObject object;
  object.add("status", io::json(status));
  if (!error.empty()) object.add("error", io::json(error));
  object.add("tarn_version", io::json(std::string_view(kVersion)))
      .add("deck_path", io::json(std::string_view(deck.path)))
      .add("deck", io::json(std::string_view(resolved_deck(deck))))
      .add("schemes", io::json_strings(schemes))
      .add("steps_fs", io::json_array(steps))
      .add("reference", text_or_null(options.reference))
      .add("beads", io::json_array(beads))
      .add("free_rings", io::json_strings(options.free_rings))
      .add("frequencies", io::json_strings(options.frequencies))
      .add("device", text_or_null(result.device))
      .add("pictures", io::json_strings(result.pictures));
  io::write_file(result.out_dir + "/compare.json", object.text() + "\n");
}

}  // namespace tarn
