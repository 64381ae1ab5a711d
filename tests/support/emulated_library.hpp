#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A library of convolutions for emulated GPUs, as cuDNN is for CUDA: it proposes engines with notes, sizes and speeds that a
// test sets, goes through the choice that cuDNN goes through, counts what it is asked, and computes as the host does, when
// the stream gets there, after spoiling the working memory that the engine asked for. It is absent until a test says
// otherwise.

#include <tests/support/emulated_device.hpp>

#include <twill/device/cuda/plan_choice.hpp>
#include <twill/device/gpu/library_memory.hpp>
#include <twill/kernel/convolution.hpp>
#include <twill/kernel/gpu/convolution_choice.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace emulation {

/// An engine of the library.
struct LibraryEngine {
  nvidia::EngineNotes notes{};
  std::size_t workspace_bytes = 0;
  bool can_be_built = true;
  bool can_run = true;
  float milliseconds = 1;
};

/// What is multiplied, and with what.
struct LibraryWork {
  ConvolutionPart part{};
  nvidia::Convolution described{};
  void* x = nullptr;
  void* w = nullptr;
  void* y = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

struct LibraryKernel {
  static constexpr int most_threads = 32;

  template <class Block> void operator()(const Block&, const LibraryWork& work) const {
    if (work.workspace_bytes > 0) std::memset(work.workspace, 0xff, work.workspace_bytes);
    switch (work.described.dtype) {
    case DType::float32:
      return compute<float>(work);
    case DType::float64:
      return compute<double>(work);
    case DType::float16:
      return compute<twill::half>(work);
    default:
      return compute<bfloat16>(work);
    }
  }

private:
  template <class T> static void compute(const LibraryWork& work) {
    const nvidia::Convolution& c = work.described;
    kernel::detail::convolve_in_thread<T>({work.part,
                                           {.batch = c.batch,
                                            .in_channels = c.in_channels,
                                            .out_channels = c.out_channels,
                                            .groups = c.groups,
                                            .input = c.input,
                                            .output = c.output(),
                                            .kernel = c.kernel,
                                            .stride = c.stride,
                                            .padding = c.padding_before,
                                            .dilation = c.dilation},
                                           static_cast<T*>(work.x),
                                           static_cast<T*>(work.w),
                                           static_cast<T*>(work.y)});
  }
};

struct ConvolutionLibrary {
  static constexpr std::string_view name = "the emulated library";

  /// Which engine.
  struct Plan {
    std::size_t engine = 0;
    std::size_t bytes = 0;
    [[nodiscard]] std::size_t workspace_bytes() const { return bytes; }
  };
  struct Proposals {
    const std::vector<LibraryEngine>* engines;
    template <class Visit> void for_each(Visit visit) const {
      for (std::size_t i = 0; i < engines->size(); ++i) {
        const LibraryEngine& engine = (*engines)[i];
        const auto build = [&]() -> std::shared_ptr<const Plan> {
          return engine.can_be_built ? std::make_shared<const Plan>(Plan{i, engine.workspace_bytes}) : nullptr;
        };
        if (!visit(engine.notes, build)) return;
      }
    }
  };
  static constexpr std::size_t key_words = 20;
  struct State {
    std::vector<LibraryEngine> engines{}; ///< none: the library is absent
    std::vector<long> runs{};             ///< of each engine, those against the clock left out
    long timed = 0;
    nvidia::PlanCache<key_words, nvidia::ChosenPlan<Plan>> plans{};
  };
  /// Tries engines by giving them to the stream.
  template <class Run> struct Trial {
    State* own;
    const Run* run;
    bool can_try;
    [[nodiscard]] bool runs(const Plan& plan) const {
      if (!can_try) return true;
      if (own->engines[plan.engine].can_run) (*run)(plan);
      return own->engines[plan.engine].can_run;
    }
    [[nodiscard]] std::optional<float> milliseconds_of(const Plan& plan) const {
      if (!runs(plan)) return std::nullopt;
      ++own->timed;
      return own->engines[plan.engine].milliseconds;
    }
  };
  [[nodiscard]] static std::unique_ptr<State>& state() {
    static auto current = std::make_unique<State>();
    return current;
  }
  /// From now on the library has these engines, and remembers nothing.
  static void install(std::vector<LibraryEngine> engines) {
    state() = std::make_unique<State>();
    state()->runs.resize(engines.size());
    state()->engines = std::move(engines);
  }

  [[nodiscard]] static bool is_present() { return !state()->engines.empty(); }

  [[nodiscard]] static nvidia::PlanSummary convolve(const gpu::Queue<EmulatedRuntime>& queue, ConvolutionPart part,
                                                    const nvidia::Convolution& c, void* x, void* w, void* y) {
    State& own = *state();
    const LibraryOptions options = library_options();
    gpu::Capturing capturing = gpu::Capturing::no;
    gpu::check<EmulatedRuntime>(EmulatedRuntime::capturing(queue.stream(), &capturing), "capturing", queue.device());
    const auto timing = capturing == gpu::Capturing::no ? nvidia::Timing::possible : nvidia::Timing::impossible;
    const auto run = [&](const Plan& plan) {
      enqueue(
          queue, LibraryKernel{}, gpu::LaunchShape{},
          LibraryWork{part, c, x, w, y, gpu::library_memory(queue, queue.working_memory(), plan.bytes), plan.bytes});
    };
    const auto chosen = nvidia::find_or_choose(
        own.plans, options, timing,
        [&](bool is_timed) {
          std::array<std::uint64_t, key_words> key{static_cast<std::uint64_t>(part),
                                                   nvidia::key_bits(options, is_timed)};
          const auto words = nvidia::key_of(c);
          for (std::size_t i = 0; i < words.size(); ++i) key[i + 2] = words[i];
          return key;
        },
        [&](bool is_timed) {
          const nvidia::PlanLimits limits{.factors = c.dtype,
                                          .must_be_deterministic = options.is_deterministic,
                                          .allows_tf32 = options.allows_tf32_in_convolutions,
                                          .workspace_bytes = gpu::library_bytes(queue)};
          return nvidia::choose_plan<Plan>(Proposals{&own.engines}, limits, is_timed ? 8 : 1,
                                           Trial<decltype(run)>{&own, &run, timing == nvidia::Timing::possible});
        });
    if (chosen.plan == nullptr) return chosen.summary;
    run(*chosen.plan);
    ++own.runs[chosen.plan->engine];
    return chosen.summary;
  }
};

}}} // namespace twill::v0::emulation

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Computes one part of a convolution as kernel/cuda/cudnn.cuh does on CUDA.
template <class T>
void run_convolution(const twill::gpu::Queue<EmulatedRuntime>& queue, const Convolution<T>& convolution) {
  gpu::convolve<emulation::ConvolutionLibrary>(queue, convolution);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
