// SPDX-License-Identifier: Apache-2.0
//
// Vectorised functions against loops over their examples: axes, nesting with all transforms, loops, recomputed parts, draws,
// gradients of each example and their plans. That every operation has a batching rule is checked by
// tests/support/batching_check.hpp.

#include "tests/support/golden.hpp"
#include "tests/support/numbers.hpp"

#include <twill/compile.hpp>
#include <twill/graph.hpp>
#include <twill/nn.hpp>
#include <twill/ops.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using graph::Value;
using test::numbers;

namespace {

using Numbers = std::vector<double>;

void check_same(const Numbers& expected, const Numbers& got, double tolerance = 1e-11) {
  REQUIRE(expected.size() == got.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == Approx(expected[i]).epsilon(tolerance).margin(tolerance));
}

Numbers all_of(const Numbers& given) { return given; }
template <class X> Numbers all_of(const X& tensor) { return numbers(tensor); }

/// The numbers of f for each row of a batch, one after another.
template <class Batch, class F> Numbers loop(const Batch& batch, const F& f) {
  Numbers all{};
  for (std::int64_t i = 0; i < batch.shape()[0]; ++i)
    for (double number : all_of(f(batch(i)))) all.push_back(number);
  return all;
}
/// Of two batches.
template <class A, class B, class F> Numbers loop(const A& a, const B& b, const F& f) {
  Numbers all{};
  for (std::int64_t i = 0; i < a.shape()[0]; ++i)
    for (double number : all_of(f(a(i), b(i)))) all.push_back(number);
  return all;
}

constexpr auto row_sums = [](Value x) { return sum(tanh(x) * x, {-1}); };
constexpr auto layer = [](Value x, Value w) { return tanh(matmul(x, w)); };
constexpr auto cube = [](Value v) { return v * v * v; };
constexpr auto energy = [](Value v) { return sum(square(v) * tanh(v)); };

/// The loss of one example (features) with a label, of a perceptron.
constexpr auto loss_of_one = [](Value w, Value v, Value x, Value label) {
  const Value hidden = tanh(matmul(graph::unsqueeze(x, 0), w));
  return nn::cross_entropy(matmul(hidden, v), graph::unsqueeze(label, 0));
};

/// Of an image (channels, height, width), by a kernel.
constexpr auto loss_of_image = [](Value kernel, Value image) {
  const Value y = graph::conv2d(graph::unsqueeze(image, 0), kernel, {.padding = 1});
  return sum(square(graph::max_pool2d(y, {.window = 2})));
};

/// h <- tanh(h w + x) for each row x.
constexpr auto recurrent = [](Value h, Value w, Value rows) {
  const auto step = [&](Value state, Value row) {
    const Value next = tanh(matmul(state, w) + row);
    return graph::Step<1, 1>{{next}, {next * 2}};
  };
  const auto all = graph::scan(std::array{h}, std::array{rows}, step);
  return std::array{all.carry[0], all.results[0]};
};

constexpr auto loss_of_states = [](Value h, Value w, Value rows) { return sum(square(recurrent(h, w, rows)[1])); };

constexpr auto plain = [](Value v) { return sum(exp(tanh(v) * v)); };
constexpr auto recomputed = [](Value v) { return sum(checkpoint([](Value a) { return exp(tanh(a) * a); })(v)); };
constexpr auto noisy = [](Value v) { return v * cast(graph::random_uniform(v.graph(), v.shape()), v.dtype()); };

} // namespace

TEST_CASE("vmap is a loop over the examples, along any axes", "[vmap]") {
  const auto x = randn<double, Shape<3, 2, 4>>();
  const Numbers expected = loop(x, compiled(row_sums));
  check_same(expected, numbers(vmap(row_sums)(x)));
  check_same(expected, numbers(vmap<1>(row_sums)(x.template permute<1, 0, 2>().contiguous())));
  check_same(expected, numbers(vmap<-1>(row_sums)(x.template permute<1, 2, 0>().contiguous())));
  const auto at_the_end = vmap<0>(row_sums, out_axes<-1>)(x);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(at_the_end)>::shape_type, Shape<2, 3>>);
  check_same(expected, numbers(at_the_end.transpose().contiguous()));
}

