#include "tarn/observe/structure_picture.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scratch_folder.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

std::vector<double> cluster(int molecules) {
  return random_cluster(find_water_model("tip3p").value(), molecules, 1, 0);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

/// All values of an attribute.
std::vector<double> values(const std::string& text, const std::string& attribute) {
  std::vector<double> all;
  const std::regex pattern(" " + attribute + "=\"([-0-9.]+)\"");
  for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i) {
    all.push_back(std::stod((*i)[1]));
  }
  return all;
}

TEST(StructurePicture, HasEveryAtomBondAndHydrogenBond) {
  const std::vector<double> x =
      lowest_cluster(find_water_model("tip3p").value(), 6, 1, {.starts = 4}).positions_A;
  const std::string svg = structure_svg(std::vector<DrawnCluster>{{x, "six"}}, "title");
  const auto bonds = static_cast<std::size_t>(analysis::cluster_shape(x).hydrogen_bonds);
  ASSERT_GT(bonds, 4u);
  EXPECT_EQ(count(svg, "<circle"), 2 * 18u) << "a ball and its light";
  EXPECT_EQ(count(svg, "stroke-dasharray"), bonds);
  EXPECT_EQ(count(svg, "<line"), bonds + 2 * 12u) << "two halves a stick";
  EXPECT_EQ(count(svg, ">six</text>"), 1u);
  EXPECT_EQ(count(svg, ">title</text>"), 1u);
  EXPECT_EQ(svg, structure_svg(std::vector<DrawnCluster>{{x, "six"}}, "title"));
}

TEST(StructurePicture, StaysOnThePage) {
  for (const int clusters : {1, 3, 7}) {
    std::vector<DrawnCluster> drawn;
    for (int i = 0; i < clusters; ++i) drawn.push_back({cluster(1 + 4 * i), "label"});
    const std::string svg = structure_svg(drawn, "");
    const double width = values(svg, "width").front(), height = values(svg, "height").front();
    const std::vector<double> x = values(svg, "cx"), y = values(svg, "cy"), r = values(svg, "r");
    ASSERT_EQ(x.size(), y.size());
    ASSERT_EQ(x.size(), r.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_GE(x[i] - r[i], 0.0);
      EXPECT_LE(x[i] + r[i], width);
      EXPECT_GE(y[i] - r[i], 0.0);
      EXPECT_LE(y[i] + r[i], height);
    }
    if (clusters == 1) continue;  // atoms of one molecule would be too large
    // The last and largest one fills its cell, of 260 pixels with a margin of 12, across or up.
    const std::size_t first = x.size() - 2 * 3 * static_cast<std::size_t>(4 * clusters - 3);
    double low[2]{1e9, 1e9}, high[2]{-1e9, -1e9};
    for (std::size_t i = first; i < x.size(); ++i) {
      low[0] = std::min(low[0], x[i] - r[i]);
      low[1] = std::min(low[1], y[i] - r[i]);
      high[0] = std::max(high[0], x[i] + r[i]);
      high[1] = std::max(high[1], y[i] + r[i]);
    }
    // Two decimals of places and radii.
    EXPECT_NEAR(std::max(high[0] - low[0], high[1] - low[1]), 260.0 - 24.0, 0.03);
  }
}

/// What is nearer comes later in the text, and covers what is behind.
TEST(StructurePicture, NearerAtomsAreLargerAndLast) {
  const std::string svg = structure_svg(std::vector<DrawnCluster>{{cluster(30), ""}}, "");
  // Of each ball and its light the first; oxygens are those of the larger radius.
  std::vector<double> radii = values(svg, "r"), oxygens;
  const double largest = *std::max_element(radii.begin(), radii.end());
  for (std::size_t i = 0; i < radii.size(); i += 2) {
    if (radii[i] > 0.66 * largest) oxygens.push_back(radii[i]);
  }
  EXPECT_EQ(oxygens.size(), 30u);
  EXPECT_TRUE(std::is_sorted(oxygens.begin(), oxygens.end()));
  EXPECT_LT(oxygens.front(), oxygens.back());
}

/// Two beads around the atoms of a cluster: two circles for each atom and the sticks of both, in
/// the view of the centroids and with their hydrogen bonds.
TEST(StructurePicture, RingPolymersAreDrawnBeadByBead) {
  const std::vector<double> x =
      lowest_cluster(find_water_model("tip3p").value(), 6, 1, {.starts = 4}).positions_A;
  DrawnCluster beads{x, "six"};
  beads.beads = 2;
  beads.positions_A.insert(beads.positions_A.end(), x.begin(), x.end());
  constexpr double kShift_A = 0.25;
  for (std::size_t i = 0; i < x.size(); ++i) {
    beads.positions_A[i] += i % 3 == 0 ? kShift_A : 0.0;
    beads.positions_A[x.size() + i] -= i % 3 == 0 ? kShift_A : 0.0;
  }
  const std::string svg = structure_svg(std::vector<DrawnCluster>{beads}, "");
  const std::string balls = structure_svg(std::vector<DrawnCluster>{{x, "six"}}, "");
  EXPECT_EQ(count(svg, "<circle"), 2 * 18u);
  EXPECT_EQ(count(svg, "<path"), 2 * 2 * 12u) << "two halves a stick";
  EXPECT_GT(count(svg, "<line"), 4u);
  EXPECT_EQ(count(svg, "<line"), count(balls, "stroke-dasharray"));
  const double width = values(svg, "width").front(), height = values(svg, "height").front();
  const std::vector<double> cx = values(svg, "cx"), cy = values(svg, "cy"), r = values(svg, "r");
  ASSERT_EQ(cx.size(), r.size());
  double low = width, high = 0.0;
  for (std::size_t i = 0; i < cx.size(); ++i) {
    low = std::min({low, cx[i] - r[i], cy[i] - r[i]});
    high = std::max({high, cx[i] + r[i] - width, cy[i] + r[i] - height});
  }
  EXPECT_GE(low, 0.0);
  EXPECT_LE(high, 0.0);
  // The circles of an atom follow one another. In space they are ten radii apart; the perspective
  // adds less than a third in this view.
  for (std::size_t i = 0; i < cx.size(); i += 2) {
    const double apart = std::hypot(cx[i + 1] - cx[i], cy[i + 1] - cy[i]);
    EXPECT_GT(apart, r[i]);
    EXPECT_LT(apart, 13.0 * r[i]);
  }

  beads.beads = 5;
  EXPECT_THROW(structure_svg(std::vector<DrawnCluster>{beads}, ""), InputError);
}

