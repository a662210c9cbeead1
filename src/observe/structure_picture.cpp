#include "tarn/observe/structure_picture.hpp"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "tarn/analysis/cluster.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/json.hpp"

namespace tarn {
namespace {

using Eigen::Vector3d;
using Atoms = Eigen::Matrix<double, 3, Eigen::Dynamic>;
using Colour = std::array<double, 3>;

// Sizes in pixels, and of atoms in A: between a ball and a point, so that bonds are seen.
constexpr double kCell = 260.0, kMargin = 12.0, kLabel = 24.0, kTitle = 40.0;
constexpr double kMostPixelsPerA = 40.0;
constexpr std::array<double, 3> kRadius_A{0.48, 0.30, 0.30};
constexpr double kStick_A = 0.20, kHydrogenBond_A = 0.09;
// The eye is so many times as far from the centre as the nearest atom.
constexpr double kEye = 6.0;
// How much of the colour is left at the back.
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

bool is_oxygen(Eigen::Index atom) { return atom % 3 == 0; }
const Colour& colour_of(Eigen::Index atom) { return is_oxygen(atom) ? kOxygen : kHydrogen; }

/// How much the atoms hide one another, seen along the last axis.
double overlap(const Atoms& seen) {
  constexpr double kBehind_A2 = 0.1;  // atoms that are as good as behind one another
  double sum = 0.0;
  for (Eigen::Index i = 0; i < seen.cols(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      sum += 1.0 / (kBehind_A2 + (seen.col(i) - seen.col(j)).head<2>().squaredNorm());
    }
  }
  return sum;
}

/// Right, up and towards the eye, which looks against `towards`; the atoms reach farthest across.
Eigen::Matrix3d view_along(const Vector3d& towards, const Atoms& atoms) {
  Eigen::Matrix3d view = Eigen::Quaterniond::FromTwoVectors(towards, Vector3d::UnitZ()).matrix();
  const Eigen::Matrix<double, 2, Eigen::Dynamic> flat = view.topRows<2>() * atoms;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> axes(flat * flat.transpose());
  const Eigen::Vector2d across = axes.eigenvectors().col(1);
  const double angle = std::atan2(across[1], across[0]);
  return Eigen::AngleAxisd(-angle, Vector3d::UnitZ()).matrix() * view;
}

/// Positions about the centre in the directions right, up and towards the eye, from where the atoms
/// hide one another least.
Atoms as_seen(std::span<const double> positions_A) {
  Atoms atoms = Eigen::Map<const Atoms>(positions_A.data(), 3,
                                        static_cast<Eigen::Index>(positions_A.size() / 3));
  const Vector3d centre = atoms.rowwise().mean();
  atoms.colwise() -= centre;
  // Places of equal area on a sphere, fewer for clusters so large that all views are alike.
  const auto directions = static_cast<int>(
      std::clamp(3e7 / static_cast<double>(atoms.cols() * atoms.cols()), 1.0, 300.0));
  double least = std::numeric_limits<double>::infinity();
  Eigen::Matrix3d best = Eigen::Matrix3d::Identity();
  for (int k = 0; k < directions; ++k) {
    const double z = 1.0 - (2.0 * k + 1.0) / directions;
    const double turn = std::numbers::pi * (3.0 - std::sqrt(5.0)) * k;
    const double across = std::sqrt(1.0 - z * z);
    const Vector3d towards(across * std::cos(turn), across * std::sin(turn), z);
    const Eigen::Matrix3d view = view_along(towards, atoms);
    const double hidden = overlap(view * atoms);
    if (hidden < least) {
      least = hidden;
      best = view;
    }
  }
  return best * atoms;
}

/// One cluster, and what of the page it needs.
class ClusterDrawing {
 public:
  explicit ClusterDrawing(std::span<const double> positions_A)
      : positions_A_(positions_A), atoms_(as_seen(positions_A)) {
    front_ = atoms_.row(2).maxCoeff();
    back_ = atoms_.row(2).minCoeff();
    eye_A_ = kEye * std::max(front_, 1.0);
    for (Eigen::Index i = 0; i < atoms_.cols(); ++i) {
      const Vector3d atom = atoms_.col(i);
      const Eigen::Array2d at = (magnification(atom) * atom.head<2>()).array();
      const double radius = magnification(atom) * kRadius_A[static_cast<std::size_t>(i % 3)];
      low_ = low_.min(at - radius);
      high_ = high_.max(at + radius);
    }
  }

  /// Width and height of the page at one pixel an A.
  Eigen::Array2d size_A() const { return high_ - low_; }

