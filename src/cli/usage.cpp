#include "usage.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "deck/suggest.hpp"

namespace tarn::cli {
namespace {

std::string help_hint(const CLI::App& command) {
  return fmt::format("Run 'tarn {} --help' for its arguments.\n", command.get_name());
}

}  // namespace

std::optional<std::string> split_change_problem(const std::vector<std::string>& changes,
                                                const std::vector<std::string>& words) {
  for (const std::string& change : changes) {
    const std::size_t equals = change.find('=');
    if (equals != std::string::npos && equals + 1 < change.size()) continue;
    std::string value = words.empty() ? "VALUE" : words.front();
    if (value.starts_with('=')) value.erase(0, 1);
    return fmt::format("--set {}: write key=value without blanks, as in --set {}={}", change,
                       change.substr(0, equals), value);
  }
  return std::nullopt;
}

std::string usage_text(const CLI::App& app, const CLI::Error& error) {
  if (!app.get_subcommands().empty()) {
    // Report unknown options first: a misspelt option may be the reason why another is missing.
    const CLI::App& command = *app.get_subcommands().front();
    for (const std::string& word : command.remaining()) {
      if (!word.starts_with("--")) continue;
      std::vector<std::string> names;
      for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      }
      const std::vector<std::string_view> views(names.begin(), names.end());
      const std::string meant = decks::nearest(word, views).name;
      return fmt::format("tarn: {} has no option {}{}\n{}", command.get_name(), word,
                         meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant),
                         help_hint(command));
    }
    const std::vector<std::string> rest = command.remaining();
    if (const CLI::Option* set = command.get_option_no_throw("--set")) {
      if (const auto text = split_change_problem(set->results(), rest)) {
        return fmt::format("tarn: {}\n", *text);
      }
    }
    const auto change = std::find_if(rest.begin(), rest.end(), [](const std::string& word) {
      return word.find('=') != std::string::npos;
    });
    if (change != rest.end() && command.get_option_no_throw("--set") != nullptr) {
      return fmt::format("tarn: repeat --set for each change of the deck: --set {}\n", *change);
    }
    return fmt::format("tarn: {}\n{}", error.what(), help_hint(command));
  }
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::vector<std::string> rest = app.remaining();
  const std::string word = rest.empty() ? std::string{} : rest.front();
  const std::string meant = decks::nearest(word, names).name;
  return fmt::format("tarn: {}{}; the commands are {}\n",
                     word.empty()            ? "no command given"
                     : word.starts_with('-') ? fmt::format("unknown option {}", word)
                                             : fmt::format("unknown command '{}'", word),
                     meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant),
                     fmt::join(names, ", "));
}

}  // namespace tarn::cli
