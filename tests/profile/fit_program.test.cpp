// SPDX-License-Identifier: Apache-2.0
//
// The program of `twill_add_fit`: its table, JSON and drawing are those of the reports and of `pipeline::memory`,
// searches keep to the budget, and command lines that say nothing sensible are refused with what would.

#include "tests/training/models.hpp"

#include <twill/nn/losses.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/fit/search.hpp>
#include <twill/parallel/pipeline/model/balance.hpp>
#include <twill/parallel/pipeline/run/memory.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/profile/fit_program.hpp>
#include <twill/profile/fit_table.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using Catch::Matchers::Contains;

namespace {

using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
using Step = training::StepOf<DropoutClassifier, nn::cross_entropy, optim::Adam, Labels>;

[[nodiscard]] std::string printed(const std::vector<std::string>& arguments) {
  const profile::FitPrecision precisions[] = {{DType::float32, parallel::fit::traces_of<Step>}};
  return profile::fit_program(std::span<const profile::FitPrecision>{precisions},
                              std::span<const std::string>{arguments});
}
[[nodiscard]] parallel::fit::Estimator estimator(parallel::fit::Machine machine = {}) {
  return {parallel::fit::traces_of<Step>, {{"batch", 640}}, machine};
}
[[nodiscard]] std::int64_t kept(const parallel::fit::Report& report) { return report.peak_bytes(); }

} // namespace

TEST_CASE("a search lists what fits, the shortest step first", "[profile]") {
  auto all = estimator();
  const auto found = parallel::fit::search(all, {.devices = 4, .most = 1000});
  REQUIRE(found.size() > 20);
  std::set<std::string> names;
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO(to_string(found[i].options));
    CHECK(found[i].options.devices() == 4);
    CHECK(names.insert(to_string(found[i].options)).second);
    if (i > 0) CHECK(found[i - 1].step_s <= found[i].step_s);
  }
  const std::int64_t budget = kept(found[found.size() / 2]);
  const auto fitting = parallel::fit::search(all, {.devices = 4, .budget_bytes = budget, .most = 1000});
  std::size_t expected = 0;
  for (const auto& report : found) expected += kept(report) <= budget ? 1 : 0;
  CHECK(fitting.size() == expected);
  for (const auto& report : fitting) CHECK(kept(report) <= budget);
  CHECK(parallel::fit::search(all, {.devices = 4, .budget_bytes = 1}).empty());
}

TEST_CASE("times grow with arithmetic, traffic and launches of a machine", "[profile]") {
  const parallel::fit::Machine free{.device = {.operations_per_s = 1e30, .bytes_per_s = 1e30, .launch_s = 0},
                                    .between_stages = {},
                                    .between_replicas = {}};
  CHECK(estimator(free).report({}).step_s == Approx(0).margin(1e-15));
  parallel::fit::Machine launches = free;
  launches.device.launch_s = 1;
  const parallel::fit::PlannedProgram step{parallel::fit::traces_of<Step>.step({}), "the step"};
  double expected = 0;
  for (const compile::Instruction& instruction : step.view().instructions) expected += instruction.continues ? 0 : 1;
  CHECK(estimator(launches).report({}).step_s == Approx(expected));
  parallel::fit::Machine links = free;
  links.between_replicas = {.bytes_per_s = 100, .latency_s = 3};
  // 5 x 16 + 16 + 16 x 3 + 3 weights, around a ring of two: 2 (n-1) messages of a half
  CHECK(estimator(links).report({.data = 2}).step_s == Approx(2 * (3 + 4 * 147 / 2.0 / 100)));
}

TEST_CASE("steps that were timed correct the times that are counted", "[profile]") {
  parallel::fit::Machine machine{.device = {.operations_per_s = 1e9, .bytes_per_s = 1e9, .launch_s = 1e-6},
                                 .between_stages = {},
                                 .between_replicas = {},
                                 .between_layers = {},
                                 .timed = {{.rows = 320, .gradient_s = 2, .update_s = 0.5},
                                           {.rows = 80, .gradient_s = 1, .update_s = 0.25},
                                           {.rows = 160, .gradient_s = 1, .update_s = 0.75}}};
  CHECK(estimator(machine).report({.data = 2}).step_s == Approx(2 + 0.5)); // 320 rows each
  CHECK(estimator(machine).report({.data = 4}).step_s == Approx(1 + 0.5));
  machine.timed = {{.rows = 160, .gradient_s = 3, .update_s = 0.5}};
  const double ratio = estimator(machine).report({.data = 4}).step_s / 3.5;
  CHECK(ratio == Approx(1));
  machine.timed = {{.rows = 0, .gradient_s = 3, .update_s = 0.5}};
  CHECK_THROWS_WITH(estimator(machine).report({.data = 2}), Contains("a timed step has at least one row"));
  const auto timed = [](const std::string& step) {
    return printed(
        {"--size", "batch=640", "--data", "2", "--link-latency-s", "0", "--link-bytes-per-s", "0", "--timed", step});
  };
  CHECK_THAT(timed("320=2,0.5"), Contains("predicted: step 2.50 s"));
  CHECK_THROWS_WITH(timed("320=2"), Contains("64=0.0021,0.0003, got \"320=2\""));
}

