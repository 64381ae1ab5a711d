// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for the entry points of cuFFT that programs on the CUDA runtime stand-in call: transforms of one dimension by
// their definition in float64, run as an operation of the stream. As cuFFT may, it writes to its working memory and to the
// operand of a real result, and it refuses plans, pointers and missing working memory that cuFFT refuses. Plans are
// counted from 1 and never used twice.
#include <ptxrun/libraries/numbers.hpp>
#include <ptxrun/runtime/streams.hpp>

#if __has_include(<cufft.h>)

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include <cuda_runtime_api.h>
#include <cufft.h>

namespace {

using ptxrun::libraries::read_number;
using ptxrun::libraries::write_number;
using Number = std::complex<double>;

struct Plan {
  bool is_made = false;
  bool allocates = true;
  cufftType type = CUFFT_C2C;
  std::int64_t length = 0;
  std::int64_t lines = 0;
  std::int64_t from_step = 0;
  std::int64_t from_line = 0;
  std::int64_t to_step = 0;
  std::int64_t to_line = 0;
  std::size_t workspace_bytes = 0;
  void* workspace = nullptr;
  cudaStream_t stream = nullptr;
  int device = 0;

  [[nodiscard]] bool is_double() const { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
  [[nodiscard]] bool is_of_real() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  [[nodiscard]] bool is_to_real() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  [[nodiscard]] cudaDataType real() const { return is_double() ? CUDA_R_64F : CUDA_R_32F; }
  [[nodiscard]] std::int64_t coefficients() const { return length / 2 + 1; }
};

struct Run {
  Plan plan{};
  void* from = nullptr;
  void* to = nullptr;
  int sign = CUFFT_FORWARD;

  void operator()() const {
    // bytes of which all numbers are NaN
    if (plan.workspace != nullptr) std::memset(plan.workspace, 0xff, plan.workspace_bytes);
    std::vector<Number> roots;
    const double angle = sign * 2 * std::acos(-1.0) / static_cast<double>(plan.length);
    for (std::int64_t k = 0; k < plan.length; ++k) roots.push_back(std::polar(1.0, angle * static_cast<double>(k)));
    std::vector<std::vector<Number>> results;
    for (std::int64_t line = 0; line < plan.lines; ++line) results.push_back(transformed(read(line), roots));
    if (plan.is_to_real()) spoil_operand();
    for (std::int64_t line = 0; line < plan.lines; ++line) write(line, results[static_cast<std::size_t>(line)]);
  }

private:
  [[nodiscard]] std::vector<Number> read(std::int64_t line) const {
    std::vector<Number> numbers(static_cast<std::size_t>(plan.length));
    const std::int64_t given = plan.is_to_real() ? plan.coefficients() : plan.length;
    for (std::int64_t k = 0; k < given; ++k) {
      const std::int64_t place = line * plan.from_line + k * plan.from_step;
      Number& number = numbers[static_cast<std::size_t>(k)];
      if (plan.is_of_real())
        number = read_number(from, plan.real(), place);
      else
        number = {read_number(from, plan.real(), 2 * place), read_number(from, plan.real(), 2 * place + 1)};
      if (plan.is_to_real() && k > 0) numbers[static_cast<std::size_t>(plan.length - k)] = std::conj(number);
    }
    return numbers;
  }

  [[nodiscard]] std::vector<Number> transformed(const std::vector<Number>& numbers,
                                                const std::vector<Number>& roots) const {
    const std::size_t n = numbers.size();
    std::vector<Number> result(plan.is_of_real() ? static_cast<std::size_t>(plan.coefficients()) : n);
    for (std::size_t k = 0; k < result.size(); ++k)
      for (std::size_t j = 0; j < n; ++j) result[k] += numbers[j] * roots[j * k % n];
    return result;
  }

  void spoil_operand() const {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (std::int64_t line = 0; line < plan.lines; ++line)
      for (std::int64_t k = 0; k < plan.coefficients(); ++k)
        for (const std::int64_t part : {0, 1})
          write_number(from, plan.real(), 2 * (line * plan.from_line + k * plan.from_step) + part, nan);
  }

