#include "structure_files.hpp"

#include <cerrno>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "io/draw.hpp"
#include "io/paths.hpp"
#include "run/run_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/deck_potential.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/start.hpp"

namespace tarn::cli {

void add_frame_options(Command& command, io::FrameChoice& choice) {
  command.add_option("--frame", choice.frame, "frame of the trajectory, counted from 0; default: 0",
                     whole_number(0));
  command.add_option("--replica", choice.replica,
                     "replica, counted from 0, if the file has several", whole_number(0));
}

void add_beads_option(Command& command, std::optional<int>& beads) {
  command.add_option("--beads", beads,
                     "number of beads in each frame, for trajectories of ring polymers that do not "
                     "name it (.xtc, .trr)",
                     whole_number(1));
}

Option* add_field_option(Command& command, std::vector<double>& field_V_per_nm) {
  return command.add_option("--field", field_V_per_nm,
                            "uniform electric field [V/nm], such as 0,0,1; default: none");
}
void set_field(const std::vector<double>& field_V_per_nm, WaterModel& model) {
  if (field_V_per_nm.empty()) return;
  const bool in_range = std::ranges::all_of(
      field_V_per_nm, [](double component) { return std::abs(component) <= 100.0; });
  if (field_V_per_nm.size() != 3 || !in_range) {
    throw InputError("--field needs three components from -100 to 100 V/nm, such as --field 0,0,1");
  }
  set_field_V_per_nm({field_V_per_nm[0], field_V_per_nm[1], field_V_per_nm[2]}, model);
}

Option* StructureArguments::add_to(Command& command, const char* help) {
  command.add_option("structure", structure, help)->required();
  add_frame_options(command, choice);
  command.add_option("--model", model, fmt::format("{}{}", kModelHelp, kModelFromFileHelp));
  return add_field_option(command, field_V_per_nm);
}

io::Structure StructureArguments::load(Terminal& terminal) const {
  io::FrameCounts counts;
  io::Structure loaded = io::read_structure(structure, choice, &counts);
  terminal.print(loaded.messages);
  terminal.print(io::note_on_frames(structure, counts,
                                    counts.replicas > 1
                                        ? "; choose another with --replica and --frame"
                                        : "; choose another with --frame"));
  return loaded;
}

WaterModel StructureArguments::choose_model(const io::Structure& loaded,
                                            const std::optional<WaterModel>& of_deck,
                                            Terminal& terminal) const {
  const std::string name = model.empty() ? loaded.model().value_or("tip3p") : model;
  WaterModel chosen = of_deck ? *of_deck : water_model_named(name);
  set_field(field_V_per_nm, chosen);
  if (of_deck || !model.empty()) return chosen;
  terminal.print(
      io::warning_of_potential(structure + " is", loaded.potential(), std::string(chosen.name)));
  if (loaded.model()) return chosen;
  if (const auto warning = io::warning_of_sites(structure, loaded, chosen,
                                                "; choose the water model with --model")) {
    terminal.print(*warning);
  } else {
    terminal.note(fmt::format("{} names no water model, so {} is used; choose another with --model",
                              structure, chosen.name));
  }
  return chosen;
}

void fit_to_model(const WaterModel& model, std::vector<double>& positions_A,
                  const std::string& path, Terminal& terminal) {
  if (model.is_flexible()) return io::check_bond_lengths(model, true, positions_A, path);
  terminal.print(make_rigid(model, positions_A, path));
}

void check_writable(const std::string& path) {
  const std::filesystem::path file = io::through_links(path);
  if (std::filesystem::is_directory(file)) io::throw_io_error("write", path, EISDIR);
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file)) return;
  const std::filesystem::path folder = file.parent_path();
  if (std::filesystem::exists(file) && is_file_of_runs(file.filename().string()) &&
      std::filesystem::exists(folder / "checkpoint.bin")) {
    throw InputError(
        fmt::format("'{}' is a file of the run in that folder, which could then not be resumed: "
                    "choose another output file",
                    path));
  }
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    io::throw_io_error("write", path, errno);
  }
}

