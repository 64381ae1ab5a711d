// SPDX-License-Identifier: Apache-2.0
//
// Where models of examples/models are cut, and what the stages then have to do: known to the compiler, from the trace alone.
#include "examples/models/gpt2.hpp"
#include "examples/models/resnet.hpp"

#include <twill/parallel/pipeline/model/balance.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace {

using namespace twill;

/// What each stage of two has of a figure of both.
constexpr double share_of_first(const auto& reports, std::int64_t pipeline::StageReport::*figure) {
  return static_cast<double>(reports[0].*figure) / static_cast<double>(reports[0].*figure + reports[1].*figure);
}
/// The work of the slowest, by the measure of `Balanced`.
constexpr std::int64_t slowest(const auto& reports) {
  std::int64_t most = 0;
  for (const pipeline::StageReport& report : reports) most = std::max(most, report.operations + 8 * report.bytes);
  return most;
}

using ResNet = models::ResNet50<128>;
using Rows = nn::Size<"batch", 12>;
constexpr auto at_the_groups = pipeline::stage_reports<pipeline::CutBefore<ResNet, "layer3.">, float, Rows>;
constexpr auto by_balance = pipeline::stage_reports<pipeline::Balanced<ResNet, 2, Rows>, float, Rows>;

TEST_CASE("a ResNet-50 that is cut behind the second of four groups is shared out as 44 to 56", "[parallel][PAR-8]") {
  static_assert(at_the_groups.size() == 2);
  CHECK(share_of_first(at_the_groups, &pipeline::StageReport::multiply_adds) == Approx(0.44).margin(0.005));
  CHECK(at_the_groups[0].sent_bytes == 12 * 512 * 16 * 16 * 4);
  CHECK(at_the_groups[0].weight_bytes + at_the_groups[1].weight_bytes ==
        by_balance[0].weight_bytes + by_balance[1].weight_bytes);
  CHECK(slowest(by_balance) <= slowest(at_the_groups));
}

/// Four layers, with the tied table of the first and the last stage.
constexpr models::Gpt2Sizes small{.vocabulary = 1000, .positions = 64, .width = 128, .layers = 4, .heads = 4};
using Gpt = models::Gpt2<small, 64>;
constexpr auto of_gpt = pipeline::stage_reports<pipeline::Balanced<Gpt, 2, Rows>, float, Rows>;
constexpr auto between_layers = pipeline::stage_reports<pipeline::CutBefore<Gpt, "h.2.">, float, Rows>;

TEST_CASE("a GPT-2 is cut between its layers, and by balance no worse", "[parallel][PAR-6]") {
  CHECK(between_layers[0].sent_bytes == 12 * 64 * 128 * 4); // the residual stream and nothing else
  CHECK(between_layers[1].sent_bytes == 0);
  CHECK(between_layers[0].weight_bytes == 4 * (1000 * 128 + 64 * 128 + 2 * 12 * 128 * 128 + 2 * 13 * 128));
  CHECK(between_layers[1].weight_bytes == 4 * (1000 * 128 + 2 * 12 * 128 * 128 + 2 * 13 * 128 + 2 * 128));
  CHECK(slowest(of_gpt) <= slowest(between_layers));
  CHECK(std::fabs(share_of_first(of_gpt, &pipeline::StageReport::multiply_adds) - 0.5) < 0.08);
}

} // namespace