TEST_CASE("arguments without a batch are shared by all examples", "[vmap]") {
  const auto x = randn<double, Shape<3, 2, 4>>();
  const auto w = randn<double, Shape<4, 5>>();
  check_same(loop(x, [&](const auto& one) { return compiled(layer)(one, w); }),
             numbers(vmap<0, unbatched>(layer)(x, w)));
  const auto ws = randn<double, Shape<3, 4, 5>>();
  const auto one_x = randn<double, Shape<2, 4>>();
  check_same(loop(ws, [&](const auto& one) { return compiled(layer)(one_x, one); }),
             numbers(vmap<unbatched, 0>(layer)(one_x, ws)));
  check_same(loop(x, ws, compiled(layer)), numbers(vmap(layer)(x, ws)));
  // A result that reads no batch is repeated; several results have an axis each.
  const auto two = [](Value a, Value b) { return std::array{a * 2, b + 1}; };
  const auto [doubled, repeated] = vmap<0, unbatched>(two, out_axes<0, 1>)(x, w);
  CHECK(doubled.shape() == Dims(3, 2, 4));
  CHECK(repeated.shape() == Dims(4, 3, 5));
}

TEST_CASE("vmap nests", "[vmap]") {
  const auto x = randn<double, Shape<3, 2, 4>>();
  const auto outer = [](Value a, Value b) { return sum(a * b) * tanh(a); };
  const auto y = randn<double, Shape<2, 4>>();
  // All pairs: a of the first and second axes, b of the second argument's first.
  const auto pairs = vmap<0, unbatched>(vmap<0, unbatched>(vmap<unbatched, 0>(outer)))(x, y);
  REQUIRE(pairs.shape() == Dims(3, 2, 2, 4));
  Numbers expected{};
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 2; ++j)
      for (std::int64_t k = 0; k < 2; ++k)
        for (double number : numbers(compiled(outer)(x(i, j), y(k)))) expected.push_back(number);
  check_same(expected, numbers(pairs));
}

TEST_CASE("vmap nests with gradients, tangents and Jacobians", "[vmap]") {
  const auto x = randn<double, Shape<3, 4>>();
  const auto t = randn<double, Shape<3, 4>>();
  const Numbers gradients = loop(x, grad(energy));
  check_same(gradients, numbers(vmap(grad(energy))(x)));
  check_same(gradients, numbers(grad([](Value v) { return sum(vmap(energy)(v)); })(x)));
  check_same(loop(x, t, [](const auto& a, const auto& b) { return jvp(energy, a, b).second; }),
             numbers(jvp(vmap(energy), x, t).second));
  const auto tangent = [](Value a, Value b) { return jvp(energy, a, b).second; };
  check_same(loop(x, t, compiled(tangent)), numbers(vmap(tangent)(x, t)));
  check_same(loop(x, hessian(energy)), numbers(vmap(hessian(energy))(x)));
  check_same(loop(x, jacrev(cube)), numbers(vmap(jacrev(cube))(x)));
  check_same(loop(x, jacfwd(cube)), numbers(vmap(jacfwd(cube))(x)));
  // The Jacobian of a batched function is that of each example, with zeros between examples.
  const Numbers whole = numbers(jacobian(vmap(energy))(x));
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 4; ++k)
        CHECK(whole[(i * 3 + j) * 4 + k] == Approx(i == j ? gradients[i * 4 + k] : 0).margin(1e-12));
  // A pullback for many cotangents at once.
  const auto pulled = [](Value v, Value us) {
    const auto pull = vjp(cube, v).second;
    return vmap(pull)(us);
  };
  const auto one = x(0);
  check_same(loop(t, [&](const auto& u) { return vjp(cube, one).second(u); }), numbers(compiled(pulled)(one, t)));
}

TEST_CASE("vmap of a loop is a loop of batches", "[vmap]") {
  const auto h = randn<double, Shape<5, 2, 3>>();
  const auto w = randn<double, Shape<3, 3>>();
  const auto rows = randn<double, Shape<4, 2, 3>>();
  const auto of_state = [&](std::size_t which) {
    return loop(h, [&](const auto& one) {
      const auto all = compiled(recurrent)(one, w, rows);
      return which == 0 ? numbers(std::get<0>(all)) : numbers(std::get<1>(all));
    });
  };
  const auto [last, all] = vmap<0, unbatched, unbatched>(recurrent)(h, w, rows);
  check_same(of_state(0), numbers(last));
  check_same(of_state(1), numbers(all));
  // Only the sequence, only the weights: the state becomes batched on the way.
  const auto one_h = h(0);
  const auto sequences = randn<double, Shape<5, 4, 2, 3>>();
  const auto by_sequence = [&](const auto& one) { return std::get<1>(compiled(recurrent)(one_h, w, one)); };
  check_same(loop(sequences, by_sequence),
             numbers(std::get<1>(vmap<unbatched, unbatched, 0>(recurrent)(one_h, w, sequences))));
  const auto ws = randn<double, Shape<5, 3, 3>>();
  check_same(loop(ws, [&](const auto& one) { return std::get<0>(compiled(recurrent)(one_h, one, rows)); }),
             numbers(std::get<0>(vmap<unbatched, 0, unbatched>(recurrent)(one_h, ws, rows))));
  // Gradients through it, inside and outside.
  const auto by_w = [&](const auto& one) { return std::get<1>(grad(loss_of_states)(one, w, rows)); };
  check_same(loop(h, by_w), numbers(std::get<1>(vmap<0, unbatched, unbatched>(grad(loss_of_states))(h, w, rows))));
  const auto total = [](Value a, Value b, Value c) {
    return sum(vmap<0, unbatched, unbatched>(loss_of_states)(a, b, c));
  };
  const Numbers each = loop(h, by_w);
  Numbers sums(9, 0.0);
  for (std::size_t i = 0; i < each.size(); ++i) sums[i % 9] += each[i];
  check_same(sums, numbers(std::get<1>(grad(total)(h, w, rows))));
}

