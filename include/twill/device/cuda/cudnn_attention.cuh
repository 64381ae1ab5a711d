#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scaled dot-product attention by cuDNN's fused engines, forward and backward, so that the scores are never stored. The
// graphs use the operations and the order that those engines recognise; 16-bit types, on Ampere and later. Each
// function tells whether cuDNN did the work. Not in the umbrella. Read next: device/cuda/cudnn_plan.cuh.

#include <twill/core/dtype.hpp>
#include <twill/device/cuda/attention.hpp>
#include <twill/device/cuda/cudnn_graph.cuh>
#include <twill/device/cuda/cudnn_plan.cuh>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/library_memory.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <cudnn_graph.h>

namespace twill { inline namespace v0 { namespace nvidia { namespace dnn {

namespace detail {

[[nodiscard]] inline TensorShape heads_shape(std::int64_t batch, std::int64_t heads, std::int64_t rows,
                                             std::int64_t width, const HeadStrides& strides) {
  return {{batch, heads, rows, width}, {strides.batch, strides.head, strides.row, 1}};
}
/// The shape with rows and columns exchanged, over one memory.
[[nodiscard]] inline TensorShape transposed(TensorShape shape) {
  std::swap(shape.extents[2], shape.extents[3]);
  std::swap(shape.strides[2], shape.strides[3]);
  return shape;
}
[[nodiscard]] inline TensorShape packed(std::int64_t batch, std::int64_t heads, std::int64_t rows, std::int64_t width) {
  return heads_shape(batch, heads, rows, width, rows_within_heads(rows, heads, width));
}

/// The steps that both directions share.
class AttentionGraph {
public:
  AttentionGraph(const Attention& a, std::string what)
      : graph{std::move(what)},
        a_{a},
        scores_{packed(a.batch, a.heads, a.queries, a.keys)},
        rows_{packed(a.batch, a.heads, a.queries, 1)} {}

  Graph graph;

  [[nodiscard]] const TensorShape& scores() const { return scores_; }
  [[nodiscard]] const TensorShape& rows() const { return rows_; }
  [[nodiscard]] int score_value() { return graph.value(scores_, DType::float32); }

