// SPDX-License-Identifier: Apache-2.0

#include <twill/expr.hpp>
#include <twill/profile/trace.hpp>
#include <twill/profile/trace_report.hpp>

#include "tests/support/test_seed.hpp"

#include <catch2/catch.hpp>

#if __has_include(<nlohmann/json.hpp>)
#include "tests/support/trace_document.hpp"
#endif

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace twill;

namespace {

constexpr std::int64_t rows = 13;

/// A matrix of random elements between -1 and 1.
template <std::int64_t Columns> Tensor<float, Cpu, Shape<dyn, Columns>> random_rows(std::int64_t count, int salt = 0) {
  std::mt19937_64 random{twill::test::test_seed() + static_cast<std::uint64_t>(salt)};
  std::uniform_real_distribution<float> between{-1.0F, 1.0F};
  std::vector<float> values(static_cast<std::size_t>(count * Columns));
  for (float& value : values) value = between(random);
  return from_values<Shape<dyn, Columns>>(values, Dims(count, Columns), Cpu{0});
}

} // namespace

TEST_CASE("a trace tells what eager statements are and when they ran", "[profile]") {
  const auto a = random_rows<17>(rows);
  const auto b = random_rows<17>(rows, 1);
  const auto w = random_rows<11>(17, 2);
  const auto statements = [&] {
    const auto fused = eval(a * b + tanh(a));
    const auto sums = eval(sum<1>(a));
    const auto column_sums = eval(sum<0>(a));
    const auto shares = eval(softmax(a));
    const auto product = eval(matmul(a, w));
    const auto scaled = eval(matmul(a, w) * 2.0);
    const auto copied = a.clone();
    return std::vector{to_vector(fused),   to_vector(sums),   to_vector(column_sums), to_vector(shares),
                       to_vector(product), to_vector(scaled), to_vector(copied)};
  };
  const auto untraced = statements();
  std::vector<std::vector<float>> traced{};
  const profile::Trace trace = profile::trace([&] { traced = statements(); });
  CHECK(traced == untraced); // bit for bit
  CHECK(trace.lost == 0);
  double before = trace.start_s;
  for (const RecordedRun& run : trace.runs) { // each once, one after the other
    CHECK(run.is_statement);
    CHECK(run.devices == std::vector<std::string>{"cpu:0"});
    REQUIRE(run.times.size() == 1);
    CHECK(before <= run.times[0].start_s);
    CHECK(run.times[0].start_s <= run.times[0].end_s);
    before = run.times[0].end_s;
  }
  CHECK(before <= trace.end_s);
  std::vector<NodeInfo> nodes{};
  for (const RecordedRun& run : trace.runs)
    if (run.nodes->front().operation != "copy") nodes.push_back(run.nodes->front());
  REQUIRE(nodes.size() == 6);
  const auto check = [](const NodeInfo& node, const char* kind, std::int64_t read, std::int64_t written,
                        std::int64_t flops) {
    INFO(node.operation);
    CHECK(node.kind == kind);
    CHECK(node.dtype == DType::float32);
    CHECK(node.bytes_read == 4 * read);
    CHECK(node.bytes_written == 4 * written);
    CHECK(node.flops == flops);
  };
  CHECK(nodes[0].operation.find("tanh") != std::string::npos);
  check(nodes[0], "elementwise", 2 * rows * 17, rows * 17, 3 * rows * 17); // a is read once
  CHECK(nodes[1].operation == "sum");
  check(nodes[1], "rows", rows * 17, rows, rows * 17);
  CHECK(nodes[2].operation == "sum");
  check(nodes[2], "columns", rows * 17, 17, rows * 17);
  check(nodes[3], "rows", rows * 17, rows * 17, 5 * rows * 17); // maximum, minus, exp, sum, divide
  CHECK(nodes[4].operation == "matmul");
  check(nodes[4], "operation", rows * 17 + 17 * 11, rows * 11, 2 * rows * 17 * 11);
  CHECK(nodes[5].operation == "matmul+multiply");
  check(nodes[5], "operation", rows * 17 + 17 * 11, rows * 11, 2 * rows * 17 * 11 + rows * 11);
#if __has_include(<nlohmann/json.hpp>)
  const test::TraceDocument document{profile::chrome_trace(trace)};
  CHECK(document.complaint() == "");
  CHECK(document.complete("runs").size() == trace.runs.size()); // and no event around a statement
#endif
}

TEST_CASE("statements of all threads stand in one trace, and what cannot be recorded has run", "[profile]") {
  const auto a = random_rows<17>(rows);
  const auto twice = [&] { return to_vector(eval(tanh(a) * 2.0F)); };
  const auto expected = twice();
  constexpr int statements = 20;
  std::atomic<int> right{0};
  const auto work = [&] {
    for (int i = 0; i < statements; ++i) right += twice() == expected ? 1 : 0;
  };
  int ran = 0;
  const gpu::TimerCalls no_timers{.is_capturing = [](int, gpu::AnyStream) -> bool { throw std::bad_alloc{}; }};
  const kernel::Grid grid(1);
  const profile::Trace trace = profile::trace([&] {
    auto task = submit(Cpu{0}, work); // on the device's own thread
    std::thread other{work};
    work();
    other.join();
    task.wait();
    kernel::WatchedLaunch without_timers{.timers = &no_timers};
    without_timers.work = &ran;
    without_timers.run = [](const kernel::WatchedLaunch& launch) {
      ++*static_cast<int*>(const_cast<void*>(launch.work));
    };
    kernel::hand_over(without_timers);
    CHECK_THROWS_WITH(
        kernel::launch_watched(Cpu{0}, {.grid = &grid}, [](const Team&) { throw std::runtime_error("broken"); }),
        "broken");
  });
  CHECK(right == 3 * statements);
  CHECK(ran == 1);
  CHECK(trace.lost == 1);
  CHECK(std::count_if(trace.runs.begin(), trace.runs.end(), [](const RecordedRun& run) {
          return run.nodes->front().operation == "tanh+multiply";
        }) == 3 * statements);
  for (const RecordedRun& run : trace.runs) CHECK(run.nodes->front().operation != ""); // what threw is not there
#if __has_include(<nlohmann/json.hpp>)
  CHECK(test::TraceDocument{profile::chrome_trace(trace)}.complaint() == "");
#endif
}