  void write(std::int64_t line, const std::vector<Number>& numbers) const {
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const std::int64_t place = line * plan.to_line + static_cast<std::int64_t>(k) * plan.to_step;
      if (plan.is_to_real()) {
        write_number(to, plan.real(), place, numbers[k].real());
      } else {
        write_number(to, plan.real(), 2 * place, numbers[k].real());
        write_number(to, plan.real(), 2 * place + 1, numbers[k].imag());
      }
    }
  }
};

/// Under the lock of the runtime's state, like all that is below.
std::map<cufftHandle, Plan>& plans() {
  static auto* const all = new std::map<cufftHandle, Plan>;
  return *all;
}

Plan* plan_of(cufftHandle handle) {
  const auto found = plans().find(handle);
  return found == plans().end() ? nullptr : &found->second;
}

cufftResult run(cufftHandle handle, cufftType type, void* from, void* to, int sign) {
  ptxrun::runtime::Lock lock = ptxrun::runtime::lock_state();
  const Plan* const plan = plan_of(handle);
  if (plan == nullptr || !plan->is_made || plan->type != type) return CUFFT_INVALID_PLAN;
  if (plan->device != ptxrun::runtime::current_device()) return CUFFT_INVALID_DEVICE;
  if (!plan->allocates && plan->workspace == nullptr) return CUFFT_NO_WORKSPACE;
  const std::size_t alignment = plan->is_double() ? sizeof(cufftDoubleComplex) : sizeof(cufftComplex);
  for (const void* const pointer : {from, to})
    if (pointer == nullptr || reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0) return CUFFT_INVALID_VALUE;
  if (sign != CUFFT_FORWARD && sign != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
  const cudaError_t error = ptxrun::runtime::enqueue(plan->stream, lock, Run{*plan, from, to, sign});
  return error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

} // namespace

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  const ptxrun::runtime::Lock lock = ptxrun::runtime::lock_state();
  static cufftHandle latest = 0;
  *handle = ++latest;
  plans()[latest].device = ptxrun::runtime::current_device();
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle) {
  const ptxrun::runtime::Lock lock = ptxrun::runtime::lock_state();
  return plans().erase(handle) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocates) {
  const ptxrun::runtime::Lock lock = ptxrun::runtime::lock_state();
  Plan* const plan = plan_of(handle);
  if (plan == nullptr || plan->is_made) return CUFFT_INVALID_PLAN;
  plan->allocates = allocates != 0;
  return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* points, long long* from_extents,
                                long long from_step, long long from_line, long long* to_extents, long long to_step,
                                long long to_line, cufftType type, long long lines, std::size_t* workspace_bytes) {
  const ptxrun::runtime::Lock lock = ptxrun::runtime::lock_state();
  Plan* const plan = plan_of(handle);
  if (plan == nullptr || plan->is_made) return CUFFT_INVALID_PLAN;
  if (rank != 1) return CUFFT_NOT_IMPLEMENTED;
  if (from_extents == nullptr || to_extents == nullptr) return CUFFT_INVALID_VALUE;
  if (points[0] < 1 || lines < 1) return CUFFT_INVALID_SIZE;
  if (from_step < 1 || to_step < 1 || from_line < 0 || to_line < 0) return CUFFT_INVALID_VALUE;
  plan->is_made = true;
  plan->type = type;
  plan->length = points[0];
  plan->lines = lines;
  plan->from_step = from_step;
  plan->from_line = from_line;
  plan->to_step = to_step;
  plan->to_line = to_line;
  // the most that the manual names: 8 complex numbers for each point
  *workspace_bytes = plan->workspace_bytes = 8 * static_cast<std::size_t>(points[0] * lines) *
                                             (plan->is_double() ? sizeof(cufftDoubleComplex) : sizeof(cufftComplex));
  return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void* memory) {
  const ptxrun::runtime::Lock lock = ptxrun::runtime::lock_state();
  Plan* const plan = plan_of(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  plan->workspace = memory;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  const ptxrun::runtime::Lock lock = ptxrun::runtime::lock_state();
  Plan* const plan = plan_of(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* from, cufftComplex* to, int sign) {
  return run(plan, CUFFT_C2C, from, to, sign);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* from, cufftDoubleComplex* to, int sign) {
  return run(plan, CUFFT_Z2Z, from, to, sign);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* from, cufftComplex* to) {
  return run(plan, CUFFT_R2C, from, to, CUFFT_FORWARD);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* from, cufftDoubleComplex* to) {
  return run(plan, CUFFT_D2Z, from, to, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* from, cufftReal* to) {
  return run(plan, CUFFT_C2R, from, to, CUFFT_INVERSE);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* from, cufftDoubleReal* to) {
  return run(plan, CUFFT_Z2D, from, to, CUFFT_INVERSE);
}
}

#endif
