#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Transforms along one axis of a tensor by a GPU's library of Fourier transforms, which takes one batch of whole lines.
// Lines that it cannot read in their place, and complex numbers whose parts are apart, are copied into rows, results
// that it cannot write there are copied back, and scales are applied in these copies where there are any. The library
// is a template argument, so all but its calls is tested without CUDA. Read next: fft/cuda/lines.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/device/cuda/fft.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/fft/gpu/move_lines.hpp>
#include <twill/fft/lines.hpp>
#include <twill/memory/buffer.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// A library of transforms: its name, a plan with `workspace_bytes()`, and the run of a plan on a queue. It may
/// overwrite the operand of a real result.
template <class L, class Queue>
concept TransformLibrary = requires(const Queue& queue, const nvidia::Fft& described, void* memory) {
  {std::string_view{L::name}};
  { L::plan(queue, described)->workspace_bytes() } -> std::convertible_to<std::size_t>;
  L::plan(queue, described)->run(queue, described, memory, memory, memory);
};

/// A job as one batch of the library's, with the copies before and after it.
struct LinesPlan {
  nvidia::Fft described{};
  std::int64_t from_points = 0; ///< elements of a line as the library takes it
  std::int64_t to_points = 0;
  int from_parts = 1; ///< the real numbers of an element
  int to_parts = 1;
  bool copies_operand = false;
  bool copies_result = false;
  bool finishes_in_place = false; ///< a pass over the result where it is
};

/// Whether lines of so many elements, which are `parts` real numbers each, are one batch and do not overlap.
[[nodiscard]] constexpr bool is_one_batch(const Dims& extents, const Dims& strides, std::int64_t step,
                                          std::int64_t points, int parts) {
  if (extents.rank > 1 || step < parts) return false;
  if (extents.rank == 0) return true;
  const std::int64_t line = strides[0];
  return line >= (points - 1) * step + parts || (line >= parts && step >= (extents[0] - 1) * line + parts);
}

template <class T> [[nodiscard]] LinesPlan plan_lines(const Job<T>& job) {
  const bool is_cosine = job.kind == Kind::cosine_2 || job.kind == Kind::cosine_3;
  const bool is_of_real = job.kind == Kind::hermitian_of_real || job.kind == Kind::cosine_2;
  const bool is_to_real = job.kind == Kind::real_of_hermitian || job.kind == Kind::cosine_3;
  const std::int64_t coefficients = job.length / 2 + 1;
  const bool copies_parts = job.parts_are_apart;
  LinesPlan plan{}; // member by member: nvcc 13 moves up what follows a member that a list leaves out
  plan.from_points = is_to_real ? coefficients : job.length;
  plan.to_points = is_of_real ? coefficients : job.length;
  plan.from_parts = is_of_real ? 1 : 2;
  plan.to_parts = is_to_real ? 1 : 2;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(job.from) % (2 * sizeof(T)) == 0;
  plan.copies_operand = (job.kind != Kind::complex && job.kind != Kind::hermitian_of_real) ||
                        (copies_parts && plan.from_parts == 2) || job.given < plan.from_points || !is_aligned ||
                        !is_one_batch(job.extents, job.from_strides, job.from_step, plan.from_points, plan.from_parts);
  plan.copies_result = is_cosine || (copies_parts && plan.to_parts == 2) ||
                       !is_one_batch(job.extents, job.to_strides, job.to_step, plan.to_points, plan.to_parts);
  const bool conjugates = job.kind == Kind::hermitian_of_real && job.sign == Sign::inverse;
  plan.finishes_in_place = !plan.copies_result && (conjugates || (!plan.copies_operand && job.scale != 1));
  const auto stride = [&](const Dims& strides, int parts, std::int64_t points) {
    return job.extents.rank == 0 ? points : strides[0] / parts;
  };
  nvidia::Fft& described = plan.described;
  described.kind = is_of_real   ? nvidia::FftKind::complex_of_real
                   : is_to_real ? nvidia::FftKind::real_of_complex
                                : nvidia::FftKind::complex;
  described.real = dtype_of<T>;
  described.is_inverse = described.kind == nvidia::FftKind::complex && job.sign == Sign::inverse;
  described.length = job.length;
  described.lines = job.extents.elements();
  described.from_line = plan.from_points;
  described.to_line = plan.to_points;
  if (!plan.copies_operand) {
    described.from_step = job.from_step / plan.from_parts;
    described.from_line = stride(job.from_strides, plan.from_parts, plan.from_points);
  }
  if (!plan.copies_result) {
    described.to_step = job.to_step / plan.to_parts;
    described.to_line = stride(job.to_strides, plan.to_parts, plan.to_points);
  }
  return plan;
}

