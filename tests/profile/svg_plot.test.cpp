// SPDX-License-Identifier: Apache-2.0

#include "tests/support/temporary_folder.hpp"

#include <twill/profile/svg_plot.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace twill::profile;

namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

} // namespace

TEST_CASE("a plot is a self-contained document with a line for each series", "[profile]") {
  const std::vector<float> loss{2.3F, 1.1F, 0.7F};
  LinePlot plot({.title = "a < b & c", .x_label = "step", .y_label = "loss"});
  plot.add("training", loss).add("\"test\"", std::vector<int>{0, 2}, std::vector<double>{2, 1});
  const std::string svg = plot.svg();
  CHECK(svg.find("<svg xmlns=\"http://www.w3.org/2000/svg\"") == 0);
  CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
  CHECK(count(svg, "<path ") == 2);
  CHECK(svg.find("a &lt; b &amp; c") != std::string::npos);
  CHECK(svg.find("&quot;test&quot;") != std::string::npos);
  CHECK(svg.find("href") == std::string::npos);
  CHECK(count(svg, ">training</text>") == 1);
  CHECK(count(LinePlot().add("alone", loss).svg(), ">alone</text>") == 0); // one series needs no legend
}

TEST_CASE("deviations are bars around their points, and the axis reaches their ends", "[profile]") {
  const std::vector<double> x{1, 2, 3};
  const std::vector<double> y{10, 11, 10};
  const std::string plain = LinePlot().add("plain", x, y).svg();
  const std::string svg = LinePlot().add("with", x, y, std::vector<double>{0, 30, 5}).svg();
  CHECK(plain.find(">40</text>") == std::string::npos);
  CHECK(svg.find(">40</text>") != std::string::npos);
  CHECK(count(svg, "stroke=\"#0072B2\"/>") == 2); // none for the first point
  CHECK_THROWS_WITH(LinePlot().add("short", x, y, std::vector<double>{1}),
                    "plot: series \"short\" has 3 points and 1 deviations");
}

TEST_CASE("what is not finite leaves a gap and never reaches the document", "[profile]") {
  const double nan = std::nan("");
  const std::string svg = LinePlot().add("gaps", std::vector<double>{1, 2, nan, 3, INFINITY, 4, 5}).svg();
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
  const auto path = svg.substr(svg.find("<path d=\""));
  CHECK(count(path.substr(0, path.find("fill")), "M") == 3);
  CHECK(LinePlot().add("nothing", std::vector<double>{nan}).svg().find("nan") == std::string::npos);
  CHECK(LinePlot().svg().find("nan") == std::string::npos);
}

TEST_CASE("plots are saved, and refuse what they cannot draw or write", "[profile]") {
  const twill::test::TemporaryFolder place{};
  const std::string path = place / "plot.svg";
  LinePlot plot;
  plot.add("x", std::vector<double>{1, 2});
  plot.save(path);
  CHECK(twill::test::contents(path) == plot.svg());
  CHECK_THROWS_WITH(plot.save("/nonexistent/plot.svg"), "plot: cannot write /nonexistent/plot.svg");
  CHECK_THROWS_WITH(plot.add("short", std::vector<int>{1, 2}, std::vector<int>{1}),
                    "plot: series \"short\" has 2 x and 1 y values");
}
