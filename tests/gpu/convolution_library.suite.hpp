#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of compiled training steps by a vendor's library: cuDNN on CUDA, where it is installed, and a model of it on
// the emulated GPU, where a test decides which engines there are. A residual network's steps go through it, plain and
// captured, and train as twill's own kernel does; each option leaves out the engines that it should; without a library, or
// without an engine, the step runs all the same and the choice tells why.

#include <tests/support/suite.hpp>
#include <tests/training/models.hpp>

#include <twill/compile/function.hpp>
#include <twill/core/error.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/device/gpu/library_memory.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/ops/convolution.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/random.hpp>
#include <twill/training/train_step.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::test { namespace convolution_library_suite {

using D = TestedDevice;

/// A residual block with a strided, grouped convolution beside a pointwise one.
struct Residual {
  static constexpr auto forward(Input<Dim<"batch">, 3, 8, 7> image) {
    const auto stem = relu(nn::conv2d(image, 4, "stem", {.kernel = 3, .padding = 1, .bias = false}));
    const auto deep = nn::conv2d(stem, 8, "deep", {.kernel = {3, 2}, .stride = 2, .padding = 1, .groups = 2});
    const auto shortcut = nn::conv2d(stem, 8, "shortcut", {.kernel = {1, 2}, .stride = 2, .padding = {0, 1}});
    return nn::linear(mean(relu(deep + shortcut), {2, 3}), 3, "output");
  }
};

/// Training that is compared with twill's own kernel.
inline constexpr LibraryOptions exact{.allows_tf32_in_convolutions = false};

/// Restores the options, and the library's absence, at the end of a scope.
struct Restored {
  Restored() = default;
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() {
    set_library_options({});
    install_engines({});
  }
};

struct Training {
  std::vector<float> weights{};
  std::int64_t graph_runs = 0;
};

/// Four steps, of which the later ones are captured.
inline Training train(const LibraryOptions& options) {
  set_library_options(options);
  manual_seed(D{0}, 3);
  nn::Network<Residual, D> model{D{0}};
  auto step = train_step(model, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.05, .momentum = 0.9}});
  const auto image = from_values<Shape<dyn, 3, 8, 7>>(random_values<float>(5 * 3 * 8 * 7, 2), Dims(5, 3, 8, 7), D{0});
  const auto label = random_labels(D{0}, 5, 3, 1);
  for (int i = 0; i < 4; ++i) static_cast<void>(step(image, label));
  return {weights_of(model), step.capture_report().graph_runs};
}

inline void require_trained_alike(const Training& left, const Training& right) {
  require_equal(left.weights.size(), right.weights.size());
  for (std::size_t i = 0; i < left.weights.size(); ++i)
    require_close(double{left.weights[i]}, double{right.weights[i]}, 1e-3, 1e-5);
  require_equal(left.graph_runs, std::int64_t{3});
  require_equal(right.graph_runs, std::int64_t{3});
}

/// The choices of training under these options, which trains as `own` did.
inline std::vector<LibraryChoice> choices_of(const LibraryOptions& options, const Training& own) {
  forget_library_choices(D{0});
  require_trained_alike(train(options), own);
  const std::vector<LibraryChoice> choices = library_choices(D{0});
  // of two convolutions all three parts; of the first, whose input nobody differentiates, two
  require_equal(choices.size(), std::size_t{8});
  for (const LibraryChoice& choice : choices) {
    require(choice.options == options);
    require(choice.problem.find("convolution of 5 x ") != std::string::npos);
    require(to_string(choice).find(choice.reason) != std::string::npos);
  }
  return choices;
}

inline void steps_go_through_the_library() {
  const Restored restored{};
  install_engines({{.workspace_bytes = 4096}});
  const Training own = train({.uses_cudnn = false});
  const std::vector<LibraryChoice> choices = choices_of(exact, own);
  for (const LibraryChoice& choice : choices)
    require_equal(choice.by, has_library ? library_name : std::string_view{"twill"});
  const auto has = [&](std::string_view part) {
    return std::any_of(choices.begin(), choices.end(),
                       [&](const LibraryChoice& choice) { return choice.problem.starts_with(part); });
  };
  require(has("convolution") && has("gradient by the input") && has("gradient by the weights"));
}
const Case steps_case{"a residual network's captured steps give their convolutions to the library",
                      &steps_go_through_the_library};

/// Trains under these options and fails unless every convolution of the plain run and of the captured one was this engine's.
/// Where engines cannot be counted the training is all that is compared.
inline void require_engine(const LibraryOptions& options, std::size_t engine, const Training& own) {
  const std::vector<long> before = engine_runs();
  require_trained_alike(train(options), own);
  const std::vector<long> after = engine_runs();
  for (std::size_t i = 0; i < after.size(); ++i) require_equal(after[i] - before[i], i == engine ? 16L : 0L);
}