/// Lines of a job's tensors, and rows without gaps.
template <class T> [[nodiscard]] LinesAt<const T> operand_of(const Job<T>& job) {
  return {job.from, job.parts_are_apart ? job.from_imaginary : job.from + 1, job.from_step,
          kernel::gpu::merged(kernel::gpu::Axes(job.extents, job.from_strides))};
}
template <class T> [[nodiscard]] LinesAt<T> result_of(const Job<T>& job) {
  return {job.to, job.parts_are_apart ? job.to_imaginary : job.to + 1, job.to_step,
          kernel::gpu::merged(kernel::gpu::Axes(job.extents, job.to_strides))};
}
template <class T>
[[nodiscard]] LinesAt<T> rows_of(T* first, std::int64_t lines, std::int64_t points, std::int64_t parts) {
  return {first, first + 1, parts, kernel::gpu::Axes(Dims(lines), Dims(points * parts))};
}

inline namespace TWILL_ISA {

template <class Queue, class T>
void move_lines(const Queue& queue, const Job<T>& job, MoveParameters<T> p, std::int64_t points) {
  const std::int64_t lines = job.extents.elements();
  p.n = job.length;
  p.count = lines * points;
  p.quarter = std::numbers::pi_v<T> / 2 / static_cast<T>(job.length);
  p.lines_first = job.extents.rank > 0 && job.from_strides[job.extents.rank - 1] < job.from_step;
  p.divisor = kernel::gpu::IndexDivisor(p.lines_first ? lines : points, p.count);
  enqueue(queue, MoveLines<T>{}, kernel::gpu::one_thread_each(p.count), p);
}

/// Lines as the library takes them, `to` being rows.
template <class Queue, class T> void copy_operand(const Queue& queue, const Job<T>& job, const LinesPlan& plan, T* to) {
  const bool is_cosine = job.kind == Kind::cosine_2 || job.kind == Kind::cosine_3;
  MoveParameters<T> p{};
  p.given = job.given;
  p.from = operand_of(job);
  p.to = rows_of(to, job.extents.elements(), plan.from_points, plan.from_parts);
  p.move = job.kind == Kind::cosine_2   ? Move::cosine_2_order
           : job.kind == Kind::cosine_3 ? Move::cosine_3_turn
                                        : Move::element;
  p.reads_complex = job.kind == Kind::complex || job.kind == Kind::real_of_hermitian;
  p.writes_complex = plan.from_parts == 2;
  p.is_hermitian = job.kind == Kind::real_of_hermitian;
  p.conjugates = p.is_hermitian && job.sign == Sign::forward;
  p.first_scale = job.kind == Kind::cosine_3 ? static_cast<T>(job.first_scale) : T{1};
  p.scale = plan.copies_result || is_cosine ? T{1} : static_cast<T>(job.scale);
  move_lines(queue, job, p, plan.from_points);
}

/// The job's result from the library's, `from` being rows or the result itself.
template <class Queue, class T>
void finish_result(const Queue& queue, const Job<T>& job, const LinesPlan& plan, const LinesAt<const T>& from) {
  const bool is_cosine = job.kind == Kind::cosine_2 || job.kind == Kind::cosine_3;
  const std::int64_t points = is_cosine ? job.length : plan.to_points;
  MoveParameters<T> p{};
  p.given = points;
  p.from = from;
  p.to = result_of(job);
  p.move = job.kind == Kind::cosine_2   ? Move::cosine_2_turn
           : job.kind == Kind::cosine_3 ? Move::cosine_3_order
                                        : Move::element;
  p.writes_complex = plan.to_parts == 2 && !is_cosine && p.to.first_imaginary != nullptr;
  p.reads_complex = p.writes_complex;
  p.conjugates = job.kind == Kind::hermitian_of_real && job.sign == Sign::inverse;
  p.first_scale = job.kind == Kind::cosine_2 ? static_cast<T>(job.first_scale) : T{1};
  p.scale = plan.copies_result || !plan.copies_operand ? static_cast<T>(job.scale) : T{1};
  move_lines(queue, job, p, points);
}

/// Notes for library_choices() that the library computes such transforms.
template <class Library, twill::gpu::Runtime R>
void note_transform(const twill::gpu::Queue<R>& queue, const nvidia::Fft& described, std::size_t workspace_bytes) {
  constexpr std::uint64_t of_transforms = std::uint64_t{1} << 63; // no other problem's key begins so
  const auto words = nvidia::key_of(described);
  static_assert(words.size() < twill::gpu::choice_key_words);
  twill::gpu::ChoiceKey key{of_transforms | (described.is_inverse ? 1U : 0U)};
  for (std::size_t i = 0; i < words.size(); ++i) key[i + 1] = words[i];
  twill::gpu::choice_log<R>(queue.device()).note(key, [&] {
    return LibraryChoice{.problem = to_string(described),
                         .by = std::string{Library::name},
                         .reason = "all transforms on GPUs are the library's",
                         .workspace_bytes = workspace_bytes,
                         .options = library_options()};
  });
}

/// Transforms the lines after the queue's earlier work; returns at once. throws: GpuError, OutOfMemoryError
/// requires: elements in the result
template <class Library, twill::gpu::GpuDevice D, class T>
void transform_lines(const twill::gpu::Queue<typename D::Runtime>& queue, const Job<T>& job) {
  using Queue = twill::gpu::Queue<typename D::Runtime>;
  static_assert(TransformLibrary<Library, Queue>);
  const LinesPlan plan = plan_lines(job);
  const auto library_plan = Library::plan(queue, plan.described);
  const auto bytes_of = [&](bool is_there, std::int64_t points, int parts) {
    constexpr std::size_t alignment = 256;
    const auto bytes = static_cast<std::size_t>(job.extents.elements() * points * parts) * sizeof(T);
    return is_there ? (bytes + alignment - 1) / alignment * alignment : 0;
  };
  const std::size_t operand_bytes = bytes_of(plan.copies_operand, plan.from_points, plan.from_parts);
  const std::size_t result_bytes = bytes_of(plan.copies_result, plan.to_points, plan.to_parts);
  const std::size_t workspace_bytes = library_plan->workspace_bytes();
  const memory::Buffer<D> memory(D{queue.device()}, operand_bytes + result_bytes + workspace_bytes);
  auto* const rows = static_cast<std::byte*>(memory.data());
  T* const from = plan.copies_operand ? reinterpret_cast<T*>(rows) : const_cast<T*>(job.from);
  T* const to = plan.copies_result ? reinterpret_cast<T*>(rows + operand_bytes) : job.to;
  if (plan.copies_operand) copy_operand(queue, job, plan, from);
  library_plan->run(queue, plan.described, from, to,
                    workspace_bytes > 0 ? rows + operand_bytes + result_bytes : nullptr);
  if (plan.copies_result)
    finish_result<Queue, T>(queue, job, plan,
                            rows_of<const T>(to, job.extents.elements(), plan.to_points, plan.to_parts));
  else if (plan.finishes_in_place)
    finish_result<Queue, T>(queue, job, plan, {job.to, job.to + 1, job.to_step, result_of(job).lines});
  note_transform<Library>(queue, plan.described, workspace_bytes);
}

} // namespace TWILL_ISA
}}}} // namespace twill::v0::fft::detail
