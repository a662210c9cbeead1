#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

/// The command line, as the commands declare it. Only command.cpp includes the library behind it,
/// whose templates take seconds in every file that sees them.
namespace tarn::cli {

/// A condition on an argument.
class Check {
 public:
  Check() = default;  // none
  explicit Check(CLI::Validator validator);

 private:
  friend class Command;
  std::shared_ptr<const CLI::Validator> validator_;
};

/// A number within these limits, which the help contains.
Check in_range(double low, double high);
Check in_range(int low, int high);
/// One of these words, which the help contains.
Check one_of(const std::vector<std::string>& words);
/// A decimal whole number within these limits. The parser's own conversion accepts a minus sign for
/// unsigned numbers, and reads a leading zero as base 8.
Check whole_number(std::int64_t low, std::int64_t high = std::numeric_limits<std::int64_t>::max());
/// The same limits as for `threads` in a deck.
Check number_of_threads();

/// An option, flag or positional argument of a command.
class Option {
 public:
  Option* required();
  Option* excludes(const Option* other);
  Option* needs(const Option* other);
  /// Splits an argument into values.
  Option* delimiter(char separator);
  /// Takes one value each time that the option is given.
  Option* one_value_each();

 private:
  friend class Command;
  CLI::Option* option_ = nullptr;
};

/// A command, whose options set variables that must outlive it.
class Command {
 public:
  /// Adds a subcommand with its arguments.
  /// @param run void(Arguments&) or void(Arguments&, int& exit_code), called after the arguments
  /// were read; the exit code is one that is not caused by an error, such as that of an interrupt
  template <class Arguments, class... ExitCode>
  auto add_subcommand(const std::string& name, const std::string& description,
                      void (*run)(Arguments&, ExitCode&...)) {
    const auto arguments = std::make_shared<std::remove_const_t<Arguments>>();
    const std::function<void()> call = [=, code = exit_code_] {
      if constexpr (sizeof...(ExitCode) == 0) run(*arguments);
      if constexpr (sizeof...(ExitCode) == 1) run(*arguments, *code);
    };
    return std::pair(add_subcommand(name, description, call), arguments);
  }
  Command* add_subcommand(const std::string& name, const std::string& description,
                          std::function<void()> run);
  /// @param names such as "-o,--out", or "deck" for a positional argument
  /// @param value a list of numbers may be given as one argument with commas
  template <class T>
  Option* add_option(const std::string& names, T& value, const std::string& help,
                     const Check& check = {});
  /// @param names such as "--quiet", or "!--no-pictures" for a flag that sets false
  Option* add_flag(const std::string& names, bool& value, const std::string& help);

 protected:
  CLI::App* app_ = nullptr;
  int* exit_code_ = nullptr;

 private:
  std::list<Command> commands_;
  std::list<Option> options_;
};

/// The program, whose commands are subcommands.
class Program : public Command {
 public:
  Program(const std::string& description, const std::string& name, const std::string& version,
          const std::string& footer);
  ~Program();

  /// Runs the command of the arguments, or prints help. @return false after a message about
  /// arguments that are wrong @throws what the command throws
  bool run(std::vector<std::string> words);
  /// That of the command; 0 before it was run.
  int exit_code() const { return own_exit_code_; }

 private:
  int own_exit_code_ = 0;
  std::unique_ptr<CLI::App> owned_;
  std::vector<std::string> words_;
};

/// The problem with a change of --set that was split at a blank, "--set run.steps 5".
/// @param words command line, or only the argument that may be its value
std::optional<std::string> split_change_problem(const std::vector<std::string>& changes,
                                                const std::vector<std::string>& words);

/// Adds one subcommand, which throws the library's errors.
using AddCommand = void(Command& app);
AddCommand add_run, add_check, add_energy, add_cluster, add_minimise, add_modes, add_compare,
    add_serve, add_rdf, add_analyse, add_convert, add_plot, add_report, add_draw, add_models,
    add_doctor;

inline constexpr const char* kDeckHelp = "deck (TOML file)";
inline constexpr const char* kStructureHelp =
    "structure or trajectory, such as extended XYZ, GRO or PDB";
inline constexpr const char* kStructureOutHelp = "output file: .xyz, .gro or .pdb";
inline constexpr const char* kThreadsHelp = "number of CPU threads; default: 0, all of them";
inline constexpr const char* kDeviceHelp = "auto, cpu, cuda or cuda:<number>";
inline constexpr const char* kDevicesHelp =
    "auto, cpu, cuda, cuda:<number>, cuda:<number>,<number> or cuda:all";
inline constexpr const char* kQuietHelp = "print no progress";
/// Without the default.
inline constexpr const char* kModelHelp =
    "water model ('tarn models' lists them), or a file with a [model] section";
/// Default of --model for commands that read a structure or trajectory.
inline constexpr const char* kModelFromFileHelp =
    "; default: the model named in the file, or tip3p";

}  // namespace tarn::cli
