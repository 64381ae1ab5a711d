// SPDX-License-Identifier: Apache-2.0
//
// More lines of docs/reference/tensors.md: functions of models on tensors.

#include <twill/nn/eager_volumes.hpp>

using namespace twill;

// clang-format off

// Functions of models: in the header twill/nn/eager.hpp, which is not in twill.hpp. `image` is (2, 8, 6, 6), `sequence` (2, 8, 10),
// `filters` (4, 8, 3, 3), `taps` (4, 8, 3), `up` (8, 4, 2, 2), `up_taps` (8, 4, 2), `bias` a number for each filter, `columns`
// (2, 32, 9), `grid` (2, 3, 3, 2), `theta` (2, 2, 3), `slope` one for each channel, `a` and `b` are rows, `label` integers.
void functions_of_models(const Tensor<float, Cpu, Shape<2, 8, 6, 6>>& image, const Tensor<float, Cpu, Shape<2, 8, 10>>& sequence,
                         const Tensor<float, Cpu, Shape<4, 8, 3, 3>>& filters, const Tensor<float, Cpu, Shape<4, 8, 3>>& taps,
                         const Tensor<float, Cpu, Shape<8, 4, 2, 2>>& up, const Tensor<float, Cpu, Shape<8, 4, 2>>& up_taps,
                         const Tensor<float, Cpu, Shape<4>>& bias, const Tensor<float, Cpu, Shape<2, 32, 9>>& columns,
                         const Tensor<float, Cpu, Shape<2, 3, 3, 2>>& grid, const Tensor<float, Cpu, Shape<2, 2, 3>>& theta,
                         const Tensor<float, Cpu, Shape<8>>& slope, const Tensor<float, Cpu, Shape<dyn, 4>>& a,
                         const Tensor<float, Cpu, Shape<dyn, 4>>& b, const Tensor<std::int64_t, Cpu, Shape<dyn>>& label) {
  // PyTorch: without a number of classes it is the largest index plus one.
  { const Tensor y = one_hot<10>(label); }
  { const Tensor y = conv1d(sequence, taps, bias); }
  // PyTorch: options are arguments of the call.
  { const Tensor y = conv2d<graph::ConvolutionOptions{.padding = 1}>(image, filters, bias); }
  { const Tensor y = conv_transpose1d(sequence, up_taps); }
  { const Tensor y = conv_transpose2d<graph::TransposedConvolutionOptions{.stride = 2}>(image, up, bias); }
  { const Tensor y = max_pool1d(sequence); }
  { const Tensor y = max_pool2d<graph::MaxPoolOptions{.window = 3, .stride = 1}>(image); }
  { const Tensor y = avg_pool1d(sequence); }
  { const Tensor y = avg_pool2d(image); }
  { const Tensor y = adaptive_avg_pool1d<5>(sequence); }
  { const Tensor y = adaptive_avg_pool2d<graph::Sides{2, 3}>(image); }
  { const Tensor y = adaptive_max_pool1d<5>(sequence); }
  { const Tensor y = adaptive_max_pool2d<2>(image); }
  { const Tensor y = pixel_shuffle<2>(image); }
  { const Tensor y = pixel_unshuffle<2>(image); }
  { const Tensor y = unfold<graph::PatchOptions{.kernel = 2}>(image); }
  { const Tensor y = fold<graph::Sides{6, 6}, graph::PatchOptions{.kernel = 2, .stride = 2}>(columns); }
  { const Tensor y = grid_sample(image, grid); }
  { const Tensor y = affine_grid<graph::Sides3{4, 4}>(theta); }
  { const Tensor y = interpolate<graph::Sides{12, 12}, graph::Interpolation::linear>(image); }
  { const Tensor y = resample<graph::Sides3{12, 12}, graph::Resampling::cubic>(image); }
  { const Tensor y = local_response_norm<5>(image); }
  { const Tensor y = glu<1>(image); }
  { const Tensor y = prelu(image, slope); }
  { const Tensor y = pairwise_distance(a, b); }
}

// Volumes: in the header twill/nn/eager_volumes.hpp. `volume` is (2, 4, 4, 6, 6), `kernels` (3, 4, 2, 2, 2), `back` (4, 3, 2, 2, 2).
void functions_of_volumes(const Tensor<float, Cpu, Shape<2, 4, 4, 6, 6>>& volume,
                          const Tensor<float, Cpu, Shape<3, 4, 2, 2, 2>>& kernels,
                          const Tensor<float, Cpu, Shape<4, 3, 2, 2, 2>>& back) {
  { const Tensor y = conv3d(volume, kernels); }
  { const Tensor y = conv_transpose3d<graph::TransposedVolumeConvolutionOptions{.stride = 2}>(volume, back); }
  { const Tensor y = max_pool3d(volume); }
  { const Tensor y = avg_pool3d(volume); }
  { const Tensor y = adaptive_avg_pool3d<1>(volume); }
  { const Tensor y = adaptive_max_pool3d<graph::Sides3{1, 2, 2}>(volume); }
}
