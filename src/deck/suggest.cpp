#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "io/words.hpp"
#include "schema.hpp"
#include "source.hpp"

namespace tarn::decks {
namespace {

struct Synonyms {
  std::string_view name;
  std::string_view words;  ///< lower case, letters and digits only
};

/// Words of other programs (GROMACS, OpenMM, LAMMPS, ASE) that are not similar to the names here.
constexpr auto kSynonyms = std::to_array<Synonyms>({
    // sections and keys
    {"timestep_fs", "dt"},
    {"steps", "nsteps"},
    {"duration_ps", "totaltime"},
    {"friction_per_ps", "gamma damp taut collisionrate"},
    {"temperature_K", "reft"},
    {"seed", "genseed ldseed"},
    {"molecules", "nmolecules waters natoms"},
    {"model", "watermodel forcefield"},
    {"scheme", "integrator algorithm"},
    {"kind", "type"},
    {"every", "nstxout nstenergy interval stride outputfrequency"},
    {"device", "platform"},
    {"threads", "nthreads"},
    {"thermostat", "tcoupl temperaturecoupling"},
    {"run", "simulation"},
    // schemes
    {"verlet", "leapfrog md mdvv vv velocityverlet verletintegrator stormerverlet"},
    {"settle", "lincs rigid hbonds"},
    {"shake", "ccma"},
    {"rk4", "rungekutta rungekutta4"},
    {"midpoint", "implicitmidpoint"},
    {"variational-euler", "euler symplecticeuler"},
    // thermostats
    {"baoab",
     "langevin langevinmiddle langevinintegrator langevinmiddleintegrator sd bd brownian nvt "
     "vrescale csvr bussi nosehoover berendsen andersen"},
    {"none", "nve no"},
    // methods of ring polymers, devices, precisions
    {"pimd", "pile"},
    {"trpmd", "centroidmd cmd"},
    {"cuda", "gpu opencl"},
    {"cpu", "reference"},
    {"single", "float float32 fp32"},
    {"double", "float64 fp64"},
});

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool starts_with(std::string_view text, std::string_view start) {
  return start.size() >= 3 && text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(), same_letter);
}

/// Distance in which a name and its prefix ("temperature", "temperature_K") count as close.
std::size_t suggestion_distance(std::string_view word, std::string_view name) {
  const std::size_t distance = edit_distance(word, name);
  const bool beginning = starts_with(name, word) || starts_with(word, name);
  return beginning ? std::min<std::size_t>(distance, 1) : distance;
}

/// Whether both have digits, and different ones.
bool have_other_digits(std::string_view a, std::string_view b) {
  const auto digits_of = [](std::string_view text) {
    std::string digits(text);
    std::erase_if(digits, [](unsigned char c) { return std::isdigit(c) == 0; });
    return digits;
  };
  const std::string of_a = digits_of(a), of_b = digits_of(b);
  return !of_a.empty() && !of_b.empty() && of_a != of_b;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t columns = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * columns);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return table[i * columns + j];
  };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = same_letter(a[i - 1], b[j - 1]) ? 0 : 1;
      std::size_t best = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + change});
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1])) {
        best = std::min(best, at(i - 2, j - 2) + 1);
      }
      at(i, j) = best;
    }
  }
  return at(a.size(), b.size());
}

NameSuggestion nearest(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > 100) return {};  // too long for a typing error
  if (const std::string bare = io::letters_and_digits(word); !bare.empty()) {
    for (const auto& [name, words] : kSynonyms) {
      if (fmt::format(" {} ", words).find(fmt::format(" {} ", bare)) == std::string::npos) continue;
      if (std::ranges::find(known, name) != known.end()) return {std::string(name), 0};
    }
    for (std::string_view name : known) {
      if (io::letters_and_digits(name) == bare)
        return {std::string(name), edit_distance(word, name)};
    }
  }
  NameSuggestion best;
  for (std::string_view name : known) {
    if (have_other_digits(word, name)) continue;
    const std::size_t distance = suggestion_distance(word, name);
    const std::size_t limit = (std::max(word.size(), name.size()) + 2) / 3;
    if (distance <= limit && (best.name.empty() || distance < best.distance)) {
      best = {std::string(name), distance};
    }
  }
  return best;
}

NameSuggestion nearest_model(std::string_view word, const std::vector<std::string_view>& known) {
  const NameSuggestion best = nearest(word, known);
  const bool is_misspelt = edit_distance(word, best.name) <= 1 ||
                           io::letters_and_digits(word) == io::letters_and_digits(best.name);
  return is_misspelt ? best : NameSuggestion{};
}

std::string did_you_mean(std::string_view name) {
  return name.empty() ? "" : fmt::format(" (did you mean {}?)", toml_string(name));
}

}  // namespace tarn::decks
