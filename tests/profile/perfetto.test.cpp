// SPDX-License-Identifier: Apache-2.0
//
// Traces of each kind in Perfetto itself: perfetto.py loads them into the trace processor of its viewer and compares what
// that finds with what the files say.

#include <twill/expr.hpp>
#include <twill/memory/recording.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/pipeline/schedule/simulate.hpp>
#include <twill/profile/memory_trace.hpp>
#include <twill/profile/schedule_trace.hpp>
#include <twill/profile/trace_report.hpp>
#include <twill/training/train_step.hpp>

#include "tests/support/python.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/tests_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <vector>

using namespace twill;

namespace {

/// A layer in each slot.
struct TwoSlots {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(nn::to(tanh(nn::linear(x, 7, "here \"now\"")), nn::Slot{1}), 3, "there");
  }
};

/// Two steps, a checked one and a statement on two devices: launches, copies between slots, and what the first device's
/// memory did.
void save_steps(const test::TemporaryFolder& folder) {
  const std::vector<Cpu> devices{Cpu{0}, Cpu{1}};
  const memory::Recording recording{devices[0]};
  const memory::Recording second{devices[1]};
  const memory::Place place{"training <\"&\">"};
  nn::Network<TwoSlots> model{devices};
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.1}});
  const auto x = full<float, Shape<dyn, 5>>(Dims(13, 5), 0.25F, devices[0]);
  const auto y = full<float, Shape<dyn, 3>>(Dims(13, 3), 0.5F, devices[1]);
  const profile::Trace trace = profile::trace([&] {
    for (int i = 0; i < 2; ++i) static_cast<void>(step(x, y));
    static_cast<void>(step.checked(x, y));
    static_cast<void>(eval(x * x + tanh(x)));
  });
  profile::save_chrome_trace(folder / "steps.json", trace);
  profile::save_memory_trace(folder / "memory.json", {recording.timeline(), second.timeline()});
}

/// A schedule whose messages take half an action, and the same without.
void save_schedule(const test::TemporaryFolder& folder) {
  using namespace twill::pipeline;
  const Schedule schedule = table<OneForwardOneBackward>(2, 5);
  const UniformTransfer transfer{0.5};
  Timeline timeline = simulate(schedule, UniformCost{}, transfer);
  add_messages(timeline, schedule, transfer, [](const Action& action) { return 100 + action.micro_batch; });
  profile::save_chrome_trace(folder / "schedule.json",
                             {{"executed \"now\"", timeline}, {"simulated", simulate(schedule, UniformCost{})}}, 1e6);
}

void save_all_kinds(const test::TemporaryFolder& folder) {
  profile::TraceEvents events{};
  events.name_process(3, "all \xc3\xbc\xe2\x82\xac\xf0\x9f\xa7\xb5 kinds");
  events.name_thread(3, 1, "a \\ \"thread\"");
  events.complete("outer \\ \"one\"", "a", 3, 1, 0.0004, 2, "\"bytes\": 12, \"large\": 9007199254740993");
  events.complete("inner \xff\xc0\x80x", "a", 3, 1, 0.5, 2.0004, "");
  events.arrow("message", false, 7, 3, 1, 1);
  events.complete("next", "b", 3, 1, 2, 3, "\"nested\": {\"list\": [1, 2.5, \"three\", true, null]}");
  events.arrow("message", true, 7, 3, 1, 2.5);
  events.mark("moment", "c", 3, 1, 4, "\"bytes\": 1");
  for (int i = 0; i < 4; ++i) events.count("counter", 3, 0.25 * i, "bytes", 1000 * i - 5);
  test::overwrite(folder / "kinds.json", events.text());
}

} // namespace

TEST_CASE("Perfetto reads each kind of trace without a complaint, and finds in it what was written",
          "[profile][MEM-7]") {
  const auto python = test::python_with("json");
  if (!python) return test::skip("no Python");
  const test::TemporaryFolder folder{};
  save_steps(folder);
  save_schedule(folder);
  save_all_kinds(folder);
  const std::string script = "'" + test::tests_folder() + "profile/perfetto.py'";
  const std::string traces = "steps.json memory.json schedule.json kinds.json";
  const int status = std::system(
      ("cd '" + folder.path + "' && " + *python + " " + script + " " + traces + " >output.txt 2>&1").c_str());
  INFO(test::contents(folder / "output.txt"));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 4) return test::skip(test::contents(folder / "output.txt").substr(9));
  CHECK(status == 0);
  for (const char* found :
       {"steps.json: 2 processes, 4 threads", "memory.json: 2 processes", "schedule.json: 2 processes",
        "kinds.json: 1 processes, 1 threads, 4 slices, 4 values, 1 arrows"})
    CHECK_THAT(test::contents(folder / "output.txt"), Catch::Contains(found));
}
