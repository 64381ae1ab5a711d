#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Plans of transforms for a GPU's library: a job as one batch of whole lines, the rows that are copied before and after
// it, and the most working memory that the library may ask for. Plain functions of sizes and strides, so that the plan
// of a training step counts the bytes that its run takes. Read next: fft/gpu/transform_lines.hpp, fft/value_lines.hpp.

#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/cuda/fft.hpp>
#include <twill/fft/lines.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

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

  /// The rows that are copied before and after it, each on a boundary of 256 bytes.
  [[nodiscard]] constexpr std::int64_t operand_bytes() const {
    return row_bytes(copies_operand, from_points, from_parts);
  }
  [[nodiscard]] constexpr std::int64_t result_bytes() const { return row_bytes(copies_result, to_points, to_parts); }

private:
  [[nodiscard]] constexpr std::int64_t row_bytes(bool is_there, std::int64_t points, int parts) const {
    constexpr std::int64_t alignment = 256;
    const std::int64_t bytes = described.lines * points * parts * static_cast<std::int64_t>(size_of(described.real));
    return is_there ? (bytes + alignment - 1) / alignment * alignment : 0;
  }
};

/// The most working memory of cuFFT, as its manual has it: eight complex numbers for each point of each line.
[[nodiscard]] constexpr std::int64_t most_workspace_bytes(const nvidia::Fft& fft) {
  return 8 * 2 * static_cast<std::int64_t>(size_of(fft.real)) * fft.length * fft.lines;
}

/// Whether lines of so many elements, which are `parts` real numbers each, are one batch and do not overlap.
[[nodiscard]] constexpr bool is_one_batch(const Dims& extents, const Dims& strides, std::int64_t step,
                                          std::int64_t points, int parts) {
  if (extents.rank > 1 || step < parts) return false;
  if (extents.rank == 0) return true;
  const std::int64_t line = strides[0];
  return line >= (points - 1) * step + parts || (line >= parts && step >= (extents[0] - 1) * line + parts);
}

/// The plan of a job whose operand begins where the library can read complex numbers, or does not.
template <class T> [[nodiscard]] constexpr LinesPlan plan_lines(const Job<T>& job, bool is_aligned) {
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

}}}} // namespace twill::v0::fft::detail
