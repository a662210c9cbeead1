#include "tarn/minimise_clusters.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/parallel.hpp"
#include "shared_calls.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/start.hpp"
#include "tarn/state.hpp"

namespace tarn {

std::vector<MinimiseResult> minimise_clusters(const WaterModel& model, int molecules,
                                              std::span<double> positions_A, int threads,
                                              const MinimiseOptions& options,
                                              std::shared_ptr<Potential> potential) {
  const std::size_t size =
      static_cast<std::size_t>(molecules > 0 ? molecules : 0) * kCoordinatesPerMolecule;
  if (size == 0 || positions_A.size() % size != 0) {
    throw InputError(fmt::format("minimise: {} coordinates are not whole clusters of {} molecules",
                                 positions_A.size(), molecules));
  }
  const std::string where = "positions";
  const auto name_of = [&](std::size_t at) {
    return size == positions_A.size() ? where : fmt::format("{}[{}]", where, at / size);
  };
  const bool flexible = potential != nullptr || model.is_flexible();
  std::vector<Problem> problems;  // of all clusters
  for (std::size_t at = 0; at < positions_A.size(); at += size) {
    std::ranges::move(
        io::bond_length_problems(model, flexible, positions_A.subspan(at, size), name_of(at)),
        std::back_inserter(problems));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  for (std::size_t at = 0; at < positions_A.size() && !flexible; at += size) {
    make_rigid(model, positions_A.subspan(at, size), name_of(at));
  }
  std::mutex one_at_a_time;
  MinimiseOptions shared = options;
  if (options.should_continue) {
    shared.should_continue = [&] {
      const std::lock_guard lock(one_at_a_time);
      return options.should_continue();
    };
  }
  if (options.on_iteration) {
    shared.on_iteration = [&](const MinimiseResult& result) {
      const std::lock_guard lock(one_at_a_time);
      options.on_iteration(result);
    };
  }
  std::vector<MinimiseResult> results(positions_A.size() / size);
  const auto minimise = [&](ForceField& force_field, std::int64_t r) {
    const auto cluster = static_cast<std::size_t>(r);
    try {
      results[cluster] =
          quench_to_minimum(force_field, positions_A.subspan(cluster * size, size), shared);
    } catch (const NumericalError& error) {
      throw NumericalError(fmt::format("{}: {}", name_of(cluster * size), error.what()));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", name_of(cluster * size), error.what()));
    }
  };
  if (potential) {
    std::vector<std::int64_t> ids(results.size());
    std::iota(ids.begin(), ids.end(), 0);
    start::share_calls(*potential, ids, std::ssize(ids),
                       [&](std::int64_t r, const std::shared_ptr<Potential>& own) {
                         ForceField force_field(model, molecules, own);
                         minimise(force_field, r);
                       });
    return results;
  }
  for_each_index(
      static_cast<std::int64_t>(results.size()), threads,
      [&](int) { return ForceField(model, molecules); }, minimise);
  return results;
}

}  // namespace tarn
