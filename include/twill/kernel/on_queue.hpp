#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Operations that give work to a GPU's queue, declared for code that serves every kind of device. Their bodies are in
// kernel/gpu/, which programs for hosts never include: the templates of expr/ name them in branches that only GPUs
// compile. Read next: kernel/gpu/scan.hpp, kernel/gpu/select.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/cpu/team.hpp>

#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 {
struct RandomDraw;
}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace kernel {

struct QuantilePlace;

/// Whether `launch(device, f)` calls f with a GPU's queue.
template <class D> inline constexpr bool has_queue = !std::is_same_v<team_t<D>, Team>;

inline namespace TWILL_ISA {
struct ScanShape;
}

}}} // namespace twill::v0::kernel

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

// kernel/gpu/scan.hpp
template <class Op, class T, class D> void scan(const D& device, const T* from, T* to, const ScanShape& shape);

// kernel/gpu/select.hpp
struct MaskFlag;
template <class D, class Flag> class Counted;
template <class D>
[[nodiscard]] Counted<D, MaskFlag> counted_true(const D& device, const bool* mask, const Dims& extents,
                                                const Dims& strides);
template <class D>
void write_offsets(const Counted<D, MaskFlag>& counted, const Dims& extents, const Dims& weights, std::int64_t* to);
template <class D>
void write_indices(const Counted<D, MaskFlag>& counted, const Dims& extents, std::int64_t found, std::int64_t* to);

// kernel/gpu/quantile.hpp
template <class T, class To, class D>
void select_rows(const D& device, const T* rows, std::int64_t count, std::int64_t length, const QuantilePlace* places,
                 std::int64_t quantiles, To* to);

// kernel/gpu/sampling.hpp
template <class D> void shuffle_places(const D& device, std::int64_t* to, std::int64_t n, RandomDraw draw);
template <class D>
void draw_with_replacement(const D& device, const double* weights, const double* greatest, std::int64_t rows,
                           std::int64_t n, std::int64_t* to, std::int64_t chosen, RandomDraw draw);
template <class D>
void draw_without_replacement(const D& device, const double* weights, std::int64_t rows, std::int64_t n,
                              std::int64_t* to, std::int64_t chosen, RandomDraw draw);

// kernel/gpu/distributions.hpp
template <class Law, class T, class D>
void draw_elements(const D& device, T* to, std::int64_t count, RandomDraw draw, const Law& law);

// kernel/gpu/scatter.hpp
template <bool Adds, class Plan, class T, class D>
void scatter_elements(const D& device, const Plan& plan, std::int64_t lowest, std::int64_t highest, T* to,
                      const T* from);

}}}} // namespace twill::v0::kernel::gpu
