#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "frame_formats.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/atomic_file.hpp"
#include "water_atoms.hpp"

namespace tarn::io {
namespace {

/// Zero is written without a sign, which would depend on rounding.
std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) {
    throw NumericalError(
        "the normal modes contain a number that is not finite and were not written");
  }
  const bool is_zero = std::abs(value) < 0.5 * std::pow(10.0, -decimals);
  return fmt::format("{:.{}f}", is_zero ? 0.0 : value, decimals);
}

/// Adds x, y and z and ends the line.
void add_triple(std::string& text, const double* numbers, double unit) {
  for (int c = 0; c < 3; ++c) {
    fmt::format_to(std::back_inserter(text), " {:>14}", fixed(numbers[c] / unit, 9));
  }
  text += '\n';
}

/// The sections before the displacements. Two of them contain the atoms, because readers differ in
/// which one they use.
std::string head(std::string_view title, std::span<const double> positions_A,
                 std::span<const MoldenMode> modes) {
  const std::size_t atoms = positions_A.size() / 3;
  std::string text = fmt::format("[Molden Format]\n[Title]\n{}\n[Atoms] AU\n", title);
  for (std::size_t a = 0; a < atoms; ++a) {
    fmt::format_to(std::back_inserter(text), "{} {:5} {}", kSpecies[a % 3], a + 1,
                   kAtomicNumbers[a % 3]);
    add_triple(text, &positions_A[3 * a], units::angstrom_per_bohr);
  }
  text += "[FREQ]\n";
  for (const MoldenMode& mode : modes) text += fixed(mode.wavenumber_per_cm, 6) + '\n';
  const bool are_known = std::ranges::any_of(
      modes, [](const MoldenMode& mode) { return !std::isnan(mode.ir_intensity_km_per_mol); });
  if (are_known) text += "[INT]\n";
  for (const MoldenMode& mode : modes) {
    if (are_known) text += fixed(mode.ir_intensity_km_per_mol, 6) + '\n';
  }
  text += "[FR-COORD]\n";
  for (std::size_t a = 0; a < atoms; ++a) {
    text += kSpecies[a % 3];
    add_triple(text, &positions_A[3 * a], units::angstrom_per_bohr);
  }
  return text + "[FR-NORM-COORD]\n";
}

}  // namespace

void write_molden(const std::string& path, std::string_view title,
                  std::span<const double> positions_A, std::span<const MoldenMode> modes) {
  if (title.find('\n') != title.npos) throw std::logic_error(path + ": a title of several lines");
  AtomicFile file(path);
  file.write(head(title, positions_A, modes));
  for (std::size_t k = 0; k < modes.size(); ++k) {
    if (modes[k].displacements.size() != positions_A.size()) {
      throw std::logic_error(path + ": a mode with a different number of atoms");
    }
    std::string text = fmt::format("vibration {}\n", k + 1);
    for (std::size_t a = 0; a < positions_A.size(); a += 3) {
      add_triple(text, &modes[k].displacements[a], 1.0);
    }
    file.write(text);
  }
  file.commit();
}

}  // namespace tarn::io
