#include "polynomial_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

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
/// Numbers of variables in ascending order; -1 is the factor 1.
using Monomial = std::array<int, kDegree>;

Monomial sorted(Monomial m) {
  std::ranges::sort(m);
  return m;
}
/// Number of a monomial among all of up to four variables.
std::size_t rank_of(const Monomial& m) {
  const int a = m[0] + 1, b = m[1] + 2, c = m[2] + 3, d = m[3] + 4;
  return static_cast<std::size_t>(a + b * (b - 1) / 2 + c * (c - 1) * (c - 2) / 6 +
                                  d * (d - 1) * (d - 2) / 6 * (d - 3) / 4);
}
/// All monomials of these variables, in the order of rank_of().
std::vector<Monomial> all_monomials(int variables) {
  std::vector<Monomial> all;
  for (int d = -1; d < variables; ++d) {
    for (int c = -1; c <= d; ++c) {
      for (int b = -1; b <= c; ++b) {
        for (int a = -1; a <= b; ++a) all.push_back({a, b, c, d});
      }
    }
  }
  return all;
}

/// Of variables x = exp(k (d - r)), or that divided by r.
struct Kind {
  int count;
  double k, d, by_r, mean;
};
/// What describes a polynomial.
struct Description {
  int molecules, sites;                  ///< sites of one molecule
  std::vector<std::array<int, 2>> like;  ///< pairs of sites of a molecule that may be exchanged
  std::string_view pairs;                ///< of sites: two digits for each variable of the file
  std::vector<Kind> kinds;               ///< of the variables of the file, in order
  std::string_view text;                 ///< rows: coefficient, variables
};

class Builder {
 public:
  explicit Builder(const Description& d) : d_(d) {
    list_permutations();
    make_orbits();
    monomials_ = all_monomials(static_cast<int>(parity_.size()));
    c_.resize(monomials_.size());
    expand();
    shift();
    choose_products();
    fill_tiles();
  }
  PolynomialTable take() { return std::move(table_); }

 private:
  using Images = std::vector<int>;  // of the variables of the file under a permutation of sites
  struct Place {
    int orbit;
    unsigned b;
  };

  void list_permutations() {
    std::map<std::array<int, 2>, int> variable_of;
    for (std::size_t k = 0; k < d_.pairs.size(); k += 3) {
      const int a = d_.pairs[k] - '0', b = d_.pairs[k + 1] - '0';
      variable_of[{a, b}] = variable_of[{b, a}] = static_cast<int>(site_pairs_.size());
      site_pairs_.push_back({a, b});
    }
    std::vector<int> sites(static_cast<std::size_t>(d_.molecules * d_.sites));
    const auto images = [&] {
      Images all;
      for (const auto& [a, b] : site_pairs_) {
        all.push_back(variable_of.at(
            {sites[static_cast<std::size_t>(a)], sites[static_cast<std::size_t>(b)]}));
      }
      return all;
    };
    for (int molecule = 0; molecule < d_.molecules; ++molecule) {
      for (const auto& [a, b] : d_.like) {
        std::iota(sites.begin(), sites.end(), 0);
        const auto first = sites.begin() + molecule * d_.sites;
        std::iter_swap(first + a, first + b);
        exchanges_.push_back(images());
      }
    }
    std::vector<int> order(static_cast<std::size_t>(d_.molecules));
    std::iota(order.begin(), order.end(), 0);
    do {
      for (std::size_t k = 0; k < sites.size(); ++k) {
        const auto n = static_cast<std::size_t>(d_.sites);
        sites[k] = order[k / n] * d_.sites + static_cast<int>(k % n);
      }
      molecule_orders_.push_back(images());
    } while (std::next_permutation(order.begin(), order.end()));
  }
  static int image(const Images& images, int variable) {
    return variable < 0 ? variable : images[static_cast<std::size_t>(variable)];
  }
  static Monomial image(const Images& images, Monomial m) {
    for (int& variable : m) variable = image(images, variable);
    return sorted(m);
  }

