// SPDX-License-Identifier: Apache-2.0

#include <twill/profile/svg.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace twill::profile;

namespace {

std::vector<std::string> labels(double low, double high, int wanted = 6) {
  const auto ticks = nice_ticks(low, high, wanted);
  std::vector<std::string> result;
  for (int tick = 0; tick < ticks.count; ++tick) result.push_back(ticks.label(tick));
  return result;
}

using Labels = std::vector<std::string>;

} // namespace

TEST_CASE("ticks are round numbers that span the data", "[profile]") {
  CHECK(labels(0, 10) == Labels{"0", "2", "4", "6", "8", "10"});
  CHECK(labels(0.81, 0.886) == Labels{"0.80", "0.82", "0.84", "0.86", "0.88", "0.90"});
  CHECK(labels(-0.3, 0.3, 4) == Labels{"-0.4", "-0.2", "0.0", "0.2", "0.4"});
  CHECK(labels(0, 3e9, 4) == Labels{"0", "1e+09", "2e+09", "3e+09"});
  CHECK(labels(0, 4e-7, 5) == Labels{"0", "1e-07", "2e-07", "3e-07", "4e-07"});
  for (const auto& [low, high] : {std::pair{3.0, 3.0}, {0.0, 0.0}, {-5.0, -5.0}}) { // flat data
    const auto ticks = nice_ticks(low, high, 5);
    CHECK(ticks.first < low);
    CHECK(ticks.last() > high);
    CHECK(ticks.count <= 12);
  }
  for (double scale = 1e-12; scale < 1e12; scale *= 3.7) {
    const auto ticks = nice_ticks(0.37 * scale, 1.19 * scale, 6);
    CHECK(ticks.first <= 0.37 * scale * (1 + 1e-9));
    CHECK(ticks.last() >= 1.19 * scale * (1 - 1e-9));
    CHECK(ticks.count >= 3);
    CHECK(ticks.count <= 12);
  }
}

TEST_CASE("elements have the attributes of their style and escape their texts", "[profile]") {
  Svg svg{};
  svg.text(1, 2, "a < \"b\" & c", {.anchor = "end", .font_px = 10.5, .is_bold = true});
  svg.line(0, 0.5, 3, 4, {.stroke = "#D00000", .dashes = "6 3"});
  svg.rectangle(1, 2, 3, 4, {.fill = "#ffffff", .fill_opacity = 0.8}, "tip > 1");
  svg.path(Svg::path_to(1, 2, 'M') + Svg::path_to(3, 4), {.fill = "none", .stroke = "#111111", .stroke_width = 1.6});
  const std::string document = svg.document(30, 40);
  for (const char* element :
       {"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"40\" viewBox=\"0 0 30 40\"",
        "<text x=\"1.00\" y=\"2.00\" text-anchor=\"end\" font-size=\"10.5\" font-weight=\"bold\">"
        "a &lt; &quot;b&quot; &amp; c</text>\n",
        "<line x1=\"0.00\" y1=\"0.50\" x2=\"3.00\" y2=\"4.00\" stroke=\"#D00000\" stroke-dasharray=\"6 3\"/>\n",
        "fill=\"#ffffff\" fill-opacity=\"0.8\"><title>tip &gt; 1</title></rect>\n",
        "<path d=\"M1.00 2.00L3.00 4.00\" fill=\"none\" stroke=\"#111111\" stroke-width=\"1.6\""})
    CHECK_THAT(document, Catch::Contains(element));
  CHECK_THAT(document, Catch::EndsWith("</svg>\n"));
}

TEST_CASE("an axis maps values to pixels and shows the ticks within them", "[profile]") {
  const SvgAxis axis{1, 9, 100, 20, nice_ticks(1, 9, 6)};
  CHECK(axis.at(1) == 100);
  CHECK(axis.at(5) == 60);
  CHECK(axis.at(9) == 20);
  Svg svg{};
  svg.y_axis(axis, 50, 200, "bytes");
  const std::string document = svg.document(300, 200);
  CHECK_THAT(document, Catch::Contains(">2</text>") && Catch::Contains(">8</text>"));
  CHECK_THAT(document, !Catch::Contains(">0</text>") && !Catch::Contains(">10</text>"));
  CHECK_THAT(document, Catch::Contains("transform=\"rotate(-90 22.00 60.00)\">bytes</text>"));
  CHECK(SvgAxis{3, 3, 100, 20}.at(7) == 100); // nothing to divide by
}
