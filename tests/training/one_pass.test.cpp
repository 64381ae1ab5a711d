// SPDX-License-Identifier: Apache-2.0
//
// What a training step passes over, counted: its plan says how often each tensor should be read and written, and a counting
// build shows that it is. An update reads each weight, gradient and moment once and writes each weight and moment once.

#define TWILL_COUNT_ACCESS ::twill::test::CountAccess
#include "tests/support/traffic.hpp"

#include "tests/training/models.hpp"

#include <twill/compile/report/report.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace twill;
using twill::test::Traffic;
using namespace twill::test;
using compile::KernelKind;
using compile::OperandBinding;
using compile::Storage;
using compile::TableView;

namespace {

// The plan of the main job's step ------------------------------------------------------------------------------------

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 784> image) {
    const auto first = relu(nn::linear(image, 256, "hidden1"));
    const auto second = relu(nn::linear(first, 256, "hidden2"));
    return nn::linear(second, 10, "output");
  }
};

using Labels = compile::Argument<std::int64_t, Shape<dyn>>;
using MlpLoss = std::remove_const_t<decltype(nn::cross_entropy)>;
template <class R> using MlpStep = training::WholeStep<Mlp, float, MlpLoss, R, Labels>;

// Eight products; bias and relu of each hidden layer; the loss with its gradient, and its mean; a sum down the columns for
// each bias, with relu's gradient in front; one update of the weights, and one of those whose gradients are so large that
// they had better be gone at once.
constexpr compile::Report mlp_plan = compile::plan<MlpStep<optim::MomentumSgd>>();
static_assert(mlp_plan.launches == 17);
static_assert(mlp_plan.operation_launches == 8);
static_assert(mlp_plan.elementwise_launches == 4);
static_assert(mlp_plan.row_launches == 2);
static_assert(mlp_plan.column_launches == 3);
static_assert(mlp_plan.distinct_kernels == 7);

// Another rule is another program for the update, and nothing else.
static_assert(compile::plan<MlpStep<optim::Adam>>().launches == mlp_plan.launches);
static_assert(compile::plan<MlpStep<optim::Adam>>().temporaries == mlp_plan.temporaries);

// The update by itself is one launch.
static_assert(compile::plan<training::UpdateWeights<Mlp, float, optim::Adam>>().launches == 1);

// What is read and written how often ---------------------------------------------------------------------------------

/// How many instructions of a step touch a value; matrix products count apart.
struct Touches {
  int reads = 0;
  int reads_by_products = 0;
  int writes = 0;
  int reads_by_the_writer = 0;
};

constexpr Touches touches_of(const TableView& table, std::size_t value) {
  Touches touches{};
  for (const compile::Instruction& instruction : table.instructions) {
    int reads = 0;
    int writes = 0;
    for (int k = 0; k < instruction.operand_count; ++k) {
      const OperandBinding& operand = table.operands[static_cast<std::size_t>(instruction.first_operand + k)];
      if (operand.kind == compile::OperandKind::memory && operand.value == static_cast<int>(value))
        ++(operand.writes ? writes : reads);
    }
    const bool is_product = table.kernels[static_cast<std::size_t>(instruction.kernel)].kind == KernelKind::operation;
    (is_product ? touches.reads_by_products : touches.reads) += reads;
    touches.writes += writes;
    if (writes > 0) touches.reads_by_the_writer += reads;
  }
  return touches;
}

/// Every weight and moment is written once, by a launch that reads it once; moments are touched nowhere else.
constexpr bool updates_in_one_pass(const TableView& table) {
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    const compile::ValueInfo& value = table.values[v];
    if (value.storage != Storage::parameter) continue;
    const Touches touches = touches_of(table, v);
    if (touches.writes != 1 || touches.reads_by_the_writer != 1) return false;
    const bool is_moment = table.parameters[static_cast<std::size_t>(value.index)].role == graph::Role::optimiser_state;
    if (is_moment && touches.reads + touches.reads_by_products != 1) return false;
  }
  return compile::most_reads_of_one_tensor(table) == 1;
}
static_assert(updates_in_one_pass(compile::Compiled<MlpStep<optim::MomentumSgd>>::view()));
static_assert(updates_in_one_pass(compile::Compiled<MlpStep<optim::Adam>>::view()));

