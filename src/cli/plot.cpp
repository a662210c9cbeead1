#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "io/draw.hpp"
#include "io/structure_checks.hpp"
#include "io/xyz.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "terminal.hpp"

/// @file
/// The commands plot, report and draw.

namespace tarn::cli {
namespace {

namespace fs = std::filesystem;

struct PlotArguments {
  std::vector<std::string> paths;
  std::string format = "svg";
  bool script = false;
};

/// @throws InputError unless the folder is that of a run or a comparison
void check_folder(const std::string& folder) {
  for (const char* record : {"/run.json", "/compare.json"}) {
    if (fs::exists(folder + record)) return;
  }
  throw InputError(
      fmt::format("'{}' is not the folder of a run: run.json is missing. Give the output folder of "
                  "tarn run or tarn compare",
                  folder));
}

void plot_folder(const std::string& folder, io::PictureFormat format, Terminal& terminal) {
  check_folder(folder);
  const Pictures pictures = io::draw_pictures(folder, {format});
  for (const std::string& path : pictures.paths) terminal.info("picture: " + path);
  if (pictures.failed) {
    std::vector<std::string> texts;
    for (const Message& message : pictures.messages) texts.push_back(message.text);
    throw IoError(fmt::format("{}", fmt::join(texts, "\n")));
  }
  terminal.print(pictures.messages);
  if (pictures.paths.empty() && pictures.messages.empty()) {
    terminal.warning(
        fmt::format("'{}' contains none of the tables that can be drawn: energies.csv, "
                    "conservation.csv, heat.csv, cluster.csv, rdf.csv, profile.csv, spectrum.csv, "
                    "correlation.csv, survival.csv, isomers.csv, exchange.csv",
                    folder));
  }
}

void plot(const PlotArguments& a) {
  if (a.script) {
    fmt::print("{}", io::plot_script());
    return;
  }
  if (a.paths.empty()) throw InputError("plot: give the folder of a run, or --script");
  Terminal terminal(false);
  for (const std::string& path : a.paths) {
    if (!fs::exists(path)) io::throw_io_error("read", path, ENOENT);
    if (fs::is_directory(path)) {
      plot_folder(path, a.format == "png" ? io::PictureFormat::png : io::PictureFormat::svg,
                  terminal);
    } else {
      draw_picture(path, fs::path(path).replace_extension(a.format).string(), terminal);
    }
  }
}

struct ReportArguments {
  std::vector<std::string> folders;
  std::string out, format = "svg";
  bool pictures = true;
};

void report(const ReportArguments& a, int& exit_code) {
  std::vector<std::string> words{"--format=" + a.format};
  if (!a.out.empty()) words.push_back("--out=" + a.out);
  if (!a.pictures) words.emplace_back("--no-pictures");
  words.emplace_back("--");
  words.insert(words.end(), a.folders.begin(), a.folders.end());
  const io::ScriptResult result = io::report(std::move(words));
  fmt::print("{}", result.output);
  write_to_stderr(result.errors);
  exit_code = result.exit_code;
}

struct DrawArguments {
  std::vector<std::string> files;
  std::string out;
  std::int64_t frames = 12;
  io::FrameChoice choice;
  std::optional<int> beads;
};

/// Maximum number of molecules in a picture; each bead counts.
constexpr std::size_t kMostMolecules = 5000;

/// Text of an XYZ comment between quotes.
std::string quoted(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '"' || static_cast<unsigned char>(c) < 0x20; }, '?');
  return '"' + text + '"';
}

/// A frame with the keys of its comment, the name of its file and its number there, for the
/// caption.
std::string xyz_of(const io::Structure& structure, const std::string& file, std::size_t files,
                   std::int64_t frame) {
  std::string keys = fmt::format("file={} files={} frame={}",
                                 quoted(std::filesystem::path(file).stem().string()), files, frame);
  for (const auto& [key, value] : structure.comment) {
    keys += fmt::format(" {}={}", key, quoted(value));
  }
  if (structure.beads() > 1) keys += fmt::format(" beads={}", structure.beads());
  return io::xyz_frame(structure.positions_A, {}, keys);
}