MinimiseResult minimise_with_report(
    MinimiseOptions options,
    const std::function<MinimiseResult(const MinimiseOptions& options)>& minimise,
    std::string_view advice, Terminal& terminal, int& exit_code) {
  ReportTimer is_due;
  options.should_continue = [] { return !interrupted(); };
  options.on_iteration = [&](const MinimiseResult& r) {
    if (!is_due()) return;
    terminal.info(fmt::format("iteration {}: {:.6f} kcal/mol, largest force {:.1e} kcal/mol/A",
                              r.iterations, r.energy_kcal_per_mol, r.max_gradient_kcal_per_mol_A));
  };
  const MinimiseResult result = minimise(options);
  if (interrupted()) {
    exit_code = interrupted_exit_code();
    terminal.warning("interrupted before the minimum was reached");
  } else if (!result.converged) {
    exit_code = static_cast<int>(ExitCode::numerical);
    terminal.warning(
        fmt::format("not converged: a force or torque is still larger than {:.0e} kcal/mol/A{}",
                    options.tolerance_kcal_per_mol_A, advice));
  }
  if (result.saddle_points > 0) {
    terminal.note(fmt::format(
        "reached {}, where the forces vanish too, and continued from there to a minimum",
        result.saddle_points == 1 ? std::string("a saddle point")
                                  : fmt::format("{} saddle points", result.saddle_points)));
  }
  return result;
}

std::string result_text(const MinimiseResult& r) {
  return fmt::format(
      "{:.9f} kcal/mol before, {:.9f} kcal/mol after {} iterations; largest remaining force or "
      "torque {:.1e} kcal/mol/A",
      r.start_energy_kcal_per_mol, r.energy_kcal_per_mol, r.iterations,
      r.max_gradient_kcal_per_mol_A);
}

Option* PotentialOption::add_to(Command& command, const char* help) {
  Option* potential = command.add_option("--potential", deck, help);
  command
      .add_option(
          "--tolerance", tolerance_kcal_per_mol_A,
          "largest force at which minimisations with the potential end [kcal/mol/A]; default: 1e-6",
          in_range(1e-8, 0.01))
      ->needs(potential);
  return potential;
}

std::optional<WaterModel> PotentialOption::model(const std::string& given) const {
  if (!is_given() || !given.empty()) return std::nullopt;
  return water_model(load_deck(deck));
}

std::shared_ptr<Potential> PotentialOption::make(int molecules, Terminal& terminal) const {
  if (!is_given()) return nullptr;
  auto potential =
      make_potential(load_deck(deck), molecules,
                     {.interrupted = interrupted,
                      .on_message = [&](const Message& message) { terminal.print(message); }});
  if (!potential) {
    throw InputError(fmt::format(
        "--potential {}: the deck needs [potential] kind = \"library\" or \"socket\"", deck));
  }
  return potential;
}

void check_picture_name(std::string_view option, const std::string& path) {
  const std::filesystem::path extension = std::filesystem::path(path).extension();
  if (extension == ".svg" || extension == ".png") return;
  throw InputError(fmt::format("{} {}: give a name that ends with .svg or .png", option, path));
}

TableFiles table_files(const std::string& out, const std::string& plot,
                       const std::vector<std::string>& inputs, const std::string& more) {
  TableFiles files{out, plot};
  if (!plot.empty()) {
    check_picture_name("--plot", plot);
    if (out.empty()) files.table = std::filesystem::path(plot).replace_extension(".csv").string();
  }
  io::check_distinct_paths({files.table, plot, more}, inputs);
  for (const std::string& path : {files.table, plot, more}) {
    if (!path.empty()) check_writable(path);
  }
  return files;
}

void draw_picture(const std::string& file, const std::string& picture, Terminal& terminal) {
  const Pictures pictures = io::draw_picture(file, picture);
  for (const std::string& path : pictures.paths) terminal.info("picture: " + path);
  if (pictures.failed) throw IoError(pictures.messages.front().text);
  terminal.print(pictures.messages);
}

void write_table(const TableFiles& files, std::string_view csv, Terminal& terminal) {
  io::write_file(files.table, csv);
  terminal.info("written: " + files.table);
  if (!files.picture.empty()) draw_picture(files.table, files.picture, terminal);
}

}  // namespace tarn::cli
