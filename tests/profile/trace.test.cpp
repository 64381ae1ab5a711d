// SPDX-License-Identifier: Apache-2.0

#include <twill/compile/report/report.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/profile/measured_peaks.hpp>
#include <twill/profile/trace_report.hpp>
#include <twill/training/train_step.hpp>

#include "tests/support/late_device.hpp"
#include "tests/training/models.hpp"

#include <catch2/catch.hpp>

#if __has_include(<nlohmann/json.hpp>)
#include "tests/support/trace_document.hpp"
#endif

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace twill;
using twill::test::Classifier;
using twill::test::random_labels;
using twill::test::random_rows;

namespace {

constexpr std::int64_t rows = 13;

/// A layer in each slot.
struct TwoSlots {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(nn::to(tanh(nn::linear(x, 7, "here")), nn::Slot{1}), 3, "there");
  }
};

/// The nodes of an operation in a layer.
std::vector<NodeInfo> nodes_of(const RecordedRun& run, const std::string& operation, const std::string& layer,
                               bool is_gradient) {
  std::vector<NodeInfo> found{};
  for (const NodeTime& time : run.times)
    if (const NodeInfo& node = (*run.nodes)[time.node];
        node.operation == operation && node.layer == layer && node.is_gradient == is_gradient)
      found.push_back(node);
  return found;
}

/// Two runs that are made up: a product of a layer, twice in the first run, and its gradient.
profile::Trace made_up() {
  NodeInfo product{};
  product.operation = "matmul";
  product.layer = "hidden \"one\"";
  product.kind = "operation";
  product.bytes_read = 1000;
  product.bytes_written = 500;
  product.flops = 64000;
  NodeInfo gradient = product;
  gradient.is_gradient = true;
  gradient.flops = 0;
  const auto nodes = std::make_shared<const std::vector<NodeInfo>>(std::vector<NodeInfo>{product, gradient});
  profile::Trace trace{};
  trace.start_s = 10;
  trace.runs.push_back({nodes, {"cpu:0"}, true, {{0, 10.001, 10.003}, {0, 10.003, 10.005}, {1, 10.005, 10.007}}});
  trace.runs.push_back({nodes, {"cpu:0"}, false, {{0, 10.004, 10.007}}}); // at the same time, from another thread
  trace.peaks.push_back({"cpu:0", 1e6, 40e6, 20e6});
  return trace;
}

} // namespace

