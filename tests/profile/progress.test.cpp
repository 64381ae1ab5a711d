// SPDX-License-Identifier: Apache-2.0

#include <twill/profile/progress.hpp>

#include <catch2/catch.hpp>

#include <sstream>

using namespace twill::profile;

namespace {

struct LazyLoss {
  double value;
  int* reads;
  double item() const {
    ++*reads;
    return value;
  }
};

} // namespace

TEST_CASE("away from a terminal progress is plain lines now and then", "[profile][TRAIN-9]") {
  std::ostringstream stream;
  double time = 100;
  Progress progress(
      1000, {.title = "epoch 1", .output = &stream, .line_interval_seconds = 10, .clock = [&] { return time; }});
  int reads = 0;
  for (int step = 0; step < 10; ++step) {
    time += 3;
    progress.update(100, LazyLoss{0.5 - 0.01 * step, &reads});
  }
  CHECK(stream.str() == "epoch 1   40%  loss 0.4700  33 samples/s  0:12 passed, 0:18 left\n"
                        "epoch 1   80%  loss 0.4300  33 samples/s  0:24 passed, 0:06 left\n"
                        "epoch 1  100%  loss 0.4100  33 samples/s  0:30\n");
  CHECK(reads == 3); // a loss that is not shown is not waited for
  CHECK(progress.done() == 1000);
  CHECK(progress.elapsed_seconds() == 30);
  CHECK(progress.units_per_second() == Approx(1000.0 / 30));
}

TEST_CASE("on a terminal progress is one line drawn over and over", "[profile][TRAIN-9]") {
  std::ostringstream stream;
  double time = 0;
  {
    Progress progress(4,
                      {.unit = "batches", .style = ProgressStyle::bar, .output = &stream, .bar_width = 4, .clock = [&] {
                         return time;
                       }});
    for (int step = 0; step < 4; ++step) {
      time += 0.05; // two steps to a redrawing
      progress.update(1);
    }
  }
  CHECK(stream.str() == "\r━━╸─  50%  20 batches/s  0:00 passed, 0:00 left\x1b[K"
                        "\r━━━━ 100%  20 batches/s  0:00\x1b[K\n");
}

TEST_CASE("an unfinished bar leaves the cursor on a fresh line", "[profile][TRAIN-9]") {
  std::ostringstream stream;
  double time = 0;
  {
    Progress progress(10, {.style = ProgressStyle::bar, .output = &stream, .clock = [&] { return time; }});
    time = 1;
    progress.update(1, 2.5);
  }
  CHECK(stream.str().back() == '\n');
}

TEST_CASE("finishing early shows the state once, and silence stays silent", "[profile][TRAIN-9]") {
  std::ostringstream stream;
  double time = 0;
  Progress progress(100, {.output = &stream, .clock = [&] { return time; }});
  time = 7;
  progress.update(30, 1.25F);
  progress.finish();
  progress.finish();
  CHECK(stream.str() == " 30%  4.3 samples/s  0:07\n");
  std::ostringstream nothing;
  Progress silent(1, {.style = ProgressStyle::silent, .output = &nothing});
  silent.update(1, 0.5);
  CHECK(nothing.str().empty());
}

TEST_CASE("times and rates are readable at every size", "[profile]") {
  CHECK(detail::clock_text(0) == "0:00");
  CHECK(detail::clock_text(59.6) == "1:00");
  CHECK(detail::clock_text(3723) == "1:02:03");
  CHECK(detail::clock_text(1e300) == "-:--");
  CHECK(detail::clock_text(std::nan("")) == "-:--");
  CHECK(detail::rate_text(3.14159) == "3.1");
  CHECK(detail::rate_text(999.6) == "1,000");
  CHECK(detail::rate_text(1234567) == "1,234,567");
  CHECK(detail::rate_text(1.0 / 0.0) == "-");
}
