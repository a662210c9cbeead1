#include "tarn/observe/structure_picture.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tarn/analysis/cluster.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/vec3.hpp"
#include "tarn/io/json.hpp"

namespace tarn {
namespace {

using Point = Vec3<double>;
using Atoms = std::vector<Point>;  // O, H, H of each molecule
using Colour = std::array<double, 3>;

// Sizes in pixels; atoms in A, small enough to show the bonds.
constexpr double kCell = 260.0, kMargin = 12.0, kLabel = 24.0, kTitle = 40.0;
constexpr double kMostPixelsPerA = 40.0;
constexpr std::array<double, 3> kRadius_A{0.48, 0.30, 0.30};
constexpr double kStick_A = 0.20, kHydrogenBond_A = 0.09;
// Ring polymers: radius and edge of a bead, and widths of lines.
constexpr double kBead_A = 0.05, kBeadEdge_A = 0.012, kBeadStick_A = 0.025;
constexpr double kBeadHydrogenBond_A = 0.06;
constexpr double kBeadOpacity = 0.6, kBeadStickOpacity = 0.16;
// Distance of the eye from the centre, relative to the nearest atom.
constexpr double kEye = 6.0;
// Fraction of the colour that remains at the back.
constexpr double kFog = 0.62;

constexpr Colour kOxygen{214, 64, 52}, kHydrogen{236, 238, 242}, kDashes{70, 130, 190};
constexpr Colour kWhite{255, 255, 255}, kBlack{25, 25, 30};

Colour mixed(const Colour& a, const Colour& b, double share_of_b) {
  Colour c{};
  for (std::size_t i = 0; i < 3; ++i) c[i] = a[i] + share_of_b * (b[i] - a[i]);
  return c;
}
std::string text_of(const Colour& c) {
  return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(std::lround(c[0])),
                     static_cast<int>(std::lround(c[1])), static_cast<int>(std::lround(c[2])));
}

bool is_oxygen(std::size_t atom) { return atom % 3 == 0; }
const Colour& colour_of(std::size_t atom) { return is_oxygen(atom) ? kOxygen : kHydrogen; }

Point unit(const Point& v) { return (1.0 / std::sqrt(norm2(v))) * v; }

/// Measure of how much the atoms overlap, viewed along the z axis.
double overlap(const Atoms& seen) {
  constexpr double kBehind_A2 = 0.1;  // squared distance of fully overlapping atoms
  double sum = 0.0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double across = seen[i].x - seen[j].x, up = seen[i].y - seen[j].y;
      sum += 1.0 / (kBehind_A2 + across * across + up * up);
    }
  }
  return sum;
}

/// Coordinates of a view: right, up, towards the eye.
class View {
 public:
  View(const Point& right, const Point& up, const Point& towards, double angle)
      : right_(right), up_(up), towards_(towards), cos_(std::cos(angle)), sin_(std::sin(angle)) {}
  Point of(const Point& p) const {
    const double x = dot(right_, p), y = dot(up_, p);
    return {cos_ * x + sin_ * y, cos_ * y - sin_ * x, dot(towards_, p)};
  }
  Atoms of(const Atoms& atoms) const {
    Atoms seen;
    seen.reserve(atoms.size());
    for (const Point& atom : atoms) seen.push_back(of(atom));
    return seen;
  }

 private:
  Point right_, up_, towards_;
  double cos_, sin_;  // of the angle by which the page is turned
};

/// The view of atoms from a direction, with the longest extent horizontal.
/// @param towards unit vector to the eye
View view_from(const Point& towards, const Atoms& atoms) {
  const Point aside = std::abs(towards.x) < 0.6 ? Point{1.0, 0.0, 0.0} : Point{0.0, 1.0, 0.0};
  const Point right = unit(cross(aside, towards)), up = cross(towards, right);
  // Twice the angle of the longer principal axis has the tangent 2 xy / (xx - yy).
  double xy = 0.0, xx_yy = 0.0;
  for (const Point& atom : atoms) {
    const double x = dot(right, atom), y = dot(up, atom);
    xy += x * y;
    xx_yy += x * x - y * y;
  }
  return {right, up, towards, 0.5 * std::atan2(2.0 * xy, xx_yy)};
}

