#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A library of Fourier transforms for emulated GPUs, as cuFFT is for CUDA: it keeps plans, which take the most
// working memory that cuFFT's manual names, computes as the host does when
// the stream gets there, after spoiling the working memory that it asked for, and spoils the operands that it may overwrite.

#include <tests/support/emulated_device.hpp>

#include <twill/device/cuda/fft.hpp>
#include <twill/device/cuda/plan_cache.hpp>
#include <twill/fft/gpu/transform_lines.hpp>
#include <twill/fft/lines.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace emulation {

struct TransformWork {
  nvidia::Fft described{};
  void* from = nullptr;
  void* to = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

struct TransformKernel {
  static constexpr int most_threads = 32;

  template <class Block> void operator()(const Block&, const TransformWork& work) const {
    std::memset(work.workspace, 0xff, work.workspace_bytes);
    work.described.real == DType::float64 ? compute<double>(work) : compute<float>(work);
  }

private:
  template <class T> static void compute(const TransformWork& work) {
    using namespace fft::detail;
    const nvidia::Fft& f = work.described;
    const bool is_of_real = f.kind == nvidia::FftKind::complex_of_real;
    const bool is_to_real = f.kind == nvidia::FftKind::real_of_complex;
    const std::int64_t from_parts = is_of_real ? 1 : 2, to_parts = is_to_real ? 1 : 2;
    const std::int64_t given = is_to_real ? f.length / 2 + 1 : f.length;
    const Job<T> job{.kind = is_of_real   ? Kind::hermitian_of_real
                             : is_to_real ? Kind::real_of_hermitian
                                          : Kind::complex,
                     .sign = is_to_real || f.is_inverse ? Sign::inverse : Sign::forward,
                     .length = f.length,
                     .given = given,
                     .from = static_cast<const T*>(work.from),
                     .from_step = f.from_step * from_parts,
                     .to = static_cast<T*>(work.to),
                     .to_step = f.to_step * to_parts,
                     .extents = Dims(f.lines),
                     .from_strides = Dims(f.from_line * from_parts),
                     .to_strides = Dims(f.to_line * to_parts)};
    std::vector<T> memory(static_cast<std::size_t>(working_elements(job)));
    run_job(Team::serial(), job, memory.empty() ? nullptr : memory.data());
    if (is_to_real) std::memset(work.from, 0xff, static_cast<std::size_t>(f.lines * given) * 2 * sizeof(T));
  }
};

class TransformPlan {
public:
  explicit TransformPlan(std::size_t bytes) : bytes_{bytes} {}

  [[nodiscard]] std::size_t workspace_bytes() const { return bytes_; }
  void run(const gpu::Queue<EmulatedRuntime>& queue, const nvidia::Fft& described, void* from, void* to,
           void* workspace) const {
    enqueue(queue, TransformKernel{}, {1, 1, 0}, TransformWork{described, from, to, workspace, bytes_});
  }

private:
  std::size_t bytes_;
};

struct TransformsLibrary {
  static constexpr std::string_view name = "the emulated library of transforms";
  using Plans = nvidia::PlanCache<nvidia::fft_key_words, std::shared_ptr<const TransformPlan>>;

  [[nodiscard]] static Plans& plans() {
    static Plans kept{128};
    return kept;
  }
  /// What a plan asks for beside the most that cuFFT's manual names.
  [[nodiscard]] static std::size_t& more_bytes() {
    static std::size_t bytes = 0;
    return bytes;
  }
  [[nodiscard]] static std::shared_ptr<const TransformPlan> plan(const gpu::Queue<EmulatedRuntime>&,
                                                                 const nvidia::Fft& described) {
    return plans().find_or_make(nvidia::key_of(described), [&] {
      const auto most = static_cast<std::size_t>(fft::detail::most_workspace_bytes(described));
      return std::make_shared<const TransformPlan>(most + more_bytes());
    });
  }
};

}}} // namespace twill::v0::emulation

namespace twill { inline namespace v0 { namespace fft { namespace detail {

template <> struct LinesOn<twill::gpu::Queue<EmulatedRuntime>> {
  template <class T> static void run(const twill::gpu::Queue<EmulatedRuntime>& queue, const Job<T>& job) {
    transform_lines<emulation::TransformsLibrary, Emulated>(queue, job);
  }
};

}}}} // namespace twill::v0::fft::detail
