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
#include <twill/fft/gpu/lines_plan.hpp>
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
  const LinesPlan plan = plan_lines(job, reinterpret_cast<std::uintptr_t>(job.from) % (2 * sizeof(T)) == 0);
  const auto library_plan = Library::plan(queue, plan.described);
  const auto operand_bytes = static_cast<std::size_t>(plan.operand_bytes());
  const auto result_bytes = static_cast<std::size_t>(plan.result_bytes());
  const std::size_t workspace_bytes = library_plan->workspace_bytes();
  twill::gpu::choice_log<typename D::Runtime>(queue.device())
      .warn_beyond_plan(D::Runtime::name, queue.device(), Library::name, workspace_bytes,
                        static_cast<std::size_t>(most_workspace_bytes(plan.described)),
                        [&] { return to_string(plan.described); });
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
