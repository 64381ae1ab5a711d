// SPDX-License-Identifier: Apache-2.0
//
// Buckets of gradients, filled from tables that stand here.

#include <twill/parallel/data/buckets.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

using namespace twill;

namespace {

/// A program with these results, finished one after the other.
struct Results {
  std::vector<compile::ValueInfo> values{};

  void add(DType dtype, std::int64_t elements) {
    const int number = static_cast<int>(values.size());
    compile::ValueInfo value{.storage = compile::Storage::output, .dtype = dtype, .index = number, .last_use = number};
    value.shape.append(graph::Extent{elements});
    values.push_back(value);
  }
  [[nodiscard]] compile::TableView table() const {
    compile::TableView view{};
    view.values = {values.data(), values.size()};
    view.outputs = static_cast<int>(values.size());
    return view;
  }
};

} // namespace

TEST_CASE("the first bucket of each element type is closed early", "[parallel][PAR-2]") {
  Results results;
  for (int i = 0; i < 3; ++i) {
    results.add(DType::float32, 16);
    results.add(DType::bfloat16, 32);
  }
  const auto filled = parallel::fill_buckets(results.table(), {.first_bucket_bytes = 64, .bucket_bytes = 128});
  REQUIRE(filled.buckets.size() == 4);
  std::vector<int> of_result{};
  for (const auto& entry : filled.entries) of_result.push_back(entry.bucket);
  CHECK(of_result == std::vector{0, 1, 2, 3, 2, 3});
  for (std::size_t i = 0; i < 4; ++i) CHECK(filled.buckets[i].bytes() == (i < 2 ? 64 : 128));
}
