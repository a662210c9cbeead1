#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/minimise.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/potential.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// --frame and --replica of a command that takes one structure.
void add_frame_options(Command& command, io::FrameChoice& choice);

/// --beads of a command that takes trajectories of ring polymers.
void add_beads_option(Command& command, std::optional<int>& beads);

/// --field of a command that computes energies of a model.
Option* add_field_option(Command& command, std::vector<double>& field_V_per_nm);
/// Sets that field, if it was given.
void set_field(const std::vector<double>& field_V_per_nm, WaterModel& model);

/// The input of a command that computes energies of one structure.
struct StructureArguments {
  io::FrameChoice choice;
  std::string structure, model;
  std::vector<double> field_V_per_nm;

  /// @return the option --field
  Option* add_to(Command& command, const char* help = kStructureHelp);
  /// Reads the structure. Warns about changes made on reading, and if the file has several frames
  /// and none was chosen. @throws what io::read_structure() throws
  io::Structure load(Terminal& terminal) const;
  /// The model of --model, of the deck of a potential, or named in the file, or tip3p, in the
  /// field. Warns if none of them selects the model, and about fourth sites that were therefore
  /// ignored.
  /// @throws InputError that lists all models
  WaterModel choose_model(const io::Structure& loaded, const std::optional<WaterModel>& of_deck,
                          Terminal& terminal) const;
};

/// Puts the molecules of an input structure onto the geometry of a rigid model, with a warning if
/// they move; those of a flexible model keep theirs. @throws InputError if they are not water
/// molecules of this model
void fit_to_model(const WaterModel& model, std::vector<double>& positions_A,
                  const std::string& path, Terminal& terminal);

/// Checks, before a long computation, that a file can be written to this path. Pipes and devices
/// are always accepted. @throws IoError
/// @throws InputError for a file of a run, which could not be resumed without it
void check_writable(const std::string& path);

/// Runs a minimisation with progress lines. It stops when interrupted (see catch_interrupts()), and
/// warns if it did not converge.
/// @param options without callbacks
/// @param advice added to this warning
/// @param exit_code set if no minimum was reached
MinimiseResult minimise_with_report(
    MinimiseOptions options,
    const std::function<MinimiseResult(const MinimiseOptions& options)>& minimise,
    std::string_view advice, Terminal& terminal, int& exit_code);

/// Advice for a minimisation with a potential that did not converge.
inline constexpr std::string_view kNoisyForces =
    ". Check the forces with tarn check --potential; if their errors are larger, increase "
    "--tolerance";

/// Energies before and after, and the largest remaining force.
std::string result_text(const MinimiseResult& result);

/// --potential DECK and --tolerance of commands on structures.
struct PotentialOption {
  std::string deck;
  double tolerance_kcal_per_mol_A = MinimiseOptions{}.tolerance_kcal_per_mol_A;

  /// @return the option --potential
  Option* add_to(
      Command& command,
      const char* help = "deck whose [potential] computes energies and forces; all atoms move");
  bool is_given() const { return !deck.empty(); }
  /// The water model of the deck, unless --model gives another one.
  std::optional<WaterModel> model(const std::string& given) const;
  /// @return null without the option
  /// @throws InputError if the deck has no potential, and as make_potential()
  std::shared_ptr<Potential> make(int molecules, Terminal& terminal) const;
};

/// The output files named by -o and --plot.
struct TableFiles {
  std::string table;    ///< empty: none is written
  std::string picture;  ///< empty: none is drawn
};

/// @throws InputError unless the name of a picture ends with .svg or .png
/// @param option name of the option, for the message
void check_picture_name(std::string_view option, const std::string& path);

/// A picture is drawn from its table. Without -o the table is written next to the picture.
/// @param out, plot values of -o and --plot; empty if not given
/// @param inputs files that must not be overwritten
/// @param more another output file; empty: none
/// @throws InputError for an unknown picture format, and as check_writable() for all outputs
TableFiles table_files(const std::string& out, const std::string& plot,
                       const std::vector<std::string>& inputs, const std::string& more = {});

/// Draws a table or structures, and prints the name of the picture. @throws IoError
void draw_picture(const std::string& file, const std::string& picture, Terminal& terminal);

/// Writes the table, draws the picture and prints the names of both. @throws IoError
void write_table(const TableFiles& files, std::string_view csv, Terminal& terminal);

}  // namespace tarn::cli