TEST_CASE("vmap keeps parts that are computed again", "[vmap]") {
  const auto x = randn<double, Shape<3, 4>>();
  const Numbers expected = loop(x, grad(plain));
  check_same(expected, numbers(vmap(grad(recomputed))(x)));
  check_same(expected, numbers(grad([](Value v) { return sum(vmap(recomputed)(v)); })(x)));
  graph::Graph graph{DType::float64};
  const Value batch{graph, graph.add_input(DType::float64, graph::extents_of(Dims(3, 4)))};
  const auto marked = [&] {
    std::size_t regions = 0;
    for (const graph::RegionInfo& region : graph.regions) regions += region.is_recomputed ? 1 : 0;
    return regions;
  };
  const Value y = vmap(recomputed)(batch);
  CHECK(marked() == 2); // of one example, which is dead code, and of all
  CHECK(graph.regions.back().end <= y.id() + 1);
  CHECK(graph.node(graph.regions.back().end - 1).region != 0);
}

TEST_CASE("random draws differ between examples and repeat in the backward pass", "[vmap]") {
  const auto x = ones<double, Shape<3, 64>>();
  const auto both = [](Value v) {
    const auto of_one = [](Value a) {
      const auto [value, pull] = vjp([](Value b) { return checkpoint(noisy)(b); }, a);
      return std::array{value, pull(a)};
    };
    return vmap(of_one)(v);
  };
  const auto [drawn, pulled] = compiled(both)(x);
  check_same(numbers(drawn), numbers(pulled));
  const Numbers all = numbers(drawn);
  int equal = 0;
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t row = 1; row < 3; ++row) equal += all[i] == all[row * 64 + i] ? 1 : 0;
  CHECK(equal < 3);
  // Draws of a part that is shared are shared.
  const auto outside = [](Value v) {
    const Value noise = graph::random_uniform(v.graph(), graph::extents_of(Dims(64)));
    return vmap([=](Value a) { return a * cast(noise, a.dtype()); })(v);
  };
  const Numbers shared = numbers(compiled(outside)(x));
  for (std::size_t i = 0; i < 64; ++i) CHECK(shared[i] == shared[64 + i]);
  // In a loop each step of each example draws its own numbers.
  const auto walk = [](Value v) {
    const auto step = [](Value state, Value) {
      return graph::Step<1, 1>{{state}, {graph::random_uniform(state.graph(), state.shape())}};
    };
    return graph::scan(std::array{v}, std::array{graph::iota(v.graph(), graph::extents_of(Dims(4)))}, step).results[0];
  };
  const Numbers steps = numbers(vmap(walk)(x));
  int repeated = 0;
  for (std::size_t i = 0; i < steps.size(); i += 64)
    for (std::size_t j = 0; j < i; j += 64) repeated += steps[i] == steps[j] ? 1 : 0;
  CHECK(repeated == 0);
}

TEST_CASE("gradients of each example are those of a loop, without one", "[vmap]") {
  const auto w = randn<double, Shape<4, 6>>();
  const auto v = randn<double, Shape<6, 3>>();
  const auto x = randn<double, Shape<5, 4>>();
  const auto labels =
      tensor<Shape<5>>({std::int64_t{0}, std::int64_t{2}, std::int64_t{1}, std::int64_t{1}, std::int64_t{0}});
  constexpr auto each = vmap<unbatched, unbatched, 0, 0>(grad<2>(loss_of_one));
  const auto [by_w, by_v] = each(w, v, x, labels);
  const auto one = [&](std::size_t which) {
    return loop(x, labels, [&](const auto& a, const auto& label) {
      const auto all = grad<2>(loss_of_one)(w, v, a, label);
      return which == 0 ? numbers(std::get<0>(all)) : numbers(std::get<1>(all));
    });
  };
  check_same(one(0), numbers(by_w));
  check_same(one(1), numbers(by_v));

  const auto kernel = randn<double, Shape<4, 2, 3, 3>>();
  const auto images = randn<double, Shape<3, 2, 6, 4>>();
  check_same(loop(images, [&](const auto& image) { return grad<1>(loss_of_image)(kernel, image); }),
             numbers(vmap<unbatched, 0>(grad<1>(loss_of_image))(kernel, images)));
}