void draw(const DrawArguments& a) {
  check_picture_name("-o", a.out);
  check_writable(a.out);
  Terminal terminal(false);
  std::string frames;
  std::size_t molecules = 0;
  std::int64_t clusters = 0;
  bool more = false;
  for (const std::string& file : a.files) {
    const auto reader = io::open_frames(file);
    std::int64_t of_file = 0, drawn = 0;
    bool has_box = false;
    io::ReplicaNumbering places;
    std::optional<std::int64_t> replica = a.choice.replica;
    std::string end_warning;
    Messages messages;
    while (auto structure = io::next_whole_frame(*reader, of_file, end_warning)) {
      if (a.beads) io::set_beads(*structure, *a.beads, *reader);
      const std::optional<io::FrameIndex> place = places.next(*structure, *reader);
      ++of_file;
      if (!replica && a.choice.frame) replica = place->number;
      if (replica && place->number != *replica) continue;
      if (a.choice.frame && place->frame != *a.choice.frame) continue;
      if (clusters == a.frames) {
        more = true;
        break;
      }
      io::check_molecules(*structure, *reader, of_file - 1);
      frames += xyz_of(*structure, file, a.files.size(), of_file - 1);
      molecules += structure->positions_A.size() / 9;
      ++clusters;
      io::add_new_messages(structure->messages, messages);
      if (structure->has_box && !std::exchange(has_box, true)) {
        terminal.print(io::note_on_box(file));
      }
      ++drawn;
      if (a.choice.frame) break;
    }
    terminal.print(messages);
    if (!end_warning.empty()) terminal.warning(end_warning);
    if (a.choice.replica) terminal.print(places.messages());
    if (drawn > 0 || more) continue;
    throw InputError(file + ": has no such frame or replica (both are counted from 0)");
  }
  if (molecules > kMostMolecules) {
    throw InputError(
        fmt::format("cannot draw {} molecules; the maximum is {}", molecules, kMostMolecules));
  }
  const std::string scratch = a.out + ".frames.xyz";
  io::write_file(scratch, frames);
  const auto remove = [](const std::string* path) {
    std::error_code ignored;
    std::filesystem::remove(*path, ignored);
  };
  const std::unique_ptr<const std::string, decltype(remove)> scratch_file(&scratch, remove);
  draw_picture(scratch, a.out, terminal);
  if (more) {
    terminal.info(fmt::format("only the first {} frames are drawn; --frames draws more", clusters));
  }
}

}  // namespace

void add_plot(Command& app) {
  const auto [command, a] = app.add_subcommand(
      "plot", "redraw the pictures of a run or comparison from its CSV files", plot);
  command->add_option("paths", a->paths, "folders of runs and comparisons, tables, XYZ files");
  command->add_option("--format", a->format, "svg or png; default: svg", one_of({"svg", "png"}));
  command->add_flag("--script", a->script,
                    "print the Python script that draws, to change the pictures in a copy of it");
}

void add_report(Command& app) {
  const auto [command, a] = app.add_subcommand(
      "report", "compare finished runs: averages, spectra, melting curves, isomers, convergence",
      report);
  command->add_option("folders", a->folders, "output folders of tarn run")->required();
  command->add_option("-o,--out", a->out,
                      "folder for report.csv and the pictures; default: report, and none for a "
                      "single run");
  command->add_option("--format", a->format, "svg or png; default: svg", one_of({"svg", "png"}));
  command->add_flag("!--no-pictures", a->pictures, "draw no pictures");
}

void add_draw(Command& app) {
  const auto [command, a] =
      app.add_subcommand("draw", "draw structures and their hydrogen bonds", draw);
  command
      ->add_option("structures", a->files, "structures and trajectories, drawn to the same scale")
      ->required();
  command->add_option("-o,--out", a->out, "picture, .svg or .png")->required();
  add_frame_options(*command, a->choice);
  add_beads_option(*command, a->beads);
  command->add_option("--frames", a->frames, "largest number of clusters to draw; default: 12",
                      whole_number(1));
}

}  // namespace tarn::cli
