// SPDX-License-Identifier: Apache-2.0
//
// Loops whose body is traced once, against the same steps traced one after another: values, gradients and gradients of
// gradients, in both directions, with any number of steps.

#include "tests/support/numbers.hpp"

#include <twill/compile.hpp>
#include <twill/graph.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using graph::Value;

namespace {

template <class X> std::vector<double> elements(const X& tensor) {
  std::vector<double> result{};
  const auto row_major = tensor.contiguous();
  synchronize(row_major.device());
  for (std::int64_t i = 0; i < row_major.elements(); ++i) result.push_back(static_cast<double>(row_major.data()[i]));
  return result;
}

void check_same(const std::vector<double>& expected, const std::vector<double>& got) {
  REQUIRE(expected.size() == got.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-11).margin(1e-13));
}

/// One step of a small recurrent layer: the state, and what is seen of it.
constexpr std::array<Value, 2> recur(Value h, Value x, Value w, Value b) {
  const Value next = tanh(matmul(h, w) + x * exp(b) + 0.25 * h);
  return {next, sum(next * h, {-1})};
}

/// x: (steps, rows, columns). Returns the last state and what every step showed.
constexpr std::array<Value, 2> scanned(Value h, Value w, Value b, Value x, bool reversed) {
  const auto result = graph::scan(std::array{h}, std::array{x},
                                  [&](Value state, Value element) {
                                    const auto [next, seen] = recur(state, element, w, b);
                                    return graph::Step<1, 1>{{next}, {seen}};
                                  },
                                  {.reversed = reversed});
  return {result.carry[0], result.results[0]};
}

/// A scalar of everything a loop returns.
constexpr Value weighed(Value last, Value seen, double first, double second) {
  return sum(last * last * first) + sum(seen * seen * second);
}

struct Scanned {
  constexpr Value operator()(Value h, Value w, Value b, Value x) const {
    const auto [last, seen] = scanned(h, w, b, x, false);
    return weighed(last, seen, 1, 0.5);
  }
};
struct ScannedBack {
  constexpr Value operator()(Value h, Value w, Value b, Value x) const {
    const auto [last, seen] = scanned(h, w, b, x, true);
    return weighed(last, seen, 1, 0.5);
  }
};

/// The same for three steps, one after another.
struct Unrolled {
  constexpr Value operator()(Value h, Value w, Value b, Value x0, Value x1, Value x2) const {
    const auto [h1, s0] = recur(h, x0, w, b);
    const auto [h2, s1] = recur(h1, x1, w, b);
    const auto [h3, s2] = recur(h2, x2, w, b);
    return sum(h3 * h3) + 0.5 * (sum(s0 * s0) + sum(s1 * s1) + sum(s2 * s2));
  }
};

/// The gradients' own scalar, whose gradients are second derivatives.
template <class F> struct SumOfGradients {
  template <class... Values> constexpr Value operator()(Values... values) const {
    const Value loss = F{}(values...);
    Value total = graph::constant(loss.graph(), loss.dtype(), 0);
    for (const Value& gradient : graph::gradients(loss, std::array{values...})) total = total + sum(sin(gradient));
    return total;
  }
};

struct Case {
  Tensor<double, Cpu, Shape<dyn, 4>> h = rand<double, Shape<dyn, 4>>(Dims(3, 4));
  Tensor<double, Cpu, Shape<4, 4>> w = rand<double, Shape<4, 4>>(Dims(4, 4));
  Tensor<double, Cpu, Shape<4>> b = rand<double, Shape<4>>(Dims(4));
  Tensor<double, Cpu, Shape<dyn, dyn, 4>> x = rand<double, Shape<dyn, dyn, 4>>(Dims(3, 3, 4));

  [[nodiscard]] Tensor<double, Cpu, Shape<dyn, 4>> step(int t) const {
    auto result = zeros<double, Shape<dyn, 4>>(Dims(3, 4));
    synchronize(x.device());
    std::copy_n(x.data() + t * 12, 12, result.data());
    return result;
  }
};

