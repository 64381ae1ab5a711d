// SPDX-License-Identifier: Apache-2.0
//
// What calls become in NCCL's vocabulary.

#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/nccl/steps.hpp>

#include <catch2/catch.hpp>

using namespace twill;
using namespace twill::parallel;
using nccl::Step;
using nccl::StepKind;
using nccl::steps_of;

TEST_CASE("reductions of truth values stay true or false, and of numbers are NCCL's own", "[parallel]") {
  for (const Reduction reduction : {Reduction::sum, Reduction::max, Reduction::any})
    CHECK(nccl::number_of(reduction, DType::boolean) == 2);
  for (const Reduction reduction : {Reduction::product, Reduction::min, Reduction::all})
    CHECK(nccl::number_of(reduction, DType::boolean) == 3);
  CHECK(nccl::number_of(Reduction::sum, DType::bfloat16) == 0);
  CHECK(nccl::number_of(Reduction::product, DType::int64) == 1);
  CHECK(nccl::number_of(Reduction::max, DType::float32) == 2);
  CHECK(nccl::number_of(Reduction::min, DType::float32) == 3);
  CHECK_THROWS_WITH(nccl::number_of(Reduction::any, DType::float32),
                    "nccl: any of float32 has no counterpart in NCCL; reduce truth values instead");
}

TEST_CASE("collectives that NCCL has are one step with the counts it takes", "[parallel]") {
  float source[12] = {};
  float target[12] = {};
  const auto one = [&](const Call& call) {
    const auto steps = steps_of(call, 1, 3, nullptr);
    REQUIRE(steps.size() == 1);
    return steps[0];
  };
  const Step scatter = one(Call::reduce_scatter(elements(source, 12), elements(target, 4), Reduction::max));
  CHECK(scatter.kind == StepKind::reduce_scatter);
  CHECK(scatter.count == 4);
  CHECK(scatter.operation == 2);
  const Step gather = one(Call::all_gather(elements(source, 4), elements(target, 12)));
  CHECK(gather.kind == StepKind::all_gather);
  CHECK(gather.count == 4);
  const Step broadcast = one(Call::broadcast(elements(target, 5), 2));
  CHECK(broadcast.kind == StepKind::broadcast);
  CHECK(broadcast.peer == 2);
  CHECK(one(Call::reduce(elements(source, 5), elements(target, 5), 2)).peer == 2);
  std::uint8_t scratch = 0;
  const auto barrier = steps_of(Call::barrier(), 0, 3, &scratch);
  REQUIRE(barrier.size() == 1);
  CHECK(barrier[0].kind == StepKind::all_reduce);
  CHECK(barrier[0].target == &scratch);
  CHECK(steps_of(Call::all_reduce(elements(target, 0)), 0, 3, nullptr).empty());
}

TEST_CASE("gather, scatter and all_to_all are groups of sends and receives", "[parallel]") {
  float source[12] = {};
  float target[12] = {};
  const auto root = steps_of(Call::gather(elements(source, 4), elements(target, 12), 1), 1, 3, nullptr);
  REQUIRE(root.size() == 4); // three receives, and a send to itself
  CHECK(root[2].kind == StepKind::receive);
  CHECK(root[2].target == target + 8);
  CHECK(root[3].kind == StepKind::send);
  CHECK(steps_of(Call::gather(elements(source, 4), {}, 1), 0, 3, nullptr).size() == 1);
  // in place: what the root keeps is not sent
  CHECK(steps_of(Call::gather(elements(target + 4, 4), elements(target, 12), 1), 1, 3, nullptr).size() == 2);
  CHECK(steps_of(Call::scatter(elements(source, 12), elements(target, 4), 1), 1, 3, nullptr).size() == 4);
  CHECK(steps_of(Call::scatter(elements(source, 12), elements(source + 4, 4), 1), 1, 3, nullptr).size() == 2);
  CHECK(steps_of(Call::all_to_all(elements(source, 12), elements(target, 12)), 1, 3, nullptr).size() == 6);
}
