// SPDX-License-Identifier: Apache-2.0
//
// Connectionist temporal classification beside PyTorch's, beside a sum over all alignments, and its derivatives beside
// finite differences; lengths of 0, impossible targets, labels that are no classes.

#include "tests/support/golden.hpp"
#include "tests/support/operation_table.hpp"

#include <twill/compile/quick.hpp>
#include <twill/compile/run/executor.hpp>
#include <twill/nn/losses/concatenated_ctc.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using nn::Reduce;

namespace {

using Rows = std::vector<std::size_t>;

template <const graph::Operation* O, class T> constexpr compile::OperationKernel kernel_of() {
  return {{O, dtype_of<T>}, &compile::detail::run_operation<O, T>};
}
constexpr compile::OperationKernel kernels[]{
    kernel_of<&graph::gather_operation, float>(),        kernel_of<&graph::gather_operation, double>(),
    kernel_of<&graph::gather_operation, std::int64_t>(), kernel_of<&graph::scatter_operation, float>(),
    kernel_of<&graph::scatter_operation, double>(),      kernel_of<&graph::slice_operation, float>(),
    kernel_of<&graph::slice_operation, double>(),        kernel_of<&graph::slice_operation, std::int64_t>(),
    kernel_of<&graph::place_operation, float>(),         kernel_of<&graph::place_operation, double>(),
    kernel_of<&graph::place_operation, std::int64_t>(),  kernel_of<&graph::cumsum_operation, std::int64_t>(),
};

/// Plans and runs a graph with loops as quick builds do.
std::vector<Array> run(const graph::Graph& traced, const std::vector<Array>& inputs) {
  const compile::QuickTable quick{traced, kernels};
  const compile::TableView table = quick.view();
  std::vector<std::vector<std::byte>> bytes{}, results(static_cast<std::size_t>(table.outputs));
  std::vector<Array> outputs(results.size());
  const auto at = [](std::vector<std::byte>& memory, DType dtype, std::size_t i, auto&& access) {
    if (dtype == DType::float64) access(reinterpret_cast<double*>(memory.data())[i]);
    if (dtype == DType::float32) access(reinterpret_cast<float*>(memory.data())[i]);
    if (dtype == DType::int64) access(reinterpret_cast<std::int64_t*>(memory.data())[i]);
  };
  std::vector<void*> from{}, to{};
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    bytes.emplace_back((inputs[k].elements.size() + 1) * sizeof(double));
    for (std::size_t i = 0; i < inputs[k].elements.size(); ++i)
      at(bytes.back(), traced.inputs[k].dtype, i,
         [&]<class T>(T& element) { element = static_cast<T>(inputs[k].elements[i]); });
  }
  for (std::vector<std::byte>& memory : bytes) from.push_back(memory.data());
  for (std::size_t k = 0; k < results.size(); ++k) {
    const graph::Node& node = traced.node(traced.outputs[k]);
    outputs[k].shape = node.shape.evaluate({});
    outputs[k].elements.resize(static_cast<std::size_t>(outputs[k].shape.elements()));
    results[k].resize((outputs[k].elements.size() + 1) * sizeof(double));
    to.push_back(results[k].data());
  }
  compile::Executor<Cpu> executor{Cpu{}, table, quick.kernels(), compile::Arena::kept};
  executor.run({}, {.inputs = from, .outputs = to});
  for (std::size_t k = 0; k < results.size(); ++k)
    for (std::size_t i = 0; i < outputs[k].elements.size(); ++i)
      at(results[k], traced.node(traced.outputs[k]).dtype, i,
         [&](auto& element) { outputs[k].elements[i] = static_cast<double>(element); });
  return outputs;
}

/// Some rows of an array along an axis of it.
Array rows_of(const std::string& name, int axis, const Rows& rows) {
  const Golden file = golden("ctc/" + name);
  Dims shape{};
  for (const std::int64_t extent : file.shape) shape[shape.rank++] = extent;
  const Array whole{shape, file.values};
  shape[axis] = static_cast<std::int64_t>(rows.size());
  return array_from(shape, [&](Dims index) {
    index[axis] = static_cast<std::int64_t>(rows[static_cast<std::size_t>(index[axis])]);
    return element_of(whole, index);
  });
}

Array array_of(const std::string& name) {
  const Golden file = golden("ctc/" + name);
  Dims shape{};
  for (const std::int64_t extent : file.shape) shape[shape.rank++] = extent;
  return {shape, file.values};
}

