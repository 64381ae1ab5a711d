// SPDX-License-Identifier: Apache-2.0

#include <twill/device/cuda/attention.hpp>

#include <catch2/catch.hpp>

#include <vector>

using namespace twill;
using namespace twill::nvidia;

TEST_CASE("heads lie between the rows of a batch, or around them", "[device]") {
  for (const HeadStrides strides : {heads_within_rows(5, 3, 4), rows_within_heads(5, 3, 4)}) {
    std::vector<int> seen(2 * 5 * 3 * 4);
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t head = 0; head < 3; ++head)
        for (std::int64_t row = 0; row < 5; ++row)
          for (std::int64_t i = 0; i < 4; ++i)
            ++seen[static_cast<std::size_t>(b * strides.batch + head * strides.head + row * strides.row + i)];
    for (const int times : seen) CHECK(times == 1);
  }
  CHECK(heads_within_rows(5, 3, 4) == HeadStrides{60, 4, 12});
  CHECK(rows_within_heads(5, 3, 4) == HeadStrides{60, 20, 4});
}

TEST_CASE("what attention keeps for its backward pass is counted", "[device]") {
  const Attention a = self_attention(DType::bfloat16, 2, 100, 3, 64, 0.125F, true);
  CHECK(statistics_bytes(a) == 2 * 3 * 100 * 4);
  CHECK(scratch_of(a, true).bytes() == 2560); // 2400 rounded up
  CHECK(scratch_of(a, false).sums_bytes == 2560);
  CHECK(scratch_of(a, false).query_gradient_bytes == 2 * 3 * 100 * 64 * 4);
  CHECK(to_string(a) == "attention of 2 x 3 heads, 100 queries by 100 keys of 64 bfloat16, causal");
}

TEST_CASE("attention that makes no sense is refused with its numbers", "[device]") {
  const Attention good = self_attention(DType::float16, 2, 10, 4, 64, 0.125F, false);
  CHECK_NOTHROW(check(good));
  Attention a = good;
  a.key_heads = 3;
  CHECK_THROWS_WITH(check(a), "attention: heads of keys divide the heads, got 3 and 4");
  a = good;
  a.keys = 0;
  CHECK_THROWS_WITH(check(a), "attention: queries and keys are at least 1, got 10 and 0");
  a = good;
  a.width = 0;
  CHECK_THROWS_WITH(check(a), "attention: rows have elements, got 0 and 64");
}

TEST_CASE("the key of attention holds every number but the scale", "[device]") {
  const Attention a = self_attention(DType::float16, 2, 10, 4, 64, 0.125F, false);
  std::vector<Attention> others(11, a);
  others[0].dtype = DType::bfloat16;
  others[1].is_causal = true;
  others[2].batch = 3;
  others[3].heads = 8;
  others[4].key_heads = 2;
  others[5].queries = 11;
  others[6].keys = 11;
  others[7].value_width = 32;
  others[8].q.batch = 1;
  others[9].v.row = 1;
  others[10].o.head = 1;
  for (std::size_t i = 0; i < others.size(); ++i) {
    CHECK(key_of(others[i]) != key_of(a));
    for (std::size_t j = 0; j < i; ++j) CHECK(key_of(others[i]) != key_of(others[j]));
  }
  Attention scaled = a;
  scaled.scale = 2;
  CHECK(key_of(scaled) == key_of(a));
}
