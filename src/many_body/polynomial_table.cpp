#include "polynomial_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

#include "data.hpp"

namespace tarn::many_body {
namespace {

// --- tables --------------------------------------------------------------------------------------

/// The rows of numbers of a text; lines that begin with # are comments.
std::vector<std::vector<double>> rows_of(std::string_view text) {
  std::vector<std::vector<double>> rows;
  for (const char *p = text.data(), *const end = p + text.size(); p < end;) {
    const char* const line_end = std::find(p, end, '\n');
    if (*p != '#' && p != line_end) {
      rows.emplace_back();
      while (p < line_end) p = std::from_chars(p, line_end, rows.back().emplace_back()).ptr + 1;
    }
    p = line_end + 1;
  }
  return rows;
}

/// @param coefficient of a row, whose last three numbers are exponents + 1
template <class Coefficient>
Surface make_surface(std::string_view text, const Coefficient& coefficient) {
  std::map<std::array<int, 2>, std::map<int, double>> runs;
  Surface surface;
  for (const std::vector<double>& row : rows_of(text)) {
    std::array<int, 3> power{};
    for (std::size_t k = 0; k < 3; ++k) power[k] = static_cast<int>(row[row.size() - 3 + k]) - 1;
    const double c = coefficient(row);
    if (power == std::array{0, 0, 0}) {
      surface.constant = c;
    } else {
      runs[{power[0], power[1]}][power[2]] = c;
    }
    surface.powers = std::max(surface.powers, power[2] + 1);
  }
  for (const auto& [ij, coefficients] : runs) {
    surface.runs.push_back({ij[0], ij[1]});
    for (int k = 0; k < surface.powers; ++k) {
      const auto c = coefficients.find(k);
      surface.coefficients.push_back(c == coefficients.end() ? 0.0 : c->second);
    }
  }
  return surface;
}

// --- polynomials ---------------------------------------------------------------------------------

constexpr std::size_t kDegree = 4;
/// Numbers of variables in ascending order, filled up with -1.
using Monomial = std::array<int, kDegree>;

/// Number of a monomial among all of up to four variables.
std::size_t rank_of(const Monomial& m) {
  const auto a = static_cast<std::size_t>(m[0] + 1), b = static_cast<std::size_t>(m[1] + 2),
             c = static_cast<std::size_t>(m[2] + 3), d = static_cast<std::size_t>(m[3] + 4);
  return a + b * (b - 1) / 2 + c * (c - 1) * (c - 2) / 6 + d * (d - 1) * (d - 2) * (d - 3) / 24;
}

/// A polynomial of degree four with a place for each monomial, of rank_of().
struct Polynomial {
  explicit Polynomial(int variables) {
    Monomial m;
    for (m[3] = -1; m[3] < variables; ++m[3]) {
      for (m[2] = -1; m[2] <= m[3]; ++m[2]) {
        for (m[1] = -1; m[1] <= m[2]; ++m[1]) {
          for (m[0] = -1; m[0] <= m[1]; ++m[0]) monomials.push_back(m);
        }
      }
    }
    c.resize(monomials.size());
  }
  /// Removes what only rounding has left.
  void remove_zeros() {
    double largest = 0.0;
    for (const double value : c) largest = std::max(largest, std::abs(value));
    for (double& value : c) value = std::abs(value) < 1e-12 * largest ? 0.0 : value;
  }

  std::vector<Monomial> monomials;
  std::vector<double> c;
};

/// What describes a polynomial: molecules, sites, variables in the order of the file.
struct Description {
  int molecules, sites;                  ///< sites of one molecule
  std::vector<std::array<int, 2>> like;  ///< pairs of sites of a molecule that may be exchanged
  std::string_view pairs;                ///< of sites: two digits for each variable
  std::vector<std::pair<int, PairKind>> kinds;  ///< number of variables, in order
  std::string_view text;                        ///< the rows: coefficient, variables
};

class Builder {
 public:
  explicit Builder(const Description& d) : d_(d) {
    read_variables();
    make_orbits();
    Polynomial p(static_cast<int>(table_.variables.size()));
    expand(p);
    shift(p);
    choose_products(p);
    fill_rows(p);
  }
  PolynomialTable take() { return std::move(table_); }

 private:
  using Sites = std::vector<int>;  // a permutation of the sites
  struct Place {
    std::size_t orbit;
    unsigned b;
  };

