// SPDX-License-Identifier: Apache-2.0
//
// Transforms of functions against formulas, finite differences and each other. That forward mode agrees with reverse mode for
// every operation is checked by tests/support/gradient_check.hpp.

#include "tests/support/numbers.hpp"

#include <twill/compile.hpp>
#include <twill/graph.hpp>
#include <twill/nn.hpp>
#include <twill/ops.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
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

/// The derivatives of `gradient`, a list of numbers, by each element of x, by central differences.
template <class X> Numbers differences(const X& x, const auto& gradient, double step = 1e-6) {
  Numbers by_column{};
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    X above = x.clone();
    X below = x.clone();
    above.data()[i] += step;
    below.data()[i] -= step;
    const Numbers high = gradient(above);
    const Numbers low = gradient(below);
    for (std::size_t k = 0; k < high.size(); ++k) by_column.push_back((high[k] - low[k]) / (2 * step));
  }
  const auto columns = static_cast<std::size_t>(x.elements());
  const std::size_t rows = by_column.size() / columns;
  Numbers by_row{};
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) by_row.push_back(by_column[c * rows + r]);
  return by_row;
}

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

constexpr auto wave = [](auto x) { return sin(x) * exp(x * 0.5); };

/// (1 - a)^2 + 100 (b - a^2)^2, summed over neighbours (Rosenbrock, 1960).
constexpr auto rosenbrock = [](Value x) {
  const Value a = graph::slice_axis(x, 0, {.begin = 0, .end = 3});
  const Value b = graph::slice_axis(x, 0, {.begin = 1, .end = 4});
  return sum(square(1 - a) + 100 * square(b - square(a)));
};

/// The mean squared error of a layer of tanh and a linear one.
constexpr auto mlp_loss = [](Value w, Value v, Value x, Value y) {
  return mean(square(matmul(tanh(matmul(x, w)), v) - y));
};

constexpr auto cube = [](Value v) { return v * v * v; };

/// Of several results.
constexpr auto two_results = [](Value a, Value b) { return std::array{matmul(a, b), tanh(a) * 2}; };

constexpr auto product = [](Value a, Value b) { return sum(a * a * b); };

/// Of a loop: h <- tanh(h w + x) for each row x.
constexpr auto recurrent = [](Value h, Value w, Value rows) {
  return graph::scan(std::array{h}, std::array{rows},
                     [&](Value state, Value row) {
                       return graph::Step<1, 0>{{tanh(matmul(state, w) + row)}, {}};
                     })
      .carry[0];
};

/// Of what the loop leaves, from a state that depends on the weights.
constexpr auto loop_loss = [](Value w, Value rows) {
  return sum(square(recurrent(graph::slice_axis(w, 0, {.begin = 0, .end = 1}), w, rows)));
};

} // namespace

TEST_CASE("jvp gives the value and the derivative along a tangent", "[transforms]") {
  const auto x = randn<double, Shape<5>>();
  const auto t = randn<double, Shape<5>>();
  const auto [y, tangent] = jvp(wave, x, t);
  check_same(numbers(compiled(wave)(x)), numbers(y));
  Numbers expected{};
  for (int i = 0; i < 5; ++i) {
    const double at = x.data()[i];
    expected.push_back((std::cos(at) + 0.5 * std::sin(at)) * std::exp(at * 0.5) * t.data()[i]);
  }
  check_same(expected, numbers(tangent));
  const auto [same, none] = jvp([](auto a, auto b) { return a * 0.0 + b; }, std::tuple{x, t}, x);
  check_same(numbers(t), numbers(same));
  check_same(Numbers(5, 0.0), numbers(none));
}

TEST_CASE("vjp is the transpose of jvp, for several arguments and results", "[transforms]") {
  const auto a = randn<double, Shape<3, 4>>();
  const auto b = randn<double, Shape<4, 2>>();
  const auto ta = randn<double, Shape<3, 4>>();
  const auto tb = randn<double, Shape<4, 2>>();
  const auto u = randn<double, Shape<3, 2>>();
  const auto v = randn<double, Shape<3, 4>>();
  const auto [values, tangents] = jvp(two_results, std::tie(a, b), std::tie(ta, tb));
  const auto [same_values, pull] = vjp(two_results, a, b);
  check_same(numbers(std::get<1>(values)), numbers(std::get<1>(same_values)));
  const auto [ga, gb] = pull(u, v);
  CHECK(dot(numbers(u), numbers(std::get<0>(tangents))) + dot(numbers(v), numbers(std::get<1>(tangents))) ==
        Approx(dot(numbers(ga), numbers(ta)) + dot(numbers(gb), numbers(tb))).epsilon(1e-12));
}