/// Compares the losses, and their gradients for the weights, with the files of a case. Targets in one line if `longest`.
void check(const std::string& name, const Rows& rows, const nn::CtcOptions& options, bool has_slope = true,
           std::int64_t longest = -1) {
  INFO(name);
  graph::Graph graph{DType::float64};
  std::vector<Array> inputs{rows_of("logits", 1, rows), rows_of("targets", 0, rows), rows_of("inputs", 0, rows),
                            rows_of("lengths", 0, rows), rows_of("weights", 0, rows)};
  if (options.blank != 0)
    for (double& label : inputs[1].elements) label = std::fmod(label + double(options.blank), 4);
  if (longest >= 0) inputs[1] = array_of("line");
  std::vector<Value> x{};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    x.push_back(
        {graph, graph.add_input(i == 0 || i == 4 ? DType::float64 : DType::int64, graph::extents_of(inputs[i].shape))});
  const Value logarithms = graph::log_softmax(x[0], 2);
  const Value losses =
      longest < 0 ? nn::ctc_loss(logarithms, x[1], x[2], x[3], options)
                  : nn::concatenated_ctc_loss(logarithms, x[1], x[2], x[3],
                                              {.longest = longest, .blank = options.blank, .reduce = options.reduce});
  REQUIRE(!graph.fault.any());
  graph.outputs.push_back(losses.id());
  const Value total = losses.rank() == 0 ? losses : graph::sum(losses * x[4]);
  graph.outputs.push_back(graph::gradient(total, x[0]).id());
  const std::vector<Array> got = run(graph, inputs);
  const auto require_near = [](const Array& left, const Array& right) {
    REQUIRE(left.elements.size() == right.elements.size());
    for (std::size_t i = 0; i < left.elements.size(); ++i) {
      if (std::isinf(right.elements[i]))
        CHECK(left.elements[i] == right.elements[i]);
      else
        CHECK(left.elements[i] == Approx(right.elements[i]).epsilon(1e-11).margin(1e-12));
    }
  };
  require_near(got[0], array_of(name + "_loss"));
  if (has_slope) require_near(got[1], array_of(name + "_slope"));
  for (const double slope : got[1].elements) CHECK(std::isfinite(slope));
}

/// -log of the sum over all sequences of classes that become the target when repetitions and blanks are taken out.
double by_all_alignments(const Array& x, std::int64_t row, std::int64_t steps,
                         const std::vector<std::int64_t>& target) {
  const std::int64_t classes = x.shape[2];
  std::int64_t count = 1;
  for (std::int64_t t = 0; t < steps; ++t) count *= classes;
  double probability = 0;
  for (std::int64_t code = 0; code < count; ++code) {
    std::vector<std::int64_t> labels{};
    double log_probability = 0;
    std::int64_t previous = 0;
    for (std::int64_t t = 0, rest = code; t < steps; ++t, rest /= classes) {
      const std::int64_t label = rest % classes;
      log_probability += element_of(x, Dims(t, row, label));
      if (label != 0 && label != previous) labels.push_back(label);
      previous = label;
    }
    if (labels == target) probability += std::exp(log_probability);
  }
  return -std::log(probability);
}

/// Targets 1 2 2 and 2 of up to three labels, for as many rows as x (steps, rows, classes) has.
Value targets_for(Value x) {
  const Value place = graph::iota(x.graph(), {x.shape()[1], {3, 0}});
  return graph::minimum(place % 3 + 1, 2);
}
Value lengths_for(Value x) { return graph::iota(x.graph(), {x.shape()[1]}) % 2 * -2 + 3; } // 3 and 1
Value steps_for(Value x) {
  return x.size(0) - graph::iota(x.graph(), {x.shape()[1]}) % 2; // all and all but one
}
Value losses_of(Value x) {
  return nn::ctc_loss(x, targets_for(x), steps_for(x), lengths_for(x), {.reduce = Reduce::none});
}

double expected_loss(const Array& x, std::int64_t row) {
  const bool is_odd = row % 2 == 1;
  return by_all_alignments(x, row, x.shape[0] - (is_odd ? 1 : 0),
                           is_odd ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{1, 2, 2});
}

