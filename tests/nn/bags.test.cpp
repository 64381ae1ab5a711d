// SPDX-License-Identifier: Apache-2.0
//
// Bags of embeddings of different lengths beside torch.nn.functional.embedding_bag with offsets, and naive loops in every
// floating type, with gradients; the greatest norm of rows beside PyTorch's.

#include "tests/support/golden_gradients.hpp"
#include "tests/support/operation_table.hpp"

#include <twill/nn/embedding_bag.hpp>
#include <twill/nn/max_norm.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using nn::BagMode;

namespace {

using Arrays = std::vector<Array>;

void check(const std::string& name, const std::string& table, const nn::EmbeddingBagOptions& given,
           bool is_weighted = false) {
  INFO(name);
  graph::Graph graph{DType::float64};
  Arrays arrays{};
  const auto add = [&](const std::string& file, DType dtype) {
    arrays.push_back(golden_array("bags/" + file));
    return Value{graph, graph.add_input(dtype, graph::extents_of(arrays.back().shape))};
  };
  nn::EmbeddingBagOptions options = given;
  const Value index = add("index", DType::int64);
  const Value offsets = add(given.has_last_offset ? "ends" : "offsets", DType::int32);
  std::vector<Value> sources{add(table, DType::float64)};
  if (is_weighted) sources.push_back(options.weights = add("shares", DType::float64));
  const Value y = nn::embedding_bag(index, offsets, sources[0], options);
  REQUIRE(!graph.fault.any());
  const Value g = add(name + "_cotangent", DType::float64);
  graph.outputs.push_back(y.id());
  Arrays expected{golden_array("bags/" + name + "_y")};
  for (std::size_t k = 0; k < sources.size(); ++k) {
    graph.outputs.push_back(graph::gradient(graph::sum(y * g), sources[k]).id());
    expected.push_back(golden_array("bags/" + name + "_slope" + std::to_string(k)));
  }
  const Arrays got = evaluate(graph, {{}, arrays, {}, {}}, &run_by_kernel).outputs;
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("result " << i);
    REQUIRE(got[i].shape == expected[i].shape);
    for (std::size_t k = 0; k < expected[i].elements.size(); ++k)
      CHECK(got[i].elements[k] == Approx(expected[i].elements[k]).epsilon(1e-13).margin(1e-14));
  }
}

/// Indices 0 3 2 1 0 3 2 in bags from 0, 0, 3 and 6 on.
Value indices(Value x) { return graph::iota(x.graph(), {{7, 0}}) * 3 % 4; }
Value beginnings(Value x) { return graph::maximum(graph::iota(x.graph(), {{4, 0}}) * 3 - 3, 0); }

/// What `fold` makes of the rows of each bag.
template <class F> Array folded(const Array& x, double start, const F& fold) {
  return array_from(Dims(4, x.shape[1]), [&](const Dims& i) {
    const std::int64_t first = i[0] * 3 - 3, last = std::min<std::int64_t>(first + 3, 7);
    if (first < 0) return 0.0;
    double result = start;
    for (std::int64_t k = first; k < last; ++k)
      result = fold(result, element_of(x, Dims(k * 3 % 4, i[1])), double(last - first));
    return result;
  });
}

template <BagMode Mode> Value bags(const Value* x) {
  return nn::embedding_bag(indices(x[0]), beginnings(x[0]), x[0], {.mode = Mode});
}

const std::vector<std::vector<Dims>> tables{{Dims(4, 3)}, {Dims(4, 1)}, {Dims(4, 0)}};
const OperationRow functions[]{
    {"embedding_bag", tables, &bags<BagMode::sum>,
     [](const Arrays& x) { return folded(x[0], 0, [](double a, double b, double) { return a + b; }); }},
    {"embedding_bag", tables, &bags<BagMode::mean>,
     [](const Arrays& x) { return folded(x[0], 0, [](double a, double b, double n) { return a + b / n; }); }},
    {"embedding_bag", tables, &bags<BagMode::max>,
     [](const Arrays& x) {
       return folded(x[0], -std::numeric_limits<double>::infinity(),
                     [](double a, double b, double) { return std::max(a, b); });
     }},
};

/// The result for one table of 0, 1, 2, ... and any indices and offsets.
std::vector<double> of_line(std::vector<double> index, std::vector<double> offsets, BagMode mode,
                            bool has_last_offset = false) {
  graph::Graph graph{DType::float64};
  const Arrays arrays{{Dims(static_cast<std::int64_t>(index.size())), index},
                      {Dims(static_cast<std::int64_t>(offsets.size())), offsets}};
  const Value line{graph, graph.add_input(DType::int64, graph::extents_of(arrays[0].shape))};
  const Value begin{graph, graph.add_input(DType::int64, graph::extents_of(arrays[1].shape))};
  const Value table = graph::cast(graph::iota(graph, {{5, 0}, {1, 0}}), DType::float64);
  graph.outputs.push_back(
      nn::embedding_bag(line, begin, table, {.mode = mode, .has_last_offset = has_last_offset}).id());
  REQUIRE(!graph.fault.any());
  return evaluate(graph, {{}, arrays, {}, {}}, &run_by_kernel).outputs[0].elements;
}