TEST_CASE("jvp of a loop is the transpose of its gradient", "[transforms]") {
  const auto h = randn<double, Shape<2, 3>>();
  const auto w = randn<double, Shape<3, 3>>();
  const auto rows = randn<double, Shape<4, 2, 3>>();
  const auto th = randn<double, Shape<2, 3>>();
  const auto tw = randn<double, Shape<3, 3>>();
  const auto trows = randn<double, Shape<4, 2, 3>>();
  const auto u = randn<double, Shape<2, 3>>();
  const auto [y, tangent] = jvp(recurrent, std::tie(h, w, rows), std::tie(th, tw, trows));
  const auto [same, pull] = vjp(recurrent, h, w, rows);
  check_same(numbers(same), numbers(y));
  const auto [gh, gw, grows] = pull(u);
  CHECK(dot(numbers(u), numbers(tangent)) ==
        Approx(dot(numbers(gh), numbers(th)) + dot(numbers(gw), numbers(tw)) + dot(numbers(grows), numbers(trows)))
            .epsilon(1e-11));
}

TEST_CASE("jacobians agree in rows and in columns, and with finite differences", "[transforms]") {
  const auto x = randn<double, Shape<2, 3>>();
  const auto f = [](Value v) { return matmul(tanh(v), transpose(exp(v * 0.3))); };
  const auto rows = jacrev(f)(x);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(rows)>::shape_type, Shape<2, 2, 2, 3>>);
  check_same(numbers(rows), numbers(jacfwd(f)(x)));
  check_same(numbers(rows), numbers(jacobian(f)(x)));
  check_same(differences(x, [&](const auto& at) { return numbers(compiled(f)(at)); }), numbers(rows), 1e-7);
  // By the first of two arguments, and by both: result by result.
  const auto a = randn<double, Shape<3, 4>>();
  const auto b = randn<double, Shape<4, 2>>();
  const auto [first_by_a, second_by_a] = jacobian<1>(two_results)(a, b);
  const auto [aa, ab, ba, bb] = jacfwd(two_results)(a, b);
  check_same(numbers(first_by_a), numbers(aa));
  check_same(numbers(second_by_a), numbers(ba));
  check_same(Numbers(12 * 8, 0.0), numbers(bb));
  CHECK(ab.shape() == Dims(3, 2, 4, 2));
}

TEST_CASE("a jacobian of a function with a loop is one batched pass", "[transforms]") {
  const auto h = randn<double, Shape<1, 3>>();
  const auto w = randn<double, Shape<3, 3>>();
  const auto rows = randn<double, Shape<4, 1, 3>>();
  const auto by_rows = jacrev<1>(recurrent)(h, w, rows);
  check_same(numbers(by_rows), numbers(jacfwd<1>(recurrent)(h, w, rows)));
  check_same(differences(h, [&](const auto& at) { return numbers(compiled(recurrent)(at, w, rows)); }),
             numbers(by_rows), 1e-7);
}

TEST_CASE("the hessian of Rosenbrock's function is symmetric and agrees with finite differences", "[transforms]") {
  const auto x = randn<double, Shape<4>>();
  const auto second = hessian(rosenbrock)(x);
  const Numbers h = numbers(second);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) CHECK(h[4 * i + j] == Approx(h[4 * j + i]).epsilon(1e-12).margin(1e-12));
  check_same(differences(x, [](const auto& at) { return numbers(grad(rosenbrock)(at)); }), h, 1e-6);
  const auto t = randn<double, Shape<4>>();
  const auto [value, curved] = hvp(rosenbrock, x, t);
  check_same(numbers(compiled(rosenbrock)(x)), numbers(value));
  Numbers expected{};
  for (std::size_t i = 0; i < 4; ++i) expected.push_back(dot({&h[4 * i], &h[4 * i] + 4}, numbers(t)));
  check_same(expected, numbers(curved));
}

