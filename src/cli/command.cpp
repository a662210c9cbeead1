#include "command.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/text.hpp"
#include "deck/source.hpp"

namespace tarn::cli {
namespace {

std::string help_hint(const CLI::App& command) {
  return fmt::format("Run 'tarn {} --help' for its arguments.\n", command.get_name());
}

/// Message for an invalid command line: the problem and its solution, as complete lines.
/// @param words the command line
std::string usage_text(const CLI::App& app, const CLI::Error& error,
                       const std::vector<std::string>& words) {
  if (!app.get_subcommands().empty()) {
    // Report unknown options first: a misspelt option may be the reason why another is missing.
    const CLI::App& command = *app.get_subcommands().front();
    for (const std::string& word : command.remaining()) {
      if (!word.starts_with("--")) continue;
      std::vector<std::string> names;
      for (const CLI::Option* option : command.get_options()) {
        names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
      }
      const std::vector<std::string_view> views(names.begin(), names.end());
      const std::string meant = decks::nearest(std::string_view(word).substr(2), views).name;
      return fmt::format("tarn: {} has no option {}{}\n{}", command.get_name(), word,
                         meant.empty() ? "" : fmt::format(" (did you mean '--{}'?)", meant),
                         help_hint(command));
    }
    const std::vector<std::string> rest = command.remaining();
    if (const CLI::Option* set = command.get_option_no_throw("--set")) {
      if (const auto text = split_change_problem(set->results(), words)) {
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

}  // namespace

Check::Check(CLI::Validator validator)
    : validator_(std::make_shared<const CLI::Validator>(std::move(validator))) {}

namespace {

/// The check of the library with another message.
template <class T>
Check range(T low, T high) {
  const CLI::Range inside(low, high);
  const auto problem = [=](std::string text) {
    return inside(text).empty() ? ""
                                : fmt::format("{}: give a number from {} to {}", text, low, high);
  };
  return Check({problem, inside.get_description()});
}

}  // namespace

Check in_range(double low, double high) { return range(low, high); }
Check in_range(int low, int high) { return range(low, high); }
Check one_of(const std::vector<std::string>& words) { return Check(CLI::IsMember(words)); }

Check whole_number(std::int64_t low, std::int64_t high) {
  const auto problem = [low, high](const std::string& text) {
    const auto number = number_in<std::int64_t>(text);
    const bool leading_zero = text.size() > 1 && text[text[0] == '-' ? 1 : 0] == '0';
    if (number && !leading_zero && *number >= low && *number <= high) return std::string{};
    return high == std::numeric_limits<std::int64_t>::max()
               ? fmt::format("{}: give a whole number, {} or more, and at most 2^63 - 1 = {}", text,
                             low, high)
               : fmt::format("{}: give a whole number from {} to {}", text, low, high);
  };
  return Check({problem, {}});
}

Check number_of_threads() { return whole_number(0, 4096); }

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::excludes(const Option* other) {
  option_->excludes(other->option_);
  return this;
}

Option* Option::needs(const Option* other) {
  option_->needs(other->option_);
  return this;
}

Option* Option::delimiter(char separator) {
  option_->delimiter(separator);
  return this;
}

Option* Option::one_value_each() {
  option_->allow_extra_args(false);
  return this;
}

Command* Command::add_subcommand(const std::string& name, const std::string& description,
                                 std::function<void()> run) {
  Command& command = commands_.emplace_back();
  command.app_ = app_->add_subcommand(name, description);
  command.app_->callback(std::move(run));
  return &command;
}

namespace {

template <class T>
constexpr bool kIsNumbers = false;
template <class Number>
constexpr bool kIsNumbers<std::vector<Number>> = std::is_arithmetic_v<Number>;

}  // namespace

template <class T>
Option* Command::add_option(const std::string& names, T& value, const std::string& help,
                            const Check& check) {
  Option& option = options_.emplace_back();
  option.option_ = app_->add_option(names, value, help);
  if (kIsNumbers<T>) option.delimiter(',');
  if (check.validator_) option.option_->check(*check.validator_);
  return &option;
}

Option* Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  Option& option = options_.emplace_back();
  option.option_ = app_->add_flag(names, value, help);
  return &option;
}

Program::Program(const std::string& description, const std::string& name,
                 const std::string& version, const std::string& footer)
    : owned_(std::make_unique<CLI::App>(description, name)) {
  app_ = owned_.get();
  exit_code_ = &own_exit_code_;
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
  app_->footer(footer);
  app_->failure_message([this](const CLI::App* failed, const CLI::Error& error) {
    return usage_text(*failed, error, words_);
  });
}

Program::~Program() = default;

bool Program::run(std::vector<std::string> words) {
  // "tarn help run" is "tarn run --help"; an unknown command is reported as such.
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    const auto is_named = [&](const CLI::App* command) {
      return command->get_name() == words.front();
    };
    if (words.empty() || std::ranges::any_of(app_->get_subcommands({}), is_named)) {
      words.insert(words.begin() + (words.empty() ? 0 : 1), "--help");
    }
  }
  words_ = words;
  std::reverse(words.begin(), words.end());  // the order that the parser expects
  try {
    app_->parse(std::move(words));
    return true;
  } catch (const CLI::ParseError& error) {
    app_->exit(error);
    return error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
  }
}

std::optional<std::string> split_change_problem(const std::vector<std::string>& changes,
                                                const std::vector<std::string>& words) {
  for (const std::string& change : changes) {
    const std::size_t equals = change.find('=');
    if (equals != std::string::npos && equals + 1 < change.size()) continue;
    const auto at = std::ranges::find_if(
        words, [&](const std::string& word) { return word.ends_with(change); });
    const auto next = std::find_if(at == words.end() ? words.begin() : at + 1, words.end(),
                                   [](const std::string& word) { return word != "="; });
    std::string value = next == words.end() ? "VALUE" : *next;
    if (value.starts_with('=')) value.erase(0, 1);
    return fmt::format("--set {}: write key=value without blanks, as in --set {}={}", change,
                       change.substr(0, equals), value);
  }
  return std::nullopt;
}

// The types of arguments.
using Text = const std::string&;
template Option* Command::add_option(Text, int&, Text, const Check&);
template Option* Command::add_option(Text, std::int64_t&, Text, const Check&);
template Option* Command::add_option(Text, std::uint64_t&, Text, const Check&);
template Option* Command::add_option(Text, double&, Text, const Check&);
template Option* Command::add_option(Text, std::string&, Text, const Check&);
template Option* Command::add_option(Text, std::optional<int>&, Text, const Check&);
template Option* Command::add_option(Text, std::optional<std::int64_t>&, Text, const Check&);
template Option* Command::add_option(Text, std::optional<double>&, Text, const Check&);
template Option* Command::add_option(Text, std::vector<int>&, Text, const Check&);
template Option* Command::add_option(Text, std::vector<std::int64_t>&, Text, const Check&);
template Option* Command::add_option(Text, std::vector<double>&, Text, const Check&);
template Option* Command::add_option(Text, std::vector<std::string>&, Text, const Check&);

}  // namespace tarn::cli
