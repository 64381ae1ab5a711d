// SPDX-License-Identifier: Apache-2.0
//
// Random functions with loops in loops, up to three of them, against the same steps one after another: what a step reads
// of its own loop, of those around and of those beside it, which carries pass on which, directions, and what of it all
// depends on the steps, is drawn. Values and gradients are compared, and those of a batch.

#include "tests/support/loop_forms.hpp"
#include "tests/support/traced_run.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Step;
using graph::Value;

namespace {

/// All values are of one shape, all sequences have three of them. A body may be traced several times: what it draws
/// follows from its place in the function alone.
template <class Form> class RandomLoops {
public:
  explicit RandomLoops(std::uint64_t seed) : seed_{seed} {}

  std::array<Value, 1> operator()(Value h, Value w, Value x, Value xs) const {
    Draws draws{seed_};
    Pool pool{{h, 0.5 * h + 0.1}, {x}, {xs}};
    for (int i = 0; i < 2; ++i) add_loop(pool, w, draws, 0);
    Value total = sum(pool.values.back());
    for (const Value& value : pool.values) total = total + 0.1 * sum(sin(value));
    for (const Value& sequence : pool.sequences) total = total + 0.1 * sum(sin(sequence));
    return {total};
  }

private:
  struct Draws {
    std::mt19937_64 random;
    explicit Draws(std::uint64_t seed) : random{seed} {}
    std::size_t below(std::size_t end) { return static_cast<std::size_t>(random() % end); }
    template <class T> const T& of(const std::vector<T>& all) { return all[below(all.size())]; }
  };
  /// What can be read: values, sequences of three, and sequences of these.
  struct Pool {
    std::vector<Value> values{};
    std::vector<Value> sequences{};
    std::vector<Value> sequences_of_sequences{};
  };

  static Value made(Pool& pool, Value w, Draws& draws) {
    const Value a = draws.of(pool.values);
    const Value b = draws.of(pool.values);
    switch (draws.below(6)) {
    case 0:
      return tanh(a + 0.5 * b);
    case 1:
      return sin(a) * b;
    case 2:
      return tanh(matmul(a, w));
    case 3:
      return 0.5 * a + 0.3 * sum(b, {0});
    case 4:
      return tanh(a - sum(draws.of(pool.sequences), {0}));
    default:
      return 0.8 * b;
    }
  }

  static void add_loop(Pool& pool, Value w, Draws& draws, int depth) {
    const std::uint64_t seed = draws.random();
    const std::array initial{draws.of(pool.values), draws.of(pool.values)};
    const std::array stacked{draws.of(pool.sequences), draws.of(pool.sequences)};
    const graph::ScanOptions options{.reversed = draws.below(2) == 0};
    const bool goes_deep = !pool.sequences_of_sequences.empty() && draws.below(3) > 0;
    const auto step = [&](Pool inside) {
      Draws own{seed};
      for (std::size_t i = own.below(3); i > 0; --i) inside.values.push_back(made(inside, w, own));
      for (std::size_t i = depth < 2 ? own.below(3) : 0; i > 0; --i) add_loop(inside, w, own, depth + 1);
      for (std::size_t i = own.below(3); i > 0; --i) inside.values.push_back(made(inside, w, own));
      const auto any = [&] { return own.below(2) == 0 ? inside.values.back() : own.of(inside.values); };
      const Value first = any(), second = own.of(inside.values), seen = any();
      return Step<2, 1>{{first, second}, {seen}};
    };
    const auto with = [&](Value a, Value b, Value element, Value other) {
      Pool inside = pool;
      inside.sequences_of_sequences.clear();
      for (const Value& value : {a, b, element, other}) inside.values.push_back(value);
      return inside;
    };
    std::array<Value, 3> results{};
    const auto keep = [&](const auto& result) { results = {result.carry[0], result.carry[1], result.results[0]}; };
    if (goes_deep)
      keep(Form{}(
          initial, std::array{stacked[0], stacked[1], pool.sequences_of_sequences[0]},
          [&](Value a, Value b, Value element, Value other, Value sequence) {
            Pool inside = with(a, b, element, other);
            inside.sequences.push_back(sequence);
            return step(inside);
          },
          options));
    else
      keep(Form{}(
          initial, stacked,
          [&](Value a, Value b, Value element, Value other) { return step(with(a, b, element, other)); }, options));
    pool.values.push_back(results[0]);
    pool.values.push_back(results[1]);
    pool.sequences.push_back(results[2]);
  }

  std::uint64_t seed_;
};

template <class Form> auto gradients_of(std::uint64_t seed) {
  return [seed](Value h, Value w, Value x, Value xs) {
    const Value loss = RandomLoops<Form>{seed}(h, w, x, xs)[0];
    const auto all = graph::gradients(loss, std::array{h, w, x, xs});
    return std::array{loss, all[0], all[1], all[2], all[3]};
  };
}

} // namespace

TEST_CASE("random loops in loops have the values and gradients of their steps", "[nn][scan]") {
  const std::array at{random_given(Dims(2, 3)), random_given(Dims(3, 3)), random_given(Dims(3, 2, 3)),
                      random_given(Dims(3, 3, 2, 3))};
  std::mt19937_64 random{test_seed()};
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t seed = random();
    INFO("program " << seed);
    check_same(results_of(gradients_of<OneByOne>(seed), at), results_of(gradients_of<Loop>(seed), at), 1e-9);
  }
}

TEST_CASE("batches of random loops in loops are loops over the examples", "[nn][scan][vmap]") {
  std::array at{random_given(Dims(2, 3)), random_given(Dims(3, 3)), random_given(Dims(3, 2, 3)),
                random_given(Dims(2, 3, 3, 2, 3))};
  std::mt19937_64 random{test_seed()};
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t seed = random();
    INFO("program " << seed);
    const auto over_batch = [seed](Value h, Value w, Value x, Value xs) {
      return vmap<unbatched, unbatched, unbatched, 0>(gradients_of<Loop>(seed))(h, w, x, xs);
    };
    const auto got = results_of(over_batch, at);
    for (std::size_t example = 0; example < 2; ++example) {
      auto one = at;
      one[3].shape = Dims(3, 3, 2, 3);
      one[3].elements.assign(at[3].elements.begin() + static_cast<std::ptrdiff_t>(example * 54),
                             at[3].elements.begin() + static_cast<std::ptrdiff_t>(example * 54 + 54));
      const auto expected = results_of(gradients_of<Loop>(seed), one);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const auto* const from = got[k].data() + example * expected[k].size();
        check_same({expected[k]}, {Numbers(from, from + expected[k].size())}, 1e-9);
      }
    }
  }
}