TEST_CASE("the plan of gradients of each example has no loop, and as many launches for any batch", "[vmap]") {
  const auto launches = [](std::int64_t batch) {
    graph::Graph graph{DType::float32};
    const auto input = [&](DType dtype, const Dims& shape) {
      return Value{graph, graph.add_input(dtype, graph::extents_of(shape))};
    };
    const auto gradients = vmap<unbatched, unbatched, 0, 0>(grad<2>(loss_of_one))(
        input(DType::float32, Dims(4, 6)), input(DType::float32, Dims(6, 3)), input(DType::float32, Dims(batch, 4)),
        input(DType::int64, Dims(batch)));
    for (const Value& gradient : gradients) graph.outputs.push_back(gradient.id());
    REQUIRE(!graph.fault.any());
    const compile::Lowered lowered = compile::lower(graph);
    CHECK(lowered.loops.empty());
    std::size_t count = 0;
    std::size_t products = 0;
    for (const auto& instruction : lowered.instructions) {
      count += instruction.continues ? 0 : 1;
      const auto& kernel = lowered.kernels[static_cast<std::size_t>(instruction.kernel)];
      products += kernel.operation == "matmul" ? 1 : 0;
    }
    CHECK(products == 5); // of the hidden layer, the logits, the hidden gradient and both weights, for all examples
    return count;
  };
  const std::size_t few = launches(4);
  CHECK(launches(64) == few);
  CHECK(launches(512) == few);
}

TEST_CASE("the extent of a batch may be known only at run time", "[vmap]") {
  const auto w = randn<double, Shape<4, 2>>();
  const auto x = randn<double, Shape<dyn, 3, 4>>(Dims(5, 3, 4));
  const auto y = randn<double, Shape<dyn, 3, 4>>(Dims(5, 3, 4));
  const auto f = [](Value a, Value b, Value c) { return sum(square(matmul(a * b, c)), {0}); };
  check_same(loop(x, y, [&](const auto& a, const auto& b) { return compiled(f)(a, b, w); }),
             numbers(vmap<0, 0, unbatched>(f)(x, y, w)));
  CHECK_THROWS_AS((vmap<0, 0, unbatched>(f)(x, randn<double, Shape<dyn, 3, 4>>(Dims(4, 3, 4)), w)), ShapeError);
  const auto kernel = randn<double, Shape<2, 2, 3, 3>>();
  const auto images = randn<double, Shape<dyn, 2, 4, 4>>(Dims(3, 2, 4, 4));
  check_same(loop(images, [&](const auto& image) { return grad<1>(loss_of_image)(kernel, image); }),
             numbers(vmap<unbatched, 0>(grad<1>(loss_of_image))(kernel, images)));
}

TEST_CASE("gradients of each example, nested batches and batches of Hessians are PyTorch's", "[vmap][golden]") {
  const auto read = []<class S>(const char* name, S) {
    return from_values<S>(test::golden(std::string{"vmap/"} + name).values);
  };
  const auto expected = [](const char* name) { return test::golden(std::string{"vmap/"} + name).values; };
  const auto w = read("w", Shape<4, 6>{});
  const auto v = read("v", Shape<6, 3>{});
  const auto x = read("x", Shape<5, 4>{});
  const auto labels = read("labels", Shape<5>{}).to<std::int64_t>();
  const auto [by_w, by_v] = vmap<unbatched, unbatched, 0, 0>(grad<2>(loss_of_one))(w, v, x, labels);
  check_same(expected("by_w"), numbers(by_w));
  check_same(expected("by_v"), numbers(by_v));
  const auto kernel = read("kernel", Shape<4, 2, 3, 3>{});
  const auto images = read("images", Shape<3, 2, 6, 4>{});
  check_same(expected("by_kernel"), numbers(vmap<unbatched, 0>(grad<1>(loss_of_image))(kernel, images)));
  const auto with_product = [](Value a) { return energy(a) + prod(a); };
  check_same(expected("hessians"), numbers(vmap(hessian(with_product))(x)));
  const auto cosine = [](Value a, Value b) { return tanh(sum(a * b)); };
  const auto pairs = vmap<0, unbatched>(vmap<unbatched, 0>(cosine), out_axes<1>)(x, x(slice{0, 3}));
  CHECK(pairs.shape() == Dims(3, 5));
  check_same(expected("pairs"), numbers(pairs));
}
