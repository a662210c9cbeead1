#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "io/draw.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
  std::vector<std::string> folders;
  std::string out, format = "svg";
  bool pictures = true;
};

void report(const Arguments& a, int& exit_code) {
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

void add_report(Command& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
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
