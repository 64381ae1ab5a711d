// SPDX-License-Identifier: Apache-2.0
//
// Training within a budget of bytes: the peak is what was predicted, a smaller budget never raises it, and the bits are those
// of the model without, dropout included.

#include "tests/training/fitted.hpp"

#include <twill/optim/adam.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

using namespace twill;
using namespace twill::test;

namespace {

using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;

template <std::int64_t Bytes>
constexpr compile::FitReport report_for = fit_report<FittedDeep<Bytes>, nn::cross_entropy, optim::Adam, Labels>();

constexpr std::int64_t plain_bytes = report_for<1_GiB>.without.total();
constexpr std::int64_t lowest_bytes = report_for<1>.with.total(); // met by nothing
using Tightest = FittedDeep<lowest_bytes>;

/// The peaks for budgets that fall from that of the plain step to the lowest.
template <std::size_t... I> constexpr auto peaks(std::index_sequence<I...>) {
  constexpr auto budget = [](std::size_t i) {
    return plain_bytes -
           (plain_bytes - lowest_bytes) * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(sizeof...(I) - 1);
  };
  return std::array{std::pair{budget(I), report_for<budget(I)>}...};
}

} // namespace

TEST_CASE("a step takes the bytes that its report predicts, and has the bits of the step without budget",
          "[training][TRAIN-5][MEM-8]") {
  const auto x = random_rows<float, Deep::width>(Cpu{0}, Deep::rows);
  const auto label = random_labels(Cpu{0}, Deep::rows, 3);
  constexpr compile::FitReport report = report_for<lowest_bytes>;
  CAPTURE(to_string(report));
  STATIC_REQUIRE(report.fits());
  const Trained plain = trained<Deep>(optim::Adam{}, x, label);
  const Trained own = trained<Tightest>(optim::Adam{}, x, label);
  CHECK(plain.peak == report.without.total());
  CHECK(own.peak == report.with.total());
  CHECK(own.peak == lowest_bytes);
  CHECK(differing(own.numbers, plain.numbers) == 0);
}

TEST_CASE("a smaller budget never raises the peak, and costs more work", "[training][TRAIN-5]") {
  constexpr auto found = peaks(std::make_index_sequence<9>{});
  STATIC_REQUIRE(found.front().second.parts.count == 0);
  STATIC_REQUIRE(found.back().second.parts.count > 0);
  STATIC_REQUIRE(lowest_bytes < plain_bytes * 3 / 4);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& [budget, report] = found[i];
    CAPTURE(budget, to_string(report));
    CHECK(report.with.total() <= budget);
    CHECK(report.with.weights == report.without.weights);
    CHECK(report.with.states == 2 * report.with.weights);
    if (i == 0) continue;
    CHECK(report.with.total() <= found[i - 1].second.with.total());
    CHECK(report.extra_time() >= found[i - 1].second.extra_time());
  }
  CHECK(found.back().second.extra_time() > 0.05);
  CHECK(found.back().second.extra_time() < 0.4); // one forward pass of three passes
}

TEST_CASE("a batch that does not fit the budget is refused with both numbers", "[training][TRAIN-5]") {
  nn::Network<Tightest, Cpu, float> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{});
  static_cast<void>(
      step(random_rows<float, Deep::width>(Cpu{0}, Deep::rows / 3), random_labels(Cpu{0}, Deep::rows / 3, 3)));
  const auto before = weights_of(model);
  const auto x = random_rows<float, Deep::width>(Cpu{0}, 2 * Deep::rows);
  const auto label = random_labels(Cpu{0}, 2 * Deep::rows, 3);
  CHECK_THROWS_WITH(step(x, label), Catch::Contains("its budget is " + std::to_string(Tightest::budget_bytes)) &&
                                        Catch::Contains("fit: on these sizes the program takes "));
  CHECK(weights_of(model) == before);
}