/// Positions relative to their mean.
Atoms centred_atoms(std::span<const double> positions_A) {
  Atoms atoms;
  Point centre{0.0, 0.0, 0.0};
  for (std::size_t k = 0; k < positions_A.size(); k += 3) {
    atoms.push_back({positions_A[k], positions_A[k + 1], positions_A[k + 2]});
    centre = centre + atoms.back();
  }
  centre = (1.0 / static_cast<double>(atoms.size())) * centre;
  for (Point& atom : atoms) atom = atom - centre;
  return atoms;
}

/// Means over beads. @param beads_A [bead][molecule][9]
std::vector<double> centroids_A(std::span<const double> beads_A, std::size_t beads) {
  const std::size_t size = beads_A.size() / beads;
  std::vector<double> means(size, 0.0);
  for (std::size_t i = 0; i < beads_A.size(); ++i) means[i % size] += beads_A[i];
  for (double& mean : means) mean /= static_cast<double>(beads);
  return means;
}

/// The view of centred atoms with the least overlap.
View least_hidden_view(const Atoms& atoms) {
  // Directions distributed uniformly on a sphere; fewer for large clusters, whose views are
  // similar.
  const auto squares = static_cast<double>(atoms.size() * atoms.size());
  const auto directions = static_cast<int>(std::clamp(3e7 / squares, 1.0, 300.0));
  double least = std::numeric_limits<double>::infinity();
  std::optional<View> best;
  for (int k = 0; k < directions; ++k) {
    const double z = 1.0 - (2.0 * k + 1.0) / directions;
    const double turn = std::numbers::pi * (3.0 - std::sqrt(5.0)) * k;
    const double across = std::sqrt(1.0 - z * z);
    const View view = view_from({across * std::cos(turn), across * std::sin(turn), z}, atoms);
    const double hidden = overlap(view.of(atoms));
    if (!best || hidden < least) {
      least = hidden;
      best = view;
    }
  }
  return *best;
}