  /// @param x, y of the middle
  std::string svg(double x, double y, double pixels_per_A) const {
    std::vector<Shape> shapes;
    const Eigen::Array2d middle = 0.5 * (low_ + high_);
    const auto place = [&](const Vector3d& p) {
      const Eigen::Array2d at = magnification(p) * p.head<2>().array() - middle;
      return std::array<double, 2>{x + pixels_per_A * at[0], y - pixels_per_A * at[1]};
    };
    // From the surface of an atom towards another one.
    const auto surface = [&](Eigen::Index from, Eigen::Index to) -> Vector3d {
      const Vector3d way = (atoms_.col(to) - atoms_.col(from)).normalized();
      return atoms_.col(from) + 0.9 * kRadius_A[static_cast<std::size_t>(from % 3)] * way;
    };
    const auto line = [&](const Vector3d& from, const Vector3d& to, const Colour& colour,
                          double width_A, std::string_view more) {
      const Vector3d half = 0.5 * (from + to);
      const auto a = place(from), b = place(to);
      shapes.push_back(
          {half[2], fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" "
                                "stroke=\"{}\" stroke-width=\"{:.2f}\"{}/>\n",
                                a[0], a[1], b[0], b[1], text_of(fogged(colour, half[2])),
                                width_A * pixels_per_A * magnification(half), more)});
    };
    for (Eigen::Index i = 0; i < atoms_.cols(); ++i) {
      const Vector3d atom = atoms_.col(i);
      const double radius =
          kRadius_A[static_cast<std::size_t>(i % 3)] * pixels_per_A * magnification(atom);
      const auto at = place(atom);
      shapes.push_back(
          {atom[2],
           fmt::format("<circle cx=\"{0:.2f}\" cy=\"{1:.2f}\" r=\"{2:.2f}\" fill=\"{3}\" "
                       "stroke=\"{4}\" stroke-width=\"{5:.2f}\"/>"
                       "<circle cx=\"{6:.2f}\" cy=\"{7:.2f}\" r=\"{8:.2f}\" fill=\"{9}\"/>\n",
                       at[0], at[1], radius, text_of(fogged(colour_of(i), atom[2])),
                       text_of(fogged(mixed(colour_of(i), kBlack, 0.55), atom[2])),
                       0.03 * pixels_per_A, at[0] - 0.3 * radius, at[1] - 0.34 * radius,
                       0.28 * radius, text_of(fogged(mixed(colour_of(i), kWhite, 0.6), atom[2])))});
      if (is_oxygen(i)) continue;
      const Vector3d at_oxygen = surface(i - i % 3, i), at_hydrogen = surface(i, i - i % 3);
      const Vector3d join = 0.5 * (at_oxygen + at_hydrogen);
      line(at_oxygen, join, mixed(kOxygen, kBlack, 0.15), kStick_A, "");
      line(join, at_hydrogen, mixed(kHydrogen, kBlack, 0.25), kStick_A, "");
    }
    const double dash = 0.14 * pixels_per_A;
    const std::string dashes = fmt::format(
        " stroke-dasharray=\"{:.2f} {:.2f}\" stroke-linecap=\"round\"", dash, 1.4 * dash);
    for (const analysis::HydrogenBond& bond : analysis::hydrogen_bonds(positions_A_)) {
      const Eigen::Index hydrogen = 3 * bond.donor + bond.hydrogen, oxygen = 3 * bond.acceptor;
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

  double magnification(const Vector3d& p) const { return eye_A_ / (eye_A_ - p[2]); }
  Colour fogged(const Colour& colour, double depth) const {
    const double behind = (front_ - depth) / std::max(front_ - back_, 2.0);
    return mixed(colour, kWhite, (1.0 - kFog) * behind);
  }

  std::span<const double> positions_A_;
  Atoms atoms_;
  double eye_A_ = 0.0, front_ = 0.0, back_ = 0.0;
  Eigen::Array2d low_{1e300, 1e300}, high_{-1e300, -1e300};  // on the page, without a scale
};

/// What XML can hold, no wider than the cell.
std::string escaped(std::string_view text, double width) {
  constexpr double kCharacter = 7.6;  // of 13 pixels, on average
  const auto most = static_cast<std::size_t>(width / kCharacter);
  const std::string valid = io::valid_utf8(text);
  std::string safe;
  std::size_t characters = 0;
  for (const char c : valid) {
    const bool begins = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (begins && ++characters > most) return safe + "…";
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

std::string written(double x, double y, int size, std::string_view text, double width) {
  return fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{}\">{}</text>\n", x, y, size,
                     escaped(text, width));
}

}  // namespace

std::string label_of_frame(const io::Structure& structure) {
  const auto value = [&](const char* key) -> std::string {
    const auto at = structure.comment.find(key);
    return at == structure.comment.end() ? "" : at->second;
  };
  // Rounded, if it is a number.
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
    if (!value("replica").empty()) label = "replica " + value("replica") + ", ";
    label += rounded("time_ps", 3) + " ps";
  }
  const std::string minimum = rounded("minimum_kcal_per_mol", 3);
  if (!minimum.empty()) label += (label.empty() ? "" : ", ") + minimum + " kcal/mol";
  return label;
}

std::string structure_svg(std::span<const DrawnCluster> clusters, std::string_view title,
                          std::size_t columns) {
  std::size_t molecules = 0;
  for (const DrawnCluster& cluster : clusters) {
    if (cluster.positions_A.empty())
      throw InputError("a cluster without a molecule has no picture");
    molecules += cluster.positions_A.size() / 9;
  }
  if (molecules == 0) throw InputError("there is no cluster to draw");
  if (molecules > kMostDrawnMolecules) {
    throw InputError(fmt::format("a picture of {} molecules; at most {} can be told apart",
                                 molecules, kMostDrawnMolecules));
  }
  std::vector<ClusterDrawing> drawings;
  double largest_A = 0.0;
  for (const DrawnCluster& cluster : clusters) {
    largest_A = std::max(largest_A, drawings.emplace_back(cluster.positions_A).size_A().maxCoeff());
  }
  if (columns == 0) {
    const auto n = static_cast<double>(clusters.size());
    columns = n <= 4.0 ? clusters.size() : static_cast<std::size_t>(std::ceil(std::sqrt(1.3 * n)));
  }
  const std::size_t rows = (clusters.size() + columns - 1) / columns;
  // One cluster fills a larger page.
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
  if (!title.empty()) text += written(0.5 * width, 26.0, 16, title, width);
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const double x = cell * (static_cast<double>(i % columns) + 0.5);
    const double y = top + (cell + kLabel) * static_cast<double>(i / columns) + 0.5 * cell;
    text += drawings[i].svg(x, y, pixels_per_A);
    text += written(x, y + 0.5 * cell + 10.0, 13, clusters[i].label, cell);
  }
  return text + "</svg>\n";
}

}  // namespace tarn
