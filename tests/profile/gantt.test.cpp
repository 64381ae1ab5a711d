// SPDX-License-Identifier: Apache-2.0
#include "tests/support/temporary_folder.hpp"

#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/pipeline/schedule/simulate.hpp>
#include <twill/profile/gantt.hpp>
#include <twill/profile/schedule_trace.hpp>

#include <catch2/catch.hpp>
#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif

#include <cstdio>
#include <map>
#include <string>
#include <utility>

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
              "{\"name\": \"1F0\", \"ph\": \"X\", \"pid\": 0, \"tid\": 1001, \"cat\": \"forward\", \"ts\": 1000.000, "
              "\"dur\": 1000.000, \"args\": {\"stage\": 1, \"micro_batch\": 0}}") == 1);
  CHECK(count(trace, "{") == count(trace, "}"));
}

/// Two ranks; each message takes half a unit.
Timeline with_messages() {
  const Schedule schedule = table<OneForwardOneBackward>(2, 3);
  const UniformTransfer transfer{0.5};
  Timeline timeline = simulate(schedule, UniformCost{}, transfer);
  add_messages(timeline, schedule, transfer, [](const Action& action) { return 100 + action.micro_batch; });
  return timeline;
}

TEST_CASE("two timelines share an axis, and messages are under the rows of their senders", "[profile][PAR-6]") {
  const Timeline plain = simulate(table<OneForwardOneBackward>(2, 3), UniformCost{});
  const std::string svg = profile::svg_gantt({{"executed", with_messages()}, {"simulated", plain}}, {.width_px = 1000});
  CHECK(count(svg, "<title>") == 2 * 2 * 3 * 2 + 2 * 3); // boxes of both, and messages of one
  CHECK(count(svg, ">executed<") == 1);
  CHECK(count(svg, ">rank 1<") == 2);
  CHECK(count(svg, "<title>0SEND_F2 to rank 1, 102 bytes</title>") == 1);
  CHECK(count(svg, "output sent") == 1);
  // The longer timeline ends where the axis does.
  const double makespan = with_messages().makespan();
  CHECK(makespan == plain.makespan() + 2); // four messages are waited for
  const double width = (1000 - 20 - 64) * 2 / makespan;
  char box[64];
  std::snprintf(box, sizeof box, "<rect x=\"%.2f\"", 980 - width);
  CHECK(count(svg, box) == 1);
}

#if __has_include(<nlohmann/json.hpp>)
TEST_CASE("a trace of two timelines is one document whose slices nest and whose arrows have two ends",
          "[profile][PAR-6]") {
  const auto trace = nlohmann::json::parse(
      profile::chrome_trace({{"executed \"now\"", with_messages()}, {"simulated", with_messages()}}, 1e6));
  std::map<std::pair<int, int>, double> ends; // of the last slice of each thread
  std::map<int, int> starts_of_arrows, ends_of_arrows;
  std::map<std::pair<int, int>, std::string> threads;
  int slices = 0;
  for (const auto& event : trace.at("traceEvents")) {
    const std::pair<int, int> thread{event.at("pid").get<int>(), event.at("tid").get<int>()};
    const std::string phase = event.at("ph");
    if (phase == "M" && event.at("name") == "thread_name") threads[thread] = event.at("args").at("name");
    if (phase == "X") {
      ++slices;
      CHECK(event.at("ts").get<double>() >= ends[thread] - 1e-3);
      ends[thread] = event.at("ts").get<double>() + event.at("dur").get<double>();
    }
    if (phase == "s" || phase == "f") {
      CHECK(event.at("ts").get<double>() <= ends.at(thread)); // inside the slice before it
      ++(phase == "s" ? starts_of_arrows : ends_of_arrows)[event.at("id").get<int>()];
    }
  }
  CHECK(slices == 2 * (2 * 3 * 2 + 2 * 2 * 3));
  CHECK(starts_of_arrows.size() == 2 * 2 * 3);
  CHECK(starts_of_arrows == ends_of_arrows);
  CHECK(threads.at({0, 1001}) == "rank 1");
  CHECK(threads.at({1, 2002}).find(", messages") != std::string::npos);
  CHECK(trace.at("traceEvents")[0].at("args").at("name") == "executed \"now\"");
}
#endif

TEST_CASE("pictures are written to files, and a path that cannot be written is named", "[profile][PAR-6]") {
  const Timeline timeline = simulate(table<GPipe>(2, 3), UniformCost{});
  const twill::test::TemporaryFolder place{};
  profile::save_gantt(place / "gantt.svg", timeline);
  CHECK(twill::test::contents(place / "gantt.svg") == profile::svg_gantt(timeline));
  CHECK_THROWS_WITH(profile::save_gantt("/nowhere/at/all.svg", timeline), "gantt: cannot write /nowhere/at/all.svg");
  CHECK_THROWS_WITH(profile::save_chrome_trace("/nowhere/at/all.json", timeline),
                    "trace: cannot write /nowhere/at/all.json");
}

} // namespace
