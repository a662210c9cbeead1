#include <algorithm>
#include <limits>
#include <memory>
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
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/minimise.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
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

/// Writes the minima as frames of one file, the lowest first.
void write_minima(const std::string& path, const WaterModel& model, const Potential* potential,
                  const std::vector<FoundMinimum>& minima) {
  std::string text;
  for (std::size_t i = 0; i < minima.size(); ++i) {
    io::Structure structure =
        minimum_structure(model, minima[i].positions_A, potential, minima[i].energy_kcal_per_mol);
    structure.comment["starts"] = fmt::to_string(minima[i].starts_that_hit);
    structure.comment["minimum"] = fmt::to_string(i);
    text += io::format_for_writing(path).structure_text(structure);
  }
  io::write_file(path, text);
}

/// Checks the arguments before a long search. @throws InputError, IoError
void check_arguments(const Arguments& a) {
  if (!a.minimise) {
    if (a.starts > 0) throw InputError("--starts requires --minimise");
    if (a.hops > 0) throw InputError("--hops requires --minimise");
    if (a.keep > 1) throw InputError("--keep requires --minimise");
    if (a.potential.is_given()) throw InputError("--potential requires --minimise");
  }
  check_structure_path(a.out);
  if (a.keep > 1 && io::format_for_writing(a.out).id != io::FileFormat::xyz) {
    throw InputError(fmt::format(
        "-o {}: --keep writes several frames as extended XYZ; give a name that ends with .xyz",
        a.out));
  }
}

std::string minima_text(std::size_t minima) {
  return minima == 1 ? "1 minimum" : fmt::format("{} minima", minima);
}

/// Smallest number of minima of the model that are minimised with a potential.
constexpr int kCandidates = 20;

/// Searches for the lowest minimum, with progress and warnings.
LowestCluster search(const Arguments& a, const WaterModel& model, Terminal& terminal,
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
  const std::vector<MinimiseResult> results =
      minimise_clusters(model, molecules, positions_A, {"cpu", 0, potential},
                        {.tolerance_kcal_per_mol_A = tolerance_kcal_per_mol_A,
                         .should_continue = [] { return !interrupted(); }});
  std::vector<FoundMinimum> minima;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].converged) continue;
    const auto first = positions_A.begin() + static_cast<std::ptrdiff_t>(9 * i) * molecules;
    minima.push_back({{first, first + std::ptrdiff_t{9} * molecules},
                      results[i].energy_kcal_per_mol,
                      of_the_model[i].starts_that_hit});
  }
  if (interrupted() && minima.empty()) throw PotentialInterrupted();
  if (const std::size_t failed = results.size() - minima.size(); failed > 0) {
    const std::string text = fmt::format("{} of {} minimisations with {} did not converge{}",
                                         failed, results.size(), potential->name(), kNoisyForces);
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
             results.size());
  return minima;
}

void write_several_minima(const Arguments& a, const WaterModel& model, const Potential* potential,
                          std::vector<FoundMinimum> minima, Terminal& terminal) {
  if (minima.size() > static_cast<std::size_t>(a.keep)) {
    minima.resize(static_cast<std::size_t>(a.keep));
  }
  write_minima(a.out, model, potential, minima);
  if (static_cast<int>(minima.size()) < a.keep) {
    terminal.warning(
        fmt::format("only {} found; increase --starts to find more", minima_text(minima.size())));
  }
  terminal.info(fmt::format("written: {}, {}", a.out, minima_text(minima.size())));
}

void cluster(const Arguments& a, int& exit_code) {
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

void add_cluster(Command& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  Command* command =
      app.add_subcommand("cluster", "generate a random cluster, or search for its lowest energy");
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
  add_quench_device(*command, a->device);
  command->add_option("-o,--out", a->out, kStructureOutHelp)->required();
  command->add_flag("--quiet", a->quiet, kQuietHelp);
  command->callback([a, &exit_code] { cluster(*a, exit_code); });
}

}  // namespace tarn::cli
