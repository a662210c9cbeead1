#pragma once

#include "polynomial_table.hpp"

/// @file
/// The loops over images, dimers and trimers, compiled once per instruction set.

namespace tarn::many_body {

/// Images that are computed together. Arrays over them have one row of kImages numbers per
/// quantity; an instruction set takes as many columns at a time as it has lanes.
inline constexpr int kImages = 8;

/// Terms of the energy, in the order of ManyBody::terms().
inline constexpr int kOneBody = 0, kTwoBody = 1, kThreeBody = 2, kDispersion = 3, kCharges = 4,
                     kInduction = 5, kField = 6, kTerms = 7;

/// Up to eight images. All arrays begin at 64 bytes.
struct Block {
  int molecules, images;
  const double* x;   ///< [9 N][image] positions [A]
  double* gradient;  ///< [9 N][image] out [kcal/mol/A]
  double* terms;     ///< [kTerms][image] out [kcal/mol]
  double* dipole;    ///< [3][image] out [e A]
  double* pivot;     ///< [image] out: not positive if the dipole equations are not solvable
  double* work;      ///< work_size() numbers
  SurfaceRows energy_rows, charge_rows;
  std::array<double, 3> field;  ///< [kcal/mol/(e A)]
};
/// Numbers in Block::work.
constexpr std::size_t work_size(int molecules) {
  const auto n = static_cast<std::size_t>(molecules), atoms = 3 * n;
  return kImages * (62 * n + 9 * (atoms * (atoms + 1) / 2));
}

/// Most lanes of a call of a polynomial.
inline constexpr int kMostLanes = 16;

struct Kernels {
  const char* name;  ///< instruction set
  /// Everything except the polynomials.
  void (*mbpol)(const Block&);
  void (*dang_chang)(const Block&);
  /// A polynomial with its switch: dimers, trimers, and trimers with products in float.
  /// @param in [9 bodies][lane] positions
  /// @param out [9 bodies + 1][lane] gradient and energy
  void (*dimers)(const PolynomialView<double>&, const double* in, double* out);
  void (*trimers)(const PolynomialView<double>&, const double* in, double* out);
  void (*rounded_trimers)(const PolynomialView<float>&, const double* in, double* out);
  int lanes, rounded_lanes;  ///< of a call
};

/// The kernels for the instruction set that the CPU engine uses.
const Kernels& best_kernels();
/// Those of `name`; nullptr if this build has none.
const Kernels* kernels_named(std::string_view name);
// Of these, a build may have only some.
extern const Kernels kKernels_portable, kKernels_avx2, kKernels_avx512;

}  // namespace tarn::many_body
