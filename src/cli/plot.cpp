#include <cerrno>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "commands.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/observe/pictures.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
  std::string folder, format = "svg";
};

void plot(const Arguments& a) {
  if (!std::filesystem::exists(a.folder)) io::throw_io_error("read", a.folder, ENOENT);
  if (!std::filesystem::exists(a.folder + "/run.json") &&
      std::filesystem::exists(a.folder + "/compare.csv")) {
    throw InputError(fmt::format(
        "'{}' is the folder of a comparison, which tarn plot cannot redraw; its numbers are in "
        "compare.csv. Give the output folder of tarn run",
        a.folder));
  }
  if (!std::filesystem::exists(a.folder + "/run.json")) {
    throw InputError(fmt::format(
        "'{}' is not the folder of a run: run.json is missing. Give the output folder of tarn run",
        a.folder));
  }
  const io::PictureFormat format =
      a.format == "png" ? io::PictureFormat::png : io::PictureFormat::svg;
  const Pictures pictures = draw_run(a.folder, {format});
  Terminal terminal(false);
  for (const std::string& path : pictures.paths) terminal.info("picture: " + path);
  std::set<std::string> texts;
  Messages messages;  // each once
  for (const Message& message : pictures.messages) {
    if (texts.insert(message.text).second) messages.push_back(message);
  }
  if (pictures.failed) throw IoError(fmt::format("{}", fmt::join(texts, "\n")));
  terminal.print(messages);
  if (pictures.paths.empty() && messages.empty()) {
    terminal.warning(
        fmt::format("'{}' contains none of the tables that can be drawn: energies.csv, "
                    "conservation.csv, heat.csv, cluster.csv, rdf.csv, profile.csv, spectrum.csv, "
                    "correlation.csv, survival.csv, isomers.csv, exchange.csv",
                    a.folder));
  }
}

}  // namespace

void add_plot(Command& app) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand("plot", "redraw the pictures of a run from its CSV files");
  command->add_option("folder", a->folder, "folder of the run")->required();
  command->add_option("--format", a->format, "svg or png; default: svg")
      ->check(one_of({"svg", "png"}));
  command->callback([a] { plot(*a); });
}

}  // namespace tarn::cli
