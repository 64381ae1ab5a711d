// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation and its buffers: formulas against plain loops, running statistics over steps, evaluation, staged and
// planned runs, replicas, and batches that are too small.

#include "tests/training/models.hpp"

#include <twill/nn/batch_norm.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

template <bool IsCumulative> struct Images {
  static constexpr auto forward(Input<Dim<"batch">, 3, Dim<"height">, 5> x) {
    const nn::Scope block{x.graph(), "layer1"};
    return nn::batch_norm(x, "bn1", {.is_cumulative = IsCumulative});
  }
};

struct Rows {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) { return nn::batch_norm(x, "norm"); }
};

struct WithoutStatistics {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    return nn::batch_norm(x, "norm", {.is_affine = false, .has_running_statistics = false});
  }
};

/// What PyTorch's documentation says, in loops. x: (n, c, inner)
struct Reference {
  std::vector<double> mean, variance; ///< running
  std::int64_t batches = 0;
  double momentum = 0.1;
  bool is_cumulative = false;

  explicit Reference(std::int64_t channels) : mean(channels, 0.0), variance(channels, 1.0) {}

  std::vector<double> train(const std::vector<double>& x, std::int64_t n, std::int64_t inner) {
    const auto channels = static_cast<std::int64_t>(mean.size());
    ++batches;
    const double share = is_cumulative ? 1 / static_cast<double>(batches) : momentum;
    std::vector<double> y(x.size());
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto each = [&](auto f) {
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t k = 0; k < inner; ++k) f(static_cast<std::size_t>((i * channels + c) * inner + k));
      };
      const double count = static_cast<double>(n * inner);
      double m = 0, v = 0;
      each([&](std::size_t i) { m += x[i] / count; });
      each([&](std::size_t i) { v += (x[i] - m) * (x[i] - m) / count; });
      each([&](std::size_t i) { y[i] = (x[i] - m) / std::sqrt(v + 1e-5); });
      const auto own = static_cast<std::size_t>(c);
      mean[own] += share * (m - mean[own]);
      variance[own] += share * (v * count / (count - 1) - variance[own]);
    }
    return y;
  }
  std::vector<double> evaluate(const std::vector<double>& x, std::int64_t inner) const {
    std::vector<double> y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i / static_cast<std::size_t>(inner) % mean.size();
      y[i] = (x[i] - mean[c]) / std::sqrt(variance[c] + 1e-5);
    }
    return y;
  }
};

void check_close(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == Approx(expected[i]).epsilon(1e-10).margin(1e-12));
}

template <class Model> void check_over_steps(bool is_cumulative) {
  manual_seed_all(3);
  nn::Network<Model, Cpu, double> model{};
  Reference reference{3};
  reference.is_cumulative = is_cumulative;
  for (const std::int64_t batch : {2, 7, 1}) {
    const std::int64_t inner = (2 + batch) * 5;
    std::vector<double> values = random_values<double>(batch * 3 * inner);
    for (double& value : values) value = 3 * value + 1;
    const auto input = from_values<Shape<dyn, 3, dyn, 5>>(values, Dims(batch, 3, 2 + batch, 5), Cpu{});
    const std::vector<double> expected = reference.train(to_vector(input), batch, inner);
    check_close(to_vector(model.forward(input).value()), expected);
    check_close(to_vector(model.template parameter<"layer1.bn1.running_mean">()), reference.mean);
    check_close(to_vector(model.template parameter<"layer1.bn1.running_var">()), reference.variance);
    CHECK(model.template parameter<"layer1.bn1.num_batches_tracked">().item() == reference.batches);
    check_close(to_vector(model.infer(input)), reference.evaluate(to_vector(input), inner));
    model.eval(); // uses the running statistics and leaves them alone
    check_close(to_vector(model.forward(input).value()), reference.evaluate(to_vector(input), inner));
    model.train();
  }
}

} // namespace

TEST_CASE("batch norm trains and evaluates as PyTorch says, over steps", "[nn][TRAIN-2]") {
  SECTION("with a momentum") { check_over_steps<Images<false>>(false); }
  SECTION("with equal shares") { check_over_steps<Images<true>>(true); }
}

TEST_CASE("batch norm without running statistics always uses the batch's", "[nn][TRAIN-2]") {
  nn::Network<WithoutStatistics, Cpu, double> model{};
  CHECK(model.parameters().empty());
  const auto x = random_rows<double, 4>(Cpu{}, 6);
  Reference reference{4};
  const std::vector<double> expected = reference.train(to_vector(x), 6, 1);
  check_close(to_vector(model.forward(x).value()), expected);
  check_close(to_vector(model.infer(x)), expected);
}

