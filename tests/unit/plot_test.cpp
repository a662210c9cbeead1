#include "tarn/io/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/gnuplot_script.hpp"
#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"

namespace tarn::io {
namespace {

using test::contains;
using test::contents_of;
using test::read_text;
using test::ScratchFolder;

Plot example() {
  Plot plot;
  plot.title = "It's g(r) of \"x_1^2\"";
  plot.x_label = "r (Å)";
  plot.y_label = "g(r)";
  for (const auto style :
       {Series::Style::line, Series::Style::points, Series::Style::steps, Series::Style::sticks}) {
    Series series;
    series.label = "O–O's";
    series.style = style;
    for (int i = 0; i < 50; ++i) {
      series.x.push_back(0.1 * i);
      series.y.push_back(std::exp(-0.1 * i));
    }
    series.set_error(std::vector<double>(50, 0.05));
    plot.series.push_back(series);
  }
  return plot;
}

/// Replaces PATH during its lifetime.
class Path {
 public:
  explicit Path(const std::string& path) : before_(std::getenv("PATH")) {
    ::setenv("PATH", path.c_str(), 1);
  }
  ~Path() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

class Drawn : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_draw()) GTEST_SKIP() << "gnuplot is not installed";
  }
  ScratchFolder folder_;
};

TEST_F(Drawn, SvgAndPngAreComplete) {
  const Drawing drawing = draw(example(), folder_.file("rdf"));
  EXPECT_EQ(drawing.warning, "");
  EXPECT_EQ(drawing.paths, (std::vector{folder_.file("rdf.svg"), folder_.file("rdf.png")}));
  EXPECT_EQ(contents_of(folder_.path()).size(), 2u);
  const std::string svg = read_text(folder_.file("rdf.svg"));
  EXPECT_TRUE(contains(svg, "width=\"900\" height=\"560\""));
  EXPECT_TRUE(contains(svg, "r (Å)"));
  EXPECT_TRUE(contains(svg, "O–O"));
  EXPECT_TRUE(contains(svg, "</svg>"));
  const std::string png = read_text(folder_.file("rdf.png"));
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_TRUE(contains(png, "IEND"));
}

TEST_F(Drawn, SvgIsAFunctionOfThePlotOnly) {
  draw(example(), folder_.file("a"));
  draw(example(), folder_.file("b"));
  EXPECT_EQ(read_text(folder_.file("a.svg")), read_text(folder_.file("b.svg")));
}

