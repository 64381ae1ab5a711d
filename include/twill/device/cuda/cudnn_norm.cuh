#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Normalisation by cuDNN, in training: over the channels of each row (layer norm) or over all rows of each channel (batch
// norm, channels-last). Scale, bias and statistics are float. twill's own row and column kernels do the same; this is
// for where a measurement says that cuDNN is faster. Not in the umbrella. Read next: device/cuda/cudnn_plan.cuh.

#include <twill/core/dtype.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/cudnn_graph.cuh>
#include <twill/device/cuda/cudnn_plan.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cudnn_graph.h>

namespace twill::inline v0::nvidia::dnn {

enum class NormKind : std::uint8_t { layer, batch };

/// x is rows x channels, contiguous. There is a mean for each row, or for each channel.
struct Norm {
  NormKind kind = NormKind::layer;
  DType dtype = DType::float32;
  std::int64_t rows = 1;
  std::int64_t channels = 1;
  float epsilon = 1e-5F;
};

[[nodiscard]] TWILL_COLD inline std::string to_string(const Norm& norm) {
  return join_text({norm.kind == NormKind::layer ? "layer" : "batch", " norm of ", norm.rows, " x ", norm.channels, " ",
                    name(norm.dtype)});
}

namespace detail {

struct NormShapes {
  TensorShape x{};
  TensorShape parameter{};
  TensorShape statistic{};
};
/// Rows are cuDNN's batch for layer norm, and its space for batch norm.
[[nodiscard]] inline NormShapes shapes_of(const Norm& norm) {
  const std::int64_t c = norm.channels;
  const TensorShape channels{{1, c, 1, 1}, {c, 1, c, c}};
  if (norm.kind == NormKind::layer)
    return {{{norm.rows, c, 1, 1}, {c, 1, c, c}}, channels, {{norm.rows, 1, 1, 1}, {1, 1, 1, 1}}};
  return {{{1, c, norm.rows, 1}, {c * norm.rows, 1, c, c}}, channels, channels};
}
[[nodiscard]] inline cudnnBackendNormMode_t mode_of(NormKind kind) {
  return kind == NormKind::layer ? CUDNN_LAYER_NORM : CUDNN_BATCH_NORM;
}
[[nodiscard]] inline Key key_of(const Norm& norm, std::uint64_t kind) {
  return {kind | static_cast<std::uint64_t>(norm.kind) << 8 | static_cast<std::uint64_t>(norm.dtype) << 16,
          static_cast<std::uint64_t>(norm.rows), static_cast<std::uint64_t>(norm.channels)};
}

} // namespace detail

/// Tensors with memory and numbers, in order: x, scale, bias, y, mean, 1 / deviation, epsilon.
[[nodiscard]] inline Graph norm_graph(const Norm& norm) {
  Graph graph(to_string(norm));
  const detail::NormShapes shapes = detail::shapes_of(norm);
  const int x = graph.tensor(shapes.x, norm.dtype);
  const int scale = graph.tensor(shapes.parameter, DType::float32);
  const int bias = graph.tensor(shapes.parameter, DType::float32);
  const int y = graph.tensor(shapes.x, norm.dtype);
  const int mean = graph.tensor(shapes.statistic, DType::float32);
  const int inverse_deviation = graph.tensor(shapes.statistic, DType::float32);
  const int epsilon = graph.number(4);
  graph.operation(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
                  {{CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, x},
                   {CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, mean},
                   {CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, inverse_deviation},
                   {CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, scale},
                   {CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, bias},
                   {CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, epsilon},
                   {CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, y}},
                  {}, [&](Descriptor& made) {
                    made.set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, detail::mode_of(norm.kind))
                        .set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING);
                  });
  return graph;
}

/// Tensors with memory, in order: x, dy, scale, mean, 1 / deviation, dx, the scale's and the bias's gradients.
[[nodiscard]] inline Graph norm_gradient_graph(const Norm& norm) {
  Graph graph(to_string(norm) + ", gradients");
  const detail::NormShapes shapes = detail::shapes_of(norm);
  const int x = graph.tensor(shapes.x, norm.dtype);
  const int dy = graph.tensor(shapes.x, norm.dtype);
  const int scale = graph.tensor(shapes.parameter, DType::float32);
  const int mean = graph.tensor(shapes.statistic, DType::float32);
  const int inverse_deviation = graph.tensor(shapes.statistic, DType::float32);
  const int dx = graph.tensor(shapes.x, norm.dtype);
  const int d_scale = graph.tensor(shapes.parameter, DType::float32);
  const int d_bias = graph.tensor(shapes.parameter, DType::float32);
  graph.operation(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
                  {{CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, x},
                   {CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, mean},
                   {CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, inverse_deviation},
                   {CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, dy},
                   {CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, scale},
                   {CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, d_scale},
                   {CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, d_bias},
                   {CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, dx}},
                  {},
                  [&](Descriptor& made) { made.set(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, detail::mode_of(norm.kind)); });
  return graph;
}

/// y = (x - mean) / deviation * scale + bias, and the statistics. throws: GpuError
[[nodiscard]] inline bool try_norm(const gpu::Queue<CudaRuntime>& queue, const Norm& norm, const void* x,
                                   const float* scale, const float* bias, void* y, float* mean,
                                   float* inverse_deviation, Workspace workspace = {}) {
  float epsilon = norm.epsilon;
  return run_graph(
      queue, detail::key_of(norm, 6), [&] { return norm_graph(norm); },
      {const_cast<void*>(x), const_cast<float*>(scale), const_cast<float*>(bias), y, mean, inverse_deviation, &epsilon},
      workspace);
}

/// The gradients by x, scale and bias, from the statistics of the forward pass. throws: GpuError
[[nodiscard]] inline bool try_norm_gradients(const gpu::Queue<CudaRuntime>& queue, const Norm& norm, const void* x,
                                             const void* dy, const float* scale, const float* mean,
                                             const float* inverse_deviation, void* dx, float* scale_gradient,
                                             float* bias_gradient, Workspace workspace = {}) {
  return run_graph(
      queue, detail::key_of(norm, 7), [&] { return norm_gradient_graph(norm); },
      {const_cast<void*>(x), const_cast<void*>(dy), const_cast<float*>(scale), const_cast<float*>(mean),
       const_cast<float*>(inverse_deviation), dx, scale_gradient, bias_gradient},
      workspace);
}

} // namespace twill::inline v0::nvidia::dnn
