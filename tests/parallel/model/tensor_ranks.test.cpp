// SPDX-License-Identifier: Apache-2.0
//
// A transformer block divided among ranks, with and without a divided sequence, beside the same block of plain layers on one
// device: the same weights under the same names, results, gradients, draws, and steps. Replicas of it are ranks that hold equal
// parts; others are refused.

#include <twill/nn.hpp>
#include <twill/optim.hpp>
#include <twill/parallel/data/distributed.hpp>
#include <twill/parallel/group/rank_group.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/training.hpp>

#include "tests/support/message_of.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace twill;
using graph::Value;

namespace {

constexpr std::int64_t vocabulary = 12;
constexpr std::int64_t rows = 4;
constexpr std::int64_t width = 8;
constexpr std::int64_t heads = 4;

using Words = InputOf<std::int64_t, Dim<"batch">, rows>;

/// The block of plain layers.
struct Whole {
  static constexpr auto forward(Words words) {
    Value x = nn::dropout(nn::embedding(words, vocabulary, width, "words"), 0.2);
    const Value first = nn::layer_norm(x, "first");
    x = x + nn::multi_head_attention(first, first, first, heads, "attention", {.is_causal = true, .dropout = 0.1});
    const Value wide = tanh(nn::linear(nn::layer_norm(x, "second"), 16, "wide"));
    x = x + nn::linear(wide, width, "narrow");
    return nn::linear(nn::layer_norm(x, "last"), vocabulary, "logits", nn::Bias::no);
  }
};

/// The same on so many ranks; a divided sequence has `split` 1.
template <int N, int Split> struct Divided {
  using Ranks = RankAxis<"tensor", N>;
  static constexpr auto forward(Words words) {
    graph::Graph& graph = words.graph();
    constexpr bool is_split = Split != nn::not_split;
    const auto outside = [&](auto layer) { // of what is divided by heads or features
      std::optional<nn::SplitRegion<Ranks>> part{};
      if (is_split) part.emplace(graph, Split);
      return layer();
    };
    Value x = nn::vocabulary_embedding<Ranks>(words, vocabulary, width, "words", {.split_axis = Split});
    x = outside([&] { return nn::dropout(x, 0.2); });
    const Value first = outside([&] { return nn::layer_norm(x, "first"); });
    x = x + nn::sharded_multi_head_attention<Ranks>(
                first, heads, "attention", {.attention = {.is_causal = true, .dropout = 0.1}, .split_axis = Split});
    const Value second = outside([&] { return nn::layer_norm(x, "second"); });
    const Value wide = tanh(nn::column_linear<Ranks>(second, 16, "wide", {.split_axis = Split}));
    x = x + nn::row_linear<Ranks>(wide, width, "narrow", {.split_axis = Split});
    const Value last = outside([&] { return nn::layer_norm(x, "last"); });
    return nn::column_linear<Ranks>(last, vocabulary, "logits", {.split_axis = Split, .bias = false});
  }
};

/// Calls `f(network)` for each rank, on a thread of its own.
template <class M, class F> void on_ranks(const F& f) {
  using Ranks = typename M::Ranks;
  auto communicators = parallel::thread_communicators(std::vector<Cpu>(Ranks::size, Cpu{0}), {.timeout_ms = 20'000});
  parallel::run_ranks(communicators, [&](auto& communicator) {
    kernel::RankGroups groups{};
    groups.add(parallel::rank_group<Ranks>(communicator));
    nn::Network<M, Cpu, double> model{Cpu{0}, groups, RandomDraw{7, 0}};
    f(model, communicator.rank());
  });
}

/// Elements of one rank's part of what one device has. Checks of other threads throw.
struct Part {
  const double* data;
  const graph::ParameterInfo& info;
  int rank;
};

void require_close(const char* what, double a, double b) {
  if (!(std::fabs(a - b) <= 1e-12 * std::fmax(1.0, std::fabs(b))))
    throw std::logic_error(std::string{what} + ": " + std::to_string(a) + ", not " + std::to_string(b));
}

void require_part(const Part& part, const std::vector<double>& whole) {
  if (!part.info.shard.is_part()) {
    for (std::size_t i = 0; i < whole.size(); ++i)
      require_close(part.info.name.characters.data(), part.data[i], whole[i]);
    return;
  }
  nn::detail::for_each_run(part.info, part.rank, [&](std::size_t from, std::size_t to, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes / sizeof(double); ++i)
      require_close(part.info.name.characters.data(), part.data[to / sizeof(double) + i],
                    whole[from / sizeof(double) + i]);
  });
}

using Batch = Tensor<std::int64_t, Cpu, Shape<dyn, rows>>;

Batch batch_of(std::int64_t factor) {
  Batch x(Cpu{0}, Dims(3, rows));
  for (std::int64_t i = 0; i < 3 * rows; ++i) x.data()[i] = i * factor % vocabulary;
  return x;
}

/// What one device finds.
struct Wanted {
  std::vector<std::vector<double>> gradients{};
  std::vector<double> losses{};
  std::vector<double> norms{};
  std::vector<std::vector<double>> weights{};
};

const auto rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1}}, 0.5);