  void make_orbits() {
    places_.resize(site_pairs_.size(), {-1, 0});
    const auto place = [&](int v) -> Place& { return places_[static_cast<std::size_t>(v)]; };
    int v = 0;
    for (const Kind& kind : d_.kinds) {
      for (const int end = v + kind.count; v < end; ++v) {
        if (place(v).orbit >= 0) continue;
        std::vector<std::size_t> movers;
        std::vector<int> members{v};
        for (std::size_t e = 0; e < exchanges_.size(); ++e) {
          if (image(exchanges_[e], v) == v) continue;
          movers.push_back(e);
          for (std::size_t k = 0, size = members.size(); k < size; ++k) {
            members.push_back(image(exchanges_[e], members[k]));
          }
        }
        const auto first = static_cast<int>(parity_.size()),
                   size = static_cast<int>(members.size());
        for (unsigned b = 0; b < members.size(); ++b) {
          place(members[b]) = {static_cast<int>(table_.orbits.size()), b};
          const auto [site_a, site_b] = site_pairs_[static_cast<std::size_t>(members[b])];
          table_.variables.push_back({site_a, site_b, kind.k, kind.k * kind.d, kind.by_r});
          unsigned parity = 0;
          for (std::size_t k = 0; k < movers.size(); ++k) parity |= (b >> k & 1u) << movers[k];
          parity_.push_back(parity);
        }
        table_.orbits.push_back({first, size, kind.mean});
      }
    }
  }

  /// Sums the rows over their permutations, in the variables s. The exchanges leave only the even
  /// monomials of one representative.
  void expand() {
    for (const std::vector<double>& row : rows_of(d_.text)) {
      Monomial m{-1, -1, -1, -1};
      std::copy(row.begin() + 1, row.end(), m.begin());
      std::vector<Monomial> seen;  // the smallest member of each orbit under the exchanges
      for (const Images& order : molecule_orders_) {
        std::vector<Monomial> orbit{image(order, m)};
        for (const Images& exchange : exchanges_) {
          for (std::size_t k = 0, size = orbit.size(); k < size; ++k) {
            orbit.push_back(image(exchange, orbit[k]));
          }
        }
        std::ranges::sort(orbit);
        orbit.erase(std::unique(orbit.begin(), orbit.end()), orbit.end());
        if (std::ranges::find(seen, orbit[0]) != seen.end()) continue;
        seen.push_back(orbit[0]);
        add_even(orbit[0], 0, 0, row[0] * static_cast<double>(orbit.size()));
      }
    }
    remove_zeros();
  }
  /// Adds c times the even part of a product, whose factors before number k are s already.
  void add_even(const Monomial& m, std::size_t k, unsigned parity, double c) {
    if (k == kDegree) {
      if (parity == 0) c_[rank_of(sorted(m))] += c;
      return;
    }
    if (m[k] < 0) return add_even(m, k + 1, parity, c);
    const auto [number, b] = places_[static_cast<std::size_t>(m[k])];
    const Orbit& orbit = table_.orbits[static_cast<std::size_t>(number)];
    for (unsigned chi = 0; chi < static_cast<unsigned>(orbit.size); ++chi) {
      Monomial next = m;
      next[k] = orbit.first + static_cast<int>(chi);
      add_even(next, k + 1, parity ^ parity_[static_cast<std::size_t>(next[k])],
               std::popcount(b & chi) % 2 == 0 ? c : -c);
    }
  }
  /// Removes what only rounding has left.
  void remove_zeros() {
    double largest = 0.0;
    for (const double c : c_) largest = std::max(largest, std::abs(c));
    for (double& c : c_) c = std::abs(c) < 1e-12 * largest ? 0.0 : c;
  }