/// The drawing of one cluster and its size on the page.
class ClusterDrawing {
 public:
  explicit ClusterDrawing(const DrawnCluster& cluster)
      : positions_A_(centroids_A(cluster.positions_A, static_cast<std::size_t>(cluster.beads))) {
    const Atoms centred = centred_atoms(positions_A_);
    const View view = least_hidden_view(centred);
    atoms_ = view.of(centred);
    if (cluster.beads > 1) place_rings(view.of(centred_atoms(cluster.positions_A)));
    for (const Point& atom : atoms_) {
      front_ = std::max(front_, atom.z);
      back_ = std::min(back_, atom.z);
    }
    eye_A_ = kEye * std::max(front_, 1.0);
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      if (rings_.empty()) {
        include(atoms_[i], kRadius_A[i % 3]);
      } else {
        for (const Point& bead : rings_[i]) include(bead, kBead_A);
      }
    }
  }

  /// Longer side of the drawing at one pixel per A.
  double size_A() const { return std::max(high_[0] - low_[0], high_[1] - low_[1]); }

  /// @param x, y centre of the drawing
  std::string svg(double x, double y, double pixels_per_A) const {
    std::vector<Shape> shapes;
    const auto place = [&](const Point& p) {
      const auto at = on_page(p);
      return std::array<double, 2>{x + pixels_per_A * (at[0] - 0.5 * (low_[0] + high_[0])),
                                   y - pixels_per_A * (at[1] - 0.5 * (low_[1] + high_[1]))};
    };
    // Point on the surface of an atom, towards another atom.
    const auto surface = [&](std::size_t from, std::size_t to) {
      return atoms_[from] + 0.9 * reach_A(from) * unit(atoms_[to] - atoms_[from]);
    };
    const auto line = [&](const Point& from, const Point& to, const Colour& colour, double width_A,
                          std::string_view more) {
      const Point half = 0.5 * (from + to);
      const auto a = place(from), b = place(to);
      shapes.push_back(
          {half.z, fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" "
                               "stroke=\"{}\" stroke-width=\"{:.2f}\"{}/>\n",
                               a[0], a[1], b[0], b[1], text_of(fogged(colour, half.z)),
                               width_A * pixels_per_A * magnification(half), more)});
    };
    const Colour oxygen_stick = mixed(kOxygen, kBlack, 0.15);
    const Colour hydrogen_stick = mixed(kHydrogen, kBlack, rings_.empty() ? 0.25 : 0.45);
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      if (!rings_.empty()) {
        shapes.push_back({atoms_[i].z, beads_svg(i, place, pixels_per_A)});
        if (is_oxygen(i)) continue;
        shapes.push_back(bead_sticks(i, 0.0, 0.5, oxygen_stick, place, pixels_per_A));
        shapes.push_back(bead_sticks(i, 0.5, 1.0, hydrogen_stick, place, pixels_per_A));
        continue;
      }
      const Point& atom = atoms_[i];
      const double radius = kRadius_A[i % 3] * pixels_per_A * magnification(atom);
      const auto at = place(atom);
      shapes.push_back(
          {atom.z,
           fmt::format("<circle cx=\"{0:.2f}\" cy=\"{1:.2f}\" r=\"{2:.2f}\" fill=\"{3}\" "
                       "stroke=\"{4}\" stroke-width=\"{5:.2f}\"/>"
                       "<circle cx=\"{6:.2f}\" cy=\"{7:.2f}\" r=\"{8:.2f}\" fill=\"{9}\"/>\n",
                       at[0], at[1], radius, text_of(fogged(colour_of(i), atom.z)),
                       text_of(fogged(mixed(colour_of(i), kBlack, 0.55), atom.z)),
                       0.03 * pixels_per_A, at[0] - 0.3 * radius, at[1] - 0.34 * radius,
                       0.28 * radius, text_of(fogged(mixed(colour_of(i), kWhite, 0.6), atom.z)))});
      if (is_oxygen(i)) continue;
      const Point at_oxygen = surface(i - i % 3, i), at_hydrogen = surface(i, i - i % 3);
      const Point join = 0.5 * (at_oxygen + at_hydrogen);
      line(at_oxygen, join, oxygen_stick, kStick_A, "");
      line(join, at_hydrogen, hydrogen_stick, kStick_A, "");
    }
    const double dash = 0.14 * pixels_per_A;
    const std::string dashes = fmt::format(
        " stroke-dasharray=\"{:.2f} {:.2f}\" stroke-linecap=\"round\"", dash, 1.4 * dash);
    for (const analysis::HydrogenBond& bond : analysis::hydrogen_bonds(positions_A_)) {
      const auto hydrogen = static_cast<std::size_t>(3 * bond.donor + bond.hydrogen);
      const auto oxygen = static_cast<std::size_t>(3 * bond.acceptor);
      line(surface(hydrogen, oxygen), surface(oxygen, hydrogen), kDashes,
           rings_.empty() ? kHydrogenBond_A : kBeadHydrogenBond_A, dashes);
    }
    std::stable_sort(shapes.begin(), shapes.end(),
                     [](const Shape& a, const Shape& b) { return a.depth < b.depth; });
    std::string text;
    for (const Shape& shape : shapes) text += shape.svg;
    return text;
  }

 private:
  struct Shape {
    double depth;  // towards the eye [A]
    std::string svg;
  };

  /// Sorts beads by atom. @param beads [bead][atom], in coordinates of the view
  void place_rings(const Atoms& beads) {
    rings_.resize(atoms_.size());
    for (std::size_t k = 0; k < beads.size(); ++k) rings_[k % atoms_.size()].push_back(beads[k]);
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      double sum = 0.0;
      for (const Point& bead : rings_[i]) sum += norm2(bead - atoms_[i]);
      ring_radii_A_.push_back(std::sqrt(sum / static_cast<double>(rings_[i].size())));
    }
  }
  /// Distance from the centre of an atom at which its sticks begin.
  double reach_A(std::size_t atom) const {
    return rings_.empty() ? kRadius_A[atom % 3] : kBead_A + ring_radii_A_[atom];
  }
  /// Extends the bounds of the drawing.
  void include(const Point& p, double radius_A) {
    const auto at = on_page(p);
    const double radius = magnification(p) * radius_A;
    for (std::size_t k = 0; k < 2; ++k) {
      low_[k] = std::min(low_[k], at[k] - radius);
      high_[k] = std::max(high_[k], at[k] + radius);
    }
  }
  /// The beads of an atom. @param place gives points of the page
  template <class Place>
  std::string beads_svg(std::size_t atom, const Place& place, double pixels_per_A) const {
    std::string circles;
    for (const Point& bead : rings_[atom]) {
      const auto at = place(bead);
      circles += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\"/>", at[0], at[1],
                             kBead_A * pixels_per_A * magnification(bead));
    }
    const Colour& colour = colour_of(atom);
    return fmt::format(
        "<g fill=\"{}\" stroke=\"{}\" stroke-width=\"{:.2f}\" fill-opacity=\"{}\" "
        "stroke-opacity=\"{}\">{}</g>\n",
        text_of(fogged(colour, atoms_[atom].z)),
        text_of(fogged(mixed(colour, kBlack, 0.55), atoms_[atom].z)), kBeadEdge_A * pixels_per_A,
        kBeadOpacity, kBeadOpacity, circles);
  }
  /// A part of the bonds of all beads to a hydrogen, from a share of the way from the oxygen on.
  template <class Place>
  Shape bead_sticks(std::size_t hydrogen, double from, double to, const Colour& colour,
                    const Place& place, double pixels_per_A) const {
    const std::size_t oxygen = hydrogen - hydrogen % 3;
    const auto between = [](const Point& o, const Point& h, double share) {
      return o + share * (h - o);
    };
    std::string paths;
    for (std::size_t bead = 0; bead < rings_[hydrogen].size(); ++bead) {
      const Point &o = rings_[oxygen][bead], &h = rings_[hydrogen][bead];
      const auto a = place(between(o, h, from)), b = place(between(o, h, to));
      paths += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", a[0], a[1], b[0], b[1]);
    }
    const double depth = between(atoms_[oxygen], atoms_[hydrogen], 0.5 * (from + to)).z;
    return {depth, fmt::format("<g stroke=\"{}\" stroke-width=\"{:.2f}\" "
                               "stroke-opacity=\"{}\">{}</g>\n",
                               text_of(fogged(colour, depth)), kBeadStick_A * pixels_per_A,
                               kBeadStickOpacity, paths)};
  }

  double magnification(const Point& p) const { return eye_A_ / (eye_A_ - p.z); }
  /// Unscaled page coordinates.
  std::array<double, 2> on_page(const Point& p) const {
    return {magnification(p) * p.x, magnification(p) * p.y};
  }
  Colour fogged(const Colour& colour, double depth) const {
    const double behind = (front_ - depth) / std::max(front_ - back_, 2.0);
    return mixed(colour, kWhite, (1.0 - kFog) * behind);
  }

  std::vector<double> positions_A_;  // of centroids
  Atoms atoms_;
  std::vector<Atoms> rings_;          // [atom][bead]; empty for one bead
  std::vector<double> ring_radii_A_;  // rms distance of the beads from their centroid
  double eye_A_ = 0.0, front_ = 0.0, back_ = 0.0;
  std::array<double, 2> low_{1e300, 1e300}, high_{-1e300, -1e300};  // bounds of on_page()
};