const Wanted& wanted() {
  static const Wanted found = [] {
    Wanted all{};
    const Batch x = batch_of(5);
    const Batch y = batch_of(7);
    manual_seed(Cpu{0}, 7);
    nn::Network<Whole, Cpu, double> model{Cpu{0}};
    const auto loss = nn::cross_entropy(model.forward(x), y);
    loss.backward();
    all.losses.push_back(loss.item());
    const auto copy = [](const memory::Buffer<Cpu>& buffer) {
      const auto* const first = static_cast<const double*>(buffer.data());
      return std::vector<double>(first, first + buffer.bytes() / sizeof(double));
    };
    for (const auto& view : model.parameters()) all.gradients.push_back(copy(view.gradient));
    auto step = train_step(model, nn::cross_entropy, rule);
    for (int i = 0; i < 5; ++i) all.losses.push_back(step(x, y).item());
    all.norms.push_back(step.state(optim::gradient_norm_state));
    for (const auto& view : model.parameters()) all.weights.push_back(copy(view.buffer));
    return all;
  }();
  return found;
}

template <int N, int Split> void test_divided() {
  const Wanted& one = wanted();
  const Batch x = batch_of(5);
  const Batch y = batch_of(7);
  using M = Divided<N, Split>;
  on_ranks<M>([&](auto& model, int rank) {
    constexpr auto loss_of = nn::sharded_cross_entropy<typename M::Ranks>;
    const auto loss = loss_of(model.forward(x), y);
    loss.backward();
    require_close("loss", loss.item(), one.losses[0]);
    const auto infos = model.parameter_infos();
    const auto views = model.parameters();
    for (std::size_t i = 0; i < views.size(); ++i)
      require_part({static_cast<const double*>(views[i].gradient.data()), infos[i], rank}, one.gradients[i]);
    auto step = train_step(model, loss_of, rule);
    for (std::size_t i = 1; i < 6; ++i) require_close("loss", step(x, y).item(), one.losses[i]);
    require_close("norm", step.state(optim::gradient_norm_state), one.norms[0]);
    for (std::size_t i = 0; i < views.size(); ++i)
      require_part({static_cast<const double*>(views[i].buffer.data()), infos[i], rank}, one.weights[i]);
  });
}

} // namespace

TEST_CASE("a block divided among two ranks trains as on one device", "[parallel][PAR-7]") {
  test_divided<2, nn::not_split>();
}
TEST_CASE("a block whose sequence is divided among two ranks, too", "[parallel][PAR-7]") { test_divided<2, 1>(); }

