// SPDX-License-Identifier: Apache-2.0
//
// Node classification on a graph: a network of two graph convolutions (Kipf and Welling, 2017) finds the community of every node
// of a random graph from a label at one node in twenty. Neighbours are averaged by products with a sparse matrix. The network
// without edges, the same weights over each node alone, shows what the graph tells.
//
// prints: nodes without a label found with edges: over 90%
// prints: without edges: under 70%

#include <twill/sparse.hpp>
#include <twill/twill.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

using namespace twill;

namespace {

constexpr std::int64_t nodes = 600;
constexpr std::int64_t communities = 4;
constexpr std::int64_t unknown = -100; // a label that `cross_entropy` passes over

// region: model
/// Two graph convolutions. The matrix of the graph is an input, so one network takes graphs of any size.
struct GraphNetwork {
  static constexpr auto forward(InputOf<std::int64_t, Dim<"offsets">> row_offsets,
                                InputOf<std::int64_t, Dim<"edges">> column_indices, Input<Dim<"edges">> weights,
                                Input<Dim<"nodes">, communities> features) {
    const auto count = features.shape()[0];
    const auto graph = sparse::csr(row_offsets, column_indices, weights, count, count);
    const auto hidden = relu(matmul(graph, nn::linear(features, 16, "hidden")));
    return matmul(graph, nn::linear(hidden, communities, "output"));
  }
};
// end region

/// Edges within communities are ten times as frequent as others; each node is its own neighbour, too.
sparse::CsrMatrix<float> random_graph(const std::vector<std::int64_t>& community, std::mt19937& random) {
  std::vector<std::int64_t> rows{};
  std::vector<std::int64_t> columns{};
  std::uniform_real_distribution<float> uniform{0, 1};
  const auto add = [&](std::int64_t i, std::int64_t j) {
    rows.push_back(i);
    columns.push_back(j);
  };
  for (std::int64_t i = 0; i < nodes; ++i) {
    add(i, i);
    for (std::int64_t j = 0; j < i; ++j) {
      const bool is_within = community[static_cast<std::size_t>(i)] == community[static_cast<std::size_t>(j)];
      if (uniform(random) >= (is_within ? 0.05F : 0.005F)) continue;
      add(i, j);
      add(j, i);
    }
  }
  const auto ones = full<float, Shape<dyn>>(Dims(static_cast<std::int64_t>(rows.size())), 1.0F);
  return sparse::from_coo(Dims(nodes, nodes), from_values(rows), from_values(columns), ones);
}

// region: normalisation
/// D^-1/2 A D^-1/2, where D has the numbers of neighbours on its diagonal.
sparse::CsrMatrix<float> normalised(const sparse::CsrMatrix<float>& a) {
  const Tensor factors = rsqrt(sum<1>(a));
  return scale_columns(scale_rows(a, factors), factors);
}
// end region

/// The share of nodes without a label whose community a network finds after its training.
double accuracy(const sparse::CsrMatrix<float>& graph, const Tensor<float, Cpu, Shape<dyn, communities>>& features,
                const Tensor<std::int64_t, Cpu, Shape<dyn>>& labels,
                const Tensor<std::int64_t, Cpu, Shape<dyn>>& community) {
  manual_seed_all(1);
  // region: training
  nn::Network<GraphNetwork> network{};
  constexpr auto loss = nn::loss([](auto logits, auto label) {
    return nn::cross_entropy(logits, label, {.ignore_index = unknown}); // the others have none
  });
  auto step = train_step(network, loss, optim::Adam{{.rate = 0.02}});
  for (int epoch = 0; epoch < 150; ++epoch)
    step(graph.row_offsets(), graph.column_indices(), graph.values(), features, labels);
  const Tensor found = argmax<1>(network.infer(graph.row_offsets(), graph.column_indices(), graph.values(), features));
  // end region
  const Tensor is_asked = eval(labels == unknown);
  return static_cast<double>(count_nonzero(is_asked & (found == community)).item()) /
         static_cast<double>(count_nonzero(is_asked).item());
}

} // namespace

int main() {
  std::mt19937 random{7};
  std::normal_distribution<float> normal{0, 1};
  std::vector<std::int64_t> community{};
  std::vector<std::int64_t> labels{};
  std::vector<float> features{};
  for (std::int64_t i = 0; i < nodes; ++i) {
    community.push_back(i % communities);
    labels.push_back(i % 20 == i / 20 % 4 ? community.back() : unknown);
    for (std::int64_t k = 0; k < communities; ++k)
      features.push_back(normal(random) + (k == community.back() ? 1.0F : 0.0F));
  }
  const auto graph = random_graph(community, random);
  const auto x = from_values<Shape<dyn, communities>>(features, Dims(nodes, communities));
  const auto each_alone = sparse::from_dense(eye<float, Shape<dyn, dyn>>(Dims(nodes, nodes)));
  std::printf("%lld nodes, %lld edges\n", static_cast<long long>(graph.rows()),
              static_cast<long long>((graph.nnz() - nodes) / 2));
  const double with_edges = accuracy(normalised(graph), x, from_values(labels), from_values(community));
  const double without = accuracy(each_alone, x, from_values(labels), from_values(community));
  std::printf("nodes without a label found with edges: %s 90%% (%.1f%%)\n", with_edges > 0.9 ? "over" : "under",
              100 * with_edges);
  std::printf("without edges: %s 70%% (%.1f%%)\n", without < 0.7 ? "under" : "over", 100 * without);
}
