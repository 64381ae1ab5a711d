#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Graph operations of Fourier transforms: lines of real and imaginary parts, each an array of its own, to such lines or
// to real ones. Both are linear, and the gradient of a transform is one in the other direction; their kernel is that of
// tensors, on GPUs a library's. Not in twill.hpp. Read next: fft/value_transforms.hpp.

#include <twill/compile/plan/working_bytes.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/core/config.hpp>
#include <twill/fft/gpu/lines_plan.hpp>
#include <twill/fft/lines.hpp>
#include <twill/fft/norm.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/operation.hpp>
#include <twill/ops/complex_value.hpp>

#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace twill { inline namespace v0 { namespace fft { namespace detail { inline namespace TWILL_ISA {

using graph::ComplexValue;
using graph::Extents;
using graph::Graph;
using graph::Problem;
using graph::Value;

/// The factor of a transform, the same of its gradient.
enum class Factor : std::uint8_t { one, root, all }; ///< 1, 1 / sqrt(n), 1 / n

/// A transform of lines, as the attributes of an operation.
struct Transform {
  Kind kind = Kind::complex;
  Sign sign = Sign::forward;
  Factor factor = Factor::one;
};

TWILL_CONSTEXPR void to_complex_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                    graph::InputGradients& gradients);
TWILL_CONSTEXPR void to_real_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                 graph::InputGradients& gradients);

TWILL_CONSTEXPR std::int64_t working_bytes(const graph::SizedCall& call);

// Operands and results are (outer, length, inner), real parts before imaginary ones; attributes are a `Transform`.

/// Complex or real numbers to complex ones.
inline constexpr graph::Operation to_complex_operation{.name = "fourier_transform",
                                                       .vjp = &to_complex_vjp,
                                                       .results = 2,
                                                       .wants_dense = true,
                                                       .batching = graph::Batching::first_axis,
                                                       .working_bytes = &working_bytes};
/// Hermitian lines, which the first n / 2 + 1 complex numbers give, to real ones.
inline constexpr graph::Operation to_real_operation{.name = "fourier_transform_to_real",
                                                    .vjp = &to_real_vjp,
                                                    .wants_dense = true,
                                                    .batching = graph::Batching::first_axis,
                                                    .working_bytes = &working_bytes};

/// The number of the first result among the operands, of which complex ones are two.
[[nodiscard]] constexpr int first_result(Kind kind) {
  return kind == Kind::complex || kind == Kind::real_of_hermitian ? 2 : 1;
}

[[nodiscard]] TWILL_CONSTEXPR Sign opposite(Sign sign) { return sign == Sign::forward ? Sign::inverse : Sign::forward; }

[[nodiscard]] TWILL_CONSTEXPR Factor factor_of(Norm norm, Sign sign) {
  if (norm == Norm::ortho) return Factor::root;
  return (norm == Norm::forward) == (sign == Sign::forward) ? Factor::all : Factor::one;
}

[[nodiscard]] TWILL_CONSTEXPR Extents with_lines(Extents shape, graph::Extent length) {
  shape[1] = length;
  return shape;
}

/// Lines of n real numbers or, with imaginary parts, complex ones; for Hermitian results the first n / 2 + 1 numbers.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue to_complex(Value re, const Value* im, Transform t) {
  const bool is_hermitian = t.kind == Kind::hermitian_of_real;
  const Extents shape = is_hermitian ? with_lines(re.shape(), {re.shape()[1].factor / 2 + 1, 0}) : re.shape();
  const std::initializer_list<std::int64_t> attributes = {
      static_cast<std::int64_t>(t.kind), static_cast<std::int64_t>(t.sign), static_cast<std::int64_t>(t.factor)};
  const Value first = im != nullptr ? add_operation(to_complex_operation, {re, *im}, re.dtype(), shape, attributes)
                                    : add_operation(to_complex_operation, {re}, re.dtype(), shape, attributes);
  return {first, add_result(first, 1, re.dtype(), shape)};
}

/// Lines of n real numbers.
[[nodiscard]] TWILL_CONSTEXPR Value to_real(const ComplexValue& z, std::int64_t n, Transform t) {
  return add_operation(to_real_operation, {z.re, z.im}, z.re.dtype(), with_lines(z.shape(), {n, 0}),
                       {static_cast<std::int64_t>(Kind::real_of_hermitian), static_cast<std::int64_t>(t.sign),
                        static_cast<std::int64_t>(t.factor)});
}

/// Whether a coefficient of a Hermitian line stands for itself alone: the first one, and the last of an even length.
[[nodiscard]] TWILL_CONSTEXPR Value is_single(Graph& graph, std::int64_t n) {
  const Value k = iota(graph, {{}, {n / 2 + 1, 0}, {}});
  return n % 2 == 0 ? k % (n / 2 > 0 ? n / 2 : 1) == 0 : k == 0;
}

[[nodiscard]] TWILL_CONSTEXPR Transform transform_of(const Graph& graph, const graph::Node& node) {
  return {static_cast<Kind>(graph.attribute(node, 0)), static_cast<Sign>(graph.attribute(node, 1)),
          static_cast<Factor>(graph.attribute(node, 2))};
}

