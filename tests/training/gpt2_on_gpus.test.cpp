// SPDX-License-Identifier: Apache-2.0
//
// A training step of the published GPT-2 at the batch of the GPU benchmark, planned as for a GPU: every product and attention
// is one that libraries compute on tensor cores, in memory that GPUs of 16 to 141 GB lend them, and no scores are stored.

#include "examples/models/gpt2.hpp"

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/plan/binding.hpp>
#include <twill/device/cuda/attention.hpp>
#include <twill/device/gpu/library_memory.hpp>
#include <twill/nn/autocast.hpp>
#include <twill/nn/device_trace.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/sources.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

using namespace twill;

namespace {

constexpr std::int64_t tokens = 1024;
constexpr std::int64_t batch = 16;
using Model = nn::ForGpu<nn::Autocast<models::Gpt2<models::gpt2_small, tokens>, bfloat16>>;
using Step = training::WholeStep<Model, float, models::NextToken, optim::Sgd,
                                 compile::Argument<std::int64_t, Shape<dyn, tokens>>>;

/// Whether tensor cores take rows of so many 16-bit elements in whole words of 16 bytes. The published vocabulary is odd, as
/// it is for PyTorch: those three products pad their tiles.
bool is_aligned(std::int64_t extent) { return extent % 8 == 0 || extent == models::gpt2_small.vocabulary; }

} // namespace

TEST_CASE("products and attention of a GPT-2's step are those that libraries compute on tensor cores", "[training]") {
  const compile::Lowered lowered = compile::lower(Step::trace());
  REQUIRE_FALSE(lowered.fault.any());
  const compile::TableView table = compile::view_of(lowered);
  graph::SymbolValues symbols{};
  symbols.fill(batch);
  const compile::Binding binding = compile::bind(table, symbols);
  std::map<std::string, int> count{};
  for (const compile::BoundInstruction& instruction : binding.instructions) {
    const compile::KernelInfo& kernel = table.kernels[instruction.kernel];
    const std::string_view operation = kernel.operation;
    if (operation.find("product") == std::string_view::npos && operation != "matmul" &&
        operation.find("attention") == std::string_view::npos)
      continue;
    INFO(operation);
    ++count[std::string{operation}];
    CHECK(kernel.dtype == DType::bfloat16);
    if (operation.find("attention") == std::string_view::npos) {
      REQUIRE(instruction.grid.rank == 3);
      for (int axis = 0; axis < 3; ++axis) CHECK(is_aligned(instruction.grid[axis]));
    } else {
      CHECK(binding.shapes[instruction.first_shape] == Dims(batch, 12, tokens, 64));
    }
  }
  CHECK(count["attention"] == 12);
  CHECK(count["attention_backward"] == 12);
  CHECK(count["biased_product"] == 48); // four in each block
  CHECK(count["gelu_product"] == 12);
  CHECK(count["summing_product"] == 36);
  CHECK(count["matmul"] == 12 * 4 + 3); // three gradients of inputs and one of a weight in each block, and the head
  for (const compile::ValueInfo& value : lowered.values) {
    const Dims shape = value.shape.evaluate(symbols);
    CHECK_FALSE((shape.rank > 2 && shape[shape.rank - 1] == tokens && shape[shape.rank - 2] == tokens));
  }
}

TEST_CASE("GPUs of 16 to 141 GB have the memory that the attention of a GPT-2's step wants", "[training]") {
  const nvidia::Attention a = nvidia::self_attention(DType::bfloat16, batch * 12, tokens, 1, 64, 0.125F, true);
  for (const std::size_t gigabytes : {16, 24, 40, 80, 141})
    for (const bool is_deterministic : {false, true})
      CHECK(nvidia::scratch_of(a, is_deterministic).bytes() + nvidia::attention_engine_bytes <=
            gpu::library_bytes_of(gigabytes * 1'000'000'000));
}