  /// Replaces the first s of each orbit by its deviation from the mean.
  void shift() {
    for (const Orbit& orbit : table_.orbits) {
      const std::vector<double> before = c_;
      for (std::size_t k = 0; k < before.size(); ++k) {
        if (before[k] == 0.0) continue;
        Monomial m = monomials_[k];
        double c = before[k];
        const auto power = std::ranges::count(m, orbit.first);
        for (std::ptrdiff_t left = power; left > 0; --left) {  // binomial coefficients
          c *= orbit.mean * static_cast<double>(left) / static_cast<double>(power - left + 1);
          *std::ranges::find(m, orbit.first) = -1;
          m = sorted(m);
          c_[rank_of(m)] += c;
        }
      }
    }
    remove_zeros();
  }

  /// A monomial as a product of two pairs of variables, by their numbers.
  struct Split {
    std::size_t a, b;
  };
  std::size_t pair(int a, int b) const {
    return static_cast<std::size_t>(a + 1) * (parity_.size() + 1) + static_cast<std::size_t>(b + 1);
  }
  std::array<Split, 3> splits(const Monomial& m) const {
    return {{{pair(m[0], m[1]), pair(m[2], m[3])},
             {pair(m[0], m[2]), pair(m[1], m[3])},
             {pair(m[0], m[3]), pair(m[1], m[2])}}};
  }
  bool is_there(const Split& s) const { return index_[s.a] >= 0 && index_[s.b] >= 0; }

  /// Chooses the products of two variables, until each monomial is a product of two z: repeatedly
  /// the pair that completes most monomials. A pair counts a little for those that need one more.
  void choose_products() {
    const auto n = static_cast<int>(parity_.size());
    index_.assign(pair(n, 0), -1);
    for (int v = -1; v < n; ++v) index_[pair(-1, v)] = v + 1;
    std::vector<int> gain(index_.size());
    std::vector<std::vector<std::size_t>> open(index_.size());  // monomials with this pair
    const auto add_gain = [&](std::size_t monomial, int sign) {
      for (const auto& [a, b] : splits(monomials_[monomial])) {
        gain[a] += sign * (index_[b] >= 0 || a == b ? 10 : 1);
        if (a != b) gain[b] += sign * (index_[a] >= 0 ? 10 : 1);
      }
    };
    const auto is_complete = [&](std::size_t monomial) {
      return std::ranges::any_of(splits(monomials_[monomial]),
                                 [&](const Split& s) { return is_there(s); });
    };
    for (std::size_t k = 0; k < c_.size(); ++k) {
      if (c_[k] == 0.0 || is_complete(k)) continue;
      add_gain(k, 1);
      for (const auto& [a, b] : splits(monomials_[k])) {
        open[a].push_back(k);
        if (b != a) open[b].push_back(k);
      }
    }
    for (;;) {
      std::size_t best = 0;
      for (std::size_t k = 0; k < gain.size(); ++k) {
        if (index_[k] < 0 && gain[k] > gain[best]) best = k;
      }
      if (best == 0) break;
      auto& monomials = open[best];
      std::ranges::sort(monomials);
      monomials.erase(std::unique(monomials.begin(), monomials.end()), monomials.end());
      std::erase_if(monomials, is_complete);
      for (const std::size_t monomial : monomials) add_gain(monomial, -1);
      index_[best] = n + 1 + static_cast<int>(table_.products.size());
      const auto width = static_cast<std::size_t>(n + 1);
      table_.products.push_back({static_cast<int>(best / width), static_cast<int>(best % width)});
      for (const std::size_t monomial : monomials) {
        if (!is_complete(monomial)) add_gain(monomial, 1);
      }
    }
  }