TEST_CASE("gradients of batch norm agree with finite differences, in training and in evaluation", "[nn][TRAIN-1]") {
  manual_seed_all(8);
  nn::Network<Rows, Cpu, double> model{};
  auto x = random_rows<double, 4>(Cpu{}, 5);
  const auto weights = random_rows<double, 4>(Cpu{}, 5, 1);
  static_cast<void>(model.forward(x)); // running statistics that are not those of the batch
  for (const bool trains : {true, false}) {
    if (!trains) model.eval();
    const auto loss = [&] {
      const std::vector<double> y = to_vector(model.forward(x).value());
      const std::vector<double> w = to_vector(weights);
      return std::inner_product(y.begin(), y.end(), w.begin(), 0.0);
    };
    model.zero_grad();
    model.forward(x).backward_from(weights);
    const auto gradient = to_vector(model.template gradient<"norm.weight">());
    auto weight = model.template parameter<"norm.weight">();
    for (int c = 0; c < 4; ++c) {
      constexpr double step = 1e-6;
      synchronize(Cpu{});
      weight.data()[c] += step;
      const double above = loss();
      weight.data()[c] -= 2 * step;
      const double below = loss();
      weight.data()[c] += step;
      CHECK(gradient[static_cast<std::size_t>(c)] == Approx((above - below) / (2 * step)).epsilon(1e-5).margin(1e-7));
    }
  }
}

TEST_CASE("planned steps move running statistics as staged ones do", "[nn][training]") {
  const auto x = random_rows<float, 4>(Cpu{}, 9);
  const auto y = random_rows<float, 4>(Cpu{}, 9, 1);
  manual_seed_all(1);
  nn::Network<Rows, Cpu> staged{};
  manual_seed_all(1);
  nn::Network<Rows, Cpu> planned{};
  const optim::Sgd rule{{.rate = 0.1}};
  auto step = train_step(planned, nn::mse, rule);
  training::Optimiser optimiser{staged, rule};
  for (int i = 0; i < 3; ++i) {
    step(x, y);
    nn::mse(staged.forward(x), y).backward();
    optimiser.step();
    staged.zero_grad();
  }
  for (std::size_t i = 0; i < staged.parameters().size(); ++i) {
    const auto a = staged.parameters()[i];
    CAPTURE(std::string{a.name});
    synchronize(Cpu{});
    const auto b = planned.parameters()[i];
    CHECK(std::memcmp(a.buffer.data(), b.buffer.data(), a.buffer.bytes()) == 0);
  }
}

TEST_CASE("of replicas only the first one's running statistics last", "[nn][parallel][PAR-2]") {
  const auto x = random_rows<double, 4>(Cpu{}, 10);
  nn::Network<Rows, Cpu, double> model{Cpu{0}};
  DataParallel parallel{model, {.devices = {Cpu{0}, Cpu{1}}}};
  static_cast<void>(parallel.forward(x));
  Reference reference{4};
  const std::vector<double> values = to_vector(x);
  reference.train({values.begin(), values.begin() + 20}, 5, 1);
  check_close(to_vector(model.parameter<"norm.running_mean">()), reference.mean);
  check_close(to_vector(model.parameter<"norm.running_var">()), reference.variance);
}

TEST_CASE("a batch with one value per channel is refused by name", "[nn]") {
  nn::Network<Images<false>, Cpu> images{};
  nn::Network<Rows, Cpu> rows{};
  const auto one = random_rows<float, 4>(Cpu{}, 1);
  CHECK_THROWS_WITH(rows.forward(one),
                    "forward(Rows): norm: batch_norm needs several values per channel to train, at least 2, got 1");
  CHECK_NOTHROW(rows.infer(one));
  const auto none = zeros<float, Shape<dyn, 3, dyn, 5>>(Dims(0, 3, 2, 5));
  CHECK_THROWS_AS(images.forward(none), ShapeError);
  CHECK(images.infer(none).shape() == Dims(0, 3, 2, 5));
  CHECK(rows.parameter<"norm.num_batches_tracked">().item() == 0);
}

TEST_CASE("a model of half precision normalises in float32", "[nn][TRAIN-6]") {
  nn::Network<Rows, Cpu, bfloat16> model{};
  for (const auto& parameter : model.parameters())
    CHECK(parameter.dtype == (parameter.name == "norm.num_batches_tracked" ? DType::int64 : DType::float32));
  const auto x = random_rows<float, 4>(Cpu{}, 64).to<bfloat16>();
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(model.forward(x).value())>::value_type, bfloat16>);
  for (const double value : to_vector(model.forward(x).value().to<double>())) CHECK(std::fabs(value) < 4);
}
