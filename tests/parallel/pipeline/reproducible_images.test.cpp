// SPDX-License-Identifier: Apache-2.0
//
// Pipelines of convolutional networks under `parallel::Reproducible` against one device, bit by bit after 100 steps: images pass
// between stages, one of which skips another, or are the result, and batch norms are synchronised or each shard's own.

#include "tests/parallel/pipeline/reproducible_pipelines.hpp"

#include <twill/nn/batch_norm.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

using namespace twill;

namespace {

struct CutCnn {
  static constexpr auto forward(Input<Dim<"batch">, 2, 7, 6> x) {
    const auto low = relu(
        nn::batch_norm(nn::conv2d(x, 5, "first", {.kernel = 3, .padding = 1}), "shared", {.is_synchronised = true}));
    const auto high = relu(nn::batch_norm(nn::conv2d(low, 5, "second", {.kernel = 3, .padding = 1}), "own"));
    const auto both = nn::conv2d(high + low, 7, "third", {.kernel = 3});
    return nn::linear(mean(relu(nn::batch_norm(both, "last", {.is_synchronised = true})), {2, 3}), 71, "head");
  }
};

struct CnnTask {
  using Network = nn::Network<CutCnn, Cpu, float>;
  static constexpr parallel::Reproducible policy{.shards = 5};
  static constexpr std::int64_t rows = 23; // shards of 4, 5, 4, 5 and 5
  static constexpr auto loss = nn::cross_entropy;
  static inline const optim::MomentumSgd rule{{.rate = 0.05, .momentum = 0.9}};

  static auto batch(int step) {
    const test::LabelledRows<float, 84> data{rows, 71, Cpu{0}, static_cast<unsigned>(step % 7)};
    Tensor<float, Cpu, Shape<dyn, 2, 7, 6>> image(Cpu{0}, Dims(rows, 2, 7, 6));
    std::copy_n(data.x.data(), rows * 84, image.data());
    return std::pair{image, data.label};
  }
};

/// Denoises images: the result is one, of several channels, and its bias sums over rows and pixels.
struct Denoiser {
  static constexpr auto forward(Input<Dim<"batch">, 2, 7, 6> x) {
    const auto low = relu(nn::conv2d(x, 5, "first", {.kernel = 3, .padding = 1}));
    const auto high = relu(nn::batch_norm(nn::conv2d(low, 5, "second", {.kernel = 3, .padding = 1}), "norm"));
    return nn::conv2d(high + low, 3, "last", {.kernel = 3, .padding = 1});
  }
};
/// The same with a result that is no convolution's own.
struct Bounded {
  static constexpr auto forward(Input<Dim<"batch">, 2, 7, 6> x) { return tanh(Denoiser::forward(x)) * 2; }
};

template <class Model, auto Loss> struct ImageTask {
  using Network = nn::Network<Model, Cpu, float>;
  static constexpr parallel::Reproducible policy{.shards = 5};
  static constexpr std::int64_t rows = 23;
  static constexpr auto loss = Loss;
  static inline const optim::MomentumSgd rule{{.rate = 0.05, .momentum = 0.9}};

  static auto batch(int step) {
    const test::LabelledRows<float, 84> data{rows, 3, Cpu{0}, static_cast<unsigned>(step % 7)};
    const test::LabelledRows<float, 126> other{rows, 3, Cpu{0}, static_cast<unsigned>(step % 5)};
    Tensor<float, Cpu, Shape<dyn, 2, 7, 6>> image(Cpu{0}, Dims(rows, 2, 7, 6));
    Tensor<float, Cpu, Shape<dyn, 3, 7, 6>> target(Cpu{0}, Dims(rows, 3, 7, 6));
    std::copy_n(data.x.data(), rows * 84, image.data());
    std::copy_n(other.x.data(), rows * 126, target.data());
    return std::pair{image, target};
  }
};

using Between = pipeline::CutBefore<CutCnn, "second">;     // an image
using InNorm = pipeline::CutBefore<CutCnn, "own", "head">; // a convolution's result and the image that skips it
constexpr int cnn_steps = 100;

const test::Run& one_device() {
  static const test::Run run = test::ReproducibleRuns<CnnTask>::alone(cnn_steps);
  return run;
}

} // namespace

TEST_CASE("pipelines with images between stages train to the bits of one device", "[parallel][PAR-9]") {
  CHECK(test::ReproduciblePipeline<CnnTask, pipeline::GPipe, Between>::whole(cnn_steps) == one_device());
}

TEST_CASE("synchronised batch norms in a pipeline see the whole batch, to the bits of one device",
          "[parallel][PAR-9]") {
  using P = test::ReproduciblePipeline<CnnTask, pipeline::ZeroBubbleH1, InNorm>;
  CHECK(P::whole(cnn_steps) == one_device());
  CHECK(P::whole(cnn_steps, pipeline::Checkpointing::always) == one_device());
  CHECK(P::in_parts(cnn_steps) == one_device());
}

TEST_CASE("a pipeline whose result is an image trains to the bits of one device", "[parallel][PAR-9]") {
  using Task = ImageTask<Denoiser, nn::mse>;
  const test::Run expected = test::ReproducibleRuns<Task>::alone(cnn_steps);
  using Halves = test::ReproduciblePipeline<Task, pipeline::GPipe, pipeline::CutBefore<Denoiser, "second">>;
  using Thirds =
      test::ReproduciblePipeline<Task, pipeline::ZeroBubbleH1, pipeline::CutBefore<Denoiser, "norm", "last">>;
  CHECK(Halves::whole(cnn_steps) == expected);
  CHECK(Halves::whole(cnn_steps, pipeline::Checkpointing::always) == expected);
  CHECK(Thirds::in_parts(cnn_steps) == expected);
}

TEST_CASE("losses of images whose last layer is elementwise have the bits of one device", "[parallel][PAR-9]") {
  using Task = ImageTask<Bounded, nn::huber>;
  using Halves =
      test::ReproduciblePipeline<Task, pipeline::OneForwardOneBackward, pipeline::CutBefore<Bounded, "last">>;
  CHECK(Halves::whole(cnn_steps) == test::ReproducibleRuns<Task>::alone(cnn_steps));
}
