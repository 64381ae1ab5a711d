// SPDX-License-Identifier: Apache-2.0
#include <twill/memory/free_index.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace twill::memory;

TEST_CASE("the free index finds the smallest block that fits, for sizes from 512 bytes to terabytes", "[memory]") {
  auto index = std::make_unique<FreeIndex<512>>();
  std::vector<Block> blocks(400);
  std::set<std::pair<std::size_t, Block*>> reference;
  std::vector<Block*> listed;
  std::vector<Block*> spare;
  for (Block& block : blocks) spare.push_back(&block);
  std::mt19937_64 engine{11};
  const auto random_bytes = [&] { // every magnitude alike, many equal sizes
    const int exponent = static_cast<int>(engine() % 34);
    return ((std::size_t{1} << exponent) + engine() % (std::size_t{1} << exponent) / 4 * 4) * 512;
  };
  for (int i = 0; i < 20000; ++i) {
    if (!spare.empty() && (listed.empty() || engine() % 2 == 0)) {
      Block* block = spare.back();
      spare.pop_back();
      block->bytes = random_bytes();
      index->insert(*block);
      reference.emplace(block->bytes, block);
      listed.push_back(block);
    } else {
      const std::size_t position = engine() % listed.size();
      std::swap(listed[position], listed.back());
      index->erase(*listed.back());
      reference.erase({listed.back()->bytes, listed.back()});
      spare.push_back(listed.back());
      listed.pop_back();
    }
    const std::size_t asked = random_bytes();
    const auto expected = reference.lower_bound({asked, nullptr});
    const Block* found = index->best_fit(asked);
    REQUIRE((found == nullptr) == (expected == reference.end()));
    if (found != nullptr) REQUIRE(found->bytes == expected->first);
  }
}
