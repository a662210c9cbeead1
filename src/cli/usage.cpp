#include "usage.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "deck/suggest.hpp"

namespace tarn::cli {

std::string usage_text(const CLI::App& app, const CLI::Error& error) {
  if (!app.get_subcommands().empty()) {
    return fmt::format("tarn: {}\nRun with --help for more information.\n", error.what());
  }
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::vector<std::string> rest = app.remaining();
  const std::string word = rest.empty() ? std::string{} : rest.front();
  const std::string meant = decks::nearest(word, names).name;
  return fmt::format("tarn: {}{}; the commands are {}\n",
                     word.empty()            ? "no command is given"
                     : word.starts_with('-') ? fmt::format("there is no option {}", word)
                                             : fmt::format("there is no command '{}'", word),
                     meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant),
                     fmt::join(names, ", "));
}

}  // namespace tarn::cli