struct Words {
  static constexpr Value forward(InputOf<std::int64_t, Dim<"indices">> index,
                                 InputOf<std::int64_t, Dim<"bags">> offsets) {
    return nn::embedding_bag(index, offsets, 7, 3, "words", {.mode = BagMode::sum});
  }
};

} // namespace

TEST_CASE("bags of different lengths and their gradients are PyTorch's", "[nn][TRAIN-2]") {
  check("sum", "weight", {.mode = BagMode::sum});
  check("mean", "weight", {});
  check("max", "weight", {.mode = BagMode::max});
  check("sum_padded", "weight", {.mode = BagMode::sum, .padding = 2});
  check("mean_padded", "weight", {.padding = 2});
  check("max_padded", "weight", {.mode = BagMode::max, .padding = 2});
  check("max_of_equals", "ranks", {.mode = BagMode::max});
  check("sum_ended", "weight", {.mode = BagMode::sum, .has_last_offset = true});
  check("mean_ended", "weight", {.has_last_offset = true});
  check("max_ended", "weight", {.mode = BagMode::max, .has_last_offset = true});
  check("weighted", "weight", {.mode = BagMode::sum}, true);
  check("weighted_padded", "weight", {.mode = BagMode::sum, .padding = 6}, true);
}

TEST_CASE("bags of different lengths are naive loops in every type, on odd and empty shapes", "[nn]") {
  for (const OperationRow& row : functions) check_forward(row);
}

TEST_CASE("derivatives of bags of different lengths agree with finite differences", "[nn][gradient]") {
  for (const OperationRow& row : functions) check_both_derivatives(row);
}

TEST_CASE("no indices and indices before the first bag are in no bag", "[nn]") {
  for (const BagMode mode : {BagMode::sum, BagMode::mean, BagMode::max}) {
    CHECK(of_line({}, {0, 0}, mode) == std::vector<double>{0, 0});
    CHECK(of_line({4, 3, 2}, {1, 3}, mode) == std::vector<double>{mode == BagMode::sum    ? 5.0
                                                                  : mode == BagMode::mean ? 2.5
                                                                                          : 3.0,
                                                                  0});
    CHECK(of_line({4, 3}, {}, mode).empty());
    CHECK(of_line({1, 4, 2, 3}, {1, 2, 3}, mode, true) == std::vector<double>{4, 2}); // the last index is in no bag
    CHECK(of_line({1, 4}, {2}, mode, true).empty());
  }
}

TEST_CASE("bags of different lengths refuse other ranks and types by name", "[nn]") {
  using graph::Problem;
  const auto problem = [](int ranks, DType dtype, BagMode mode) {
    graph::Graph graph{DType::float32};
    const graph::Extents line{{3, 0}}, matrix{{3, 0}, {2, 0}};
    const Value index{graph, graph.add_input(DType::int64, line)};
    const Value offsets{graph, graph.add_input(dtype, ranks == 1 ? line : matrix)};
    const Value weight{graph, graph.add_input(DType::float32, matrix)};
    const Value shares{graph, graph.add_input(DType::float32, line)};
    static_cast<void>(nn::embedding_bag(index, offsets, weight, {.mode = mode, .weights = shares}));
    return graph.fault.problem;
  };
  CHECK(problem(2, DType::int64, BagMode::sum) == Problem::index_has_another_rank);
  CHECK(problem(1, DType::float32, BagMode::sum) == Problem::indices_are_not_integers);
  CHECK(problem(1, DType::int64, BagMode::mean) == Problem::bag_weights_are_for_sums_only);
}

TEST_CASE("rows of a network's weight are shortened to a greatest norm as PyTorch's are", "[nn][TRAIN-2]") {
  nn::Network<Words, Cpu, double> model{Cpu{0}};
  const auto check_rows = [&](const std::string& name, nn::MaxNormOptions options) {
    INFO(name);
    const Golden before = golden("bags/weight"), after = golden("bags/" + name);
    auto weight = model.parameter<"words.weight">();
    std::copy(before.values.begin(), before.values.end(), weight.data());
    nn::renormalise_rows<"words.weight">(model, options);
    for (std::size_t i = 0; i < after.values.size(); ++i)
      CHECK(weight.data()[i] == Approx(after.values[i]).epsilon(1e-13));
  };
  check_rows("short", {.max_norm = 1.3});
  check_rows("short_by_sums", {.max_norm = 1.3, .norm_type = 1});
  check_rows("short_by_cubes", {.max_norm = 1.3, .norm_type = 3});
  CHECK_THROWS_WITH(nn::renormalise_rows<"words.weight">(model, {.max_norm = 0}),
                    "renormalise_rows: max_norm must be positive, got 0.000000");
  const auto line = [](std::vector<std::int64_t> numbers) { return from_values<Shape<dyn>>(numbers, Dims(2)); };
  const Tensor index = line({1, 2}), offsets = line({0, 3});
  CHECK_THROWS_WITH(model.infer(index, offsets), Catch::Contains("an offset of a bag"));
}
