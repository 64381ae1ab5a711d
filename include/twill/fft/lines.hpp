#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Transforms along one axis of a tensor, as addresses and strides: complex numbers are pairs of real ones, or their
// parts are in two arrays. Lines are cropped or padded with zeros while they are read, and scaled while they are
// written; strips of lines are shared among the threads of a team, or those work on one long line together. Transforms
// of real numbers of an even length take a complex one of half of it. Read next: fft/transform.hpp, fft/along.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/cpu/team.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// The transforms; n is the length of the line that is not Hermitian.
enum class Kind : std::uint8_t {
  complex,           ///< n complex numbers to n
  complex_of_real,   ///< n real numbers to n complex ones
  hermitian_of_real, ///< n real numbers to the first n / 2 + 1 complex ones
  real_of_hermitian, ///< the inverse: n / 2 + 1 complex numbers to n real ones
  cosine_2,          ///< n real numbers to n, type 2 of the discrete cosine transform
  cosine_3,          ///< type 3
};

/// The sign of the exponent; for Hermitian lines whether they are conjugated.
enum class Sign : std::uint8_t { forward, inverse };

/// A transform of lines. Strides and steps count real numbers, a complex one being two where its parts are together.
template <class T> struct Job {
  Kind kind = Kind::complex;
  Sign sign = Sign::forward;
  std::int64_t length = 0; ///< n
  std::int64_t given = 0;  ///< elements of a line that are read; those after them are zeros
  const T* from = nullptr;
  std::int64_t from_step = 1;
  T* to = nullptr;
  std::int64_t to_step = 1;
  Dims extents{}; ///< of the axes beside the lines
  Dims from_strides{};
  Dims to_strides{};
  double scale = 1;       ///< of the result
  double first_scale = 1; ///< further factor of coefficient 0 of a cosine transform

  // Complex numbers whose parts are in arrays of their own: `from` and `to` are the real parts.
  bool parts_are_apart = false;
  const T* from_imaginary = nullptr; ///< in the layout of the real ones, one number a step
  T* to_imaginary = nullptr;         ///< null: imaginary parts are not wanted
};

/// Transforms on a kind of GPU's queue, which its header specialises.
template <class Queue> struct LinesOn {
  template <class T> static void run(const Queue&, const Job<T>&) {
    static_assert(sizeof(T) == 0,
                  "twill: fft: on CUDA devices transforms are cuFFT's; include <twill/fft/cuda/lines.cuh> in a program "
                  "that is configured with cuFFT, or compute on a host device: x.cpu(), or the model there");
  }
};

inline namespace TWILL_ISA {

/// The elements of working memory that `run_job` needs beside that of its threads: for long lines.
[[nodiscard]] std::int64_t working_elements(const Job<float>& job);
[[nodiscard]] std::int64_t working_elements(const Job<double>& job);

/// Transforms the lines. Each is read before it is written, so both may be the same memory, in the same layout.
void run_job(const Team& team, const Job<float>& job, float* memory);
void run_job(const Team& team, const Job<double>& job, double* memory);

/// Takes the memory in each thread that `run_job` without working memory of its own will need.
void reserve_job(const Team& team, const Job<float>& job);
void reserve_job(const Team& team, const Job<double>& job);

} // namespace TWILL_ISA
}}}} // namespace twill::v0::fft::detail

#if TWILL_HEADER_ONLY
#include <twill/fft/lines.ipp>
#endif
