#include "tarn/minimise.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/isomers.hpp"
#include "command.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/force_field.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"

/// @file
/// The commands minimise and cluster.

namespace tarn::cli {
namespace {

struct Arguments : StructureArguments {
  PotentialOption potential;
  std::string out, device = "cpu";
  bool all = false, quiet = false;
};

/// --device of a command that minimises many structures.
Option* add_device_option(Command& command, std::string& device) {
  return command.add_option(
      "--device", device,
      "cpu, or cuda and its numbers for rigid or flexible pairwise models of up to "
      "32 molecules; default: cpu");
}

/// Checks, before a long search, that a structure can be written to this path.
/// @throws InputError for an unknown extension, IoError if the path is not writable
void check_structure_path(const std::string& path) {
  io::format_for_writing(path);
  check_writable(path);
}

/// The structure to write for a minimum, with its model and energies.
/// @param potential null: the model, whose energies are computed here
io::Structure minimum_structure(const WaterModel& model, std::vector<double> positions_A,
                                const Potential* potential, double energy_kcal_per_mol) {
  io::Structure structure;
  structure.molecules = static_cast<int>(positions_A.size() / 9);
  structure.positions_A = std::move(positions_A);
  structure.comment["model"] = model.name;
  if (potential != nullptr) {
    structure.comment["potential"] = potential->name();
  } else {
    const ClusterEnergy e = ForceField(model, structure.molecules).energy(structure.positions_A);
    structure.comment["potential_kcal_per_mol"] = io::exact(e.between_molecules_kcal_per_mol());
    if (!model.is_flexible()) return structure;
    energy_kcal_per_mol = e.total_kcal_per_mol();
  }
  structure.comment["total_potential_kcal_per_mol"] = io::exact(energy_kcal_per_mol);
  return structure;
}

/// @throws InputError unless several frames can be written to this path
/// @param option that writes them
void check_frames_path(const std::string& path, std::string_view option) {
  if (io::format_for_writing(path).id == io::FileFormat::xyz) return;
  throw InputError(fmt::format(
      "-o {}: {} writes several frames as extended XYZ; give a name that ends with .xyz", path,
      option));
}

/// Minimises clusters of equal size side by side.
/// @return the minima, in the order of the clusters, with 0 starts if one did not converge
std::vector<FoundMinimum> minimise_together(const WaterModel& model, int molecules,
                                            std::vector<double> positions_A,
                                            const DeviceRequest& device,
                                            double tolerance_kcal_per_mol_A) {
  const std::vector<MinimiseResult> results =
      minimise_clusters(model, molecules, positions_A, device,
                        {.tolerance_kcal_per_mol_A = tolerance_kcal_per_mol_A,
                         .should_continue = [] { return !interrupted(); }});
  std::vector<FoundMinimum> minima;
  auto first = positions_A.begin();
  for (const MinimiseResult& r : results) {
    const auto end = first + std::ptrdiff_t{9} * molecules;
    minima.push_back({{first, end}, r.energy_kcal_per_mol, r.converged ? 1 : 0});
    first = end;
  }
  return minima;
}

/// Writes minima as frames of one file.
/// @param found by a search: each frame contains its number and how many starts reached it
void write_minima(const std::string& path, const WaterModel& model, const Potential* potential,
                  const std::vector<FoundMinimum>& minima, bool found) {
  std::string text;
  for (std::size_t i = 0; i < minima.size(); ++i) {
    io::Structure structure =
        minimum_structure(model, minima[i].positions_A, potential, minima[i].energy_kcal_per_mol);
    if (found) {
      structure.comment["starts"] = fmt::to_string(minima[i].starts_that_hit);
      structure.comment["minimum"] = fmt::to_string(i);
    }
    text += io::format_for_writing(path).structure_text(structure);
  }
  io::write_file(path, text);
}

/// Minimises all frames of a file side by side, and writes them as frames.
void minimise_all(const Arguments& a, int& exit_code) {
  if (a.choice.is_given()) throw InputError("--all takes all frames; omit --frame and --replica");
  check_frames_path(a.out, "--all");
  Terminal terminal(a.quiet);
  const auto reader = io::open_frames(a.structure);
  std::optional<io::Structure> first;
  std::vector<double> positions_A;
  std::string cut_off;
  std::int64_t frames = 0;
  while (auto frame = io::next_whole_frame(*reader, frames, cut_off)) {
    io::check_molecules(*frame, *reader, frames++);
    positions_A.insert(positions_A.end(), frame->positions_A.begin(), frame->positions_A.end());
    if (!first) first = std::move(frame);
    if (positions_A.size() == 9 * static_cast<std::size_t>(frames * first->molecules)) continue;
    throw InputError(
        a.structure, 0,
        fmt::format("frame {} has other molecules or beads than one cluster of {}, and --all needs "
                    "clusters of equal size",
                    frames - 1, count_text(first->molecules, "molecule")));
  }
  if (!cut_off.empty()) terminal.warning(cut_off);
  const WaterModel model = a.choose_model(*first, a.potential.model(a.model), terminal);
  const auto potential = a.potential.make(first->molecules, terminal);
  const std::vector<FoundMinimum> minima =
      minimise_together(model, first->molecules, std::move(positions_A), {a.device, 0, potential},
                        a.potential.tolerance_kcal_per_mol_A);
  const auto lowest = std::ranges::min_element(minima, {}, &FoundMinimum::energy_kcal_per_mol);
  fmt::print("{:.9f} kcal/mol, the lowest of {}, in frame {}\n", lowest->energy_kcal_per_mol,
             count_text(minima.size(), "frame"), lowest - minima.begin());
  const auto failed = std::ranges::count(minima, 0, &FoundMinimum::starts_that_hit);
  if (failed > 0) {
    exit_code = interrupted() ? interrupted_exit_code() : static_cast<int>(ExitCode::numerical);
    terminal.warning(fmt::format("{} of {} minimisations did not converge{}", failed, minima.size(),
                                 potential ? kNoisyForces : ""));
  }
  write_minima(a.out, model, potential.get(), minima, false);
  terminal.info(fmt::format("written: {}, {}", a.out, count_text(minima.size(), "frame")));
}

void minimise(const Arguments& a, int& exit_code) {
  catch_interrupts();
  check_structure_path(a.out);
  if (a.all) return minimise_all(a, exit_code);
  Terminal terminal(a.quiet);
  io::Structure structure = a.load(terminal);
  const WaterModel model = a.choose_model(structure, a.potential.model(a.model), terminal);
  const auto potential = a.potential.make(structure.molecules, terminal);
  if (potential) {
    io::check_bond_lengths(model, true, structure.positions_A, a.structure);
  } else {
    fit_to_model(model, structure.positions_A, a.structure, terminal);
  }
  ForceField force_field(model, structure.molecules, potential);
  const MinimiseResult r = minimise_with_report(
      {a.potential.tolerance_kcal_per_mol_A},
      [&](const MinimiseOptions& options) {
        return quench_to_minimum(force_field, structure.positions_A, options);
      },
      potential ? kNoisyForces : "", terminal, exit_code);
  fmt::print("{}\n", result_text(r));
  io::write_structure(a.out, minimum_structure(model, structure.positions_A, potential.get(),
                                               r.energy_kcal_per_mol));
  terminal.info("written: " + a.out);
}

struct ClusterArguments {
  int molecules = 0;
  std::uint64_t seed = 1;
  std::string model, out;
  std::vector<double> field_V_per_nm;
  PotentialOption potential;
  bool minimise = false, quiet = false;
  int starts = 0, hops = 0;  // 0: chosen by the number of molecules
  int threads = 0, keep = 1;
  std::string device = "cpu";
};

/// Checks the arguments before a long search. @throws InputError, IoError
void check_arguments(const ClusterArguments& a) {
  if (!a.minimise) {
    if (a.starts > 0) throw InputError("--starts requires --minimise");
    if (a.hops > 0) throw InputError("--hops requires --minimise");
    if (a.keep > 1) throw InputError("--keep requires --minimise");
    if (a.potential.is_given()) throw InputError("--potential requires --minimise");
  }
  check_structure_path(a.out);
  if (a.keep > 1) check_frames_path(a.out, "--keep");
}

std::string minima_text(std::size_t minima) {
  return minima == 1 ? "1 minimum" : fmt::format("{} minima", minima);
}

/// Smallest number of minima of the model that are minimised with a potential.
constexpr int kCandidates = 20;

/// Searches for the lowest minimum, with progress and warnings.
LowestCluster search(const ClusterArguments& a, const WaterModel& model, Terminal& terminal,
                     int& exit_code) {
  ReportTimer is_due;
  const auto progress = [&](int done, int starts, double lowest) {
    if (!is_due(done % std::max(1, starts / 10) == 0)) return;
    terminal.info(
        fmt::format("search {} of {}: lowest energy {:.6f} kcal/mol", done, starts, lowest));
  };
  catch_interrupts();
  LowestCluster lowest =
      lowest_cluster(model, a.molecules, a.seed,
                     {.starts = a.starts,
                      .hops = a.hops,
                      .keep = a.potential.is_given() ? std::max(a.keep, kCandidates) : a.keep,
                      .threads = a.threads,
                      .progress = progress,
                      .should_continue = [] { return !interrupted(); },
                      .device = a.device});
  if (interrupted()) {
    exit_code = interrupted_exit_code();
    terminal.warning(fmt::format("interrupted after {}: the structure is not fully minimised",
                                 count_text(lowest.starts_done, "search", "searches")));
  }
  fmt::print("{:.9f} kcal/mol, found by {}\n", lowest.energy_kcal_per_mol,
             count_text(lowest.starts_that_hit, "search", "searches"));
  if (lowest.starts_that_hit == 1 && lowest.starts_done > 1) {
    terminal.warning(fmt::format(
        "found by only 1 of {} searches: lower minima may exist. Increase --starts or --hops",
        lowest.starts_done));
  }
  return lowest;
}

/// Minimises the lowest minima of the model with a potential.
/// @return its minima, the lowest first
/// @throws NumericalError if no minimisation converges
std::vector<FoundMinimum> minima_of(const std::shared_ptr<Potential>& potential,
                                    double tolerance_kcal_per_mol_A, const WaterModel& model,
                                    const std::vector<FoundMinimum>& of_the_model,
                                    Terminal& terminal, int& exit_code) {
  const auto molecules = static_cast<int>(of_the_model.front().positions_A.size() / 9);
  std::vector<double> positions_A;
  for (const FoundMinimum& m : of_the_model) {
    positions_A.insert(positions_A.end(), m.positions_A.begin(), m.positions_A.end());
  }
  std::vector<FoundMinimum> minima = minimise_together(
      model, molecules, std::move(positions_A), {"cpu", 0, potential}, tolerance_kcal_per_mol_A);
  for (std::size_t i = 0; i < minima.size(); ++i) {
    minima[i].starts_that_hit *= of_the_model[i].starts_that_hit;
  }
  const std::size_t failed = std::erase_if(
      minima, [](const FoundMinimum& minimum) { return minimum.starts_that_hit == 0; });
  if (interrupted() && minima.empty()) throw PotentialInterrupted();
  if (failed > 0) {
    const std::string text =
        fmt::format("{} of {} minimisations with {} did not converge{}", failed,
                    of_the_model.size(), potential->name(), kNoisyForces);
    if (minima.empty()) throw NumericalError(text);
    terminal.warning(text);
    exit_code = interrupted() ? interrupted_exit_code() : static_cast<int>(ExitCode::numerical);
  }
  std::ranges::sort(minima, {}, &FoundMinimum::energy_kcal_per_mol);
  // Energies of minimisations to 1e-6 kcal/mol/A agree to 1e-8 kcal/mol, if the forces are exact.
  const double same_kcal_per_mol =
      std::max(1e-5, analysis::kSameMinimum_A * tolerance_kcal_per_mol_A);
  const auto same = std::ranges::unique(minima, [&](const FoundMinimum& a, const FoundMinimum& b) {
    return b.energy_kcal_per_mol - a.energy_kcal_per_mol < same_kcal_per_mol;
  });
  minima.erase(same.begin(), same.end());
  fmt::print("{:.9f} kcal/mol with {}, the lowest of {} from {} of the model\n",
             minima.front().energy_kcal_per_mol, potential->name(), minima_text(minima.size()),
             of_the_model.size());
  return minima;
}

void write_several_minima(const ClusterArguments& a, const WaterModel& model,
                          const Potential* potential, std::vector<FoundMinimum> minima,
                          Terminal& terminal) {
  if (minima.size() > static_cast<std::size_t>(a.keep)) {
    minima.resize(static_cast<std::size_t>(a.keep));
  }
  write_minima(a.out, model, potential, minima, true);
  if (static_cast<int>(minima.size()) < a.keep) {
    terminal.warning(
        fmt::format("only {} found; increase --starts to find more", minima_text(minima.size())));
  }
  terminal.info(fmt::format("written: {}, {}", a.out, minima_text(minima.size())));
}

void cluster(const ClusterArguments& a, int& exit_code) {
  check_arguments(a);
  const auto of_deck = a.potential.model(a.model);
  WaterModel model = of_deck ? *of_deck : water_model_named(a.model.empty() ? "tip3p" : a.model);
  set_field(a.field_V_per_nm, model);
  Terminal terminal(a.quiet);
  const auto potential = a.potential.make(a.molecules, terminal);
  io::Structure structure;
  if (a.minimise) {
    std::vector<FoundMinimum> minima = search(a, model, terminal, exit_code).minima;
    if (potential) {
      minima = minima_of(potential, a.potential.tolerance_kcal_per_mol_A, model, minima, terminal,
                         exit_code);
    }
    if (a.keep > 1) {
      return write_several_minima(a, model, potential.get(), std::move(minima), terminal);
    }
    structure = minimum_structure(model, std::move(minima.front().positions_A), potential.get(),
                                  minima.front().energy_kcal_per_mol);
  } else {
    structure.molecules = a.molecules;
    structure.comment["model"] = model.name;
    structure.positions_A = random_cluster(model, a.molecules, a.seed, 0);
    terminal.info(fmt::format("random cluster of {}", count_text(a.molecules, "molecule")));
  }
  io::write_structure(a.out, structure);
  terminal.info("written: " + a.out);
}

}  // namespace

void add_minimise(Command& app) {
  const auto [command, a] = app.add_subcommand(
      "minimise", "minimise the energy of a structure; rigid molecules keep their geometry",
      minimise);
  a->add_to(*command)->excludes(a->potential.add_to(*command));
  Option* const all = command->add_flag(
      "--all", a->all,
      "minimise all frames of the file, and write them as frames of one .xyz file");
  add_device_option(*command, a->device)->needs(all);
  command->add_option("-o,--out", a->out, kStructureOutHelp)->required();
  command->add_flag("--quiet", a->quiet, kQuietHelp);
}

void add_cluster(Command& app) {
  const auto [command, a] = app.add_subcommand(
      "cluster", "generate a random cluster, or search for its lowest energy", cluster);
  command
      ->add_option("--molecules", a->molecules, "number of molecules",
                   whole_number(1, kMaxMolecules))
      ->required();
  command->add_option("--seed", a->seed, "random seed; default: 1", whole_number(0));
  command->add_option("--model", a->model, fmt::format("{}; default: tip3p", kModelHelp));
  add_field_option(*command, a->field_V_per_nm)
      ->excludes(a->potential.add_to(*command,
                                     "deck whose [potential] minimises the lowest minima of the "
                                     "model again; all atoms move"));
  command->add_flag("--minimise", a->minimise,
                    "search for the lowest energy minimum, with rigid molecules");
  command->add_option("--starts", a->starts,
                      "number of independent searches; the default finds the global minimum of up "
                      "to 8 molecules; with --hops, the default keeps the total number of hops",
                      whole_number(1, std::numeric_limits<int>::max()));
  command->add_option("--hops", a->hops,
                      "hops between minima in each search; default: 50 for up to 8 molecules, more "
                      "for larger clusters",
                      whole_number(1, std::numeric_limits<int>::max()));
  command->add_option(
      "--keep", a->keep,
      "number of lowest distinct minima to write, as frames of one .xyz file; default: 1",
      whole_number(1, 10'000));
  command->add_option("--threads", a->threads, kThreadsHelp, number_of_threads());
  add_device_option(*command, a->device);
  command->add_option("-o,--out", a->out, kStructureOutHelp)->required();
  command->add_flag("--quiet", a->quiet, kQuietHelp);
}

}  // namespace tarn::cli
