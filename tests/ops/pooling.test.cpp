// SPDX-License-Identifier: Apache-2.0
//
// Pooling beside PyTorch for every option, with ties and NaN; first and second derivatives beside finite differences; the
// kernel of GPUs and that of a team beside one thread's; compiled programs of every element type.

#include "tests/support/golden_images.hpp"
#include "tests/support/host_blocks.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/compile/function.hpp>
#include <twill/kernel/gpu/pooling.hpp>
#include <twill/ops/pooling.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::CeilMode;
using graph::CountPadding;
using graph::Sides;
using graph::Value;

namespace {

void know_pooling() {
  know<&graph::average_pool_operation>();
  know<&graph::average_pool_gradient_operation>();
  know<&graph::pick_largest_operation>();
  know<&graph::scatter_largest_operation>();
}

struct Case {
  std::int64_t kind, dimensions;
  Sides window, stride, padding, dilation;
  CeilMode ceil;
  CountPadding count;
  std::int64_t divisor;

  [[nodiscard]] Value operator()(Value x) const {
    const bool flat = dimensions == 1;
    if (kind == 0) {
      const graph::MaxPoolOptions options{window, stride, padding, dilation, ceil};
      return flat ? max_pool1d(x, options) : max_pool2d(x, options);
    }
    if (kind == 1) {
      const graph::AveragePoolOptions options{window, stride, padding, ceil, count, divisor};
      return flat ? avg_pool1d(x, options) : avg_pool2d(x, options);
    }
    if (kind == 2) return flat ? adaptive_avg_pool1d(x, window.width) : adaptive_avg_pool2d(x, window);
    return flat ? adaptive_max_pool1d(x, window.width) : adaptive_max_pool2d(x, window);
  }
};

} // namespace

TEST_CASE("pooling and its gradients are those of PyTorch for every option, with ties and NaN", "[ops][pooling]") {
  know_pooling();
  Numbers numbers{"pooling/cases"};
  int cases = 0;
  for (; numbers.any(); ++cases) {
    const std::int64_t kind = numbers.integer(), dimensions = numbers.integer();
    const Sides window = numbers.sides(), stride = numbers.sides(), padding = numbers.sides(),
                dilation = numbers.sides();
    const CeilMode ceil = numbers.integer() != 0 ? CeilMode::yes : CeilMode::no;
    const CountPadding count = numbers.integer() != 0 ? CountPadding::yes : CountPadding::no;
    const Case pooled{kind, dimensions, window, stride, padding, dilation, ceil, count, numbers.integer()};
    const std::vector<Array> inputs{numbers.array(), numbers.array()};
    graph::Graph graph{DType::float64};
    const Value x{graph, graph.add_input(DType::float64, graph::extents_of(inputs[0].shape))};
    const Value g{graph, graph.add_input(DType::float64, graph::extents_of(inputs[1].shape))};
    const Value y = pooled(x);
    graph.outputs.push_back(y.id());
    graph.outputs.push_back(graph::gradient(sum(y * g), x).id());
    INFO("case " << cases);
    for (const Array& output : evaluate_both(graph, inputs)) require_near(output, numbers.array());
  }
  CHECK(cases == 21);
}

TEST_CASE("first and second derivatives of pooling agree with finite differences", "[ops][pooling]") {
  know_pooling();
  const std::array<Dims, 1> image{Dims(2, 3, 5, 4)};
  check_function("max", image, [](Value x) { return square(max_pool2d(x, {.window = 3, .stride = 2, .padding = 1})); });
  check_function("mean", image, [](Value x) {
    return square(avg_pool2d(x, {.window = {3, 2}, .padding = 1, .count_padding = CountPadding::no}));
  });
  check_function("adaptive mean", image, [](Value x) { return square(adaptive_avg_pool2d(x, {2, 3})); });
  check_function("mean of all", image, [](Value x) { return square(adaptive_avg_pool2d(x, 1)); });
  check_function("adaptive max of a product", image, [](Value x) {
    return adaptive_max_pool2d(x * x * x, {2, 3}) * adaptive_avg_pool2d(x, 1);
  });
  check_function("one element", std::array{Dims(1, 1, 1)},
                 [](Value x) { return square(max_pool1d(x, {.window = 1})); });
}