/// Whether a byte of UTF-8 is the first of a character.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::size_t characters_in(double width) {
  constexpr double kCharacter = 7.6;  // mean width at font size 13
  return static_cast<std::size_t>(width / kCharacter);
}

/// The first characters of a text.
std::string_view first_of(std::string_view text, std::size_t characters) {
  std::size_t end = 0;
  while (end < text.size() && (!begins_character(text[end]) || characters-- > 0)) ++end;
  return text.substr(0, end);
}

/// File name and label of a cluster. The file name is truncated if both are too long.
std::string caption(const DrawnCluster& cluster, double width) {
  constexpr std::size_t kShortest = 4;
  if (cluster.file.empty()) return cluster.label;
  const std::string file = io::valid_utf8(cluster.file);
  const std::string own = cluster.label.empty() ? "" : ": " + cluster.label;
  const std::size_t most = characters_in(width), taken = characters_of(own);
  if (taken + characters_of(file) <= most) return file + own;
  if (taken + kShortest > most) return cluster.label;
  return fmt::format("{}…{}", first_of(file, most - taken - 1), own);
}

/// Text escaped for XML and truncated to the width of the cell.
std::string escaped(std::string_view text, double width) {
  const std::size_t most = characters_in(width);
  const std::string valid = io::valid_utf8(text);
  std::string safe;
  std::size_t characters = 0;
  for (const char c : valid) {
    if (begins_character(c) && ++characters > most) return safe + "…";
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return safe;
}

std::string text_element(double x, double y, int size, std::string_view text, double width) {
  return fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{}\">{}</text>\n", x, y, size,
                     escaped(text, width));
}

}  // namespace

