// SPDX-License-Identifier: Apache-2.0
//
// Which matrix product is fastest for which shape: twill's small product, CBLAS and oneDNN, each in one thread, over a grid
// of shapes and layouts. kernel/product.hpp is written from what this prints. Contenders take turns, so that a busy
// machine slows all of them; the least of the rounds counts. Usage: product_grid [rounds] >product_grid.json

#include <twill/device/cpu/gemm.hpp>
#include <twill/kernel/product.hpp>
#include <twill/kernel/small_product.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Shape {
  std::int64_t m, n, k;
  bool ta, tb;
  auto operator<=>(const Shape&) const = default;
};

void compute(int who, const Shape& s, const float* a, const float* b, float* c) {
  const std::int64_t lda = s.ta ? s.m : s.k;
  const std::int64_t ldb = s.tb ? s.k : s.n;
  if (who == 0)
    twill::kernel::small_product<float>(s.ta, s.tb, s.m, s.n, s.k, 1, a, lda, b, ldb, 0, c, s.n);
  else if (who == 1)
    twill::cpu::gemm_by_cblas(s.ta, s.tb, s.m, s.n, s.k, 1.0F, a, lda, b, ldb, 0.0F, c, s.n);
  else
    twill::cpu::detail::gemm_by_onednn(s.ta, s.tb, s.m, s.n, s.k, 1.0F, a, lda, b, ldb, 0.0F, c, s.n);
}

double nanoseconds(int who, const Shape& s, const float* a, const float* b, float* c, std::int64_t times) {
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < times; ++i) compute(who, s, a, b, c);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(times);
}

std::string machine() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

std::set<Shape> grid() {
  std::set<Shape> shapes;
  const std::int64_t sizes[] = {1, 2, 4, 8, 16, 64, 256, 1024};
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    for (const auto& [ta, tb] : {std::pair{false, false}, {false, true}, {true, false}})
      shapes.insert({m, n, k, ta, tb});
  };
  for (const auto m : sizes)
    for (const auto n : sizes)
      if (n > 1) // a single column is computed as a row
        for (const auto k : sizes) add(m, n, k);
  for (const std::int64_t size : {3, 6, 12, 17, 24, 32, 48, 96, 128, 192, 384, 512, 768, 2048}) add(size, size, size);
  for (const std::int64_t rows : {1, 4, 32, 128, 256}) { // the layers of a small network, and their gradients
    add(rows, 256, 784);
    add(rows, 10, 256);
    add(256, 784, rows);
    add(10, 256, rows);
  }
  return shapes;
}

} // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 7;
  const char* names[] = {"small", "cblas", "onednn"};
  std::vector<float> a(2048 * 2048), b(2048 * 2048), c(2048 * 2048), expected(2048 * 2048);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i * 7919 % 4001) / 4001.0F - 0.5F;
    b[i] = static_cast<float>(i * 104729 % 3001) / 3001.0F - 0.5F;
  }
  std::printf("{\"machine\": \"%s\", \"compiler\": \"%s\", \"rounds\": %d, \"shapes\": [\n", machine().c_str(),
              __VERSION__, rounds);
  const auto shapes = grid();
  for (auto s = shapes.begin(); s != shapes.end(); ++s) {
    const double work = static_cast<double>(s->m * s->n * s->k);
    double least[3] = {1e300, 1e300, 1e300};
    for (int round = -1; round < rounds; ++round)
      for (int who = 0; who < 3; ++who) {
        if (who == 0 && work > 6e7) continue;
        if (round < 0) { // the first round proves the results
          auto& to = who == 1 ? expected : c;
          compute(1, *s, a.data(), b.data(), expected.data());
          compute(who, *s, a.data(), b.data(), to.data());
          for (std::int64_t i = 0; i < s->m * s->n; ++i)
            if (!(std::abs(to[static_cast<std::size_t>(i)] - expected[static_cast<std::size_t>(i)]) <= 1e-3F)) {
              std::fprintf(stderr, "%s differs at %ld x %ld x %ld\n", names[who], s->m, s->n, s->k);
              return 1;
            }
          continue;
        }
        const auto times = std::clamp<std::int64_t>(static_cast<std::int64_t>(2e5 / (20 + work / 40)), 1, 4000);
        least[who] = std::min(least[who], nanoseconds(who, *s, a.data(), b.data(), c.data(), times));
      }
    std::printf("{\"m\": %ld, \"n\": %ld, \"k\": %ld, \"layout\": \"%c%c\"", s->m, s->n, s->k, s->ta ? 't' : 'n',
                s->tb ? 't' : 'n');
    for (int who = 0; who < 3; ++who)
      if (least[who] < 1e300) std::printf(", \"%s\": %.1f", names[who], least[who]);
    std::printf(", \"choice\": \"%s\"}%s\n",
                names[static_cast<int>(twill::kernel::choose_product<float>(s->ta, s->tb, s->m, s->n, s->k))],
                std::next(s) == shapes.end() ? "" : ",");
  }
  std::printf("]}\n");
}