template <class F, class G> void check_gradients(const Case& given, F scan_form, G unrolled_form, bool reversed) {
  const auto got = scan_form(given.h, given.w, given.b, given.x);
  const int first = reversed ? 2 : 0;
  const auto want = unrolled_form(given.h, given.w, given.b, given.step(first), given.step(1), given.step(2 - first));
  check_same(elements(std::get<0>(want)), elements(std::get<0>(got)));
  check_same(elements(std::get<1>(want)), elements(std::get<1>(got)));
  check_same(elements(std::get<2>(want)), elements(std::get<2>(got)));
  std::vector<double> of_x = elements(reversed ? std::get<5>(want) : std::get<3>(want));
  for (const double value : elements(std::get<4>(want))) of_x.push_back(value);
  for (const double value : elements(reversed ? std::get<3>(want) : std::get<5>(want))) of_x.push_back(value);
  check_same(of_x, elements(std::get<3>(got)));
}

} // namespace

TEST_CASE("a scan computes what its steps compute one after another", "[compile][TRAIN-2]") {
  const Case given{};
  const auto got = compiled(Scanned{})(given.h, given.w, given.b, given.x);
  const auto want = compiled(Unrolled{})(given.h, given.w, given.b, given.step(0), given.step(1), given.step(2));
  check_same(elements(want), elements(got));
  const auto back = compiled(ScannedBack{})(given.h, given.w, given.b, given.x);
  const auto want_back = compiled(Unrolled{})(given.h, given.w, given.b, given.step(2), given.step(1), given.step(0));
  check_same(elements(want_back), elements(back));
}

TEST_CASE("a scan has the gradients of its steps", "[compile][TRAIN-1]") {
  const Case given{};
  check_gradients(given, grad(Scanned{}), grad(Unrolled{}), false);
  check_gradients(given, grad(ScannedBack{}), grad(Unrolled{}), true);
}

TEST_CASE("a scan has second derivatives", "[compile][TRAIN-1]") {
  const Case given{};
  check_gradients(given, grad(SumOfGradients<Scanned>{}), grad(SumOfGradients<Unrolled>{}), false);
}

namespace {

/// Both carries need the other one as it was.
struct Fibonacci {
  constexpr auto operator()(Value a, Value b) const {
    const auto result = graph::scan(std::array{a, b}, std::array<Value, 0>{},
                                    [](Value x, Value y) {
                                      return graph::Step<2, 0>{{y, x + y}, {}};
                                    },
                                    {.count = {10, 0}});
    return std::array{result.carry[0], result.carry[1]};
  }
};

/// Neither can be overwritten before the other is read.
struct Exchanged {
  constexpr auto operator()(Value a, Value b, Value x) const {
    const auto result = graph::scan(std::array{a, b}, std::array{x}, [](Value p, Value q, Value element) {
      return graph::Step<2, 1>{{transpose(q) + element, transpose(p) * 2}, {p}};
    });
    return std::array{result.carry[0], result.carry[1], result.results[0]};
  }
};

/// A counter beside a state: the step's own number is seen.
struct Counted {
  constexpr auto operator()(Value x) const {
    const Value start = graph::constant(x.graph(), DType::int64, 0);
    const auto result = graph::scan(std::array{start}, std::array{x}, [](Value n, Value element) {
      return graph::Step<1, 1>{{n + 1}, {element * cast(n, DType::float64)}};
    });
    return std::array{result.carry[0], result.results[0]};
  }
};

/// What is kept of x by draws of every step, and the gradient of the sum of its squares.
struct Thinned {
  constexpr auto operator()(Value x) const {
    const Value start = graph::constant(x.graph(), DType::float64, 0);
    const auto result = graph::scan(std::array{start}, std::array{x}, [](Value n, Value element) {
      const Value kept = where(graph::random_uniform(element.graph(), element.shape()) < 0.5, 0.0, element);
      return graph::Step<1, 1>{{n + sum(kept * kept)}, {kept}};
    });
    return std::array{result.results[0], graph::gradient(result.carry[0], x)};
  }
};

/// The state of a user's model at each of so many steps.
template <std::int64_t Steps> struct Rolled {
  constexpr Value operator()(Value h, Value w, Value x) const {
    const auto result = graph::scan(std::array{h}, std::array{x}, [&](Value state, Value element) {
      return graph::Step<1, 0>{{tanh(matmul(state, w) + element)}, {}};
    });
    return sum(result.carry[0]);
  }
};
template <std::int64_t Steps>
using RolledGradient =
    compile::GradientSource<Rolled<Steps>, false, compile::Argument<float, Shape<8, 16>>,
                            compile::Argument<float, Shape<16, 16>>, compile::Argument<float, Shape<Steps, 8, 16>>>;

/// A scan over the rows of each step of a scan, and its gradient by the weights and the sequences.
template <std::int64_t Steps> struct RolledTwice {
  constexpr Value operator()(Value h, Value w, Value x) const {
    const auto result = graph::scan(std::array{h}, std::array{x}, [&](Value state, Value rows) {
      const auto inner = graph::scan(std::array{state * 0.5}, std::array{rows}, [&](Value t, Value row) {
        const Value next = tanh(matmul(t, w) + row + state);
        return graph::Step<1, 1>{{next}, {sum(next * t, {-1})}};
      });
      return graph::Step<1, 1>{{inner.carry[0]}, {sum(inner.results[0])}};
    });
    return sum(result.carry[0]) + sum(result.results[0] * result.results[0]);
  }
};
template <std::int64_t Steps>
using RolledTwiceGradient =
    compile::GradientSource<RolledTwice<Steps>, false, compile::Argument<float, Shape<8, 16>>,
                            compile::Argument<float, Shape<16, 16>>, compile::Argument<float, Shape<Steps, 4, 8, 16>>>;

} // namespace

