#include "tarn/io/molecule_order.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "water_atoms.hpp"
#include "water_groups.hpp"

namespace tarn::io {

std::vector<int> molecule_order(std::span<const int> atomic_numbers,
                                std::span<const double> positions_A) {
  const std::size_t atoms = atomic_numbers.size();
  if (positions_A.size() != 3 * atoms) {
    throw InputError(
        fmt::format("{} atoms have {} coordinates, not {}", atoms, 3 * atoms, positions_A.size()));
  }
  const auto place = [](std::size_t atom) { return fmt::format("atom {}", atom); };
  std::vector<Problem> others;
  std::vector<bool> is_oxygen(atoms);
  std::vector<int> lines(atoms);
  for (std::size_t a = 0; a < atoms; ++a) {
    is_oxygen[a] = atomic_numbers[a] == kAtomicNumbers[0];
    lines[a] = static_cast<int>(a) + 1;
    if (is_oxygen[a] || atomic_numbers[a] == kAtomicNumbers[1]) continue;
    others.push_back(
        {place(a), 0, 0,
         fmt::format("atomic number {}; only water is supported: use O and H", atomic_numbers[a])});
  }
  if (!others.empty()) throw InputError(std::move(others));
  Structure structure;
  structure.positions_A.assign(positions_A.begin(), positions_A.end());
  try {
    group_by_distance(is_oxygen, "", structure, lines);
  } catch (const InputError& error) {
    // The lines are atoms here.
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      if (problem.line == 0) continue;
      problem = {place(static_cast<std::size_t>(problem.line) - 1), 0, 0, problem.message};
    }
    throw InputError(std::move(problems));
  }
  std::vector<int> order(atoms);
  for (std::size_t i = 0; i < atoms; ++i) {
    order[static_cast<std::size_t>(structure.file_order[i])] = static_cast<int>(i);
  }
  return order;
}

}  // namespace tarn::io
