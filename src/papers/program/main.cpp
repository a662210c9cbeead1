// The program tarn-papers.
#include <algorithm>
#include <exception>
#include <functional>
#include <initializer_list>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "io/words.hpp"
#include "papers/run.hpp"
#include "tarn/core/error.hpp"

namespace tarn::papers {
namespace {

constexpr std::string_view kHelp =
    R"(usage: tarn-papers run DECK [option]...   run a deck of a system of the papers
       tarn-papers list                   list the systems, their schemes and decks
       tarn-papers list --keys            print the page docs/papers.md
       tarn-papers --help

Options of run:
  --out FOLDER              output folder; default: out/<name of the deck>
  --overwrite               replace the run in the output folder
  --scheme SCHEME[:key=value]...
                            another scheme and its [integrator] keys, such as rattle or
                            zs:beta=0.25; keys that it does not use are left out
  --set section.key=value   set a key of the deck; may be repeated
  --unset section.key       remove a key or a section from the deck; may be repeated
  --no-pictures             draw no pictures
  --time SECONDS            repeat the steps for this time; run.json contains the shortest core time
)";

/// The systems, each with its schemes.
std::string list() {
  std::string text = "System and schemes (decks: inputs/papers/<system>.toml)\n";
  for (const SystemKind& kind : system_kinds()) {
    text += fmt::format("\n{}: {}\n", kind.name, kind.description);
    for (const decks::Choice& scheme : schemes()) {
      for (const std::string_view name : kind.schemes) {
        if (name == scheme.text) text += fmt::format("  {:<25} {}\n", name, scheme.description);
      }
    }
  }
  return text;
}

struct Arguments : Options {
  std::string deck, scheme;
  std::vector<std::string> set, unset;
};

double seconds_of(const std::string& text) {
  const auto seconds = io::finite_number(text);
  if (seconds && *seconds > 0.0) return *seconds;
  throw InputError(fmt::format("--time {}; expected a number of seconds above 0", text));
}

/// @throws InputError
Arguments arguments_of(const std::vector<std::string>& words) {
  Arguments a;
  const std::map<std::string_view, std::function<void(const std::string&)>> with_value{
      {"--out", [&](const std::string& text) { a.out_dir = text; }},
      {"--scheme", [&](const std::string& text) { a.scheme = text; }},
      {"--set", [&](const std::string& text) { a.set.push_back(text); }},
      {"--unset", [&](const std::string& text) { a.unset.push_back(text); }},
      {"--time", [&](const std::string& text) { a.timing_s = seconds_of(text); }}};
  for (std::size_t k = 0; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (const auto option = with_value.find(word); option != with_value.end()) {
      if (++k == words.size()) throw InputError(word + " needs a value; see tarn-papers --help");
      option->second(words[k]);
    } else if (word == "--overwrite") {
      a.overwrite = true;
    } else if (word == "--no-pictures") {
      a.pictures = false;
    } else if (word.starts_with("-") || !a.deck.empty()) {
      throw InputError(fmt::format("unexpected argument {}; see tarn-papers --help", word));
    } else {
      a.deck = word;
    }
  }
  if (a.deck.empty()) throw InputError("no deck given: tarn-papers run DECK");
  return a;
}

void run(const Arguments& a) {
  PaperDeck deck = load_deck(a.deck, a.set, a.unset);
  if (!a.scheme.empty()) deck = with_scheme(deck, a.scheme);
  fmt::print("{}", run_deck(deck, a));
}

int main(const std::vector<std::string>& words) {
  const auto is = [&](std::initializer_list<std::string_view> wanted) {
    return std::equal(words.begin(), words.end(), wanted.begin(), wanted.end());
  };
  try {
    if (!words.empty() && words.front() == "run") {
      run(arguments_of({words.begin() + 1, words.end()}));
    } else if (is({"list"})) {
      fmt::print("{}", list());
    } else if (is({"list", "--keys"})) {
      fmt::print("{}", reference());
    } else if (is({"--help"})) {
      fmt::print("{}", kHelp);
    } else {
      throw InputError("expected run DECK or list; see tarn-papers --help");
    }
    return static_cast<int>(ExitCode::done);
  } catch (const Error& error) {
    fmt::print(stderr, "tarn-papers: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "tarn-papers: {}\n", error.what());
    return static_cast<int>(ExitCode::io);
  }
}

}  // namespace
}  // namespace tarn::papers

int main(int count, char** words) { return tarn::papers::main({words + 1, words + count}); }