TEST(StructurePicture, LabelsAreTextAndNoMarkup) {
  const std::string svg = structure_svg(std::vector<DrawnCluster>{{cluster(1), "a<b & c"}}, "");
  EXPECT_EQ(count(svg, "a&lt;b &amp; c"), 1u);
  const auto labelled = [](const std::string& label) {
    return structure_svg(std::vector<DrawnCluster>{{cluster(1), label}}, "");
  };
  EXPECT_EQ(count(labelled("bad\xff\x01name"), "bad\xef\xbf\xbd?name"), 1u);
  const std::string cut = labelled(std::string(500, 'x'));
  EXPECT_GT(count(cut, std::string(60, 'x')), 0u);
  EXPECT_EQ(count(cut, std::string(80, 'x')), 0u);
  EXPECT_EQ(count(cut, "x…</text>"), 1u);
}

TEST(StructurePicture, LabelsDescribeFrames) {
  io::Structure structure;
  EXPECT_EQ(label_of_frame(structure), "");
  structure.comment["time_ps"] = "0.29999999999999999";
  EXPECT_EQ(label_of_frame(structure), "0.300 ps");
  structure.comment["time_ps"] = "8";
  EXPECT_EQ(label_of_frame(structure), "8 ps");
  structure.comment["time_ps"] = "0.29999999999999999";
  structure.comment["replica"] = "7";
  EXPECT_EQ(label_of_frame(structure), "replica 7, 0.300 ps");
  structure.comment["replica"] = "replica-0000";  // as H5MD has it
  EXPECT_EQ(label_of_frame(structure), "replica 0, 0.300 ps");
  structure.comment["replica"] = "replica-0120";
  EXPECT_EQ(label_of_frame(structure), "replica 120, 0.300 ps");
  structure.comment.erase("replica");
  structure.comment["minimum_kcal_per_mol"] = "-17.440225";
  EXPECT_EQ(label_of_frame(structure), "0.300 ps, -17.440 kcal/mol");
  structure.comment["beads"] = "32";
  EXPECT_EQ(label_of_frame(structure), "0.300 ps, 32 beads, -17.440 kcal/mol");
  structure.comment.erase("beads");
  structure.comment["isomer"] = "3";
  EXPECT_EQ(label_of_frame(structure), "isomer 3, -17.440 kcal/mol");
  structure.comment["minimum_kcal_per_mol"] = "low";
  EXPECT_EQ(label_of_frame(structure), "isomer 3, low kcal/mol");
}

TEST(StructurePicture, TheNameOfTheFileIsShortenedBeforeTheLabel) {
  const auto svg = [](const std::string& file, const std::string& label) {
    return structure_svg(
        std::vector<DrawnCluster>{{cluster(1), label, file}, {cluster(1), "other"}}, "");
  };
  // 34 characters fit below a cluster.
  const std::string label = "replica 0, 8 ps, -17.440 kcal/mol";
  EXPECT_TRUE(test::contains(svg("short", "8 ps"), ">short: 8 ps</text>"));
  EXPECT_TRUE(test::contains(svg("short", ""), ">short</text>"));
  EXPECT_TRUE(test::contains(svg("short", label), ">" + label + "</text>"));
  EXPECT_TRUE(test::contains(svg("a-trajectory-of-a-long-name", "replica 0, 8 ps"),
                             ">a-trajectory-of-…: replica 0, 8 ps</text>"));
  EXPECT_TRUE(test::contains(svg("wässrige-lösung-von-nichts", "replica 0, 8 ps"),
                             ">wässrige-lösung-…: replica 0, 8 ps</text>"));
}

TEST(StructurePicture, RefusesNothingAndTooMuch) {
  EXPECT_THROW(structure_svg({}, ""), InputError);
  EXPECT_THROW(structure_svg(std::vector<DrawnCluster>{{{}, "empty"}}, ""), InputError);
  const std::vector<double> many(9 * (kMostDrawnMolecules + 1), 0.0);
  EXPECT_THROW(structure_svg(std::vector<DrawnCluster>{{many, ""}}, ""), InputError);
}

}  // namespace
}  // namespace tarn