  /// scale * Q K^T.
  [[nodiscard]] int scaled_scores(int q, int k_transposed, int scale) {
    const int product = graph.matmul(score_value(), q, k_transposed);
    return graph.pointwise(CUDNN_POINTWISE_MUL, score_value(), product, scale);
  }
  /// The scores where the key is not after the query, else `otherwise`.
  [[nodiscard]] int masked(int scores, int otherwise) {
    if (!a_.is_causal) return scores;
    const int row = graph.index_along(2, graph.value(scores_, DType::int32), scores);
    const int column = graph.index_along(3, graph.value(scores_, DType::int32), scores);
    const int sees = graph.pointwise_in(CUDNN_DATA_BOOLEAN, CUDNN_POINTWISE_CMP_GE,
                                        graph.value(scores_, DType::boolean), row, column);
    return graph.pointwise(CUDNN_POINTWISE_BINARY_SELECT, score_value(), scores, otherwise, sees);
  }

private:
  const Attention& a_;
  TensorShape scores_;
  TensorShape rows_;
};

[[nodiscard]] inline Key key_of(const Attention& a, std::uint64_t kind) {
  Key key{kind};
  const auto words = nvidia::key_of(a);
  for (std::size_t i = 0; i < words.size(); ++i) key[i + 1] = words[i];
  return key;
}

} // namespace detail

/// Tensors with memory and numbers, in order: Q, K, V, O, statistics, scale, and with a mask the number outside of it.
/// The engines require the statistics even if they are not read.
[[nodiscard]] inline Graph attention_graph(const Attention& a) {
  detail::AttentionGraph steps(a, to_string(a));
  Graph& graph = steps.graph;
  const int q = graph.tensor(detail::heads_shape(a.batch, a.heads, a.queries, a.width, a.q), a.dtype);
  const int k =
      graph.tensor(detail::transposed(detail::heads_shape(a.batch, a.key_heads, a.keys, a.width, a.k)), a.dtype);
  const int v = graph.tensor(detail::heads_shape(a.batch, a.key_heads, a.keys, a.value_width, a.v), a.dtype);
  const int o = graph.tensor(detail::heads_shape(a.batch, a.heads, a.queries, a.value_width, a.o), a.dtype);
  const int statistics = graph.tensor(steps.rows(), DType::float32);
  const int scale = graph.number(4);
  const int outside = a.is_causal ? graph.number(4) : -1;

  const int scores = steps.masked(steps.scaled_scores(q, k, scale), outside);
  // softmax, row by row
  const int highest = graph.reduce(CUDNN_REDUCE_TENSOR_MAX, graph.value(steps.rows(), DType::float32), scores);
  const int lowered = graph.pointwise(CUDNN_POINTWISE_SUB, steps.score_value(), scores, highest);
  const int exponentials = graph.pointwise(CUDNN_POINTWISE_EXP, steps.score_value(), lowered);
  const int sums = graph.reduce(CUDNN_REDUCE_TENSOR_ADD, graph.value(steps.rows(), DType::float32), exponentials);
  const int logarithm = graph.pointwise(CUDNN_POINTWISE_LOG, graph.value(steps.rows(), DType::float32), sums);
  graph.pointwise(CUDNN_POINTWISE_ADD, statistics, highest, logarithm);
  const int weights = graph.pointwise(CUDNN_POINTWISE_DIV, graph.value(steps.scores(), a.dtype), exponentials, sums);
  graph.matmul(o, weights, v);
  return std::move(steps.graph);
}

/// Tensors with memory and numbers, in order: Q, K, V, O, dO, statistics, dQ, dK, dV, the sums of dO * O, scale, one,
/// with a mask the number outside of it, unless deterministic dQ in float. Gradients have their tensors' layout.
[[nodiscard]] inline Graph attention_gradient_graph(const Attention& a, bool is_deterministic) {
  detail::AttentionGraph steps(a, to_string(a) + ", gradients");
  Graph& graph = steps.graph;
  const TensorShape q_shape = detail::heads_shape(a.batch, a.heads, a.queries, a.width, a.q);
  const TensorShape k_shape = detail::heads_shape(a.batch, a.key_heads, a.keys, a.width, a.k);
  const TensorShape v_shape = detail::heads_shape(a.batch, a.key_heads, a.keys, a.value_width, a.v);
  const TensorShape o_shape = detail::heads_shape(a.batch, a.heads, a.queries, a.value_width, a.o);
  const TensorShape turned = detail::transposed(steps.scores());
  const int q = graph.tensor(q_shape, a.dtype);
  const int k = graph.tensor(detail::transposed(k_shape), a.dtype);
  const int v = graph.tensor(detail::transposed(v_shape), a.dtype);
  const int o = graph.tensor(o_shape, a.dtype);
  const int d_o = graph.tensor(o_shape, a.dtype);
  const int statistics = graph.tensor(steps.rows(), DType::float32);
  const int d_q = graph.tensor(q_shape, a.dtype);
  const int d_k = graph.tensor(k_shape, a.dtype);
  const int d_v = graph.tensor(v_shape, a.dtype);
  const int sums = graph.tensor(steps.rows(), DType::float32);
  const int scale = graph.number(4);
  const int one = graph.number(4);
  const int outside = a.is_causal ? graph.number(4) : -1;
  const int d_q_float =
      is_deterministic ? -1 : graph.tensor(detail::packed(a.batch, a.heads, a.queries, a.width), DType::float32);

  // sums = sum(dO * O) along each row
  const int products =
      graph.pointwise(CUDNN_POINTWISE_MUL,
                      graph.value(detail::packed(a.batch, a.heads, a.queries, a.value_width), DType::float32), d_o, o);
  const int row_sums = graph.reduce(CUDNN_REDUCE_TENSOR_ADD, graph.value(steps.rows(), DType::float32), products);
  graph.pointwise(CUDNN_POINTWISE_MUL, sums, row_sums, one);
  // P = exp(scores - statistics); dV = P^T dO
  const int lowered =
      graph.pointwise(CUDNN_POINTWISE_SUB, steps.score_value(), steps.scaled_scores(q, k, scale), statistics);
  const int weights = graph.pointwise(CUDNN_POINTWISE_EXP, steps.score_value(), steps.masked(lowered, outside));
  graph.matmul(d_v, graph.reshape(graph.value(turned, a.dtype), weights), d_o);
  // dS = scale * P * (dO V^T - sums); dK = dS^T Q; dQ = dS K
  const int d_weights = graph.matmul(steps.score_value(), d_o, v);
  const int centred = graph.pointwise(CUDNN_POINTWISE_SUB, steps.score_value(), d_weights, sums);
  const int weighted = graph.pointwise(CUDNN_POINTWISE_MUL, steps.score_value(), centred, weights);
  const int d_scores = graph.pointwise(CUDNN_POINTWISE_MUL, graph.value(steps.scores(), a.dtype), weighted, scale);
  graph.matmul(d_k, graph.reshape(graph.value(turned, a.dtype), d_scores), q);
  const int k_rows = graph.reshape(graph.value(k_shape, a.dtype), k);
  if (is_deterministic) {
    graph.matmul(d_q, d_scores, k_rows);
  } else {
    graph.matmul(d_q_float, d_scores, k_rows);
    graph.pointwise(CUDNN_POINTWISE_IDENTITY, d_q, d_q_float);
  }
  return std::move(steps.graph);
}

namespace detail {

/// The stream's library memory for `kept_bytes` and an engine after them; of no bytes if there is no room.
[[nodiscard]] inline Workspace attention_memory(const gpu::Queue<CudaRuntime>& queue, const gpu::WorkingMemory& working,
                                                std::size_t kept_bytes) {
  const std::size_t bytes = kept_bytes + attention_engine_bytes;
  if (bytes > gpu::library_bytes(queue)) return {};
  void* const memory = gpu::library_memory(queue, working, bytes);
  return {memory, memory == nullptr ? 0 : bytes};
}

/// The summary of a pass without room for its memory.
[[nodiscard]] inline PlanSummary without_room() {
  PlanSummary summary{};
  summary.objections[static_cast<std::size_t>(Objection::workspace)] = 1;
  return summary;
}

} // namespace detail

/// o = softmax(scale q k^T) v, unless cuDNN has no engine for it; `statistics` may be null without a backward pass.
/// requires: float16 or bfloat16, since float32 would be rounded to TF32    throws: ValueError (sizes), GpuError
inline PlanSummary run_attention(const gpu::Queue<CudaRuntime>& queue, const Attention& a, const void* q, const void* k,
                                 const void* v, void* o, float* statistics) {
  check(a);
  const gpu::WorkingMemory working = queue.working_memory();
  const std::size_t kept_bytes = statistics == nullptr ? scratch_of(a, true).sums_bytes : 0; // as large
  const Workspace workspace = detail::attention_memory(queue, working, kept_bytes);
  if (workspace.memory == nullptr) return detail::without_room();
  auto* const memory = static_cast<std::byte*>(workspace.memory);
  void* const kept = statistics == nullptr ? static_cast<void*>(memory) : statistics;
  float scale = a.scale;
  float outside = -std::numeric_limits<float>::infinity();
  std::vector<void*> pointers{const_cast<void*>(q), const_cast<void*>(k), const_cast<void*>(v), o, kept, &scale};
  if (a.is_causal) pointers.push_back(&outside);
  return run_planned(queue, detail::key_of(a, 2), [&] { return attention_graph(a); }, pointers,
                     {memory + kept_bytes, workspace.bytes - kept_bytes});
}

/// Operands and results of the backward pass; gradients have the layout of their tensors.
struct AttentionGradients {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  const void* o = nullptr;
  const void* output_gradient = nullptr;
  const float* statistics = nullptr; ///< of the forward pass
  void* q_gradient = nullptr;
  void* k_gradient = nullptr;
  void* v_gradient = nullptr;
};

/// The gradients by q, k and v, unless cuDNN has no engine for them, or `scratch_of(a)` no room. requires: float16 or
/// bfloat16, equally many heads of keys and queries    throws: ValueError, GpuError
inline PlanSummary run_attention_gradients(const gpu::Queue<CudaRuntime>& queue, const Attention& a,
                                           const AttentionGradients& g) {
  check(a);
  const gpu::WorkingMemory working = queue.working_memory();
  const bool is_deterministic = library_options().is_deterministic;
  const AttentionScratch scratch = scratch_of(a, is_deterministic);
  const Workspace workspace = detail::attention_memory(queue, working, scratch.bytes());
  if (workspace.memory == nullptr) return detail::without_room();
  auto* const memory = static_cast<std::byte*>(workspace.memory);
  float scale = a.scale;
  float one = 1;
  float outside = -std::numeric_limits<float>::infinity();
  std::vector<void*> pointers{const_cast<void*>(g.q),
                              const_cast<void*>(g.k),
                              const_cast<void*>(g.v),
                              const_cast<void*>(g.o),
                              const_cast<void*>(g.output_gradient),
                              const_cast<float*>(g.statistics),
                              g.q_gradient,
                              g.k_gradient,
                              g.v_gradient,
                              memory,
                              &scale,
                              &one};
  if (a.is_causal) pointers.push_back(&outside);
  if (!is_deterministic) { // engines add to dQ in float: it starts at zero, and one run adds once
    pointers.push_back(memory + scratch.sums_bytes);
    gpu::check<CudaRuntime>(
        CudaRuntime::fill(memory + scratch.sums_bytes, 0, scratch.query_gradient_bytes, queue.stream()), "fill",
        queue.device());
  }
  return run_planned(
      queue, detail::key_of(a, is_deterministic ? 5 : 4), [&] { return attention_gradient_graph(a, is_deterministic); },
      pointers, {memory + scratch.bytes(), workspace.bytes - scratch.bytes()},
      is_deterministic ? Repeatable::yes : Repeatable::no);
}

}}}} // namespace twill::v0::nvidia::dnn
