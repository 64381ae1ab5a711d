// SPDX-License-Identifier: Apache-2.0
#include <twill/core/list.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace twill;

namespace {

struct Row {
  int key = 0;
  std::string text{};
  friend bool operator==(const Row&, const Row&) = default;
};

} // namespace

TEST_CASE("rows come into the order that std::stable_sort gives them", "[core]") {
  std::mt19937 random{7};
  for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 8U, 13U, 64U, 101U, 1000U})
    for (const int keys : {1, 3, 1000}) {
      std::vector<Row> rows;
      for (std::size_t i = 0; i < count; ++i)
        rows.push_back({static_cast<int>(random() % static_cast<unsigned>(keys)), "row " + std::to_string(i)});
      std::vector<Row> expected = rows;
      std::stable_sort(expected.begin(), expected.end(), [](const Row& a, const Row& b) { return a.key < b.key; });
      sort_stably(rows, [](const Row& a, const Row& b) { return a.key < b.key; });
      CHECK(rows == expected);
    }
}

TEST_CASE("an order may look things up, and elements need only be movable", "[core]") {
  const std::vector<int> weights{3, 1, 2, 1};
  std::vector<std::unique_ptr<std::size_t>> places;
  for (std::size_t i = 0; i < weights.size(); ++i) places.push_back(std::make_unique<std::size_t>(i));
  sort_stably(places, [&](const auto& a, const auto& b) { return weights[*a] < weights[*b]; });
  std::vector<std::size_t> found;
  for (const auto& place : places) found.push_back(*place);
  CHECK(found == std::vector<std::size_t>{1, 3, 2, 0});
}