TEMPLATE_TEST_CASE("a trace tells every launch of every run: operation, layer, bytes, arithmetic, time", "[profile]",
                   Cpu, twill::test::Late) {
  const TestType device{0};
  nn::Network<Classifier, TestType> model{device};
  nn::Network<Classifier, TestType> other{device};
  set_weights(other, weights_of(model));
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  auto plain = train_step(other, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const auto x = random_rows<float, 5>(device, rows);
  const auto labels = random_labels(device, rows, 3);
  static_cast<void>(step(x, labels)); // before the trace
  const profile::Trace trace = profile::trace([&] {
    static_cast<void>(step(x, labels));
    static_cast<void>(step(x, labels));
    static_cast<void>(model.infer(x));
    CHECK_THROWS_WITH(profile::trace([] {}), "trace: another trace is being taken in this process; end it first");
  });
  static_cast<void>(step(x, labels)); // after it
  for (int i = 0; i < 4; ++i) static_cast<void>(plain(x, labels));
  CHECK(weights_of(model) == weights_of(other)); // bit for bit: a trace changes nothing

  REQUIRE(trace.runs.size() == 3);
  CHECK(trace.runs[0].is_update);
  CHECK(trace.runs[1].nodes == trace.runs[0].nodes);
  CHECK_FALSE(trace.runs[2].is_update);
  for (const RecordedRun& run : trace.runs) {
    CHECK(run.devices == std::vector<std::string>{to_string(device)});
    double before = trace.start_s;
    for (const NodeTime& time : run.times) {
      CHECK(before <= time.start_s);
      CHECK(time.start_s <= time.end_s);
      CHECK(time.node < run.nodes->size());
      before = time.end_s;
    }
    CHECK(before <= trace.end_s);
  }
  const auto launches = static_cast<std::size_t>(
      compile::plan<typename decltype(step)::template source<std::remove_cvref_t<decltype(x)>,
                                                             std::remove_cvref_t<decltype(labels)>>>()
          .launches);
  CHECK(trace.runs[0].times.size() == launches);

  const auto products = nodes_of(trace.runs[0], "matmul", "first", false);
  REQUIRE(products.size() == 1);
  CHECK(products[0].flops == 2 * rows * 5 * 7);
  CHECK(products[0].bytes_read == static_cast<std::int64_t>(sizeof(float)) * (rows * 5 + 5 * 7));
  CHECK(products[0].bytes_written == static_cast<std::int64_t>(sizeof(float)) * rows * 7);
  CHECK(products[0].kind == "operation");
  CHECK(nodes_of(trace.runs[0], "matmul", "second", true).size() == 2); // of its input, and of its weights
  CHECK(nodes_of(trace.runs[2], "matmul", "second", true).empty());

  const std::string table = to_string(profile::node_table(trace, {.rows = 3}));
  CHECK(std::count(table.begin(), table.end(), '\n') == 2 + 3 + 2);
  CHECK(profile::node_totals(trace, profile::GroupBy::operation).size() < profile::node_totals(trace).size());
}

TEST_CASE("arithmetic of programs is counted where it happens", "[profile]") {
  struct Softmax {
    static constexpr auto forward(Input<Dim<"batch">, 17> x) { return softmax(x * 2.0 + 1.0); }
  };
  const nn::Network<Softmax, Cpu> model{Cpu{0}};
  const auto x = random_rows<float, 17>(Cpu{0}, rows);
  // region: trace
  const profile::Trace trace = profile::trace([&] { static_cast<void>(model.infer(x)); });
  // end region
  REQUIRE(trace.runs.size() == 1);
  REQUIRE(trace.runs[0].times.size() == 1);
  const NodeInfo& node = trace.runs[0].nodes->front();
  CHECK(node.kind == "rows");
  CHECK(node.dtype == DType::float32);
  CHECK(node.bytes_read == rows * 17 * 4);
  CHECK(node.bytes_written == rows * 17 * 4);
  INFO(node.operation);
  // multiply-add (2), maximum, minus, exp, sum, divide: seven for each element
  CHECK(node.flops == 7 * rows * 17);
}

TEST_CASE("a table has the most expensive nodes first, with rates and the limit that binds", "[profile]") {
  const profile::Trace trace = made_up();
  CHECK(
      to_string(profile::node_table(trace)) ==
      "operation  layer                     device  launches     time  of all     mean  GB/s  GFLOP/s  of limit  limit\n"
      "--------------------------------------------------------------------------------------------------------------------\n"
      "matmul     hidden \"one\"              cpu:0          3  7.00 ms   77.8%  2.33 ms   0.0      0.0     68.6%  arithmetic\n"
      "matmul     gradient of hidden \"one\"  cpu:0          1  2.00 ms   22.2%  2.00 ms   0.0        -     75.0%  bandwidth\n"
      "--------------------------------------------------------------------------------------------------------------------\n"
      "all                                                 4  9.00 ms  100.0%  2.25 ms   0.0      0.0         -\n");
  CHECK(profile::limit_share(1, 1, DType::float64, 0, trace.peaks[0]).share < 0);
  CHECK(profile::limit_share(1, 20e6, DType::float64, 1, trace.peaks[0]).share == Approx(1));
  CHECK(profile::peaks_of(trace, "cpu:1").flops_per_second == 40e6);
  CHECK(profile::peaks_of(trace, "gpu:0").flops_per_second == 0);
}

TEMPLATE_TEST_CASE("a trace shows each slot of a program, the copies between slots, and checked steps", "[profile]",
                   Cpu, twill::test::Late) {
  const std::vector<TestType> devices{TestType{0}, TestType{1}};
  manual_seed(devices[0], 5);
  nn::Network<TwoSlots, TestType> model{devices};
  manual_seed(devices[0], 5);
  nn::Network<TwoSlots, TestType> other{devices};
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.1}});
  auto plain = train_step(other, nn::mse, optim::Sgd{{.rate = 0.1}});
  const auto x = random_rows<float, 5>(devices[0], rows);
  const auto y = random_rows<float, 3>(devices[1], rows, 1);
  std::vector<float> losses{};
  const profile::Trace trace = profile::trace([&] {
    for (int i = 0; i < 2; ++i) losses.push_back(step(x, y).item());
    losses.push_back(step.checked(x, y).item());
  });
  for (const float loss : losses) CHECK(loss == plain(x, y).item()); // a trace changes nothing

  REQUIRE(trace.runs.size() == 3);
  CHECK(trace.runs[2].is_checked);
  CHECK_FALSE(trace.runs[0].is_checked);
  for (const RecordedRun& run : trace.runs) {
    CHECK(run.is_update);
    CHECK(run.devices == std::vector<std::string>{to_string(devices[0]), to_string(devices[1])});
    std::vector<int> runs_of_node(run.nodes->size());
    for (const NodeTime& time : run.times) {
      CHECK(trace.start_s <= time.start_s);
      CHECK(time.start_s <= time.end_s);
      CHECK(time.end_s <= trace.end_s);
      ++runs_of_node[time.node];
    }
    std::vector<int> slots(2), moves(2);
    for (std::size_t i = 0; i < runs_of_node.size(); ++i) {
      const NodeInfo& node = (*run.nodes)[i];
      if (run.is_checked) CHECK(runs_of_node[i] == 1); // each instruction by itself
      CHECK(runs_of_node[i] <= 1);
      (node.kind == "move" ? moves : slots)[static_cast<std::size_t>(node.slot)] += runs_of_node[i];
      if (node.kind == "move" && !node.is_gradient && node.slot == 1) CHECK(node.bytes_written == rows * 7 * 4);
    }
    CHECK(slots[0] > 2);
    CHECK(slots[1] > 2);
    CHECK(moves == std::vector<int>{2, 1}); // forward into slot 1, its gradient and the loss into slot 0
    CHECK(nodes_of(run, "matmul", "there", false).size() == 1);
    CHECK(nodes_of(run, "matmul", "there", false).front().slot == 1);
  }
