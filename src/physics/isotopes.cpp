#include "tarn/physics/isotopes.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include "tarn/core/error.hpp"

namespace tarn {
namespace {

// Wang, Huang, Kondev, Audi & Naimi 2021.
constexpr double k1H_Da = 1.00782503190, k2H_Da = 2.01410177784, k3H_Da = 3.01604928132;
constexpr double k16O_Da = 15.99491461926, k17O_Da = 16.99913175595, k18O_Da = 17.99915961214;

/// No cluster has as many; sums of larger numbers could overflow.
constexpr std::int64_t kMaxMoleculesOfList = std::int64_t{1} << 40;

/// A name and its number of molecules; 0: the entry is not "name=number" with a number above 0.
std::pair<std::string_view, std::int64_t> parts_of(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return {entry, 1};
  std::int64_t count = 0;
  const char* const end = entry.data() + entry.size();
  std::size_t digits = equals + 1;
  while (digits < entry.size() && entry[digits] == ' ') ++digits;
  const auto read = std::from_chars(entry.data() + digits, end, count);
  std::string_view name = entry.substr(0, equals);
  while (name.ends_with(' ')) name.remove_suffix(1);
  return {name, read.ec == std::errc() && read.ptr == end ? count : 0};
}

}  // namespace

std::optional<std::array<double, 3>> isotope_masses_Da(std::string_view name) {
  constexpr std::pair<std::string_view, std::array<double, 2>> kHydrogens[] = {
      {"H2O", {k1H_Da, k1H_Da}}, {"HDO", {k1H_Da, k2H_Da}}, {"D2O", {k2H_Da, k2H_Da}},
      {"HTO", {k1H_Da, k3H_Da}}, {"DTO", {k2H_Da, k3H_Da}}, {"T2O", {k3H_Da, k3H_Da}}};
  constexpr std::pair<std::string_view, double> kOxygens[] = {
      {"", k16O_Da}, {"17", k17O_Da}, {"18", k18O_Da}};
  for (const auto& [molecule, hydrogens_Da] : kHydrogens) {
    if (!name.starts_with(molecule)) continue;
    for (const auto& [number, oxygen_Da] : kOxygens) {
      if (name.substr(molecule.size()) == number) {
        return std::array{oxygen_Da, hydrogens_Da[0], hydrogens_Da[1]};
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> isotopes_problem(const std::vector<std::string>& list,
                                            std::int64_t molecules) {
  std::int64_t sum = 0;
  bool counted = false;
  for (const std::string& entry : list) {
    const auto [name, count] = parts_of(entry);
    counted = counted || name.size() < entry.size();
    if (!isotope_masses_Da(name)) {
      return "isotopes: " + std::string(name) + " is unknown; expected " +
             std::string(kIsotopeNames);
    }
    if (count < 1) return "isotopes: " + entry + "; expected a number of molecules above 0";
    sum += std::min(count, kMaxMoleculesOfList);
  }
  if (list.empty() || (counted ? sum <= molecules : sum == molecules)) return std::nullopt;
  return "isotopes has " + std::to_string(sum) + " molecules, but the cluster has " +
         std::to_string(molecules) +
         (counted ? "" : "; list all of them, or give numbers such as { D2O = 2 }");
}

std::vector<std::array<double, 3>> isotope_masses_Da(const std::vector<std::string>& list,
                                                     const WaterModel& model, int molecules) {
  if (const auto problem = isotopes_problem(list, molecules)) throw InputError(*problem);
  std::vector<std::array<double, 3>> all;
  for (const std::string& entry : list) {
    const auto [name, count] = parts_of(entry);
    all.insert(all.end(), static_cast<std::size_t>(count), *isotope_masses_Da(name));
  }
  if (!list.empty()) {
    all.resize(static_cast<std::size_t>(molecules),
               {model.mass_o_Da, model.mass_h_Da, model.mass_h_Da});
  }
  return all;
}

std::string isotope_names(const std::vector<std::array<double, 3>>& atom_masses_Da) {
  std::string names;
  for (const auto& [o, h1, h2] : atom_masses_Da) {
    if (!names.empty()) names += ' ';
    names += hydrogen_symbol(h1);
    names += h1 == h2 ? '2' : hydrogen_symbol(h2);
    names += 'O';
    if (o > 16.5) names += o < 17.5 ? "17" : "18";
  }
  return names;
}

}  // namespace tarn