  void read_variables() {
    for (std::size_t k = 0; k < d_.pairs.size(); k += 3) {
      file_variables_.push_back({d_.pairs[k] - '0', d_.pairs[k + 1] - '0'});
    }
    const auto all = static_cast<std::size_t>(d_.molecules * d_.sites);
    Sites identity(all);
    std::iota(identity.begin(), identity.end(), 0);
    for (int molecule = 0; molecule < d_.molecules; ++molecule) {
      for (const auto& [a, b] : d_.like) {
        Sites swapped = identity;
        std::swap(swapped[static_cast<std::size_t>(molecule * d_.sites + a)],
                  swapped[static_cast<std::size_t>(molecule * d_.sites + b)]);
        exchanges_.push_back(swapped);
      }
    }
    Sites order(static_cast<std::size_t>(d_.molecules));
    std::iota(order.begin(), order.end(), 0);
    do {
      Sites sites;
      for (const int molecule : order) {
        for (int s = 0; s < d_.sites; ++s) sites.push_back(molecule * d_.sites + s);
      }
      molecule_orders_.push_back(sites);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  std::size_t image(std::size_t variable, const Sites& sites) const {
    const auto at = [&](int s) { return sites[static_cast<std::size_t>(s)]; };
    const int a = at(file_variables_[variable].a), b = at(file_variables_[variable].b);
    return static_cast<std::size_t>(std::ranges::find_if(file_variables_,
                                                         [&](const SitePair& p) {
                                                           return (p.a == a && p.b == b) ||
                                                                  (p.a == b && p.b == a);
                                                         }) -
                                    file_variables_.begin());
  }

  void make_orbits() {
    places_.resize(file_variables_.size(), {file_variables_.size(), 0});
    std::size_t v = 0;
    for (const auto& [count, kind] : d_.kinds) {
      for (const std::size_t end = v + static_cast<std::size_t>(count); v < end; ++v) {
        if (places_[v].orbit < file_variables_.size()) continue;
        std::vector<std::size_t> movers, members{v};
        for (std::size_t e = 0; e < exchanges_.size(); ++e) {
          if (image(v, exchanges_[e]) == v) continue;
          movers.push_back(e);
          for (std::size_t k = 0, size = members.size(); k < size; ++k) {
            members.push_back(image(members[k], exchanges_[e]));
          }
        }
        const auto first = static_cast<int>(table_.variables.size());
        for (unsigned b = 0; b < members.size(); ++b) {
          places_[members[b]] = {table_.orbits.size(), b};
          table_.variables.push_back(file_variables_[members[b]]);
          unsigned parity = 0;
          for (std::size_t k = 0; k < movers.size(); ++k) parity |= (b >> k & 1u) << movers[k];
          parity_.push_back(parity);
        }
        table_.orbits.push_back({first, static_cast<int>(members.size()), kind});
      }
    }
  }

  /// Sums the rows over their permutations, in the variables s. The exchanges leave only the even
  /// monomials of one representative.
  void expand(Polynomial& p) const {
    std::vector<std::vector<std::size_t>> exchanged, reordered;
    const auto images = [&](const Sites& sites) {
      std::vector<std::size_t> all(file_variables_.size());
      for (std::size_t v = 0; v < all.size(); ++v) all[v] = image(v, sites);
      return all;
    };
    for (unsigned subset = 0; subset < 1u << exchanges_.size(); ++subset) {
      std::vector<std::size_t> all(file_variables_.size());
      std::iota(all.begin(), all.end(), 0u);
      for (std::size_t e = 0; e < exchanges_.size(); ++e) {
        if ((subset >> e & 1u) == 0) continue;
        const auto once = images(exchanges_[e]);
        for (std::size_t& v : all) v = once[v];
      }
      exchanged.push_back(all);
    }
    for (const Sites& order : molecule_orders_) reordered.push_back(images(order));
    using Variables = std::vector<std::size_t>;
    const auto applied = [](const std::vector<std::size_t>& images_of, Variables variables) {
      for (std::size_t& v : variables) v = images_of[v];
      std::ranges::sort(variables);
      return variables;
    };
    for (const std::vector<double>& row : rows_of(d_.text)) {
      const Variables variables(row.begin() + 1, row.end());
      std::vector<Variables> seen;  // the smallest member of each orbit under the exchanges
      for (const auto& order : reordered) {
        std::vector<Variables> orbit;
        for (const auto& exchange : exchanged) {
          orbit.push_back(applied(exchange, applied(order, variables)));
        }
        std::ranges::sort(orbit);
        orbit.erase(std::unique(orbit.begin(), orbit.end()), orbit.end());
        if (std::ranges::find(seen, orbit.front()) != seen.end()) continue;
        seen.push_back(orbit.front());
        add_even(p, orbit.front(), 0, 0, {-1, -1, -1, -1},
                 row[0] * static_cast<double>(orbit.size()));
      }
    }
    p.remove_zeros();
  }
  /// Adds c times the even part of the product of the variables from number k on and of m.
  void add_even(Polynomial& p, const std::vector<std::size_t>& variables, std::size_t k,
                unsigned parity, const Monomial& m, double c) const {
    if (k == variables.size() || k == kDegree) {
      if (parity != 0) return;
      Monomial sorted = m;
      std::ranges::sort(sorted);
      p.c[rank_of(sorted)] += c;
      return;
    }
    const auto [orbit, b] = places_[variables[k]];
    for (unsigned chi = 0; chi < static_cast<unsigned>(table_.orbits[orbit].size); ++chi) {
      Monomial next = m;
      next[k] = table_.orbits[orbit].first + static_cast<int>(chi);
      add_even(p, variables, k + 1, parity ^ parity_[static_cast<std::size_t>(next[k])], next,
               std::popcount(b & chi) % 2 == 0 ? c : -c);
    }
  }

  /// Replaces the first s of each orbit by its deviation from the mean.
  void shift(Polynomial& p) const {
    for (const Orbit& orbit : table_.orbits) {
      const std::vector<double> before = p.c;
      for (std::size_t k = 0; k < before.size(); ++k) {
        if (before[k] == 0.0) continue;
        Monomial m = p.monomials[k];
        double c = before[k];
        const auto power = std::ranges::count(m, orbit.first);
        for (std::ptrdiff_t left = power; left > 0; --left) {  // binomial coefficients
          c *= orbit.kind.mean * static_cast<double>(left) / static_cast<double>(power - left + 1);
          *std::ranges::find(m, orbit.first) = -1;
          std::ranges::sort(m);
          p.c[rank_of(m)] += c;
        }
      }
    }
    p.remove_zeros();
  }

  /// Index in z of the product of two variables; -1 is the factor 1.
  int& index_of(int a, int b) {
    return index_[static_cast<std::size_t>((a + 1) * (static_cast<int>(parity_.size()) + 1) + b +
                                           1)];
  }
  struct Split {
    std::array<int, 2> a, b;
  };
  /// The three ways to write a monomial as a product of two pairs.
  static std::array<Split, 3> splits(const Monomial& m) {
    return {
        {{{m[0], m[1]}, {m[2], m[3]}}, {{m[0], m[2]}, {m[1], m[3]}}, {{m[0], m[3]}, {m[1], m[2]}}}};
  }

  /// Chooses the products of two variables, until each monomial is a product of two z: repeatedly
  /// the pair that completes most monomials. A pair counts a little for those that need one more.
  void choose_products(const Polynomial& p) {
    const auto n = static_cast<int>(table_.variables.size());
    index_.assign(static_cast<std::size_t>((n + 1) * (n + 1)), -1);
    for (int v = -1; v < n; ++v) index_of(-1, v) = v + 1;
    std::vector<std::array<Split, 3>> open;
    for (std::size_t k = 0; k < p.c.size(); ++k) {
      if (p.c[k] != 0.0 && p.monomials[k][1] >= 0) open.push_back(splits(p.monomials[k]));
    }
    const auto is_there = [&](const std::array<int, 2>& a) { return index_of(a[0], a[1]) >= 0; };
    while (!open.empty()) {
      std::vector<double> gain(index_.size());
      const auto gain_of = [&](const std::array<int, 2>& a) -> double& {
        return gain[static_cast<std::size_t>(&index_of(a[0], a[1]) - index_.data())];
      };
      for (const auto& monomial : open) {
        for (const Split& split : monomial) {
          const bool completes_a = is_there(split.b) || split.a == split.b;
          gain_of(split.a) += completes_a ? 1.0 : 0.1;
          if (split.a != split.b) gain_of(split.b) += is_there(split.a) ? 1.0 : 0.1;
        }
      }
      for (std::size_t k = 0; k < gain.size(); ++k) gain[k] = index_[k] >= 0 ? 0.0 : gain[k];
      const auto best = static_cast<int>(std::ranges::max_element(gain) - gain.begin());
      const int a = best / (n + 1), b = best % (n + 1);
      index_[static_cast<std::size_t>(best)] = n + 1 + static_cast<int>(table_.products.size());
      table_.products.push_back({a, b});
      std::erase_if(open, [&](const auto& monomial) {
        return std::ranges::any_of(monomial,
                                   [&](const Split& s) { return is_there(s.a) && is_there(s.b); });
      });
    }
  }

  void fill_rows(const Polynomial& p) {
    const std::size_t rows = 1 + table_.variables.size() + table_.products.size();
    std::vector<std::map<int, double>> entries(rows);
    for (std::size_t k = 0; k < p.c.size(); ++k) {
      if (p.c[k] == 0.0) continue;
      for (const Split& split : splits(p.monomials[k])) {
        const int a = index_of(split.a[0], split.a[1]), b = index_of(split.b[0], split.b[1]);
        if (a < 0 || b < 0) continue;
        entries[static_cast<std::size_t>(std::max(a, b))][std::min(a, b)] = p.c[k];
        break;
      }
    }
    for (const auto& row : entries) {
      table_.row_begin.push_back(static_cast<std::int32_t>(table_.columns.size()));
      for (const auto& [column, c] : row) {
        table_.columns.push_back(static_cast<std::uint16_t>(column));
        table_.coefficients.push_back(c);
        table_.rounded_coefficients.push_back(static_cast<float>(c));
      }
    }
    table_.row_begin.push_back(static_cast<std::int32_t>(table_.columns.size()));
  }

  const Description& d_;
  PolynomialTable table_;
  std::vector<SitePair> file_variables_;
  std::vector<Sites> exchanges_, molecule_orders_;
  std::vector<Place> places_;     // of the variables of the file
  std::vector<unsigned> parity_;  // of each s: the exchanges that change its sign
  std::vector<int> index_;        // in z, of pairs of variables; -1: no product
};

}  // namespace

const PolynomialTable& two_body_table() {
  // Sites of a molecule: O, H1, H2 and the lone pairs; the second molecule begins at 5.
  static const PolynomialTable table =
      Builder({2,
               5,
               {{1, 2}, {3, 4}},
               "12 67 01 02 56 57 16 17 26 27 06 07 51 52 05 36 37 46 47 81 82 91 92 08 09 53 54 "
               "38 39 48 49",
               {{2, {-0.6480884773303821, 1, false, 1.416}},
                {4, {1.674518993682975, 1, false, 1.059}},
                {4, {1.148231864355956, 4, true, 0.968}},
                {4, {1.205989761123099, 4, true, 1.417}},
                {1, {1.395357065790959, 4, true, 1.136}},
                {8, {0.7347036852042255, 4, false, 1.769}},
                {4, {0.7998249864422826, 4, false, 1.784}},
                {4, {0.7960663960630585, 4, false, 1.776}}},
               data::two_body})
          .take();
  return table;
}

const PolynomialTable& three_body_table() {
  static const PolynomialTable table =
      Builder({3,
               3,
               {{1, 2}},
               "12 45 78 01 02 34 35 67 68 14 15 17 18 24 25 27 28 47 48 57 58 04 05 07 08 31 32 "
               "37 38 61 62 64 65 03 06 36",
               {{3, {-2.254303257872797, 1.690594510379166, false, 0.7065}},
                {6, {-0.2564771901404151, -2.999999868517452, false, 2.7657}},
                {12, {0.4247920544074333, 3.499031358429095, false, 1.0423}},
                {12, {0.8128985941165371, 4.854042963514281, false, 4.0517}},
                {3, {0.0374945798461648, 4.816312044947604e-8, false, 0.8803}}},
               data::three_body})
          .take();
  return table;
}

const Surface& monomer_surface() {
  static const Surface surface = make_surface(data::monomer, [](const std::vector<double>& row) {
    return 0.999677885 * row[0] + 0.15860145369897 * row[1] - 1.6351695982132 * row[2] + row[3];
  });
  return surface;
}

const Surface& charge_surface() {
  static const Surface surface =
      make_surface(data::charges, [](const std::vector<double>& row) { return row[0]; });
  return surface;
}

}  // namespace tarn::many_body