const Dims shapes[]{Dims(5, 2, 3), Dims(4, 1, 4), Dims(4, 0, 3), Dims(6, 3, 3)};

} // namespace

TEST_CASE("connectionist temporal classification and its gradient by logits are PyTorch's", "[nn][loss][TRAIN-1]") {
  const Rows fit{0, 1, 2, 4};
  check("mean", fit, {});
  check("sum", fit, {.reduce = Reduce::sum});
  check("none", fit, {.reduce = Reduce::none});
  check("last_is_blank", {0, 1}, {.blank = 3, .reduce = Reduce::none});
  check("infinite", {0, 3}, {.reduce = Reduce::none}, false);
  check("zero_infinity", {0, 3, 1}, {.reduce = Reduce::none, .zero_infinity = true});
}

TEST_CASE("ctc_loss of targets one after the other and its gradient are PyTorch's", "[nn][loss][TRAIN-1]") {
  const Rows fit{0, 1, 2, 4};
  check("line_mean", fit, {}, true, 3);
  check("line_none", fit, {.reduce = Reduce::none}, true, 0);
}

TEST_CASE("rows one after the other become padded ones, in every type, with derivatives", "[ops][gradient]") {
  const OperationRow padded{"padded_rows", // of 0, 1, 2, 3 and 4 elements, the last of which x lacks
                            {{Dims(9, 2)}, {Dims(9)}, {Dims(9, 0)}},
                            [](const Value* x) {
                              return graph::padded_rows(x[0], graph::iota(x[0].graph(), {{5, 0}}), 4, 3);
                            },
                            [](const std::vector<Array>& x) {
                              Dims shape(5, 4), from = x[0].shape;
                              if (from.rank == 2) shape = Dims(5, 4, from[1]);
                              return array_from(shape, [&](const Dims& i) {
                                from = x[0].shape.rank == 2 ? Dims(0, i[2]) : Dims(0);
                                from[0] = i[0] * (i[0] - 1) / 2 + i[1];
                                return i[1] < i[0] && from[0] < 9 ? element_of(x[0], from) : 3.0;
                              });
                            },
                            RowTypes::numbers};
  check_forward(padded);
  check_both_derivatives(padded);
}

TEST_CASE("ctc_loss is minus the logarithm of the sum over all alignments", "[nn][loss][TRAIN-1]") {
  std::mt19937_64 random{test_seed()};
  for (const DType dtype : {DType::float16, DType::float32, DType::float64})
    for (const Dims& shape : shapes) {
      graph::Graph graph{dtype};
      const Value given{graph,
                        graph.add_input(dtype == DType::float16 ? DType::float32 : dtype, graph::extents_of(shape))};
      const Value losses = losses_of(graph::cast(given, dtype));
      CHECK(losses.dtype() == (dtype == DType::float64 ? dtype : DType::float32));
      graph.outputs.push_back(losses.id());
      const Array x = twill::test::detail::random_of(DType::float16, shape, {-3, 0}, random); // exact in all types
      const Array got = run(graph, {x})[0];
      REQUIRE(got.shape == Dims(shape[1]));
      for (std::int64_t row = 0; row < shape[1]; ++row)
        CHECK(got.elements[static_cast<std::size_t>(row)] ==
              Approx(expected_loss(x, row)).epsilon(dtype == DType::float64 ? 1e-12 : 1e-5));
    }
}

TEST_CASE("derivatives of ctc_loss agree with finite differences", "[nn][loss][gradient][TRAIN-1]") {
  for (const Dims& shape : {shapes[0], shapes[1]}) {
    const graph::Graph graph = derivative_graph<1>([](Value x) { return losses_of(x); }, std::array{shape});
    REQUIRE(!graph.fault.any());
    check_derivatives({"ctc_loss", {Range{-3, 0}}, {shape}, Dims(shape[1])},
                      [&](const std::vector<Array>& inputs) { return run(graph, inputs); });
  }
}

