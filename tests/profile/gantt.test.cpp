// SPDX-License-Identifier: Apache-2.0
#include <twill/parallel/pipeline/schedules.hpp>
#include <twill/profile/gantt.hpp>

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace twill;
using namespace twill::pipeline;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

TEST_CASE("a Gantt chart has a row for each rank and a box for each action", "[profile][PAR-6]") {
  const Timeline timeline = simulate(table<ZeroBubbleH1>(3, 5), UniformCost{});
  const std::string svg = profile::svg_gantt(timeline, {.title = "ZB-H1 <3 x 5>"});
  CHECK(count(svg, "<title>") == 3 * 5 * 3);
  CHECK(count(svg, ">rank ") == 3);
  CHECK(count(svg, "<title>0F4</title>") == 1);
  CHECK(count(svg, "gradient of the weights") == 1); // the legend
  CHECK(count(svg, ">backward<") == 0);
  CHECK(count(svg, "ZB-H1 &lt;3 x 5&gt;") == 1);
  CHECK(count(svg, "<rect") == count(svg, "</rect>") + count(svg, "/>\n") - count(svg, "<line"));
  CHECK(svg.ends_with("</svg>\n"));
  // The last box ends where the axis does.
  CHECK(count(profile::svg_gantt(Timeline{}), "<title>") == 0);
}

TEST_CASE("a trace names ranks as threads and actions as complete events", "[profile][PAR-6]") {
  const Timeline timeline = simulate(table<OneForwardOneBackward>(2, 2), UniformCost{});
  const std::string trace = profile::chrome_trace(timeline, 1000);
  CHECK(count(trace, "\"ph\": \"M\"") == 2);
  CHECK(count(trace, "\"ph\": \"X\"") == 8);
  CHECK(count(trace,
              "{\"name\": \"1F0\", \"cat\": \"forward\", \"ph\": \"X\", \"pid\": 0, \"tid\": 1, \"ts\": 1000.000, "
              "\"dur\": 1000.000, \"args\": {\"stage\": 1, \"micro_batch\": 0}}") == 1);
  CHECK(count(trace, "{") == count(trace, "}"));
}

TEST_CASE("pictures are written to files, and a path that cannot be written is named", "[profile][PAR-6]") {
  const Timeline timeline = simulate(table<GPipe>(2, 3), UniformCost{});
  const auto path = std::filesystem::temp_directory_path() / ("twill_gantt_" + std::to_string(std::rand()) + ".svg");
  profile::save_gantt(path.string(), timeline);
  std::ifstream file{path};
  CHECK(std::string(std::istreambuf_iterator<char>{file}, {}) == profile::svg_gantt(timeline));
  std::filesystem::remove(path);
  CHECK_THROWS_WITH(profile::save_gantt("/nowhere/at/all.svg", timeline), "gantt: cannot write /nowhere/at/all.svg");
  CHECK_THROWS_WITH(profile::save_chrome_trace("/nowhere/at/all.json", timeline),
                    "trace: cannot write /nowhere/at/all.json");
}

} // namespace
