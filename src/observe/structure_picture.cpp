#include "tarn/observe/structure_picture.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
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
double radius_A(std::size_t atom) { return kRadius_A[atom % 3]; }

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

/// Positions in view coordinates (right, up, towards the eye), with the longest extent horizontal.
/// @param towards unit vector to the eye
Atoms view_from(const Point& towards, const Atoms& atoms) {
  const Point aside = std::abs(towards.x) < 0.6 ? Point{1.0, 0.0, 0.0} : Point{0.0, 1.0, 0.0};
  const Point right = unit(cross(aside, towards)), up = cross(towards, right);
  // Twice the angle of the longer principal axis has the tangent 2 xy / (xx - yy).
  double xy = 0.0, xx_yy = 0.0;
  for (const Point& atom : atoms) {
    const double x = dot(right, atom), y = dot(up, atom);
    xy += x * y;
    xx_yy += x * x - y * y;
  }
  const double angle = 0.5 * std::atan2(2.0 * xy, xx_yy);
  const double c = std::cos(angle), s = std::sin(angle);
  Atoms seen;
  seen.reserve(atoms.size());
  for (const Point& atom : atoms) {
    const double x = dot(right, atom), y = dot(up, atom);
    seen.push_back({c * x + s * y, c * y - s * x, dot(towards, atom)});
  }
  return seen;
}

/// Centred positions in the view with the least overlap.
Atoms least_hidden_view(std::span<const double> positions_A) {
  Atoms atoms;
  Point centre{0.0, 0.0, 0.0};
  for (std::size_t k = 0; k < positions_A.size(); k += 3) {
    atoms.push_back({positions_A[k], positions_A[k + 1], positions_A[k + 2]});
    centre = centre + atoms.back();
  }
  centre = (1.0 / static_cast<double>(atoms.size())) * centre;
  for (Point& atom : atoms) atom = atom - centre;
  // Directions distributed uniformly on a sphere; fewer for large clusters, whose views are
  // similar.
  const auto squares = static_cast<double>(atoms.size() * atoms.size());
  const auto directions = static_cast<int>(std::clamp(3e7 / squares, 1.0, 300.0));
  double least = std::numeric_limits<double>::infinity();
  Atoms best = atoms;
  for (int k = 0; k < directions; ++k) {
    const double z = 1.0 - (2.0 * k + 1.0) / directions;
    const double turn = std::numbers::pi * (3.0 - std::sqrt(5.0)) * k;
    const double across = std::sqrt(1.0 - z * z);
    Atoms seen = view_from({across * std::cos(turn), across * std::sin(turn), z}, atoms);
    const double hidden = overlap(seen);
    if (hidden < least) {
      least = hidden;
      best = std::move(seen);
    }
  }
  return best;
}

/// The drawing of one cluster and its size on the page.
class ClusterDrawing {
 public:
  explicit ClusterDrawing(std::span<const double> positions_A)
      : positions_A_(positions_A), atoms_(least_hidden_view(positions_A)) {
    for (const Point& atom : atoms_) {
      front_ = std::max(front_, atom.z);
      back_ = std::min(back_, atom.z);
    }
    eye_A_ = kEye * std::max(front_, 1.0);
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      const auto at = on_page(atoms_[i]);
      const double radius = magnification(atoms_[i]) * radius_A(i);
      for (std::size_t k = 0; k < 2; ++k) {
        low_[k] = std::min(low_[k], at[k] - radius);
        high_[k] = std::max(high_[k], at[k] + radius);
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
      return atoms_[from] + 0.9 * radius_A(from) * unit(atoms_[to] - atoms_[from]);
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
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      const Point& atom = atoms_[i];
      const double radius = radius_A(i) * pixels_per_A * magnification(atom);
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
      line(at_oxygen, join, mixed(kOxygen, kBlack, 0.15), kStick_A, "");
      line(join, at_hydrogen, mixed(kHydrogen, kBlack, 0.25), kStick_A, "");
    }
    const double dash = 0.14 * pixels_per_A;
    const std::string dashes = fmt::format(
        " stroke-dasharray=\"{:.2f} {:.2f}\" stroke-linecap=\"round\"", dash, 1.4 * dash);
    for (const analysis::HydrogenBond& bond : analysis::hydrogen_bonds(positions_A_)) {
      const auto hydrogen = static_cast<std::size_t>(3 * bond.donor + bond.hydrogen);
      const auto oxygen = static_cast<std::size_t>(3 * bond.acceptor);
      line(surface(hydrogen, oxygen), surface(oxygen, hydrogen), kDashes, kHydrogenBond_A, dashes);
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

  double magnification(const Point& p) const { return eye_A_ / (eye_A_ - p.z); }
  /// Unscaled page coordinates.
  std::array<double, 2> on_page(const Point& p) const {
    return {magnification(p) * p.x, magnification(p) * p.y};
  }
  Colour fogged(const Colour& colour, double depth) const {
    const double behind = (front_ - depth) / std::max(front_ - back_, 2.0);
    return mixed(colour, kWhite, (1.0 - kFog) * behind);
  }

  std::span<const double> positions_A_;
  Atoms atoms_;
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
  }
  if (molecules == 0) throw InputError("there is no cluster to draw");
  if (molecules > kMostDrawnMolecules) {
    throw InputError(
        fmt::format("cannot draw {} molecules; the maximum is {}", molecules, kMostDrawnMolecules));
  }
  std::vector<ClusterDrawing> drawings;
  double largest_A = 0.0;
  for (const DrawnCluster& cluster : clusters) {
    largest_A = std::max(largest_A, drawings.emplace_back(cluster.positions_A).size_A());
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