/// What one pass of each fused launch over each of its operands makes. Numbers of the run do not count.
Traffic one_pass(const TableView& table, std::int64_t rows) {
  graph::SymbolValues symbols{};
  symbols.fill(rows);
  Traffic total{};
  for (const compile::Instruction& instruction : table.instructions) {
    if (table.kernels[static_cast<std::size_t>(instruction.kernel)].kind == KernelKind::operation) continue;
    for (int k = 0; k < instruction.operand_count; ++k) {
      const OperandBinding& operand = table.operands[static_cast<std::size_t>(instruction.first_operand + k)];
      if (!compile::is_tensor_of(table, operand, 1)) continue;
      const auto& shape = table.values[static_cast<std::size_t>(operand.value)].shape;
      if (operand.writes)
        total.stores += shape.elements().evaluate(symbols);
      else
        total.loads += instruction.grid.evaluate(symbols).elements(); // a bias is read again for each row
    }
  }
  return total;
}

/// What was counted since the last look.
Traffic counted() {
  Traffic total{};
  for (const auto& count : twill::test::access_counts().loads) total.loads += count;
  for (const auto& count : twill::test::access_counts().stores) total.stores += count;
  twill::test::access_counts().clear();
  return total;
}

template <class Network> std::int64_t weights_in(const Network& network) {
  return static_cast<std::int64_t>(weights_of(network).size());
}

} // namespace

TEST_CASE("an update reads each weight, gradient and moment once and writes once", "[training][TRAIN-3]") {
  nn::Network<Classifier, Cpu, bfloat16> model{Cpu{0}};
  const auto x = random_rows<bfloat16, 5>(Cpu{0}, 13);
  const auto label = random_labels(Cpu{0}, 13, 3);
  const std::int64_t weights = weights_in(model);
  nn::cross_entropy(model.forward(x), label).backward();

  training::Optimiser adam{model, optim::Adam{}};
  static_cast<void>(counted());
  adam.step();
  CHECK(counted() == Traffic{4 * weights, 3 * weights});

  training::Optimiser momentum{model, optim::MomentumSgd{}};
  momentum.step();
  CHECK(counted() == Traffic{3 * weights, 2 * weights});

  training::Optimiser plain{model, optim::Sgd{}};
  plain.step();
  CHECK(counted() == Traffic{2 * weights, weights});
}

TEST_CASE("a training step passes once over each operand of each fused program", "[training][TRAIN-1]") {
  nn::Network<Classifier, Cpu, bfloat16> model{Cpu{0}};
  const auto x = random_rows<bfloat16, 5>(Cpu{0}, 13);
  const auto target = random_rows<bfloat16, 3>(Cpu{0}, 13, 1);
  auto step = train_step(model, nn::mse, optim::Adam{});
  using Source =
      typename decltype(step)::source<Tensor<bfloat16, Cpu, Shape<dyn, 5>>, Tensor<bfloat16, Cpu, Shape<dyn, 3>>>;
  const TableView table = compile::Compiled<Source>::view();
  const Traffic expected = one_pass(table, 13);
  REQUIRE(expected.stores > 3 * weights_in(model));
  static_assert(updates_in_one_pass(compile::Compiled<Source>::view()));
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(counted());
    static_cast<void>(step(x, target).item());
    CHECK(counted() == expected);
  }
}

TEST_CASE("softmax's loss reads a row again while it is in cache, and nothing else twice", "[training][TRAIN-1]") {
  nn::Network<Classifier, Cpu, bfloat16> model{Cpu{0}};
  const auto x = random_rows<bfloat16, 5>(Cpu{0}, 13);
  const auto label = random_labels(Cpu{0}, 13, 3);
  auto step = train_step(model, nn::cross_entropy, optim::Adam{});
  using Source =
      typename decltype(step)::source<Tensor<bfloat16, Cpu, Shape<dyn, 5>>, Tensor<std::int64_t, Cpu, Shape<dyn>>>;
  const Traffic expected = one_pass(compile::Compiled<Source>::view(), 13);
  static_cast<void>(counted());
  static_cast<void>(step(x, label).item());
  const Traffic found = counted();
  CHECK(found.stores == expected.stores);
  // one of the stages of the loss is a second look at logits and bias; labels are one number for each row
  CHECK(found.loads <= expected.loads + 2 * 13 * 3);
}
