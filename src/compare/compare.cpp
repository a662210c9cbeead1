#include "tarn/compare.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "io/draw.hpp"
#include "run/run_folder.hpp"
#include "tables.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "water_variants.hpp"

namespace tarn {
namespace {

namespace fs = std::filesystem;

/// All files that a comparison may write. compare.json, which identifies a comparison, is removed
/// last.
constexpr const char* kFiles[] = {"compare.csv",
                                  "orders.csv",
                                  "rdf.csv",
                                  "rdf.svg",
                                  "rdf.png",
                                  "correlation.csv",
                                  "correlation_times.csv",
                                  "correlation.svg",
                                  "correlation.png",
                                  "errors.svg",
                                  "errors.png",
                                  "beads.csv",
                                  "bead_limits.csv",
                                  "beads.svg",
                                  "beads.png",
                                  "compare.json"};

/// @throws InputError if files in the folder would be lost
void check_output_folder(const std::string& folder, bool overwrite) {
  std::error_code error;
  if (fs::exists(folder + "/run.json", error)) {
    throw InputError(
        folder + " contains a run, whose tables would be lost: choose another folder with --out");
  }
  if (overwrite) return;
  for (const char* name : kFiles) {
    if (!fs::exists(folder + "/" + name, error)) continue;
    throw InputError(
        fmt::format("{} already contains {}, which would be replaced: choose another folder with "
                    "--out, or use --overwrite",
                    folder, name));
  }
}

/// Creates and locks the folder, and removes the files of an earlier comparison.
void prepare_output_folder(const std::string& folder, bool overwrite,
                           std::optional<FolderLock>& lock) {
  io::make_folder(folder);
  lock.emplace(folder);
  check_output_folder(folder, overwrite);
  std::error_code error;
  for (const char* name : kFiles) {
    const std::string path = folder + "/" + name;
    fs::remove(path, error);
    if (error) io::throw_io_error("remove", path, error.value());
  }
}

/// @throws InputError
void check_request(const Deck& deck, const std::vector<std::string>& schemes,
                   const CompareOptions& options) {
  if (!options.reference.empty() && options.steps.empty()) {
    throw InputError(
        "--reference requires --steps; without --steps, the first scheme is the reference");
  }
  if (schemes.empty()) {
    throw InputError("no schemes to compare: list them, such as --schemes shake,zss-stiff");
  }
  if (std::find(schemes.begin(), schemes.end(), "") != schemes.end()) {
    throw InputError("--schemes contains an empty scheme: remove the extra comma");
  }
  if (std::set<std::string>(schemes.begin(), schemes.end()).size() != schemes.size()) {
    throw InputError("--schemes: each scheme must be given only once");
  }
  if (deck.exchange) {
    throw InputError(
        deck.path +
        ": tarn compare does not support replica exchange; remove it with --unset exchange");
  }
}

}  // namespace

CompareResult compare_schemes(const Deck& given, const std::vector<std::string>& schemes,
                              const CompareOptions& options) {
  const Deck deck = options.potential ? with_potential(given, options.potential->name()) : given;
  check_request(deck, schemes, options);
  CompareResult result;
  result.out_dir = options.out_dir.empty() ? "out/" + deck.name + "-compare" : options.out_dir;
  check_output_folder(result.out_dir, options.overwrite);
  const auto record = [&](std::string_view status, std::string_view error = {}) {
    write_compare_record(deck, schemes, options, result, status, error);
  };
  // Called when initial states and engines are ready. No file is changed before; from then on
  // compare.json describes the tables, even after a failure.
  std::optional<FolderLock> lock;
  bool has_begun = false;
  const auto begin = [&] {
    prepare_output_folder(result.out_dir, options.overwrite, lock);
    has_begun = true;
    if (lock->note() && options.on_message) options.on_message(*lock->note());
    record("running");
  };
  try {
    compare_water(deck, make_variants(deck, schemes, options), options, begin, result);
  } catch (const std::exception& failure) {
    try {
      if (has_begun) record("failed", failure.what());
    } catch (const std::exception&) {  // report the first error
    }
    throw;
  }
  if (options.pictures) {
    Pictures pictures = io::draw_pictures(result.out_dir);
    result.pictures = std::move(pictures.paths);
    for (const Message& message : pictures.messages) {
      if (options.on_message) options.on_message(message);
    }
  }
  record(result.interrupted ? "interrupted" : "finished");
  return result;
}

}  // namespace tarn