TEST_F(Drawn, ReplacesAnOlderPicture) {
  test::write_text(folder_.file("a.svg"), "old");
  draw(example(), folder_.file("a"));
  EXPECT_TRUE(contains(read_text(folder_.file("a.svg")), "</svg>"));
  std::filesystem::create_symlink("a.svg", folder_.file("link.svg"));
  test::write_text(folder_.file("a.svg"), "old");
  draw(example(), folder_.file("link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.file("link.svg")));
  EXPECT_TRUE(contains(read_text(folder_.file("a.svg")), "</svg>"));
}

TEST_F(Drawn, DrawsAnyData) {
  Plot logarithmic = example();
  logarithmic.log_x = logarithmic.log_y = true;
  logarithmic.series[0].y[3] = -1.0;
  logarithmic.series[0].y[4] = std::nan("");
  Plot empty;
  Plot one_point;
  one_point.series.resize(1);
  one_point.series[0].x = {1.0};
  one_point.series[0].y = {2.0};
  Plot constant = example();
  constant.series.resize(1);
  constant.series[0].y.assign(50, 3.0);
  Plot only_nan = one_point;
  only_nan.series[0].y = {std::nan("")};
  int number = 0;
  for (const auto& plots :
       std::vector<std::vector<Plot>>{{logarithmic},
                                      {empty},
                                      {one_point},
                                      {constant},
                                      {only_nan},
                                      {example(), logarithmic, empty, one_point}}) {
    const Drawing drawing = draw(plots, folder_.file("p" + std::to_string(++number)));
    EXPECT_EQ(drawing.warning, "") << number;
    EXPECT_EQ(drawing.paths.size(), 2u) << number;
  }
}

TEST_F(Drawn, MarksColoursAndTicksMatchThePlot) {
  Plot plot = example();
  plot.log_x = true;
  plot.x_range = {{15.0, 250.0}};
  plot.height_pixels = 400;
  plot.series.resize(1);
  Series& series = plot.series[0];
  series.style = Series::Style::marked_line;
  series.colour = "#123456";
  series.x = {20.0, 90.0};
  series.y = {1.0, 2.0};
  series.marks = {"mark of 20", "mark of 90"};
  series.set_error(std::vector<double>{0.1, 0.1});
  EXPECT_EQ(draw({plot, plot}, folder_.file("a")).warning, "");
  const std::string svg = read_text(folder_.file("a.svg"));
  for (const std::string& text : series.marks) EXPECT_TRUE(contains(svg, text));
  // gnuplot writes colours in decimals.
  EXPECT_TRUE(contains(svg, "rgb( 18,  52,  86)"));
  // Twice 400, plus 60 for title and last axis, plus a row of the legend.
  EXPECT_TRUE(contains(svg, "height=\"887\"")) << svg.substr(0, 400);
  // Less than two decades: ticks at 20, 50, 100 and 200, and no labels as powers of ten.
  for (const std::string tick : {"20", "50", "100", "200"}) {
    EXPECT_TRUE(contains(svg, ">" + tick + "<")) << tick;
  }
  EXPECT_FALSE(contains(svg, "1e+"));
  EXPECT_FALSE(contains(svg, ">70<"));
  // With 1, 2 and 5 there would be only 20 and 50.
  plot.x_range = {{11.5, 80.0}};
  EXPECT_EQ(draw({plot}, folder_.file("a")).warning, "");
  for (const std::string tick : {"15", "20", "30", "40", "50", "70"}) {
    EXPECT_TRUE(contains(read_text(folder_.file("a.svg")), ">" + tick + "<")) << tick;
  }
}

TEST(Plot, LegendsDoNotLieOnTheData) {
  Plot plot = example();
  plot.shaded_until = 1.5;
  const std::string few = gnuplot_script({plot}, PictureFormat::svg, "a.svg");
  EXPECT_TRUE(contains(few, "set key outside top"));
  EXPECT_TRUE(contains(few, "rectangle from graph 0,graph 0 to first 1.5,graph 1 behind"));
  for (int more = 0; more < 4; ++more) plot.series.push_back(plot.series[0]);
  EXPECT_TRUE(
      contains(gnuplot_script({plot}, PictureFormat::svg, "a.svg"), "set key at graph 1.03,"));
}

/// Where gnuplot writes the texts of an SVG that begin so.
std::vector<std::array<double, 2>> places_of(const std::string& svg, const std::string& text) {
  std::vector<std::array<double, 2>> places;
  for (std::size_t at = svg.find(">" + text); at != std::string::npos;
       at = svg.find(">" + text, at + 1)) {
    std::array<double, 2> place{};
    const std::size_t begin = svg.rfind("translate(", at);
    EXPECT_EQ(std::sscanf(svg.c_str() + begin, "translate(%lf,%lf)", &place[0], &place[1]), 2);
    places.push_back(place);
  }
  return places;
}

TEST_F(Drawn, ALongLegendStandsInOneColumnBesideTheAxes) {
  for (const std::size_t plots : {1, 2, 4}) {
    for (const std::size_t curves : {5, 9, 14, 30}) {
      Plot plot = example();
      const Series series = plot.series[0];
      plot.series.clear();
      for (std::size_t k = 0; k < curves; ++k) {
        plot.series.push_back(series);
        plot.series.back().label = "curve " + std::to_string(k);
      }
      const std::string name = std::to_string(plots) + "-" + std::to_string(curves);
      ASSERT_EQ(draw(std::vector(plots, plot), folder_.file(name), {PictureFormat::svg}).warning,
                "");
      const auto places = places_of(read_text(folder_.file(name + ".svg")), "curve ");
      ASSERT_EQ(places.size(), curves) << name;
      for (const auto& place : places) EXPECT_EQ(place[0], places[0][0]) << name;
    }
  }
}

TEST_F(Drawn, LegendsBesideTheAxesOfSeveralPlotsBeginInOneColumn) {
  Plot plot = example();
  const Series series = plot.series[0];
  plot.series.assign(5, series);
  for (Series& each : plot.series) each.label = "curve";
  Plot with_more = plot;
  plot.series[0].dashed = true;  // which makes the legends differ
  with_more.series.push_back(series);
  with_more.series.back().label = "a label that is much longer than the others are";
  ASSERT_EQ(draw({with_more, plot}, folder_.file("a"), {PictureFormat::svg}).warning, "");
  const auto places = places_of(read_text(folder_.file("a.svg")), "curve");
  ASSERT_EQ(places.size(), 10u);
  for (const auto& place : places) EXPECT_NEAR(place[0], places[0][0], 0.5);
}

// The ticks of an axis are between its ends.
TEST_F(Drawn, LegendsAboveTakeNoHeightFromTheAxes) {
  const auto heights_of_axes = [&](const std::string& letters) {
    Plot plot = example();
    plot.y_range = {{70.0, 90.0}};
    for (Series& series : plot.series) series.label = "curve " + letters;
    EXPECT_EQ(draw({plot, plot}, folder_.file("a"), {PictureFormat::svg}).warning, "");
    const std::string svg = read_text(folder_.file("a.svg"));
    const auto low = places_of(svg, "70<"), high = places_of(svg, "90<");
    return std::array{low.at(0)[1] - high.at(0)[1], low.at(1)[1] - high.at(1)[1]};
  };
  // A legend of four rows, only in the first plot, and one of one row.
  for (const std::string& letters : {std::string(40, 'w'), std::string("w")}) {
    const auto heights = heights_of_axes(letters);
    EXPECT_NEAR(heights[0], heights[1], 27.0) << letters;
    EXPECT_GT(heights[0], 160.0) << letters;
  }
}

// Legend entries of the plot above are not repeated, unless the line style differs.
TEST_F(Drawn, ALegendThatThePlotAboveHasIsNotShownAgain) {
  Plot first = example();
  ASSERT_GE(first.series.size(), 2u);
  for (std::size_t i = 0; i < first.series.size(); ++i) {
    first.series[i].label = "curve" + std::to_string(i);
    first.series[i].colour.clear();
  }
  Plot second = first;
  second.series.resize(first.series.size() - 1);
  const auto shown = [&] {
    EXPECT_EQ(draw({first, second}, folder_.file("a"), {PictureFormat::svg}).warning, "");
    return places_of(read_text(folder_.file("a.svg")), "curve0<").size();
  };
  EXPECT_EQ(shown(), 1u);
  second.series[0].dashed = true;
  EXPECT_EQ(shown(), 2u);
}

/// The texts that begin so.
std::vector<std::string> texts_of(const std::string& svg, const std::string& beginning) {
  std::vector<std::string> labels;
  for (std::size_t at = svg.find(">" + beginning); at != std::string::npos;
       at = svg.find(">" + beginning, at + 1)) {
    labels.push_back(svg.substr(at + 1, svg.find('<', at) - at - 1));
  }
  return labels;
}

// Letters of 14 pixels are at least 6 pixels wide and extend at most 14 above the line of a rotated
// label.
TEST_F(Drawn, WideLabelsLeaveRoomForTheNameOfTheAxis) {
  Plot wide = example(), narrow = example();
  wide.y_label = "total (kcal/mol)";
  wide.series.resize(1);
  for (std::size_t i = 0; i < wide.series[0].y.size(); ++i) {
    wide.series[0].y[i] = -69.0005 + 1e-6 * static_cast<double>(i);
  }
  wide.series[0].low.clear();
  wide.series[0].high.clear();
  narrow.y_range = {{70.0, 90.0}};
  narrow.y_label = "narrow axis";
  ASSERT_EQ(draw({wide, narrow}, folder_.file("a"), {PictureFormat::svg}).warning, "");
  const std::string svg = read_text(folder_.file("a.svg"));
  const auto names = places_of(svg, "total (kcal/mol)"), ticks = places_of(svg, "-69.000");
  ASSERT_EQ(names.size(), 1u);
  ASSERT_GT(ticks.size(), 2u);
  EXPECT_GE(names[0][0], 14.0);
  std::vector<std::string> labels = texts_of(svg, "-69.000");
  std::size_t widest = 0;
  for (const std::string& label : labels) widest = std::max(widest, label.size());
  EXPECT_GT(ticks[0][0] - 6.0 * static_cast<double>(widest), names[0][0]);
  // Ticks that six digits do not distinguish.
  std::sort(labels.begin(), labels.end());
  EXPECT_EQ(std::adjacent_find(labels.begin(), labels.end()), labels.end());
  // The axes of both plots begin at the same x.
  EXPECT_EQ(ticks[0][0], places_of(svg, "80<").at(0)[0]);
}

// Values in bins with known edges: bins of width 1 around 1, 2 and 3.
TEST(Plot, BandsOfHistogramsFollowTheSteps) {
  Plot plot;
  Series& series = plot.series.emplace_back();
  series.style = Series::Style::steps;
  series.x = {1.0, 2.0, 3.0};
  series.y = {5.0, 7.0, 6.0};
  series.set_error(std::vector<double>{1.0, 2.0, 0.5});
  const std::string script = gnuplot_script({plot}, PictureFormat::svg, "a.svg");
  EXPECT_TRUE(contains(script,
                       "$p0s0band << EOD\n0.5 4 6\n1.5 4 6\n1.5 5 9\n2.5 5 9\n2.5 5.5 6.5\n"
                       "3.5 5.5 6.5\nEOD\n"))
      << script;
  EXPECT_TRUE(contains(script, "$p0s0band using 1:2:3 with filledcurves")) << script;
}

// gnuplot's own error bars are erased around their points by white ones.
TEST_F(Drawn, ShortErrorBarsAreVisible) {
  Plot plot;
  plot.series.resize(1);
  Series& series = plot.series[0];
  series.x = {1.0, 2.0};
  series.y = {1.0, 2.0};
  series.set_error(std::vector<double>{0.01, 0.01});
  for (const auto style : {Series::Style::points, Series::Style::marked_line}) {
    series.style = style;
    for (plot.log_y = false;; plot.log_y = true) {
      ASSERT_EQ(draw(plot, folder_.file("a"), {PictureFormat::svg}).warning, "");
      const std::string svg = read_text(folder_.file("a.svg"));
      // All points use one symbol.
      std::size_t points = 0;
      for (std::size_t at = svg.find("<use"); at != std::string::npos;
           at = svg.find("<use", at + 1))
        points += svg.compare(svg.find('#', at), 7, "#gpPt6'") == 0 ? 1 : 0;
      EXPECT_EQ(points, 2u) << svg;
      if (plot.log_y) break;
    }
  }
}

TEST_F(Drawn, BarsAlongX) {
  Plot plot;
  plot.log_x = true;
  Series& series = plot.series.emplace_back();
  series.style = Series::Style::marked_line;
  series.x = {10.0, 20.0};
  series.y = {1.0, 2.0};
  series.marks = {"a", "b"};
  series.set_x_error(std::vector<double>{1.0, 30.0});
  const auto script = [&] { return gnuplot_script({plot}, PictureFormat::svg, "a.svg"); };
  // A logarithmic axis has no values below zero.
  EXPECT_TRUE(contains(script(), "10 1 9 11 \"a\"\n20 2 0.02 50 \"b\"\n")) << script();
  EXPECT_TRUE(contains(script(), "using 3:2:($4-$3):(0) with vectors")) << script();
  EXPECT_TRUE(contains(script(), "using 1:2:5 with labels")) << script();
  // // After the spread of y.
  series.set_error(std::vector<double>{0.5, 0.5});
  EXPECT_TRUE(contains(script(), "10 1 0.5 1.5 9 11 \"a\"\n")) << script();
  EXPECT_TRUE(contains(script(), "using 5:2:($6-$5):(0) with vectors")) << script();
  EXPECT_TRUE(contains(script(), "using 1:2:7 with labels")) << script();
  EXPECT_EQ(draw(plot, folder_.file("a"), {PictureFormat::svg}).warning, "");
}

TEST(Plot, TextsStandAboveCurves) {
  Plot plot = example();
  plot.series[0].marks.assign(plot.series[0].x.size(), "");
  plot.series[0].marks[0] = "of the first";
  const std::string script = gnuplot_script({plot}, PictureFormat::svg, "a.svg");
  EXPECT_GT(script.find("with labels"), script.find("with histeps"));
  EXPECT_LT(script.find("with histeps"), script.size());
  EXPECT_LT(script.find("with labels"), script.size());
}

TEST_F(Drawn, NumbersOfThingsAreWrittenOut) {
  Plot plot = example();
  plot.log_x = true;
  plot.x_range = {{1.5, 3e4}};
  draw(plot, folder_.file("a"), {PictureFormat::svg});
  const std::string svg = read_text(folder_.file("a.svg"));
  for (const std::string tick : {"10", "100", "1000", "10 000"}) {
    EXPECT_EQ(places_of(svg, tick + "<").size(), 1u) << tick;
  }
  EXPECT_FALSE(contains(svg, "1e+"));
  plot.x_range = {{1e-5, 3e4}};
  draw(plot, folder_.file("b"), {PictureFormat::svg});
  EXPECT_TRUE(contains(read_text(folder_.file("b.svg")), "1e-2"));
  // Decimals near 1, for a given range and for that of the data.
  plot.x_range = {{1e-3, 3e4}};
  plot.log_y = true;
  plot.y_range.reset();
  plot.series.assign(1, {});
  plot.series[0].x = {1.0, 2.0};
  plot.series[0].y = {0.02, 30.0};
  draw(plot, folder_.file("c"), {PictureFormat::svg});
  const std::string plain = read_text(folder_.file("c.svg"));
  for (const std::string tick : {"0.001", "0.01", "0.1", "100"}) {
    EXPECT_TRUE(contains(plain, tick + "<")) << tick;
  }
  EXPECT_FALSE(contains(plain, "1e+") || contains(plain, "1e-"));
  plot.series[0].y[0] = 1e-6;
  draw(plot, folder_.file("d"), {PictureFormat::svg});
  EXPECT_TRUE(contains(read_text(folder_.file("d.svg")), "1e-6"));
}

TEST_F(Drawn, AFolderThatIsMissingIsAWarning) {
  const Drawing drawing = draw(example(), folder_.file("no/rdf"));
  EXPECT_TRUE(contains(drawing.warning, "could not draw"));
  // The reason only, without the script or the output of gnuplot.
  EXPECT_TRUE(contains(drawing.warning, ": cannot open file")) << drawing.warning;
  EXPECT_FALSE(contains(drawing.warning, "<svg"));
  EXPECT_FALSE(contains(drawing.warning, "set output"));
  EXPECT_TRUE(drawing.paths.empty());
}

/// A missing picture does not make a finished run fail.
TEST_F(Drawn, APictureThatCannotBePutInPlaceIsAWarning) {
  std::filesystem::create_directories(folder_.file("rdf.svg/in the way"));
  const Drawing drawing = draw(example(), folder_.file("rdf"), {PictureFormat::svg});
  EXPECT_TRUE(contains(drawing.warning, "rdf.svg"));
  EXPECT_TRUE(drawing.paths.empty());
}

TEST(Plot, WithoutGnuplotThereIsAWarning) {
  const ScratchFolder folder;
  const Path path(folder.path());
  EXPECT_FALSE(can_draw());
  const Drawing drawing = draw(example(), folder.file("rdf"));
  EXPECT_TRUE(contains(drawing.warning, "gnuplot is not installed"));
  EXPECT_TRUE(drawing.paths.empty());
  EXPECT_TRUE(contents_of(folder.path()).empty());
}

TEST(Plot, AGnuplotThatFailsIsAWarning) {
  const ScratchFolder folder;
  const std::string gnuplot = folder.file("gnuplot");
  const std::string path_then = std::getenv("PATH");
  for (const std::string script : {"#!/bin/sh\necho sorry >&2\nexit 3\n", "#!/bin/sh\nexit 0\n"}) {
    test::write_text(gnuplot, script);
    std::filesystem::permissions(gnuplot, std::filesystem::perms::owner_all);
    const Path path(folder.path() + ":" + path_then);
    const Drawing drawing = draw(example(), folder.file("rdf"));
    EXPECT_TRUE(contains(drawing.warning, "could not draw"));
    EXPECT_TRUE(drawing.paths.empty());
    EXPECT_EQ(contents_of(folder.path()).size(), 1u);
  }
}

// Message of gnuplot 6 if the C library cannot convert its characters.
TEST(Plot, TheReasonIsNoWarning) {
  const ScratchFolder folder;
  const std::string gnuplot = folder.file("gnuplot");
  test::write_text(gnuplot,
                   "#!/bin/sh\necho '         line 0: warning: no degree sign' >&2\n"
                   "echo '         line 0:          cannot open file' >&2\nexit 1\n");
  std::filesystem::permissions(gnuplot, std::filesystem::perms::owner_all);
  const Path path(folder.path() + ":" + std::getenv("PATH"));
  const Drawing drawing = draw(example(), folder.file("rdf"));
  EXPECT_TRUE(contains(drawing.warning, ": cannot open file")) << drawing.warning;
}

}  // namespace
}  // namespace tarn::io
