#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "io/draw.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "terminal.hpp"

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

}  // namespace

void add_plot(Command& app, int& /*exit_code*/) {
  auto a = std::make_shared<PlotArguments>();
  Command* command =
      app.add_subcommand("plot", "redraw the pictures of a run or comparison from its CSV files");
  command->add_option("paths", a->paths, "folders of runs and comparisons, tables, XYZ files");
  command->add_option("--format", a->format, "svg or png; default: svg", one_of({"svg", "png"}));
  command->add_flag("--script", a->script,
                    "print the Python script that draws, to change the pictures in a copy of it");
  command->callback([a] { plot(*a); });
}

void add_report(Command& app, int& exit_code) {
  auto a = std::make_shared<ReportArguments>();
  Command* command = app.add_subcommand(
      "report", "compare finished runs: averages, spectra, melting curves, isomers, convergence");
  command->add_option("folders", a->folders, "output folders of tarn run")->required();
  command->add_option("-o,--out", a->out,
                      "folder for report.csv and the pictures; default: report, and none for a "
                      "single run");
  command->add_option("--format", a->format, "svg or png; default: svg", one_of({"svg", "png"}));
  command->add_flag("!--no-pictures", a->pictures, "draw no pictures");
  command->callback([a, &exit_code] { report(*a, exit_code); });
}

}  // namespace tarn::cli