TEST_CASE("the kernel of GPUs and teams pool as one thread does", "[kernel][pooling]") {
  using kernel::PoolingMode;
  using kernel::PoolingPart;
  static std::mt19937 random{test_seed()};
  const int core = twill::cpu::cores_of_process().front();
  static auto& threads = *new twill::detail::ForkJoin{{core, core, core}, "test"}; // its threads never end
  const auto check = [&]<class T>(T, const kernel::PoolingShape& shape) {
    const auto draw = [&](std::int64_t count) {
      std::vector<T> values{};
      for (std::int64_t i = 0; i < count; ++i) values.push_back(T(static_cast<float>(random() % 7)));
      return values;
    };
    const auto key = draw(shape.in_elements());
    for (const PoolingPart part :
         {PoolingPart::average, PoolingPart::average_gradient, PoolingPart::pick, PoolingPart::scatter}) {
      const auto in = draw(shape.in_elements());
      const auto out = draw(shape.out_elements());
      std::vector<T> ins[3]{in, in, in};
      std::vector<T> outs[3]{out, out, out};
      const auto pooling = [&](std::size_t k) {
        return kernel::Pooling<T>{part, shape, key.data(), ins[k].data(), outs[k].data()};
      };
      run_pooling(Team::serial(), pooling(0));
      run_pooling(Team{threads}, pooling(1));
      const bool writes_out = part == PoolingPart::average || part == PoolingPart::pick;
      enqueue(Team::serial(), kernel::gpu::PoolingBody<T>{},
              kernel::gpu::one_thread_each(writes_out ? shape.out_elements() : shape.in_elements()),
              kernel::gpu::PoolingParameters<T>{pooling(2)});
      INFO("part " << static_cast<int>(part) << ", mode " << static_cast<int>(shape.mode));
      CHECK(ins[1] == ins[0]);
      CHECK(outs[1] == outs[0]);
      const auto differ = [](const std::vector<T>& a, const std::vector<T>& b) {
        std::size_t count = 0; // sums of GPUs have another order
        for (std::size_t i = 0; i < a.size(); ++i)
          count += std::abs(static_cast<float>(a[i]) - static_cast<float>(b[i])) > 1e-3F * static_cast<float>(b[i]);
        return count;
      };
      CHECK(differ(ins[2], ins[0]) == 0);
      CHECK(differ(outs[2], outs[0]) == 0);
    }
  };
  for (const PoolingMode mode : {PoolingMode::padded, PoolingMode::inside, PoolingMode::fixed, PoolingMode::adaptive}) {
    kernel::PoolingShape shape{.batch = 5,
                               .channels = 67,
                               .input = {11, 13},
                               .output = {6, 7},
                               .window = {3, 3},
                               .stride = {2, 2},
                               .padding = {1, 1},
                               .mode = mode,
                               .divisor = 4};
    check(0.0F, shape);
    check(half{}, shape);
    shape.output = {4, 12};
    shape.stride = {3, 1};
    shape.window = {4, 3};
    shape.dilation = {2, 1};
    check(0.0, shape);
  }
}

TEST_CASE("compiled pooling runs in every floating type and on no images", "[ops][pooling]") {
  const auto pooled = [](auto x) {
    return max_pool2d(avg_pool2d(x, {.window = 3, .stride = 1, .padding = 1}), {.window = 2});
  };
  const auto x = full<float, Shape<2, 3, 6, 5>>(2.0F);
  const auto y = compiled(pooled)(x);
  CHECK(y.shape() == Dims(2, 3, 3, 2));
  CHECK(y.data()[0] == 2.0F);
  CHECK(compiled(pooled)(full<half, Shape<2, 3, 6, 5>>(half(2.0F))).data()[3] == half(2.0F));
  CHECK(compiled(pooled)(full<double, Shape<2, 3, 6, 5>>(2.0)).data()[3] == 2.0);
  CHECK(compiled(pooled)(ones<float, Shape<dyn, 3, 6, 5>>(Dims(0, 3, 6, 5))).shape() == Dims(0, 3, 3, 2));
}
