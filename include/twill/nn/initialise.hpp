#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Initial values of weights. Element i of weight k is a pure function of (seed, step, k, i), so networks of one seed
// are equal on every device kind and for any number of devices. Read next: nn/network.hpp.

#include <twill/compile/plan/binding.hpp>
#include <twill/core/config.hpp>
#include <twill/core/philox.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/device/device.hpp>
#include <twill/graph/parameter.hpp>
#include <twill/nn/shards.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The inverse of the error function: Winitzki's approximation (2008), then Halley's method on erf(x) = y.
[[nodiscard]] double inverse_erf(double y);

/// The distribution function of the normal distribution.
[[nodiscard]] inline double normal_share_below(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

/// The fan of a weight: its second extent (in), its first (out) or their mean, times the product of all later ones.
[[nodiscard]] double fan_of(const Dims& shape, graph::Initialiser::Fan fan);

/// Makes the shorter side of a row-major matrix of normal draws orthonormal: Gram-Schmidt, twice for accuracy. The
/// implied triangular factor has a positive diagonal: the result is uniform over orthogonal matrices (Mezzadri, 2007).
void orthonormalise(std::vector<double>& matrix, std::size_t rows, std::size_t columns);

/// One element of an initialiser.
[[nodiscard]] double initial_value(const graph::Initialiser& initialiser, const Dims& shape, const RandomDraw& draw,
                                   std::uint32_t node, std::uint64_t index);

/// All elements of a weight, as bytes of its type. next: the weight after it, which `norms_of_next` requires
[[nodiscard]] std::vector<std::byte> initial_values(const graph::ParameterInfo& info, std::uint32_t node,
                                                    const RandomDraw& draw, const graph::ParameterInfo* next);

/// Euclidean norms of a row-major weight's slices along an axis, or of the whole weight where the axis is -1.
[[nodiscard]] std::vector<double> norms_of_slices(DType dtype, const Dims& shape, std::span<const std::byte> bytes,
                                                  int axis);

/// Those that a rank holds.
[[nodiscard]] std::vector<std::byte> initial_part(const graph::ParameterInfo& info, std::uint32_t node,
                                                  const RandomDraw& draw, int rank, const graph::ParameterInfo* next);

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Fills a weight on any device. `rank` is the one along the axis of which each rank holds a part, `next` the weight
/// after this one, if any: lengths of weight norm start as its norms.
template <ComputeDevice D>
void initialise_parameter(const D& device, const graph::ParameterInfo& info, std::size_t number, const RandomDraw& draw,
                          void* data, int rank = 0, const graph::ParameterInfo* next = nullptr) {
  if constexpr (D::has_memory) {
    const std::vector<std::byte> bytes =
        detail::initial_part(info, static_cast<std::uint32_t>(number), draw, rank, next);
    copy_bytes(device, data, Cpu{}, bytes.data(), bytes.size(), CopyOptions{});
  }
}

}}}} // namespace twill::v0::nn::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {
TWILL_INSTANCE template void initialise_parameter(const Cpu&, const graph::ParameterInfo&, std::size_t,
                                                  const RandomDraw&, void*, int, const graph::ParameterInfo*);
}}}} // namespace twill::v0::nn::TWILL_ISA
#endif

#if TWILL_HEADER_ONLY
#include <twill/nn/initialise.ipp>
#endif