TEST_CASE("carries that are exchanged see each other as they were", "[compile]") {
  const auto [a, b] = compiled(Fibonacci{})(full<double, Shape<3>>(Dims(3), 0.0), full<double, Shape<3>>(Dims(3), 1.0));
  CHECK(elements(a) == std::vector<double>{55, 55, 55});
  CHECK(elements(b) == std::vector<double>{89, 89, 89});
  const auto p = rand<double, Shape<3, 3>>(Dims(3, 3));
  const auto q = rand<double, Shape<3, 3>>(Dims(3, 3));
  const auto x = rand<double, Shape<dyn, 3, 3>>(Dims(5, 3, 3));
  const auto [last_p, last_q, seen] = compiled(Exchanged{})(p, q, x);
  std::vector<double> want_p = elements(p), want_q = elements(q), want_seen{};
  const std::vector<double> of_x = elements(x);
  for (std::size_t t = 0; t < 5; ++t) {
    want_seen.insert(want_seen.end(), want_p.begin(), want_p.end());
    std::vector<double> next_p(9), next_q(9);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        next_p[i * 3 + k] = want_q[k * 3 + i] + of_x[t * 9 + i * 3 + k];
        next_q[i * 3 + k] = want_p[k * 3 + i] * 2;
      }
    want_p = next_p;
    want_q = next_q;
  }
  CHECK(elements(last_p) == want_p);
  CHECK(elements(last_q) == want_q);
  CHECK(elements(seen) == want_seen);
}

TEST_CASE("a scan over no steps returns its first carries", "[compile]") {
  const auto x = zeros<double, Shape<dyn, 2>>(Dims(0, 2));
  const auto [n, seen] = compiled(Counted{})(x);
  CHECK(n.item() == 0);
  CHECK(seen.shape() == Dims(0, 2));
  const auto three = full<double, Shape<dyn, 2>>(Dims(3, 2), 2.0);
  const auto [count, products] = compiled(Counted{})(three);
  CHECK(count.item() == 3);
  CHECK(elements(products) == std::vector<double>{0, 0, 2, 2, 4, 4});
}