#if __has_include(<nlohmann/json.hpp>)
  const test::TraceDocument document{profile::chrome_trace(trace)};
  CHECK(document.complaint() == "");
  CHECK(document.complete("copies").size() == 3 * 3);
  std::vector<std::string> found{};
  for (const auto& event : document.complete("runs"))
    if (event.at("cat") == "run") found.push_back(event.at("name"));
  CHECK(std::count(found.begin(), found.end(), "step") == 2 * 2);
  CHECK(std::count(found.begin(), found.end(), "checked step") == 2);
#endif
}

#if __has_include(<nlohmann/json.hpp>)
TEST_CASE("a trace of nodes is a document that viewers open", "[profile]") {
  CHECK(test::TraceDocument{profile::chrome_trace(made_up())}.complaint() == "");
  CHECK(test::TraceDocument{profile::chrome_trace(profile::Trace{})}.complaint() == "");
  profile::TraceEvents written{}; // of every kind, in one
  written.name_process(3, "all kinds");
  written.complete("outer", "a", 3, 1, 0.0004, 2, "\"bytes\": 12");
  written.complete("inner", "a", 3, 1, 0.5, 2.0004, "");
  written.arrow("message", false, 7, 3, 1, 1);
  written.complete("next", "b", 3, 1, 2, 3, "");
  written.arrow("message", true, 7, 3, 1, 2.5);
  written.mark("moment", "c", 3, 1, 4, "\"bytes\": 1");
  written.count("counter", 3, 4, "bytes", -5);
  const test::TraceDocument all_kinds{written.text()};
  CHECK(all_kinds.complaint() == "");
  for (const char* kind : {"M", "X", "s", "f", "i", "C"}) CHECK(all_kinds.count(kind) > 0);
  written.complete("before", "b", 3, 1, 2.9, 5, "");
  CHECK(test::TraceDocument{written.text()}.complaint().find("slices overlap") != std::string::npos);
  written = {};
  written.complete("backwards", "b", 3, 1, 2, 1, "");
  CHECK(test::TraceDocument{written.text()}.complaint().find("a time is not negative") != std::string::npos);
  const auto named = [](const std::string& layer) {
    profile::Trace trace = made_up();
    std::vector<NodeInfo> nodes = *trace.runs[0].nodes;
    nodes[0].layer = nodes[0].operation = layer;
    trace.runs[0].nodes = std::make_shared<const std::vector<NodeInfo>>(nodes);
    const test::TraceDocument found{profile::chrome_trace(trace)};
    CHECK(found.complaint() == "");
    return found.complete("runs")[1].at("name").get<std::string>();
  };
  CHECK(named("Schicht\n\"\t\\ \xc3\xbc \xe2\x82\xac \xf0\x9f\xa7\xb5") ==
        "Schicht\n\"\t\\ \xc3\xbc \xe2\x82\xac \xf0\x9f\xa7\xb5");
  CHECK(named("cut \xe2\x82") == "cut \xef\xbf\xbd\xef\xbf\xbd"); // what is no UTF-8 becomes U+FFFD
  CHECK(named("\xff\xc0\x80x") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx");
  const auto document = nlohmann::json::parse(profile::chrome_trace(made_up()));
  const auto& events = document.at("traceEvents");
  std::vector<nlohmann::json> complete{};
  for (const auto& event : events) {
    CHECK(event.at("pid") == 0);
    if (event.at("ph") == "X") complete.push_back(event);
  }
  REQUIRE(complete.size() == 2 + 4);
  CHECK(events[0].at("name") == "process_name");
  CHECK(events[0].at("args").at("name") == "cpu:0");
  CHECK(complete[0].at("name") == "step");
  CHECK(complete[0].at("ts").get<double>() == Approx(1000.0));
  CHECK(complete[0].at("dur").get<double>() == Approx(6000.0));
  CHECK(complete[1].at("name") == "matmul");
  CHECK(complete[1].at("cat") == "operation");
  CHECK(complete[1].at("dur").get<double>() == Approx(2000.0));
  CHECK(complete[1].at("args").at("layer") == "hidden \"one\"");
  CHECK(complete[1].at("args").at("gradient") == false);
  CHECK(complete[1].at("args").at("bytes_read") == 1000);
  CHECK(complete[1].at("args").at("flops") == 64000);
  CHECK(complete[1].at("args").at("share").get<double>() == Approx(0.8)); // 1.6 ms of 2 ms
  CHECK(complete[1].at("args").at("limit") == "arithmetic");
  CHECK(complete[4].at("name") == "run");
  CHECK(complete[4].at("tid") == 1001); // beside the first
  CHECK_THROWS_WITH(profile::save_chrome_trace("/nowhere/at/all.json", made_up()),
                    "trace: cannot write /nowhere/at/all.json");
}
#endif

TEST_CASE("the limits of a device can be measured", "[profile]") {
  const profile::Peaks peaks =
      profile::measured_peaks(Cpu{0}, {.array_bytes = 1 << 20, .product_rows = 64, .seconds = 0.001});
  CHECK(peaks.device == "cpu:0");
  CHECK(peaks.bytes_per_second > 0);
  CHECK(peaks.flops_per_second > 0);
  CHECK(peaks.double_flops_per_second > 0);
}
