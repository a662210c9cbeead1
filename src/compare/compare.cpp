#include "tarn/compare.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "compare_record.hpp"
#include "mechanics_compare.hpp"
#include "run/folder_lock.hpp"
#include "run/mechanics_run.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/io_error.hpp"
#include "tarn/start.hpp"
#include "water_compare.hpp"

namespace tarn {
namespace {

namespace fs = std::filesystem;

/// All files that a comparison may write; the one by which it is known as such goes last.
constexpr std::array kFiles{
    "compare.csv",     "orders.csv",      "drift.csv",  "drift.svg",       "drift.png",
    "rdf.csv",         "rdf.svg",         "rdf.png",    "correlation.csv", "correlation_times.csv",
    "correlation.svg", "correlation.png", "errors.svg", "errors.png",      "compare.json"};

/// Refuses a folder whose files would be lost.
void look_at_folder(const std::string& folder, bool overwrite) {
  std::error_code error;
  if (fs::exists(folder + "/run.json", error)) {
    throw InputError(folder +
                     " holds a run, whose tables would be lost: choose another folder with --out");
  }
  if (overwrite) return;
  for (const char* name : kFiles) {
    if (!fs::exists(folder + "/" + name, error)) continue;
    throw InputError(
        fmt::format("{} already holds {}, which a comparison would replace: choose another folder "
                    "with --out, or use --overwrite",
                    folder, name));
  }
}

/// Makes and locks the folder, and takes out what an earlier comparison left there.
FolderLock take_folder(const std::string& folder, bool overwrite) {
  io::make_folder(folder);
  FolderLock lock(folder);
  look_at_folder(folder, overwrite);
  std::error_code error;
  for (const char* name : kFiles) {
    const std::string path = folder + "/" + name;
    fs::remove(path, error);
    if (error) io::throw_io_error("remove", path, error.value());
  }
  return lock;
}

void refuse_what_cannot_be_compared(const Deck& deck, const std::vector<std::string>& schemes,
                                    const CompareOptions& options) {
  if (!options.reference.empty() && options.steps.empty()) {
    throw InputError("--reference goes with --steps; without, the first of the schemes is it");
  }
  if (schemes.empty()) throw InputError("no schemes to compare: give --schemes shake,zss-stiff");
  if (std::find(schemes.begin(), schemes.end(), "") != schemes.end()) {
    throw InputError("a scheme of --schemes is empty: there is a comma too many");
  }
  if (std::set<std::string>(schemes.begin(), schemes.end()).size() != schemes.size()) {
    throw InputError("a scheme is named twice in --schemes");
  }
  if (deck.exchange) {
    throw InputError(deck.path +
                     ": schemes are compared without replica exchange; leave it out with --unset "
                     "exchange");
  }
}

}  // namespace

CompareResult compare_schemes(const Deck& deck, const std::vector<std::string>& schemes,
                              const CompareOptions& options) {
  refuse_what_cannot_be_compared(deck, schemes, options);
  CompareResult result;
  result.out_dir = options.out_dir.empty() ? "out/" + deck.name + "-compare" : options.out_dir;
  look_at_folder(result.out_dir, options.overwrite);
  const auto record = [&](std::string_view status, std::string_view error = {}) {
    write_compare_record(deck, schemes, options, result, status, error);
  };
  // Once starts and engines are there. From then on compare.json tells beside the tables what they
  // are of, whatever comes; before, nothing is touched.
  FolderLock lock;
  const auto begin = [&] {
    lock = take_folder(result.out_dir, options.overwrite);
    record("running");
  };
  try {
    if (is_mechanical(deck.system.kind)) {
      MechanicsPlan plan = plan_mechanics(deck, schemes, options);
      refuse_cuda(options.device);
      begin();
      compare_mechanics(std::move(plan), schemes, options, result);
    } else {
      compare_water(deck, make_variants(deck, schemes, options), schemes, options, begin, result);
    }
  } catch (const std::exception& failure) {
    try {
      if (lock.locked()) record("failed", failure.what());
    } catch (const std::exception&) {  // the first error is the one to tell
    }
    throw;
  }
  record(result.interrupted ? "interrupted" : "finished");
  return result;
}

}  // namespace tarn