TEST_CASE("every step of a scan draws its own numbers, and the backward pass draws them again", "[compile][TRAIN-1]") {
  const auto x = full<double, Shape<dyn, 6, 50>>(Dims(4, 6, 50), 3.0);
  const auto [kept, gradient] = compiled(Thinned{})(x);
  const std::vector<double> of_kept = elements(kept);
  const std::vector<double> of_gradient = elements(gradient);
  std::size_t zeros_found = 0;
  std::size_t same_as_before = 0;
  for (std::size_t i = 0; i < of_kept.size(); ++i) {
    REQUIRE(of_gradient[i] == 2 * of_kept[i]);
    zeros_found += of_kept[i] == 0 ? 1 : 0;
    same_as_before += i >= 300 && of_kept[i] == of_kept[i - 300] ? 1 : 0;
  }
  CHECK(zeros_found > 500);
  CHECK(zeros_found < 700);
  CHECK(same_as_before < 600); // of 900; masks that repeat would give 900
}

TEST_CASE("a loop is compiled once, however many steps it has", "[compile]") {
  constexpr compile::Report few = compile::plan<RolledGradient<16>>();
  constexpr compile::Report many = compile::plan<RolledGradient<256>>();
  STATIC_REQUIRE(few == many);
  STATIC_REQUIRE(few.loops == 2);
  CHECK(compile::dump<RolledGradient<16>>().find("(in each of 16 steps, last first)") != std::string::npos);
}

TEST_CASE("a loop in a loop is compiled once, however many steps they have", "[compile]") {
  constexpr compile::Report few = compile::plan<RolledTwiceGradient<3>>();
  constexpr compile::Report many = compile::plan<RolledTwiceGradient<64>>();
  STATIC_REQUIRE(few == many);
  STATIC_REQUIRE(few.loops == 4); // forwards, and backwards with what the inner one has kept
  const std::string dump = compile::dump<RolledTwiceGradient<3>>();
  CHECK(dump.find("(in each of 4 steps, in each of 3 steps)") != std::string::npos);
  CHECK(dump.find("(in each of 4 steps, last first, in each of 3 steps, last first)") != std::string::npos);
}

TEST_CASE("a compiled scan in a scan has the values and gradients of its steps", "[compile][TRAIN-1][TRAIN-2]") {
  const auto h = rand<double, Shape<2, 3>>(Dims(2, 3));
  const auto w = rand<double, Shape<3, 3>>(Dims(3, 3));
  auto x = rand<double, Shape<dyn, dyn, 2, 3>>(Dims(3, 2, 2, 3));
  synchronize(x.device());
  const auto [by_h, by_w, by_x] = grad(RolledTwice<0>{})(h, w, x);
  // The same of loops over the rows in a loop of the host, and central differences by x.
  const auto loss_at = [&] {
    std::vector<double> state = elements(h), of_w = elements(w), of_x = elements(x);
    double loss = 0;
    for (std::size_t step = 0; step < 3; ++step) {
      std::vector<double> t = state;
      for (double& value : t) value *= 0.5;
      double seen = 0;
      for (std::size_t row = 0; row < 2; ++row) {
        std::vector<double> next(6);
        for (std::size_t i = 0; i < 6; ++i) {
          double product = 0;
          for (std::size_t k = 0; k < 3; ++k) product += t[i / 3 * 3 + k] * of_w[k * 3 + i % 3];
          next[i] = std::tanh(product + of_x[(step * 2 + row) * 6 + i] + state[i]);
        }
        for (std::size_t i = 0; i < 6; ++i) seen += next[i] * t[i];
        t = next;
      }
      state = t;
      loss += seen * seen;
    }
    for (double value : state) loss += value;
    return loss;
  };
  CHECK(elements(compiled(RolledTwice<0>{})(h, w, x))[0] == Approx(loss_at()).epsilon(1e-12));
  const std::vector<double> gradient = elements(by_x);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    double& element = x.data()[i];
    const double kept = element;
    element = kept + 1e-5;
    const double above = loss_at();
    element = kept - 1e-5;
    const double below = loss_at();
    element = kept;
    CHECK(gradient[i] == Approx((above - below) / 2e-5).epsilon(1e-6).margin(1e-7));
  }
}