  /// Places each monomial in one of the products z_a z_b that it equals: few tiles, with few zeros.
  /// Rows that may have the same columns form groups; then the fullest tiles are taken first.
  void fill_tiles() {
    using Columns = std::bitset<512>;
    const std::size_t n = 1 + table_.variables.size() + table_.products.size();
    std::vector<Columns> possible(n);
    std::vector<int> monomial(n * n, -1);  // by row and column
    for (std::size_t k = 0; k < c_.size(); ++k) {
      if (c_[k] == 0.0) continue;
      for (const Split& split : splits(monomials_[k])) {
        if (!is_there(split)) continue;
        const auto a = static_cast<std::size_t>(index_[split.a]);
        const auto b = static_cast<std::size_t>(index_[split.b]);
        monomial[a * n + b] = monomial[b * n + a] = static_cast<int>(k);
        possible[a].set(b);
        possible[b].set(a);
      }
    }
    std::vector<std::size_t> left(n);
    std::iota(left.begin(), left.end(), 0u);
    std::erase_if(left, [&](std::size_t row) { return possible[row].none(); });
    std::vector<std::vector<std::size_t>> groups;
    while (!left.empty()) {
      groups.emplace_back();
      Columns common;
      common.set();
      while (groups.back().size() < kGroup && !left.empty()) {
        const auto fit = [&](std::size_t row) {
          return 10 * static_cast<int>((possible[row] & common).count()) -
                 3 * static_cast<int>((possible[row] & ~common).count());
        };
        const auto best = std::ranges::max_element(left, {}, fit);
        groups.back().push_back(*best);
        common &= possible[*best];
        left.erase(best);
      }
    }
    std::vector<std::map<std::size_t, std::array<double, kGroup>>> tiles(groups.size());
    for (int wanted = kGroup; wanted > 0; --wanted) {
      for (std::size_t g = 0; g < groups.size(); ++g) {
        for (std::size_t column = 0; column < n; ++column) {
          std::array<double, kGroup> tile{};
          std::vector<std::size_t> covered;
          for (std::size_t i = 0; i < groups[g].size(); ++i) {
            const int k = monomial[groups[g][i] * n + column];
            if (k < 0 || c_[static_cast<std::size_t>(k)] == 0.0) continue;
            covered.push_back(static_cast<std::size_t>(k));
            tile[i] = c_[covered.back()];
          }
          if (static_cast<int>(covered.size()) != wanted) continue;
          tiles[g][column] = tile;
          for (const std::size_t k : covered) c_[k] = 0.0;
        }
      }
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const auto& [column, tile] : tiles[g]) {
        table_.columns.push_back(static_cast<std::uint16_t>(column));
        table_.coefficients.insert(table_.coefficients.end(), tile.begin(), tile.end());
      }
      RowGroup group{{}, static_cast<int>(table_.columns.size())};
      std::ranges::copy(groups[g], group.rows);
      table_.groups.push_back(group);
    }
    table_.rounded_coefficients.assign(table_.coefficients.begin(), table_.coefficients.end());
  }

  const Description& d_;
  PolynomialTable table_;
  std::vector<std::array<int, 2>> site_pairs_;  // of the variables of the file
  std::vector<Images> exchanges_, molecule_orders_;
  std::vector<Place> places_;        // of the variables of the file
  std::vector<unsigned> parity_;     // of each s: the exchanges that change its sign
  std::vector<Monomial> monomials_;  // in the variables s
  std::vector<double> c_;            // their coefficients
  std::vector<int> index_;           // in z, of pairs of variables; -1: no product
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
               {{2, -0.6480884773303821, 1, 0, 1.416},
                {4, 1.674518993682975, 1, 0, 1.059},
                {4, 1.148231864355956, 4, 1, 0.968},
                {4, 1.205989761123099, 4, 1, 1.417},
                {1, 1.395357065790959, 4, 1, 1.136},
                {8, 0.7347036852042255, 4, 0, 1.769},
                {4, 0.7998249864422826, 4, 0, 1.784},
                {4, 0.7960663960630585, 4, 0, 1.776}},
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
               {{3, -2.254303257872797, 1.690594510379166, 0, 0.7065},
                {6, -0.2564771901404151, -2.999999868517452, 0, 2.7657},
                {12, 0.4247920544074333, 3.499031358429095, 0, 1.0423},
                {12, 0.8128985941165371, 4.854042963514281, 0, 4.0517},
                {3, 0.0374945798461648, 4.816312044947604e-8, 0, 0.8803}},
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