TEST_CASE("a step is estimated as GPUs run it, without one", "[profile]") {
  using parallel::fit::Bytes;
  parallel::fit::Estimator on_gpus{parallel::fit::traces_of<parallel::fit::OnGpu<Step>>, {{"batch", 640}}};
  const auto found = on_gpus.report({.data = 2}), host = estimator().report({.data = 2});
  CHECK(found.ranks[0].bytes[Bytes::weights] == host.ranks[0].bytes[Bytes::weights]);
  // a stream's working memory, and the numbers that two ranks exchange
  CHECK(found.ranks[0].bytes[Bytes::working] >= (32 << 20) + 4 * 16384);
  CHECK(found.ranks[0].bytes[Bytes::communication] == host.ranks[0].bytes[Bytes::communication] + 4 * 3 * 8);
}

TEST_CASE("a table, JSON and a drawing show the figures of the report", "[profile]") {
  const auto report = estimator().report({.data = 2, .zero = 2});
  const std::string table = printed({"--size", "batch=640", "--data", "2", "--zero", "2"});
  const std::string json = printed({"--size", "batch=640", "--data", "2", "--zero", "2", "--json"});
  CHECK_THAT(table, Contains("data 2, zero 2, 640 rows") && Contains("predicted: step"));
  for (const auto& rank : report.ranks) {
    CHECK_THAT(table, Contains(std::to_string(rank.bytes.total())));
    CHECK_THAT(json, Contains("\"peak_bytes\": " + std::to_string(rank.bytes.total())));
    CHECK_THAT(json, Contains("\"states\": " + std::to_string(rank.bytes[parallel::fit::Bytes::states])));
  }
  CHECK_THAT(profile::svg_fit(report, 1 << 20), Contains("<svg") && Contains("rank 1") && Contains("budget"));
  CHECK_THAT(printed({"--size", "batch=640", "--devices", "2", "--budget", "1GB"}), Contains("data 2, zero 3"));
  CHECK(printed({"--size", "batch=640", "--budget", "1kB"}) == "nothing fits 1000 B on 1 devices\n");
  CHECK(printed({"--help"}) == profile::fit_usage());
}

TEST_CASE("the program prints the bytes that steps and `pipeline::memory` know", "[profile]") {
  constexpr std::int64_t rows = 640;
  const auto peak = [](std::int64_t bytes) { return "\"peak_bytes\": " + std::to_string(bytes) + ","; };
  nn::Network<DropoutClassifier, Meta> network{Meta{0}};
  auto step = train_step(network, nn::cross_entropy, optim::Adam{});
  const Tensor<float, Meta, Shape<dyn, 5>> x(Meta{0}, Dims(rows, 5));
  const Tensor<std::int64_t, Meta, Shape<dyn>> labels(Meta{0}, Dims(rows)), last_labels(Meta{1}, Dims(rows));
  CHECK_THAT(printed({"--size", "batch=640", "--json"}), Contains(peak(step.memory(nn::Slot{0}, x, labels).total())));
  using P = pipeline::BasicPipeline<pipeline::OneForwardOneBackward, float, Meta,
                                    pipeline::Balanced<DropoutClassifier, 2, nn::Size<"batch", rows>>>;
  using pipeline::Checkpointing;
  const auto known = pipeline::memory<P>(
      nn::cross_entropy, optim::Adam{},
      {.micro_batches = 4, .checkpointing = {Checkpointing::always, Checkpointing::never}}, x, last_labels);
  const std::string json = printed(
      {"--size", "batch=640", "--pipeline", "2", "--micro-batches", "4", "--checkpointing", "always,never", "--json"});
  for (const pipeline::RankMemory& rank : known) CHECK_THAT(json, Contains(peak(rank.peak)));
  CHECK_THAT(json, Contains("\"checkpointing\": \"always,never\""));
  CHECK_THAT(printed({"--size", "batch=640", "--data", "2", "--shards", "4"}), Contains("data 2, 4 shards, 640 rows"));
  CHECK_THAT(
      printed({"--size", "batch=640", "--pipeline", "2", "--weight-orders", "kept-for-step", "--micro-batches", "2"}),
      Contains("kept orders of weights"));
  CHECK_THROWS_WITH(printed({"--weight-orders", "kept"}),
                    "fit: --weight-orders is made-each-time or kept-for-step, got \"kept\"");
}

TEST_CASE("a command line that is wrong is refused by name", "[profile]") {
  CHECK_THROWS_WITH(printed({}), Contains("the dimension \"batch\" has no size; give it, --size batch=64"));
  CHECK_THROWS_WITH(printed({"--size", "bach=64"}), Contains("the model has no dimension \"bach\""));
  CHECK_THROWS_WITH(printed({"--size", "batch"}), Contains("batch=64, got \"batch\""));
  CHECK_THROWS_WITH(printed({"--budged", "1GB"}), Contains("--budged is no option; --help lists them"));
  CHECK_THROWS_WITH(printed({"--budget"}), Contains("--budget takes a value"));
  CHECK_THROWS_WITH(printed({"--size", "batch=64", "--schedule", "2f2b"}), Contains("there are gpipe, 1f1b"));
  CHECK_THROWS_WITH(printed({"--size", "batch=64", "--zero", "4"}), Contains("ZeRO has stages 1 to 3"));
  CHECK_THROWS_WITH(printed({"--size", "batch=64", "--precision", "float64"}), Contains("PRECISIONS of twill_add_fit"));
  CHECK_THROWS_WITH(printed({"--size", "batch=64", "--pipeline", "9", "--micro-batches", "9"}),
                    Contains("a pipeline of 9 stages needs 8 places to cut the model"));
}