// half a billion bytes for the tensor cores' copies of a batch of 512 images; an emulated GPU has 8 GiB
static_assert(gpu::library_bytes_of(std::size_t{16'000'000'000}) > std::size_t{1} << 30);
static_assert(gpu::library_bytes_of(std::size_t{80'000'000'000}) == std::size_t{2} << 30);
static_assert(gpu::library_bytes_of(std::size_t{8} << 30) == std::size_t{1} << 30);
static_assert(gpu::library_bytes_of(std::size_t{256} << 20) == 2 * gpu::allowance_bytes);

inline void working_memory_grows() {
  launch(D{0}, [&](const auto& queue) {
    const gpu::WorkingMemory working = queue.working_memory();
    const std::size_t small = gpu::allowance_bytes + 1;
    void* const first = gpu::library_memory(queue, working, small);
    require(first != nullptr && first == gpu::library_memory(queue, working, 2 * gpu::allowance_bytes));
    void* const second = gpu::library_memory(queue, working, 5 * gpu::allowance_bytes);
    require(second != nullptr && second != first);
    require(second == gpu::library_memory(queue, working, 8 * gpu::allowance_bytes));
    require(first == gpu::library_memory(queue, working, small)); // what was captured with it goes on
    require(gpu::library_memory(queue, working, 4096) == working.memory());
  });
}
const Case growth_case{"a stream's working memory for libraries grows with the engines and keeps its addresses",
                       &working_memory_grows};

inline void options_are_kept() {
  const Restored restored{};
  install_engines({{.notes = {.uses_tensor_cores = true}, .seconds = 0.1},
                   {.notes = {.rounds_factors = true}},
                   {.notes = {.is_nondeterministic = true}, .seconds = 3},
                   {.can_be_built = false},
                   {.can_run = false, .seconds = 0.5},
                   {.workspace_bytes = std::size_t{1} << 40},
                   {.workspace_bytes = gpu::allowance_bytes + 4096, .seconds = 2},
                   {.seconds = 1}});
  const Training own = train({.uses_cudnn = false});
  const auto with = [](LibraryOptions options) {
    options.allows_tf32_in_convolutions = false;
    return options;
  };
  require_engine(exact, 2, own);
  require_engine(with({.is_deterministic = true}), 6, own);
  require_engine(with({.autotune = true}), 7, own); // also in the captured run, where nothing can be timed
  require_engine(with({.autotune = true, .is_deterministic = true}), 6, own);
  require_engine(with({.allows_tf32_in_products = true}), 2, own);
  if (counts_engines) { // cuDNN's TF32 is not as near
    require_engine({}, 0, own);
    require_engine({.autotune = true}, 0, own);
  }
}
const Case options_case{"convolutions are timed, deterministic and in TF32 as the options say, captured or not",
                        &options_are_kept};

inline void reasons_are_told() {
  const Restored restored{};
  const Training own = train({.uses_cudnn = false});
  const auto require_reason = [&](const LibraryOptions& options, std::string_view reason) {
    for (const LibraryChoice& choice : choices_of(options, own)) {
      require_equal(choice.by, "twill");
      require_equal(choice.reason, reason);
      require_equal(choice.workspace_bytes, std::size_t{0});
    }
  };
  require_reason({.uses_cudnn = false}, "LibraryOptions::uses_cudnn is off");
  if (!counts_engines) return;
  require_reason({}, "the emulated library is not there");
  install_engines({{.notes = {.uses_tensor_cores = true}}, {.workspace_bytes = std::size_t{1} << 40}});
  require_reason(exact, "none of the library's 2 engines: 1 compute in TF32, 1 need more working memory");
}
const Case reasons_case{"without a library, or without an engine, twill's kernel computes and the choice tells why",
                        &reasons_are_told};

/// What the warning sink was given.
inline std::vector<std::string>& told() {
  static std::vector<std::string> lines;
  return lines;
}

/// Convolves an image of this extent by 16 filters of 3 x 3 x 16, twice.
template <std::int64_t Extent> void convolve_twice() {
  constexpr auto convolved = [](graph::Value x, graph::Value w) { return conv2d(x, w, {.padding = 1}); };
  const auto x = rand<float, Shape<2, 16, Extent, Extent>>(D{0});
  const auto w = rand<float, Shape<16, 16, 3, 3>>(D{0});
  for (int turn = 0; turn < 2; ++turn) static_cast<void>(compiled(convolved)(x, w));
  synchronize(D{0});
}

inline void slow_choices_are_told() {
  if (!counts_engines) return;
  const Restored restored{};
  const WarningSink before = set_warning_sink([](std::string_view line) { told().emplace_back(line); });
  const auto lines_of = [](const LibraryOptions& options, std::vector<LibraryEngine> engines, void (*convolve)()) {
    told().clear();
    forget_library_choices(D{0});
    set_library_options(options);
    install_engines(std::move(engines));
    convolve();
    return told();
  };
  constexpr auto small = &convolve_twice<8>, large = &convolve_twice<64>;
  require(lines_of({}, {}, small).empty());
  require(lines_of({.uses_cudnn = false}, {}, large).empty());
  require(lines_of({}, {{}}, large).empty());
  const auto own = lines_of({}, {}, large);
  require_equal(own.size(), std::size_t{1});
  require(own[0].find("runs twill's own kernel, which is slow: the emulated library is not there; install") !=
          std::string::npos);
  const auto refused = lines_of({}, {{.workspace_bytes = std::size_t{1} << 40}, {}}, large);
  require_equal(refused.size(), std::size_t{1});
  require(refused[0].find("1 engines of the emulated library need more than 1073741824 bytes of working memory") !=
          std::string::npos);
  set_warning_sink(before);
}
const Case warnings_case{"a large convolution that is computed slowly is told once, with its reason",
                         &slow_choices_are_told};

}} // namespace twill::test::convolution_library_suite
