#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "failure.hpp"
#include "tarn/core/error.hpp"
#include "tarn/version.hpp"
#include "terminal.hpp"
#include "usage.hpp"

namespace {

/// @param number errno, or 0 where it is not known any more
int lost_output(int number) {
  const std::string why = number == 0 ? "" : " (" + std::generic_category().message(number) + ")";
  tarn::cli::say_on_stderr(
      fmt::format("tarn: cannot write standard output{}: what was printed is not whole\n", why));
  return static_cast<int>(tarn::ExitCode::io);
}

/// What is wrong where a word is empty, or an option with an equals sign ends there: as a rule a
/// variable of a script that was not set, in whose place no default may step.
std::string empty_word_problem(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool no_value = word.starts_with("--") && word.find('=') + 1 == word.size();
    if (!word.empty() && !no_value) continue;
    const std::string where = no_value ? " of " + word
                              : i > 0  ? " after '" + words[i - 1] + "'"
                                       : std::string{};
    return "tarn: the argument" + where +
           " is empty; is a variable not set? Leave it out, or give it a value.\n";
  }
  return {};
}

/// The exit code, once all that was printed has left the program.
int after_printing(int exit_code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  if (errno == EPIPE) return exit_code;  // nobody reads any more
  // Where it failed before, its reason is no longer known.
  const int lost = lost_output(errno);
  return exit_code != 0 ? exit_code : lost;
}

}  // namespace

int main(int argc, char** argv) {
  tarn::cli::open_standard_streams();
  // A file that reaches a size limit is then an error like any other, with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{"tarn: molecular dynamics of water clusters", "tarn"};
  app.set_version_flag("--version", "tarn " + std::string(tarn::kVersion));
  app.require_subcommand(1);
  app.footer(
      "'tarn COMMAND --help' explains a command; 'tarn check --reference' explains decks.\n");
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return tarn::cli::usage_text(*failed, error);
  });
  int exit_code = 0;
  tarn::cli::add_run(app, exit_code);
  tarn::cli::add_check(app);
  tarn::cli::add_energy(app);
  tarn::cli::add_cluster(app, exit_code);
  tarn::cli::add_minimise(app, exit_code);
  tarn::cli::add_modes(app, exit_code);
  tarn::cli::add_compare(app, exit_code);
  tarn::cli::add_reproduce(app, exit_code);
  tarn::cli::add_serve(app, exit_code);
  tarn::cli::add_rdf(app);
  tarn::cli::add_analyse(app);
  tarn::cli::add_convert(app, exit_code);
  tarn::cli::add_plot(app);
  tarn::cli::add_draw(app);
  tarn::cli::add_doctor(app);
  // "tarn help run" is "tarn run --help"; a command that is not known is told as one.
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    const auto is_named = [&](const CLI::App* c) { return c->get_name() == words.front(); };
    const std::vector<CLI::App*> commands = app.get_subcommands({});
    if (words.empty() || std::any_of(commands.begin(), commands.end(), is_named)) {
      words.insert(words.begin() + (words.empty() ? 0 : 1), "--help");
    }
  }
  if (const std::string problem = empty_word_problem(words); !problem.empty()) {
    tarn::cli::say_on_stderr(problem);
    return static_cast<int>(tarn::ExitCode::bad_input);
  }
  std::reverse(words.begin(), words.end());  // as the parser takes them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    const bool help = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    app.exit(error);
    return help ? after_printing(0) : static_cast<int>(tarn::ExitCode::bad_input);
  } catch (const std::exception& error) {
    // Told the same wherever it shows, here or at the end.
    const auto* system_error = dynamic_cast<const std::system_error*>(&error);
    if (system_error != nullptr && std::ferror(stdout) != 0) {
      return lost_output(system_error->code().value());
    }
    const tarn::cli::Failure failure = tarn::cli::failure_of(error);
    tarn::cli::say_on_stderr(fmt::format("tarn: {}\n", failure.message));
    return failure.exit_code;
  }
  return after_printing(exit_code);
}
