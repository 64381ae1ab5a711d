#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Transforms of tensors along one axis: the result's type and extents, and the launch on the tensor's device. Hosts
// have kernels; GPUs take a library, with a header of their own: fft/cuda/lines.cuh. Read next: fft/transforms.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/gather.hpp>
#include <twill/fft/lines.hpp>
#include <twill/fft/norm.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// The type in which elements of type T are transformed: double for float64 and complex128, else float.
template <Scalar T> using part_t = std::conditional_t<complex_type(dtype_of<T>) == DType::complex128, double, float>;

/// The real numbers of an element.
template <Scalar T> inline constexpr std::int64_t parts = ComplexScalar<T> ? 2 : 1;

[[nodiscard]] constexpr Dims with_extent(Dims dims, int axis, std::int64_t extent) {
  dims[axis] = extent;
  return dims;
}

/// The number of points that a transform takes: the one that was asked for, or all that there are.
/// throws: ValueError when it is below 1
[[nodiscard]] std::int64_t checked_points(const char* function, std::int64_t n, int axis);

/// The axes beside one of a transform, from the layouts of both tensors: neighbours that are one axis in memory become
/// one.
struct Beside {
  Dims extents{};
  Dims from{};
  Dims to{};
};
[[nodiscard]] Beside beside(const Dims& extents, const Dims& from, std::int64_t from_parts, const Dims& to,
                            std::int64_t to_parts, int axis);

inline namespace TWILL_ISA {

/// The operand as a tensor of float32, float64 or a complex type.
template <bool WantsComplex, TensorOperand X> [[nodiscard]] auto numbers(X&& x) {
  using T = typename std::remove_cvref_t<X>::value_type;
  using R = part_t<T>;
  auto source = expr::evaluated(std::forward<X>(x));
  if constexpr (WantsComplex && !ComplexScalar<T>)
    return source.template to<Complex<R>>();
  else if constexpr (ComplexScalar<T>)
    return source;
  else
    return source.template to<R>();
}

/// Transforms along an axis into a tensor of the result's extents; x itself, where the type stays.
/// requires: n points, for Hermitian lines those of the real ones
template <class X, class Y>
void run_along(Kind kind, Sign sign, const X& x, const Y& y, int axis, std::int64_t n, double scale,
               double first_scale = 1) {
  using From = typename X::value_type;
  using To = typename Y::value_type;
  using R = part_t<From>;
  using D = typename X::device_type;
  const std::int64_t most = kind == Kind::real_of_hermitian ? n / 2 + 1 : n;
  const Dims extents = x.shape();
  const Beside others = beside(extents, x.strides(), parts<From>, y.strides(), parts<To>, axis);
  const Job<R> job{.kind = kind,
                   .sign = sign,
                   .length = n,
                   .given = extents[axis] < most ? extents[axis] : most,
                   .from = reinterpret_cast<const R*>(x.data()),
                   .from_step = x.strides()[axis] * parts<From>,
                   .to = reinterpret_cast<R*>(y.data()),
                   .to_step = y.strides()[axis] * parts<To>,
                   .extents = others.extents,
                   .from_strides = others.from,
                   .to_strides = others.to,
                   .scale = scale,
                   .first_scale = first_scale};
  if (y.elements() == 0) return;
  if constexpr (kernel::has_queue<D>) {
    launch(x.device(), [&job](const auto& queue) { LinesOn<std::remove_cvref_t<decltype(queue)>>::run(queue, job); });
  } else {
    const memory::Buffer<D> memory(x.device(), static_cast<std::size_t>(working_elements(job)) * sizeof(R));
    launch(x.device(), [job, at = static_cast<R*>(memory.data())](const auto& team) { run_job(team, job, at); });
  }
}

/// A new tensor with the transform of x along an axis, whose static extent becomes `Extent`.
template <int Axis, std::int64_t Extent, class To, class T, class D, class S>
[[nodiscard]] auto transformed(Kind kind, Sign sign, const Tensor<T, D, S>& x, std::int64_t extent, std::int64_t n,
                               double scale, double first_scale = 1) {
  constexpr int axis = axis_of<Axis, S::rank>;
  const Tensor<To, D, shape_t<with_extent(dims_of<S>, axis, Extent)>> y(x.device(),
                                                                        with_extent(x.shape(), axis, extent));
  run_along(kind, sign, x, y, axis, n, scale, first_scale);
  return y;
}

} // namespace TWILL_ISA
}}}} // namespace twill::v0::fft::detail

#if TWILL_HEADER_ONLY
#include <twill/fft/along.ipp>
#endif
