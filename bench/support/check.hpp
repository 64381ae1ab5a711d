#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What benchmarks share: memory with known values, and the check that a contender computes what the reference computes, which
// ends the program before anything wrong is timed.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace bench {

/// Aligned memory with values between -2 and 2, each element different from its neighbours.
class Array {
public:
  explicit Array(std::int64_t n, std::int64_t salt = 0)
      : data_{static_cast<float*>(::operator new (static_cast<std::size_t>(n) * 4, std::align_val_t{64}))} {
    for (std::int64_t i = 0; i < n; ++i)
      data_.get()[i] = static_cast<float>(((i + salt) * 7919) % 4001) / 1000.0F - 2.0F;
  }
  operator float*() { return data_.get(); }

private:
  struct Release {
    void operator()(float* memory) const { ::operator delete (memory, std::align_val_t{64}); }
  };
  std::unique_ptr<float, Release> data_;
};

/// Small numbers of either sign, the same in every run: weights and inputs.
inline std::vector<float> numbers(std::int64_t count, float scale, std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = scale * (static_cast<float>(seed >> 8) / static_cast<float>(1 << 23) - 1.0F);
  }
  return values;
}

/// Ends the program unless all elements agree: |a - b| <= tolerance * max(1, |b|).
inline void require_close(const float* a, const float* b, std::int64_t n, float tolerance, const char* what) {
  for (std::int64_t i = 0; i < n; ++i)
    if (!(std::abs(a[i] - b[i]) <= tolerance * std::max(1.0F, std::abs(b[i])))) {
      std::fprintf(stderr, "%s: element %ld is %.9g, the reference has %.9g\n", what, static_cast<long>(i),
                   static_cast<double>(a[i]), static_cast<double>(b[i]));
      std::exit(1);
    }
}
inline void require_close(const std::vector<float>& a, const std::vector<float>& b, float tolerance, const char* what) {
  if (a.size() != b.size()) {
    std::fprintf(stderr, "%s: %zu elements, the reference has %zu\n", what, a.size(), b.size());
    std::exit(1);
  }
  require_close(a.data(), b.data(), static_cast<std::int64_t>(a.size()), tolerance, what);
}

} // namespace bench