namespace {

/// Logits of plain and of divided layers.
struct WholeLogits {
  static constexpr auto forward(Input<Dim<"batch">, width> x) { return nn::linear(x, vocabulary, "logits"); }
};
struct DividedLogits {
  using Ranks = RankAxis<"tensor", 2>;
  static constexpr auto forward(Input<Dim<"batch">, width> x) {
    return nn::column_linear<Ranks>(x, vocabulary, "logits");
  }
};

/// Columns of numbers, a part of them.
template <int Columns> auto part_of(const std::vector<double>& numbers, int first) {
  const auto count = static_cast<std::int64_t>(numbers.size()) / vocabulary;
  Tensor<double, Cpu, Shape<dyn, Columns>> part(Cpu{0}, Dims(count, Columns));
  for (std::int64_t row = 0; row < count; ++row)
    for (std::int64_t i = 0; i < Columns; ++i)
      part.data()[row * Columns + i] = numbers[static_cast<std::size_t>(row * vocabulary + first + i)];
  return part;
}

/// A loss and its gradients, on one device and on two ranks, which have targets of their own.
template <class WholeLoss, class DividedLoss, class Target, class TargetOf>
void test_divided_loss(const WholeLoss& whole_loss, const DividedLoss& divided_loss, const Target& target,
                       const TargetOf& target_of) {
  const auto x = [] {
    Tensor<double, Cpu, Shape<dyn, width>> features(Cpu{0}, Dims(5, width));
    for (std::int64_t i = 0; i < 5 * width; ++i) features.data()[i] = static_cast<double>(i * 7 % 13) - 6;
    return features;
  }();
  manual_seed(Cpu{0}, 7);
  nn::Network<WholeLogits, Cpu, double> one{Cpu{0}};
  const auto loss = whole_loss(one.forward(x), target);
  loss.backward();
  std::vector<std::vector<double>> gradients{};
  for (const auto& view : one.parameters()) {
    const auto* const first = static_cast<const double*>(view.gradient.data());
    gradients.emplace_back(first, first + view.gradient.bytes() / sizeof(double));
  }
  const double value = loss.item();
  on_ranks<DividedLogits>([&](auto& model, int rank) {
    const auto own = divided_loss(model.forward(x), target_of(rank));
    own.backward();
    require_close("loss", own.item(), value);
    const auto infos = model.parameter_infos();
    const auto views = model.parameters();
    for (std::size_t i = 0; i < views.size(); ++i)
      require_part({static_cast<const double*>(views[i].gradient.data()), infos[i], rank}, gradients[i]);
  });
}

} // namespace

TEST_CASE("cross entropy of divided classes smooths labels over all of them", "[parallel][PAR-7]") {
  const auto labels = from_values(std::vector<std::int64_t>{0, 5, 6, 11, 3}, Cpu{0});
  const auto same = [&](int) { return labels; };
  test_divided_loss(nn::loss([](auto y, auto t) { return nn::cross_entropy(y, t, {.label_smoothing = 0.3}); }),
                    nn::loss([](auto y, auto t) {
                      return nn::sharded_cross_entropy<DividedLogits::Ranks>(y, t, {.label_smoothing = 0.3});
                    }),
                    labels, same);
  test_divided_loss(nn::loss([](auto y, auto t) { return nn::cross_entropy(y, t, {.reduce = nn::Reduce::sum}); }),
                    nn::loss([](auto y, auto t) {
                      return nn::sharded_cross_entropy<DividedLogits::Ranks>(y, t, {.reduce = nn::Reduce::sum});
                    }),
                    labels, same);
}

TEST_CASE("cross entropy of divided classes takes divided probabilities", "[parallel][PAR-7]") {
  std::vector<double> target(5 * vocabulary); // some are zero, and a row need not add up to 1
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = static_cast<double>(i * i % 5) / 31;
  const auto part = [&](int rank) { return part_of<vocabulary / 2>(target, rank * (vocabulary / 2)); };
  test_divided_loss(nn::cross_entropy, nn::sharded_cross_entropy<DividedLogits::Ranks>, part_of<vocabulary>(target, 0),
                    part);
  test_divided_loss(nn::loss([](auto y, auto t) { return nn::cross_entropy(y, t, {.label_smoothing = 0.25}); }),
                    nn::loss([](auto y, auto t) {
                      return nn::sharded_cross_entropy<DividedLogits::Ranks>(y, t, {.label_smoothing = 0.25});
                    }),
                    part_of<vocabulary>(target, 0), part);
}