/// y = s F x: the gradient of x is s F^H g, for real x its real part. A line of real numbers reaches the coefficients
/// that are not given as well, so those that stand for two count half in the Hermitian line that F^H takes.
TWILL_CONSTEXPR void to_complex_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                    graph::InputGradients& gradients) {
  const graph::Node self = graph.node(node);
  Transform t = transform_of(graph, self);
  t.sign = opposite(t.sign);
  const auto part = [&](int k) {
    return cotangents.items[k] >= 0 ? Value{graph, cotangents.items[k]}
                                    : broadcast_to(constant(graph, self.dtype, 0), self.shape);
  };
  const ComplexValue g{part(0), part(1)};
  if (t.kind == Kind::hermitian_of_real) {
    const std::int64_t n = graph.node(self.input(0)).shape[1].factor;
    const Value weight = cast(where(is_single(graph, n), 1.0, 0.5), self.dtype);
    gradients.set(0, to_real(g * weight, n, t));
    return;
  }
  t.kind = Kind::complex;
  const ComplexValue x = to_complex(g.re, &g.im, t);
  gradients.set(0, x.re);
  if (self.arity > 1) gradients.set(1, x.im);
}

/// The gradient of a Hermitian line's coefficients: the transform of g, twice where one stands for two. Imaginary parts
/// of the others are not read.
TWILL_CONSTEXPR void to_real_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                                 graph::InputGradients& gradients) {
  const graph::Node self = graph.node(node);
  Transform t = transform_of(graph, self);
  t.kind = Kind::hermitian_of_real;
  t.sign = opposite(t.sign);
  const ComplexValue g = to_complex(Value{graph, cotangents[0]}, nullptr, t);
  const Value single = is_single(graph, self.shape[1].factor);
  gradients.set(0, where(single, g.re, g.re * 2.0));
  gradients.set(1, where(single, 0.0, g.im * 2.0));
}

/// The sizes of the job of a call, which is not empty: all but addresses and scale.
template <class T> [[nodiscard]] constexpr Job<T> sized_job(const Dims* shapes, const std::int64_t* attributes) {
  Job<T> job{};
  job.kind = static_cast<Kind>(attributes[0]);
  job.sign = static_cast<Sign>(attributes[1]);
  job.parts_are_apart = true;
  const Dims& from = shapes[0];
  const Dims& to = shapes[first_result(job.kind)];
  job.length = job.kind == Kind::real_of_hermitian ? to[1] : from[1];
  job.given = from[1];
  job.from_step = from[2];
  job.to_step = to[2];
  const auto append = [&](std::int64_t extent, std::int64_t from_stride, std::int64_t to_stride) {
    if (extent == 1) return;
    job.extents[job.extents.rank++] = extent;
    job.from_strides[job.from_strides.rank++] = from_stride;
    job.to_strides[job.to_strides.rank++] = to_stride;
  };
  append(from[0], from[1] * from[2], to[1] * to[2]);
  append(from[2], 1, 1);
  return job;
}

/// The bytes of a GPU's pool for a call: rows, and the library's working memory at its most. A real operand begins
/// where the library can read it.
TWILL_CONSTEXPR std::int64_t working_bytes(const graph::SizedCall& call) {
  if (call.shapes[0].elements() == 0) return 0;
  const LinesPlan plan = call.dtype == DType::float64
                             ? plan_lines(sized_job<double>(call.shapes, call.attributes), true)
                             : plan_lines(sized_job<float>(call.shapes, call.attributes), true);
  return compile::pool_bytes(plan.operand_bytes() + plan.result_bytes() + most_workspace_bytes(plan.described));
}

/// The job of a launch, which is not empty.
template <class T> [[nodiscard]] Job<T> job_of(const kernel::Launch& launch) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  Job<T> job = sized_job<T>(launch.shapes, launch.attributes);
  const auto factor = static_cast<Factor>(launch.attributes[2]);
  const int result = first_result(job.kind);
  const auto data = [&](int operand) { return static_cast<T*>(launch.operands[operand].data); };
  if (factor != Factor::one) job.scale = scale_of(factor == Factor::root ? ortho : backward, Sign::inverse, job.length);
  job.from = data(0);
  job.to = data(result);
  if (result == 2) job.from_imaginary = data(1);
  if (job.kind != Kind::real_of_hermitian) job.to_imaginary = data(result + 1);
  return job;
}

/// The kernel of both operations. On hosts each thread keeps the memory for the lines that it works on.
struct TransformKernel {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    if (launch.shapes[0].elements() == 0) return;
    if constexpr (std::is_same_v<TeamType, Team>)
      run_job(team, job_of<T>(launch), nullptr);
    else
      LinesOn<TeamType>::run(team, job_of<T>(launch));
  }

  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    if (launch.shapes[0].elements() > 0) reserve_job(team, job_of<T>(launch));
  }
};

}}}}} // namespace twill::v0::fft::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&fft::detail::to_complex_operation> : fft::detail::TransformKernel {};
template <> struct KernelOf<&fft::detail::to_real_operation> : fft::detail::TransformKernel {};

}}} // namespace twill::v0::TWILL_ISA