std::string label_of_frame(const io::Structure& structure) {
  const auto value = [&](const char* key) -> std::string {
    const auto at = structure.comment.find(key);
    return at == structure.comment.end() ? "" : at->second;
  };
  // Rounds the value if it is a number.
  const auto rounded = [&](const char* key, int decimals) {
    const std::string text = value(key);
    double number = 0.0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = !text.empty() && end.ptr == text.data() + text.size();
    return is_number ? fmt::format("{:.{}f}", number, decimals) : text;
  };
  std::string label;
  if (!value("isomer").empty()) {
    label = "isomer " + value("isomer");
  } else if (!value("time_ps").empty()) {
    // H5MD groups are named replica-0000.
    std::string replica = value("replica");
    constexpr std::string_view kGroup = "replica-";
    if (replica.starts_with(kGroup)) {
      replica.erase(0, kGroup.size());
      replica.erase(0, std::min(replica.find_first_not_of('0'), replica.size() - 1));
    }
    if (!replica.empty()) label = "replica " + replica + ", ";
    std::string time_ps = rounded("time_ps", 3);
    if (time_ps.ends_with(".000")) time_ps.resize(time_ps.size() - 4);
    label += time_ps + " ps";
  }
  if (structure.beads() > 1) {
    label += fmt::format("{}{} beads", label.empty() ? "" : ", ", structure.beads());
  }
  const std::string minimum = rounded("minimum_kcal_per_mol", 3);
  if (!minimum.empty()) label += (label.empty() ? "" : ", ") + minimum + " kcal/mol";
  return label;
}

std::string structure_svg(std::span<const DrawnCluster> clusters, std::string_view title,
                          std::size_t columns) {
  std::size_t molecules = 0;
  for (const DrawnCluster& cluster : clusters) {
    if (cluster.positions_A.empty()) throw InputError("cannot draw a cluster without molecules");
    molecules += cluster.positions_A.size() / 9;
    if (cluster.positions_A.size() / 9 % static_cast<std::size_t>(cluster.beads) != 0) {
      throw InputError(fmt::format("cannot draw {} molecules as {} beads",
                                   cluster.positions_A.size() / 9, cluster.beads));
    }
  }
  if (molecules == 0) throw InputError("there is no cluster to draw");
  if (molecules > kMostDrawnMolecules) {
    throw InputError(
        fmt::format("cannot draw {} molecules; the maximum is {}", molecules, kMostDrawnMolecules));
  }
  std::vector<ClusterDrawing> drawings;
  double largest_A = 0.0;
  for (const DrawnCluster& cluster : clusters) {
    largest_A = std::max(largest_A, drawings.emplace_back(cluster).size_A());
  }
  if (columns == 0) {
    const auto n = static_cast<double>(clusters.size());
    columns = n <= 4.0 ? clusters.size() : static_cast<std::size_t>(std::ceil(std::sqrt(1.3 * n)));
  }
  const std::size_t rows = (clusters.size() + columns - 1) / columns;
  // A single cluster gets a larger cell.
  const double cell = clusters.size() == 1 ? 2.0 * kCell : kCell;
  const double pixels_per_A =
      std::min((cell - 2.0 * kMargin) / largest_A, kMostPixelsPerA * cell / kCell);
  const double top = title.empty() ? 0.0 : kTitle;
  const double width = cell * static_cast<double>(columns);
  const double height = top + (cell + kLabel) * static_cast<double>(rows);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"DejaVu Sans, Verdana, sans-serif\" "
      "text-anchor=\"middle\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width, height);
  if (!title.empty()) text += text_element(0.5 * width, 26.0, 16, title, width);
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const double x = cell * (static_cast<double>(i % columns) + 0.5);
    const double y = top + (cell + kLabel) * static_cast<double>(i / columns) + 0.5 * cell;
    text += drawings[i].svg(x, y, pixels_per_A);
    text += text_element(x, y + 0.5 * cell + 10.0, 13, caption(clusters[i], cell), cell);
  }
  return text + "</svg>\n";
}

}  // namespace tarn