TEST_CASE("the hessian of a perceptron's loss is symmetric and agrees with finite differences", "[transforms]") {
  const auto w = randn<double, Shape<3, 4>>();
  const auto v = randn<double, Shape<4, 2>>();
  const auto x = randn<double, Shape<5, 3>>();
  const auto y = randn<double, Shape<5, 2>>();
  const auto [ww, wv, vw, vv] = hessian<2>(mlp_loss)(w, v, x, y);
  const Numbers of_w = numbers(ww);
  const Numbers across = numbers(wv);
  const Numbers back = numbers(vw);
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t j = 0; j < 12; ++j)
      CHECK(of_w[12 * i + j] == Approx(of_w[12 * j + i]).epsilon(1e-11).margin(1e-13));
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t j = 0; j < 8; ++j)
      CHECK(across[8 * i + j] == Approx(back[12 * j + i]).epsilon(1e-11).margin(1e-13));
  const auto gradients_at = [&](const auto& w_at, const auto& v_at, std::size_t which) {
    const auto all = grad(mlp_loss)(w_at, v_at, x, y);
    return which == 0 ? numbers(std::get<0>(all)) : numbers(std::get<1>(all));
  };
  check_same(differences(w, [&](const auto& at) { return gradients_at(at, v, 0); }), of_w, 1e-6);
  check_same(differences(v, [&](const auto& at) { return gradients_at(w, at, 0); }), across, 1e-6);
  check_same(differences(v, [&](const auto& at) { return gradients_at(w, at, 1); }), numbers(vv), 1e-6);
}

TEST_CASE("transforms nest, with each other, with grad and with checkpoint", "[transforms]") {
  const auto x = randn<double, Shape<3>>();
  const auto t = randn<double, Shape<3>>();
  Numbers second{};
  Numbers third{};
  for (int i = 0; i < 3; ++i) {
    second.push_back(6 * x.data()[i] * t.data()[i] * t.data()[i]);
    third.push_back(6 * t.data()[i] * t.data()[i] * t.data()[i]);
  }
  // Forward over forward, and once more.
  const auto twice = [](Value v, Value u) { return jvp([&](Value a) { return jvp(cube, a, u).second; }, v, u).second; };
  check_same(second, numbers(compiled(twice)(x, t)));
  check_same(third, numbers(jvp(twice, std::tie(x, t), t).second));
  // Reverse over forward: the gradient of <u, J u> by v.
  const auto quadratic = [](Value v, Value u) { return sum(jvp(cube, v, u).second * u); };
  check_same(second, numbers(std::get<0>(grad(quadratic)(x, t))));
  // Forward over reverse, through a part that is computed again.
  const auto loss = [](Value v) { return sum(checkpoint([](Value a) { return a * a * a * a; })(v)); };
  Numbers expected{};
  for (int i = 0; i < 3; ++i) expected.push_back(12 * x.data()[i] * x.data()[i] * t.data()[i]);
  check_same(expected, numbers(hvp(loss, x, t).second));
  check_same(expected, numbers(jvp(grad(loss), x, t).second));
  // A pullback in a model, and a Jacobian of a Jacobian.
  const auto pulled = [](Value v, Value u) { return vjp(cube, v).second(u); };
  for (double& number : expected) number = 0;
  for (std::size_t i = 0; i < 3; ++i) expected[i] = 3 * x.data()[i] * x.data()[i] * t.data()[i];
  check_same(expected, numbers(compiled(pulled)(x, t)));
  const Numbers all = numbers(jacobian(jacobian(cube))(x));
  for (std::size_t i = 0; i < 27; ++i) CHECK(all[i] == Approx(i % 13 == 0 ? 6 * x.data()[i / 13] : 0).margin(1e-12));
  const Numbers of_jacobian = numbers(grad([](Value v) { return sum(jacobian(cube)(v)); })(x));
  for (std::size_t i = 0; i < 3; ++i) CHECK(of_jacobian[i] == Approx(6 * x.data()[i]).epsilon(1e-12));
}

TEST_CASE("second derivatives go through loops", "[transforms]") {
  const auto w = randn<double, Shape<2, 2>>();
  const auto rows = randn<double, Shape<4, 1, 2>>();
  const auto t = randn<double, Shape<2, 2>>();
  const Numbers h = numbers(hessian<1>(loop_loss)(w, rows));
  REQUIRE(h.size() == 16);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) CHECK(h[4 * i + j] == Approx(h[4 * j + i]).epsilon(1e-11).margin(1e-11));
  check_same(differences(w, [&](const auto& at) { return numbers(grad<1>(loop_loss)(at, rows)); }), h, 1e-6);
  Numbers expected{};
  for (std::size_t i = 0; i < 4; ++i) expected.push_back(dot({&h[4 * i], &h[4 * i] + 4}, numbers(t)));
  const auto [value, curved] = hvp(loop_loss, std::tie(w, rows), t);
  check_same(numbers(compiled(loop_loss)(w, rows)), numbers(value));
  check_same(expected, numbers(curved));
  // Reverse over reverse agrees with forward over reverse.
  const auto slope = [](Value v, Value r, Value u) { return sum(grad<1>(loop_loss)(v, r) * u); };
  check_same(expected, numbers(grad<1>(slope)(w, rows, t)));
}