TEST_CASE("labels that are no class, probabilities of 0 and no steps give infinite losses or none", "[nn][loss]") {
  const auto loss_of = [](const Array& x, std::vector<double> target, double steps, double length) {
    graph::Graph graph{DType::float64};
    const Array targets{Dims(1, static_cast<std::int64_t>(target.size())), target};
    const Value v{graph, graph.add_input(DType::float64, graph::extents_of(x.shape))};
    const Value labels{graph, graph.add_input(DType::int64, graph::extents_of(targets.shape))};
    const Value counts{graph, graph.add_input(DType::int64, {{1, 0}})};
    const Value lengths{graph, graph.add_input(DType::int64, {{1, 0}})};
    const Value loss = nn::ctc_loss(v, labels, counts, lengths, {.reduce = Reduce::sum});
    graph.outputs = {loss.id(), graph::gradient(loss, v).id()};
    const std::vector<Array> got = run(graph, {x, targets, {Dims(1), {steps}}, {Dims(1), {length}}});
    for (const double slope : got[1].elements) CHECK(std::isfinite(slope));
    return got[0].elements[0];
  };
  const double infinity = std::numeric_limits<double>::infinity(), half = std::log(0.5);
  const Array fair{Dims(2, 1, 2), std::vector<double>(4, half)};
  CHECK(loss_of(fair, {1, -7}, 2, 1) == Approx(-std::log(0.75))); // what is beyond the length is not read
  CHECK(loss_of(fair, {2}, 2, 1) == infinity);
  CHECK(loss_of(fair, {-1}, 2, 1) == infinity);
  CHECK(loss_of(fair, {1}, 0, 0) == 0);
  CHECK(loss_of(fair, {1}, 0, 1) == infinity);
  CHECK(loss_of(fair, {1, 1}, 2, 2) == infinity);
  const Array certain{Dims(2, 1, 2), {-infinity, 0, 0, -infinity}}; // first the label, then the blank
  CHECK(loss_of(certain, {1}, 2, 1) == 0);
  CHECK(loss_of(certain, {1}, 2, 0) == infinity);
}

TEST_CASE("ctc_loss refuses shapes and types by name", "[nn][loss]") {
  using graph::Problem;
  const auto problem = [](const graph::Extents& shape, DType label, const graph::Extents& targets,
                          const graph::Extents& lengths, nn::CtcOptions options = {}) {
    graph::Graph graph{DType::float32};
    const auto in = [&](DType dtype, const graph::Extents& extents) {
      return Value{graph, graph.add_input(dtype, extents)};
    };
    const Value count = in(DType::int64, lengths);
    static_cast<void>(nn::ctc_loss(in(DType::float32, shape), in(label, targets), count, count, options));
    CHECK(std::string{graph.fault.name} == "ctc_loss");
    return graph.fault.problem;
  };
  const graph::Extents x{{4, 0}, {2, 0}, {3, 0}}, labels{{2, 0}, {2, 0}}, rows_{{2, 0}}, others{{3, 0}};
  CHECK(problem(labels, DType::int64, labels, rows_) == Problem::recurrent_layer_needs_steps_rows_and_features);
  CHECK(problem(x, DType::int64, rows_, rows_) == Problem::loss_shapes_differ);
  CHECK(problem(x, DType::float32, labels, rows_) == Problem::labels_are_not_integers);
  CHECK(problem(x, DType::int64, {{3, 0}, {2, 0}}, rows_) == Problem::labels_and_logits_have_different_batch_extents);
  CHECK(problem(x, DType::int64, labels, others) == Problem::recurrent_lengths_are_not_one_for_each_row);
  CHECK(problem(x, DType::int64, labels, rows_, {.blank = 3}) == Problem::padding_index_is_outside);
}

TEST_CASE("concatenated_ctc_loss refuses targets of two axes and lengths of floats by name", "[nn][loss]") {
  using graph::Problem;
  const auto problem = [](const graph::Extents& targets, DType length) {
    graph::Graph graph{DType::float32};
    const auto in = [&](DType dtype, const graph::Extents& extents) {
      return Value{graph, graph.add_input(dtype, extents)};
    };
    const Value lengths = in(length, {{2, 0}});
    static_cast<void>(nn::concatenated_ctc_loss(in(DType::float32, {{4, 0}, {2, 0}, {3, 0}}), in(DType::int64, targets),
                                                lengths, lengths));
    CHECK(std::string{graph.fault.name} == (graph.fault.any() ? "concatenated_ctc_loss" : ""));
    return graph.fault.problem;
  };
  CHECK(problem({{5, 0}}, DType::int64) == Problem::none);
  CHECK(problem({{2, 0}, {2, 0}}, DType::int64) == Problem::index_has_another_rank);
  CHECK(problem({{5, 0}}, DType::float32) == Problem::recurrent_lengths_are_not_integers);
}
