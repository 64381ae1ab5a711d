// SPDX-License-Identifier: Apache-2.0
//
// NaN and infinities through activations, softmax, norms, order, reductions, losses and windows: compiled, and as PyTorch has
// them. Read next: tests/golden/scripts/special_values.py.

#include "tests/support/golden.hpp"

#include <twill/compile/function.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/normalisation.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/interpolate.hpp>
#include <twill/ops/pooling.hpp>
#include <twill/ops/sort.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

using Doubles = std::vector<double>;

/// Outputs of PyTorch, one after another.
class Expected {
public:
  explicit Expected(const char* name) : name_{name}, values_{golden(join_text({"special_values/", name})).values} {}
  template <class T> void check(const T& result) {
    const Doubles got = to_vector(result);
    INFO(name_ << ", function " << functions_);
    REQUIRE(at_ + got.size() <= values_.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double expected = values_[at_ + i];
      INFO("element " << i << " is " << got[i] << ", PyTorch's is " << expected);
      CHECK((got[i] == expected || (std::isnan(got[i]) && std::isnan(expected)) ||
             std::fabs(got[i] - expected) <= 1e-12 * std::fabs(expected) + 1e-15));
    }
    at_ += got.size();
    ++functions_;
  }
  [[nodiscard]] bool is_used_up() const { return at_ == values_.size(); }

private:
  const char* name_;
  Doubles values_;
  std::size_t at_ = 0;
  int functions_ = 0;
};

template <class Results> void check_all(const char* name, const Results& results) {
  Expected expected{name};
  std::apply([&](const auto&... each) { (expected.check(each), ...); }, results);
  CHECK(expected.is_used_up());
}

template <class S> Tensor<double, Cpu, S> read(const char* name) {
  return from_values<S>(golden(join_text({"special_values/", name})).values, S::dims(), Cpu{0});
}

constexpr auto of_elements = [](Value x) {
  using namespace graph;
  return std::tuple{relu(x),      leaky_relu(x, 0.2), sigmoid(x), silu(x),       gelu(x),       softplus(x),
                    elu(x),       clamp(x, -1, 2),    exp(x),     log(x),        sqrt(x),       tanh(x),
                    erf(x),       floor(x),           round(x),   reciprocal(x), maximum(x, 1), minimum(x, 1),
                    fmax(x, 1.0), fmin(x, 1.0)};
};

constexpr auto along = [](Value x) {
  using namespace graph;
  return std::tuple{softmax(x),
                    log_softmax(x),
                    layer_norm(x),
                    rms_norm(x),
                    normalize(x),
                    cumsum(x, 1),
                    graph::sort(x, 1).values,
                    graph::sort(x, 1, Order::descending).values,
                    topk(x, 5, 1).values};
};

constexpr auto over = [](Value x) {
  using namespace graph;
  return std::tuple{reshape(logsumexp(x), sum(x, {1}).shape()),
                    sum(x, {1}),
                    mean(x, {1}),
                    max(x, {1}),
                    min(x, {1}),
                    prod(x, {1}),
                    var(x, {1})};
};

constexpr auto windows = [](Value x) {
  using namespace graph;
  const Value image = unsqueeze(unsqueeze(x, 0), 0);
  return std::tuple{max_pool2d(image, {.window = 3, .stride = 2, .padding = 1}), avg_pool2d(image, {}),
                    adaptive_max_pool2d(image, 3), adaptive_avg_pool2d(image, 3), interpolate(image, {.size = 3})};
};

} // namespace

TEST_CASE("activations and functions of NaN and infinities are PyTorch's", "[nn][TRAIN-1]") {
  check_all("elementwise", compiled(of_elements)(read<Shape<10>>("alone")));
}

TEST_CASE("softmax, norms and orders of rows with NaN and infinities are PyTorch's", "[nn][TRAIN-1]") {
  check_all("along", compiled(along)(read<Shape<6, 5>>("rows")));
}

TEST_CASE("reductions and losses of rows with NaN and infinities are PyTorch's", "[nn][TRAIN-1]") {
  const auto x = read<Shape<6, 5>>("rows");
  Expected expected{"over"};
  const auto reduced = compiled(over)(x);
  std::apply([&](const auto&... each) { (expected.check(each), ...); }, reduced);
  // Of one row each, because other reductions than means and sums are not offered.
  const auto check_loss = [&](auto loss) {
    Doubles losses{};
    const auto run = compiled(loss);
    for (std::int64_t row = 0; row < 6; ++row) {
      const Doubles numbers = golden("special_values/rows").values;
      const auto first = numbers.begin() + row * 5;
      const auto one = from_values<Shape<1, 5>>(Doubles(first, first + 5), Dims(1, 5), Cpu{0});
      const auto label = from_values<Shape<1>>(std::vector<std::int64_t>{row % 5}, Dims(1), Cpu{0});
      losses.push_back(run(one, label).item());
    }
    expected.check(from_values<Shape<6>>(losses, Dims(6), Cpu{0}));
  };
  check_loss(nn::cross_entropy);
  check_loss(nn::nll);
  CHECK(expected.is_used_up());
}

TEST_CASE("windows with NaN and infinities are PyTorch's", "[nn][TRAIN-1]") {
  check_all("windows", compiled(windows)(read<Shape<6, 5>>("rows")));
}