TEST_CASE("arguments of one value are told apart", "[transforms]") {
  // d/da of a b at a = x, b = x^2, traced, is x^2: b is an argument of its own.
  const auto partial = [](Value x) {
    return jvp([](Value a, Value b) { return a * b; }, std::array{x, x * x}, std::array{x * 0 + 1}).second;
  };
  const auto x = randn<double, Shape<3>>();
  Numbers expected{};
  for (int i = 0; i < 3; ++i) expected.push_back(x.data()[i] * x.data()[i]);
  check_same(expected, numbers(compiled(partial)(x)));
  const Numbers at = numbers(x);
  for (std::size_t i = 0; i < 3; ++i) expected[i] = 2 * at[i] * at[i] * at[i]; // d/da of a^2 b
  const auto by_gradient = [](Value v) { return grad(product)(v, v * v)[0]; };
  check_same(expected, numbers(compiled(by_gradient)(x)));
  const auto by_value_and_gradient = [](Value v) { return value_and_grad(product)(v, v * v)[1]; };
  check_same(expected, numbers(compiled(by_value_and_gradient)(x)));
  const auto by_pullback = [](Value v) { return vjp(product, v, v * v).second(sum(v * 0) + 1)[0]; };
  check_same(expected, numbers(compiled(by_pullback)(x)));
  const auto by_jacobian = [](Value v) { return jacobian<1>(product)(v, v * v); };
  check_same(expected, numbers(compiled(by_jacobian)(x)));
  const auto by_both = [](Value v) { return jacrev(product)(v, v * v)[0]; };
  check_same(expected, numbers(compiled(by_both)(x)));
  for (std::size_t i = 0; i < 3; ++i) expected[i] = 2 * at[i] * at[i]; // d2/da2 times one
  const auto by_hvp = [](Value v) { return hvp(product, std::array{v, v * v}, std::array{v * 0 + 1}).second; };
  check_same(expected, numbers(compiled(by_hvp)(x)));
  // An argument given twice.
  for (std::size_t i = 0; i < 3; ++i) expected[i] = 2 * at[i] * at[i];
  check_same(expected, numbers(compiled([](Value v) { return grad(product)(v, v)[0]; })(x)));
}

TEST_CASE("linearize gives the value and the linear function of tangents", "[transforms]") {
  const auto a = randn<double, Shape<3, 4>>();
  const auto b = randn<double, Shape<4, 2>>();
  const auto ta = randn<double, Shape<3, 4>>();
  const auto tb = randn<double, Shape<4, 2>>();
  const auto [values, tangents] = jvp(two_results, std::tie(a, b), std::tie(ta, tb));
  const auto [same, push] = linearize(two_results, a, b);
  check_same(numbers(std::get<0>(values)), numbers(std::get<0>(same)));
  const auto [first, second] = push(ta, tb);
  check_same(numbers(std::get<0>(tangents)), numbers(first));
  check_same(numbers(std::get<1>(tangents)), numbers(second));
  // Traced: the primal part is computed once for two tangents, one of which is a constant's.
  const auto twice = [](Value x, Value t) {
    const auto [y, pushed] = linearize([](Value u, Value v) { return sin(u) * v; }, x, x * x);
    return std::array{y, pushed(t), pushed(t, t * 2)};
  };
  const auto x = randn<double, Shape<3>>();
  const auto t = randn<double, Shape<3>>();
  const auto [y, by_first, by_both] = compiled(twice)(x, t);
  Numbers expected[2]{};
  for (int i = 0; i < 3; ++i) {
    const double at = x.data()[i];
    expected[0].push_back(std::cos(at) * at * at * t.data()[i]);
    expected[1].push_back(expected[0].back() + std::sin(at) * 2 * t.data()[i]);
  }
  check_same(expected[0], numbers(by_first));
  check_same(expected[1], numbers(by_both));
}

TEST_CASE("dynamic extents are compared when a transform runs", "[transforms]") {
  const auto x = randn<double, Shape<dyn>>(Dims(4));
  const auto t = randn<double, Shape<dyn>>(Dims(4));
  const auto total = [](auto v) { return sum(square(v) * v); };
  Numbers expected{};
  for (int i = 0; i < 4; ++i) expected.push_back(6 * x.data()[i] * t.data()[i]);
  check_same(expected, numbers(hvp(total, x, t).second));
  const Numbers h = numbers(hessian(total)(x));
  for (std::size_t i = 0; i < 16; ++i) CHECK(h[i] == Approx(i % 5 == 0 ? 6 * x.data()[i / 5] : 0).margin(1e-12));
  CHECK_THROWS_AS(hvp(total, x, randn<double, Shape<dyn>>(Dims(5))), ShapeError);
}
