#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "commands.hpp"
#include "io/replica_frames.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/observe/structure_picture.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::string out;
  std::int64_t frames = 12;
  io::FrameChoice choice;
  std::optional<int> beads;
};

/// A frame without a label gets the name of its file and its number there.
DrawnCluster drawn_cluster(const io::Structure& structure, const std::string& file,
                           std::int64_t frame, bool several_files) {
  DrawnCluster cluster{structure.positions_A, label_of_frame(structure)};
  cluster.beads = structure.beads();
  if (several_files || cluster.label.empty()) {
    cluster.file = std::filesystem::path(file).stem().string();
  }
  if (cluster.label.empty() && frame > 0) cluster.label = fmt::format("frame {}", frame);
  return cluster;
}

void draw(const Arguments& a) {
  if (std::filesystem::path(a.out).extension() != ".svg") {
    const std::string svg = std::filesystem::path(a.out).replace_extension(".svg").string();
    throw InputError(
        fmt::format("-o {}: structures are drawn as SVG; give a name that ends with .svg. Convert "
                    "it to other formats with: rsvg-convert {} -o {}",
                    a.out, svg, a.out));
  }
  check_writable(a.out);
  Terminal terminal(false);
  std::vector<DrawnCluster> clusters;
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
      if (static_cast<std::int64_t>(clusters.size()) == a.frames) {
        more = true;
        break;
      }
      io::check_molecules(*structure, *reader, of_file - 1);
      clusters.push_back(drawn_cluster(*structure, file, of_file - 1, a.files.size() > 1));
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
  io::write_file(a.out, structure_svg(clusters, {}));
  if (more) {
    terminal.info(
        fmt::format("only the first {} frames are drawn; --frames draws more", clusters.size()));
  }
  terminal.info("picture: " + a.out);
}

}  // namespace

void add_draw(Command& app) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand("draw", "draw structures and their hydrogen bonds, as SVG");
  command
      ->add_option("structures", a->files, "structures and trajectories, drawn to the same scale")
      ->required();
  command->add_option("-o,--out", a->out, "output file (SVG)")->required();
  add_frame_options(*command, a->choice);
  add_beads_option(*command, a->beads);
  command->add_option("--frames", a->frames, "largest number of clusters to draw; default: 12")
      ->check(whole_number(1));
  command->callback([a] { draw(*a); });
}

}  // namespace tarn::cli
