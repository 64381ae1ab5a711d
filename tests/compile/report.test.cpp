// SPDX-License-Identifier: Apache-2.0
//
// What functions cost in launches, asserted at compile time: fusion that breaks does not compile.

#include <twill/compile/function.hpp>
#include <twill/compile/report/report.hpp>
#include <twill/nn/losses.hpp>
#include <twill/ops/matmul.hpp>

#include <catch2/catch.hpp>

using namespace twill;
using compile::plan;
using compile::Report;
using graph::Value;

namespace {

using Matrix = compile::Argument<float, Shape<dyn, 10>>;
using Labels = compile::Argument<std::int64_t, Shape<dyn>>;

// An elementwise chain is one kernel that reads each operand once and writes its result.
constexpr auto chain = [](Value a, Value b) { return graph::tanh(a * b + a) * b - graph::exp(-a); };
using Chain = compile::FunctionSource<decltype(chain), Matrix, Matrix>;
static_assert(plan<Chain>() == Report{.launches = 1,
                                      .distinct_kernels = 1,
                                      .elementwise_launches = 1,
                                      .tensors_read = 2,
                                      .tensors_written = 1,
                                      .longest_program = plan<Chain>().longest_program});
static_assert(compile::most_reads_of_one_tensor(compile::Compiled<Chain>::view()) == 1);

// Softmax: three stages, one kernel, one pass.
constexpr auto softmax = [](Value x) { return graph::softmax(x); };
using Softmax = compile::FunctionSource<decltype(softmax), Matrix>;
static_assert(plan<Softmax>().launches == 1 && plan<Softmax>().row_launches == 1);
static_assert(plan<Softmax>().tensors_read == 1 && plan<Softmax>().tensors_written == 1);

// Layer norm without weights, written as anybody would.
constexpr auto normalise = [](Value x) {
  const Value deviation = x - graph::mean(x, {-1}, graph::KeepDims::yes);
  return deviation * graph::rsqrt(graph::mean(graph::square(deviation), {-1}, graph::KeepDims::yes) + 1e-5);
};
using Normalise = compile::FunctionSource<decltype(normalise), Matrix>;
static_assert(plan<Normalise>().launches == 1 && plan<Normalise>().row_launches == 1);

// Its gradient needs no more: the statistics are computed again from the row.
constexpr auto normalised_loss = [](Value x, Value target) { return graph::sum(normalise(x) * target); };
using NormaliseGradient =
    compile::FunctionSource<detail::GradientFunction<decltype(normalised_loss), false, 0>, Matrix, Matrix>;
static_assert(plan<NormaliseGradient>().launches == plan<NormaliseGradient>().row_launches);
static_assert(plan<NormaliseGradient>().launches <= 2);

// Cross entropy with its gradient: one row kernel over the logits, and a small one for the mean over the batch.
constexpr auto loss = [](Value logits, Value labels) {
  const Value value = nn::cross_entropy(logits, labels);
  return std::array<Value, 2>{value, graph::gradient(value, logits)};
};
using Loss = compile::FunctionSource<decltype(loss), Matrix, Labels>;
static_assert(plan<Loss>().launches == 2 && plan<Loss>().row_launches == 2);
static_assert(plan<Loss>().temporaries == 1);

// 24 residual connections in a row around a matrix product: one product and one elementwise kernel each, all the same two.
template <int Blocks> struct Residual {
  static constexpr graph::Graph trace() {
    graph::Graph graph{};
    graph::Extents shape{};
    shape.append(graph.symbol("batch"));
    shape.append({16, 0});
    graph::Extents square{};
    square.append({16, 0});
    square.append({16, 0});
    Value x{graph, graph.add_input(DType::float32, shape)};
    for (int block = 0; block < Blocks; ++block) {
      const Value weight{graph, graph.add_input(DType::float32, square)};
      x = x + graph::relu(graph::matmul(x, weight));
    }
    graph.outputs.push_back(x.id());
    return graph;
  }
};
static_assert(plan<Residual<24>>().launches == 48);
static_assert(plan<Residual<24>>().operation_launches == 24 && plan<Residual<24>>().elementwise_launches == 24);
static_assert(plan<Residual<24>>().distinct_kernels == 2);
static_assert(plan<Residual<24>>().longest_program == plan<Residual<2>>().longest_program);

// A constexpr function may give a matrix of a million elements; then ten do not count.
static_assert(plan<Chain>(1'000'000).tensors_read == 2, "unknown extents count as large");

} // namespace

TEST_CASE("a report at run time says what it says at compile time", "[compile][plan]") {
  const compile::Lowered lowered = compile::lower(Loss::trace());
  const Report report = compile::report_of(compile::view_of(lowered));
  CHECK(report == plan<Loss>());
  CHECK(report.launches == 2);
}

TEST_CASE("small tensors can be left out of a report", "[compile][plan]") {
  using Scale = compile::Argument<float, Shape<10>>;
  constexpr auto scaled = [](Value x, Value scale) { return x * scale; };
  using Scaled = compile::FunctionSource<decltype(scaled), Matrix, Scale>;
  constexpr Report everything = plan<Scaled>();
  constexpr Report large = plan<Scaled>(1000);
  CHECK(everything.tensors_read == 2);
  CHECK(large.tensors_read == 1);
}

TEST_CASE("the steps of the gradient of residual connections grow as their number", "[compile][plan]") {
  const auto launches = [](auto residual) {
    graph::Graph graph = decltype(residual)::trace();
    const Value total = graph::sum(Value{graph, graph.outputs[0]});
    List<int> weights{};
    for (const auto& input : graph.inputs) weights.push_back(input.node);
    const Value one = graph::constant(graph, DType::float32, 1);
    for (int gradient : graph::gradients(graph, {{total.id(), one.id()}}, weights)) graph.outputs.push_back(gradient);
    const compile::Lowered lowered = compile::lower(graph);
    return compile::report_of(compile::view_of(lowered)).launches;
  };
  const int of_6 = launches(Residual<6>{});
  const int of_12 = launches(Residual<12>{});
  const int of_24 = launches(Residual<24>{});
  CHECK(of_24 - of_12 == 2 * (of_12 - of_6));
}
