#include "structure_files.hpp"

#include <cerrno>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "run/run_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/force_field.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/model_by_name.hpp"
#include "tarn/start.hpp"

namespace tarn::cli {

void add_frame_options(Command& command, io::FrameChoice& choice) {
  command
      .add_option("--frame", choice.frame, "frame of the trajectory, counted from 0; default: 0")
      ->check(whole_number(0));
  command
      .add_option("--replica", choice.replica, "replica, counted from 0, if the file has several")
      ->check(whole_number(0));
}

void add_frame_selection(Command& command, io::FrameSelection& selection) {
  command
      .add_option("--skip", selection.skip, "number of frames to skip at the start of each replica")
      ->check(whole_number(0));
  command.add_option("--every", selection.every, "use every n-th frame; default: 1")
      ->check(whole_number(1));
  command
      .add_option("--most", selection.max_frames,
                  "largest number of frames per replica; default: all")
      ->check(whole_number(1));
  command
      .add_option("--replicas", selection.replicas, "replicas to use, counted from 0; default: all")
      ->delimiter(',')
      ->one_value_each();
}

void add_beads_option(Command& command, std::optional<int>& beads) {
  command
      .add_option("--beads", beads,
                  "number of beads in each frame, for trajectories of ring polymers that do not "
                  "name it (.xtc, .trr)")
      ->check(whole_number(1));
}

io::Structure load_structure(const std::string& path, const io::FrameChoice& choice,
                             Terminal& terminal) {
  io::FrameCounts counts;
  io::Structure structure = io::read_structure(path, choice, &counts);
  terminal.print(structure.messages);
  terminal.print(io::note_on_frames(path, counts,
                                    counts.replicas > 1
                                        ? "; choose another with --replica and --frame"
                                        : "; choose another with --frame"));
  return structure;
}

WaterModel choose_water_model(const std::string& path, const io::Structure& structure,
                              const std::string& name, Terminal& terminal) {
  const WaterModel model = select_water_model(structure, name);
  if (name.empty()) {
    terminal.print(
        io::warning_of_potential(path + " is", structure.potential(), std::string(model.name)));
  }
  if (!name.empty() || structure.model()) return model;
  if (const auto warning =
          io::warning_of_sites(path, structure, model, "; choose the water model with --model")) {
    terminal.print(*warning);
  } else {
    terminal.note(
        fmt::format("{} names no water model, so {} is used; choose another with "
                    "--model",
                    path, model.name));
  }
  return model;
}

WaterModel select_water_model(const io::Structure& structure, const std::string& name) {
  return water_model_named(name.empty() ? structure.model().value_or("tip3p") : name);
}

void fit_to_model(const WaterModel& model, std::vector<double>& positions_A,
                  const std::string& path, Terminal& terminal) {
  if (model.is_flexible()) return check_bond_lengths(model, positions_A, path);
  terminal.print(make_rigid(model, positions_A, path));
}

void check_bond_lengths(const WaterModel& model, bool flexible,
                        const std::vector<double>& positions_A, const std::string& path) {
  std::vector<Problem> problems = io::bond_length_problems(model, flexible, positions_A, path);
  if (!problems.empty()) throw InputError(std::move(problems));
}

void check_bond_lengths(const WaterModel& model, const std::vector<double>& positions_A,
                        const std::string& path) {
  check_bond_lengths(model, model.is_flexible(), positions_A, path);
}

void check_structure_path(const std::string& path) {
  io::format_for_writing(path);
  check_writable(path);
}

void check_writable(const std::string& path) {
  const std::filesystem::path file = io::through_links(path);
  if (std::filesystem::is_directory(file)) io::throw_io_error("write", path, EISDIR);
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file)) return;
  const std::filesystem::path folder = file.parent_path();
  if (std::filesystem::exists(file) && is_file_of_runs(file.filename().string()) &&
      std::filesystem::exists(folder / "checkpoint.bin")) {
    throw InputError(fmt::format(
        "'{}' is a file of the run in that folder, which could then not be resumed: choose another "
        "output file",
        path));
  }
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    io::throw_io_error("write", path, errno);
  }
}

io::Structure minimum_structure(const WaterModel& model, std::vector<double> positions_A,
                                const Potential& potential, double energy_kcal_per_mol) {
  io::Structure structure;
  structure.molecules = static_cast<int>(positions_A.size() / 9);
  structure.positions_A = std::move(positions_A);
  structure.comment["model"] = model.name;
  structure.comment["potential"] = potential.name();
  structure.comment["total_potential_kcal_per_mol"] = io::exact(energy_kcal_per_mol);
  return structure;
}

io::Structure minimum_structure(const WaterModel& model, std::vector<double> positions_A) {
  io::Structure structure;
  structure.molecules = static_cast<int>(positions_A.size() / 9);
  const ClusterEnergy e = ForceField(model, structure.molecules).energy(positions_A);
  structure.positions_A = std::move(positions_A);
  structure.comment["model"] = model.name;
  structure.comment["potential_kcal_per_mol"] = io::exact(e.between_molecules_kcal_per_mol());
  if (model.is_flexible()) {
    structure.comment["total_potential_kcal_per_mol"] = io::exact(e.total_kcal_per_mol());
  }
  return structure;
}

}  // namespace tarn::cli
