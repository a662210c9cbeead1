#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "deck_arguments.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_potential.hpp"
#include "tarn/version.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

/// @return the exit code
int report_failure(const std::exception& error) {
  const Failure failure = failure_of(error);
  write_to_stderr(fmt::format("tarn: {}\n", failure.message));
  return failure.exit_code;
}

/// Reports a failed write to standard output. @param number errno, or 0 if it is no longer known
int report_lost_output(int number) {
  const std::string reason =
      number == 0 ? "" : " (" + std::generic_category().message(number) + ")";
  write_to_stderr(
      fmt::format("tarn: cannot write standard output{}: the output is incomplete\n", reason));
  return static_cast<int>(ExitCode::io);
}

/// Message for the first empty argument, or option that ends with an equals sign. Most likely a
/// script did not set a variable; using a default instead would hide the mistake.
std::string empty_argument_problem(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool no_value = word.starts_with("--") && word.find('=') + 1 == word.size();
    if (!word.empty() && !no_value) continue;
    const std::string where = no_value ? " of " + word
                              : i > 0  ? " after '" + words[i - 1] + "'"
                                       : std::string{};
    return "tarn: the argument" + where +
           " is empty; is a variable not set? Give a value, or omit the argument.\n";
  }
  return {};
}

/// Flushes standard output. @return `exit_code`, or that of an I/O error if the output was lost
int flush_output(int exit_code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  if (errno == EPIPE) return exit_code;  // the reader has exited
  // errno is 0 here if an earlier write failed.
  const int lost = report_lost_output(errno);
  return exit_code != 0 ? exit_code : lost;
}

/// Follows the orders of rank 0, which also asks for caught signals. @return exit code
int serve(Ranks& ranks, bool quiet) {
  catch_interrupts();
  Terminal terminal(quiet);
  try {
    const PotentialCallbacks callbacks{interrupted,
                                       [&](const Message& message) { terminal.print(message); }};
    ranks.serve(caught_signal, [&](const std::string& recipe, int rank) {
      return potential_of_rank(recipe, rank, callbacks);
    });
    return 0;
  } catch (const std::exception& error) {
    const Failure failure = failure_of(error);
    write_to_stderr(fmt::format("tarn: rank {} failed: {}\n", ranks.rank(), failure.message));
    ranks.abort(failure.exit_code);
    return failure.exit_code;
  }
}

/// Runs the command of the arguments. @return exit code
int run_command(std::vector<std::string> words) {
  Program app(
      "tarn: molecular dynamics of water clusters", "tarn", "tarn " + std::string(kVersion),
      "'tarn COMMAND --help' describes a command; 'tarn check --reference' describes decks.\n");
  for (AddCommand* const add :
       {add_run, add_check, add_energy, add_cluster, add_minimise, add_modes, add_compare,
        add_serve, add_rdf, add_analyse, add_convert, add_plot, add_report, add_draw, add_models,
        add_doctor}) {
    add(app);
  }
  if (const std::string problem = empty_argument_problem(words); !problem.empty()) {
    write_to_stderr(problem);
    return static_cast<int>(ExitCode::bad_input);
  }
  try {
    if (!app.run(std::move(words))) return static_cast<int>(ExitCode::bad_input);
  } catch (const std::exception& error) {
    // The same message as at the end of the program.
    const auto* system_error = dynamic_cast<const std::system_error*>(&error);
    if (system_error != nullptr && std::ferror(stdout) != 0) {
      return report_lost_output(system_error->code().value());
    }
    return report_failure(error);
  }
  return flush_output(app.exit_code());
}

}  // namespace
}  // namespace tarn::cli

int main(int argc, char** argv) {
  tarn::cli::open_standard_streams();
  // Reaching a file size limit becomes an ordinary write error, with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  try {
    const std::unique_ptr<tarn::Ranks> ranks = tarn::cli::join_ranks(words);
    if (ranks && ranks->rank() > 0) {
      return tarn::cli::serve(*ranks, std::ranges::find(words, "--quiet") != words.end());
    }
    tarn::cli::set_ranks(ranks.get());
    return tarn::cli::run_command(std::move(words));
  } catch (const std::exception& error) {
    return tarn::cli::report_failure(error);
  }
}
