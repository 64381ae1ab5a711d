#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Spectral normalisation: a weight divided by its largest singular value (Miyato et al., 2018), approximated by power
// iteration: the vectors are buffers, and each forward pass in training improves them. Names are those of
// torch.nn.utils.spectral_norm: "weight_orig", "weight_u", "weight_v". Read next: nn/linear.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/normalisation.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/ops/matmul.hpp>

#include <initializer_list>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of spectral normalisation: iterations and the least divisor (Miyato et al., 2018).
struct SpectralNormOptions {
  int iterations = 1;     ///< of power iteration in each forward pass in training
  double epsilon = 1e-12; ///< the least that a norm is divided by
};

/// A weight under the current scope, divided by the largest singular value of its matrix of first extent and all
/// others. No gradient flows through the vectors. Called instead of `parameter`.
[[nodiscard]] TWILL_CONSTEXPR Value spectral_norm(graph::Graph& graph, std::string_view name,
                                                  std::initializer_list<std::int64_t> shape, Initialiser initialiser,
                                                  SpectralNormOptions options = {}, CallSite site = CallSite::here()) {
  graph::Name stored{name};
  stored.append("_orig");
  const Value weight = parameter(graph, stored.view(), shape, initialiser, Trainable::yes, site);
  const graph::Extents full = weight.shape();
  graph::Extents matrix_shape{};
  graph::Extent others{};
  for (int axis = 1; axis < full.rank; ++axis) others = others * full[axis];
  matrix_shape.append(full[0]);
  matrix_shape.append(others);
  const Value wide = graph::widened(weight);
  const Value matrix = graph::reshape(wide, matrix_shape, site);
  const Value fixed = graph::stop_gradient(matrix);
  const auto vector = [&](std::string_view end, graph::Extent length) {
    graph::Name full_name{name};
    full_name.append(end);
    graph::Extents extents{};
    extents.append(length);
    return buffer(graph, wide.dtype(), full_name.view(), extents, initialise::normal(), site);
  };
  const Value u = vector("_u", full[0]);
  const Value v = vector("_v", others);
  const auto unit = [&](Value row) { return graph::normalize(row, options.epsilon); };
  // Vectors are matrices of one row: v = W^T u / |W^T u|, u = W v / |W v|.
  const Value old_left = unit(graph::unsqueeze(u, 0));
  const Value old_right = unit(graph::unsqueeze(v, 0));
  Value left = old_left;
  Value right = old_right;
  if (graph.training) {
    for (int i = 0; i < options.iterations; ++i) {
      right = unit(graph::matmul(left, fixed));
      left = unit(graph::matmul(right, graph::transpose(fixed)));
    }
    update_buffer(u, graph::reshape(left, u.shape()), site);
    update_buffer(v, graph::reshape(right, v.shape()), site);
    left = graph::where(is_training(graph), left, old_left);
    right = graph::where(is_training(graph), right, old_right);
  }
  const Value sigma = graph::sum(graph::matmul(graph::stop_gradient(left), matrix) * graph::stop_gradient(right));
  return graph::cast(wide / sigma, weight.dtype());
}

}}}} // namespace twill::v0::nn::TWILL_ISA
