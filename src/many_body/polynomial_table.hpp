#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// @file
/// The polynomials of MB-pol as tables for one loop (kernels_impl.hpp).
///
/// The variables x are exponentials of distances between sites. Exchanges of like sites within a
/// molecule permute them. An orbit of 2^m variables is replaced by its sums and differences
/// s_chi = 2^-m sum_b (-1)^(b.chi) x_b; those of chi = 0 are measured from their means over minima,
/// so that terms cancel less. With z = (1, s, products of two s), the polynomial is a sum of
/// c z_a z_b, each monomial once.

namespace tarn::many_body {

/// The files of data/many_body, which the build embeds.
namespace data {
extern const std::string_view monomer, charges, two_body, three_body;
}

/// O-O distances [A]: the switches of dimers begin and end, those of trimers end, and an image with
/// a shorter distance has no energy.
inline constexpr double kDimerSwitch = 4.5, kDimerLimit = 6.5, kTrimerLimit = 4.5, kShortestOo = 2;
/// O-H distances [A] beyond which a molecule is broken.
inline constexpr double kShortestBond = 0.5, kLongestBond = 2.0;

/// x = exp(offset - k r), divided by r if by_r is 1, of the distance r between two sites: O, H1, H2
/// of each molecule, for dimers followed by the two lone pairs.
struct Variable {
  int a, b;
  double k, offset;  ///< [1/A], 1
  double by_r;
};
/// Consecutive variables, ordered by b.
struct Orbit {
  int first, size;
  double mean;  ///< of x over the dimers and trimers of small clusters at their minima
};
/// Largest number of z.
inline constexpr int kMostFactors = 352;
/// z[number of variables + 1 + p] = z[a] z[b].
struct Product {
  int a, b;
};
/// Rows a of the products c z_a z_b that share their columns b. A tile is one column of a group.
inline constexpr int kGroup = 4;
struct RowGroup {
  int rows[kGroup];  ///< those beyond the last one are 0, with coefficients of 0
  int end;           ///< the tiles of a group follow those of the group before
};

/// A table as plain pointers.
template <class T>
struct PolynomialView {
  const Orbit* orbits;
  const Variable* variables;
  const Product* products;
  const RowGroup* groups;
  const std::uint16_t* columns;  ///< [tile]
  const T* coefficients;         ///< [tile][row of the group]
  int orbit_count, variable_count, product_count, group_count;
};

struct PolynomialTable {
  std::vector<Orbit> orbits;
  std::vector<Variable> variables;
  std::vector<Product> products;
  std::vector<RowGroup> groups;
  std::vector<std::uint16_t> columns;
  std::vector<double> coefficients;
  std::vector<float> rounded_coefficients;

  PolynomialView<double> view() const { return view_with(coefficients); }
  PolynomialView<float> rounded_view() const { return view_with(rounded_coefficients); }

 private:
  template <class T>
  PolynomialView<T> view_with(const std::vector<T>& c) const {
    return {orbits.data(),
            variables.data(),
            products.data(),
            groups.data(),
            columns.data(),
            c.data(),
            static_cast<int>(orbits.size()),
            static_cast<int>(variables.size()),
            static_cast<int>(products.size()),
            static_cast<int>(groups.size())};
  }
};

/// Computed at the first call, in some tens of milliseconds.
const PolynomialTable& two_body_table();
const PolynomialTable& three_body_table();

/// A sum over runs of x1^i x2^j (c_0 + c_1 x3 + ...), as plain pointers.
struct SurfaceRows {
  struct Run {
    int i, j;
  };
  const Run* runs;
  const double* coefficients;  ///< [run][power of x3]
  int count, powers;           ///< runs, powers of x3
  double constant;             ///< the term without any variable, which the runs leave out
};
struct Surface {
  std::vector<SurfaceRows::Run> runs;
  std::vector<double> coefficients;
  int powers = 0;
  double constant = 0.0;

  SurfaceRows rows() const {
    return {runs.data(), coefficients.data(), static_cast<int>(runs.size()), powers, constant};
  }
};
/// The energy [1/cm] and the charges [e] of a monomer (Partridge & Schwenke 1997).
const Surface& monomer_surface();
const Surface& charge_surface();

}  // namespace tarn::many_body