TEST_CASE("a divided model does not run without its group", "[parallel][PAR-7]") {
  const nn::Network<Divided<2, 1>, Cpu, double> model{Cpu{0}};
  CHECK(test::message_of<ValueError>([&] { static_cast<void>(model.infer(batch_of(1))); }) ==
        "run: the program works on 2 ranks along 'tensor' and no group is bound; give each rank's network its group "
        "with bind(group)");
}

TEST_CASE("weights divided over the ranks of a DistributedDataParallel are refused by name",
          "[parallel][PAR-7][PAR-9]") {
  using M = Divided<2, nn::not_split>;
  auto communicators = parallel::thread_communicators(std::vector<Cpu>(2, Cpu{0}), {.timeout_ms = 20'000});
  std::vector<std::string> messages(2);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    nn::Network<M, Cpu, double> model{Cpu{0}, {}, RandomDraw{7, 0}};
    model.bind(parallel::rank_group<typename M::Ranks>(communicator));
    messages[static_cast<std::size_t>(communicator.rank())] = test::message_of<ValueError>([&] {
      DistributedDataParallel{model, communicator};
    });
  });
  for (const std::string& message : messages)
    CHECK(message == "DistributedDataParallel: 'words.weight' is divided along the axis 'tensor': rank 1 holds part 1, "
                     "rank 0 part 0, and replicas hold equal parts; give it the ranks of one place along 'tensor', "
                     "communicator.split(place, rank)");
  auto alone = parallel::thread_communicators(std::vector{Cpu{0}});
  nn::Network<M, Cpu, double> unbound{Cpu{0}, {}, RandomDraw{7, 0}};
  CHECK(
      test::message_of<ValueError>([&] {
        DistributedDataParallel{unbound, alone[0]};
      }) ==
      "DistributedDataParallel: 'words.weight' is divided along the axis 'tensor', of which the network has no group; "
      "call network.bind(parallel::rank_group<Axis>(communicator)) first");
}

TEST_CASE("ranks with one place along the axis of divided layers are replicas", "[parallel][PAR-7]") {
  using M = Divided<2, nn::not_split>;
  auto communicators = parallel::thread_communicators(std::vector<Cpu>(4, Cpu{0}), {.timeout_ms = 20'000});
  std::vector<std::vector<double>> weights(4);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const int rank = communicator.rank();
    auto layers = communicator.split(rank / 2, rank);
    auto replicas = communicator.split(rank % 2, rank);
    nn::Network<M, Cpu, double> model{Cpu{0}, {}, RandomDraw{static_cast<std::uint64_t>(rank / 2), 0}};
    model.bind(parallel::rank_group<typename M::Ranks>(layers));
    const DistributedDataParallel replica{model, replicas};
    for (const auto& view : model.parameters()) {
      const auto* const first = static_cast<const double*>(view.buffer.data());
      auto& own = weights[static_cast<std::size_t>(rank)];
      own.insert(own.end(), first, first + view.shape.elements());
    }
  });
  CHECK(weights[2] == weights[0]);
  CHECK(weights[3] == weights[1]);
  CHECK(weights[1] != weights[0]);
}

TEST_CASE("a rank of a divided model that fails tells the others", "[parallel][PAR-7][PAR-9]") {
  using M = Divided<2, nn::not_split>;
  on_ranks<M>([&](auto& model, int rank) {
    auto step = train_step(model, nn::sharded_cross_entropy<M::Ranks>, rule);
    const Batch x = batch_of(5);
    const Batch few(Cpu{0}, Dims(2, rows));
    std::string text{};
    try {
      static_cast<void>(step(x, rank == 1 ? few : x));
    } catch (const parallel::TimeoutError&) {
      text = "a time-out";
    } catch (const Error& error) {
      text = error.what();
    }
    const bool is_told = text.find("takes 3, as in axis 0 of argument 1 of forward, got 2") != std::string::npos &&
                         (rank == 1 || text.find("rank 1") != std::string::npos);
    if (!is_told) throw std::logic_error("rank " + std::to_string(rank) + " was told: " + text);
  });
}
