// SPDX-License-Identifier: Apache-2.0
//
// Every collective against a plain reference, for one to five ranks, odd sizes and all element types.

#include "tests/support/simulation.hpp"

#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <random>

using namespace twill;
using namespace twill::parallel;

namespace {

using Communicators = std::vector<ThreadCommunicator<Cpu>>;

Communicators group_of(int ranks) {
  return thread_communicators(std::vector<Cpu>(static_cast<std::size_t>(ranks)), {.timeout_ms = 20'000});
}

// std::vector<bool> has no data(); an array of its own does.
template <class T> class Values {
public:
  explicit Values(std::int64_t count, T value = T{})
      : count_{count}, data_{new T[static_cast<std::size_t>(count) + 1]} {
    std::fill(begin(), end(), value);
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T* begin() { return data(); }
  T* end() { return data() + count_; }
  std::int64_t size() const { return count_; }
  T& operator[](std::int64_t index) { return data_[static_cast<std::size_t>(index)]; }
  const T& operator[](std::int64_t index) const { return data_[static_cast<std::size_t>(index)]; }

private:
  std::int64_t count_;
  std::unique_ptr<T[]> data_;
};

template <class T> Values<T> random_values(std::int64_t count, int rank, int seed = 1) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(seed * 1000 + rank));
  std::uniform_real_distribution<double> draw(-9, 9);
  Values<T> values(count);
  for (T& value : values) {
    if constexpr (std::same_as<T, bool>)
      value = draw(engine) > 0;
    else if constexpr (std::same_as<T, std::uint8_t>)
      value = static_cast<T>(engine() % 256);
    else
      value = static_cast<T>(draw(engine));
  }
  return values;
}

template <class T> bool same(const T& left, const T& right) {
  if constexpr (FloatingScalar<T>) {
    const double a = static_cast<double>(left);
    const double b = static_cast<double>(right);
    return a == b || (std::isnan(a) && std::isnan(b));
  } else {
    return left == right;
  }
}

// The documented tree, one element at a time: x[r] takes in x[r + s] for s = 1, 2, 4, ...
template <class T> T reference(Reduction reduction, std::vector<double> x) {
  using P = parallel::detail::Partial<T>;
  std::vector<P> values;
  for (const double value : x) values.push_back(static_cast<P>(value));
  for (std::size_t step = 1; step < values.size(); step *= 2)
    for (std::size_t rank = 0; rank + step < values.size(); rank += 2 * step) {
      const P a = values[rank];
      const P b = values[rank + step];
      switch (reduction) {
      case Reduction::mean:
      case Reduction::sum:
        values[rank] = static_cast<P>(a + b);
        break;
      case Reduction::product:
        values[rank] = static_cast<P>(a * b);
        break;
      case Reduction::max:
        values[rank] = std::max(a, b);
        break;
      case Reduction::min:
        values[rank] = std::min(a, b);
        break;
      case Reduction::any:
        values[rank] = static_cast<P>(a != P{} || b != P{});
        break;
      case Reduction::all:
        values[rank] = static_cast<P>(a != P{} && b != P{});
        break;
      }
    }
  if (reduction == Reduction::mean) values[0] = static_cast<P>(values[0] / static_cast<P>(values.size()));
  return static_cast<T>(values[0]);
}

template <class T> T reference(Reduction reduction, const std::vector<Values<T>>& inputs, std::int64_t index) {
  std::vector<double> x;
  for (const auto& input : inputs) x.push_back(static_cast<double>(input[index]));
  return reference<T>(reduction, x);
}

template <class T> std::vector<Values<T>> inputs_of(int ranks, std::int64_t count) {
  std::vector<Values<T>> inputs;
  for (int rank = 0; rank < ranks; ++rank) inputs.push_back(random_values<T>(count, rank));
  return inputs;
}

template <class T> void require_equal(const Values<T>& got, std::int64_t index, const T& wanted) {
  if (!same(got[index], wanted)) {
    CAPTURE(index, static_cast<double>(got[index]), static_cast<double>(wanted));
    FAIL("elements differ");
  }
}

} // namespace

static_assert(Communicator<ThreadCommunicator<Cpu>> && Communicator<ThreadCommunicator<Meta>>);
static_assert(!Communicator<int>);

TEMPLATE_TEST_CASE("all_reduce, reduce and reduce_scatter compute the rank-order tree", "[parallel][PAR-4]", float,
                   double, std::int32_t, std::int64_t, std::uint8_t, bool, half, bfloat16) {
  using T = TestType;
  for (int ranks = 1; ranks <= 5; ++ranks)
    for (const std::int64_t count : {0, 1, 7, 65, 1543})
      for (const Reduction reduction : {Reduction::sum, Reduction::max, Reduction::min, Reduction::product,
                                        Reduction::any, Reduction::all, Reduction::mean}) {
        if (reduction == Reduction::mean && !FloatingScalar<T>) continue;
        if (reduction == Reduction::product && std::integral<T> && sizeof(T) > 1) continue; // doubles cannot check it
        CAPTURE(ranks, count, name(reduction));
        const auto inputs = inputs_of<T>(ranks, count * ranks);
        auto data = inputs_of<T>(ranks, count * ranks);
        std::vector<Values<T>> reduced = inputs_of<T>(ranks, count * ranks);
        auto parts = inputs_of<T>(ranks, 0);
        auto communicators = group_of(ranks);
        const int root = ranks / 2;
        run_ranks(communicators, [&](auto& communicator) {
          const auto rank = static_cast<std::size_t>(communicator.rank());
          all_reduce(communicator, data[rank].data(), count * ranks, reduction);
          reduce(communicator, reduced[rank].data(), count * ranks, root, reduction);
          parts[rank] = Values<T>(count);
          reduce_scatter(communicator, inputs[rank].data(), parts[rank].data(), count, reduction);
        });
        for (int rank = 0; rank < ranks; ++rank) {
          const auto at = static_cast<std::size_t>(rank);
          for (std::int64_t i = 0; i < count * ranks; ++i) {
            const T wanted = reference<T>(reduction, inputs, i);
            require_equal(data[at], i, wanted);
            require_equal(reduced[at], i, rank == root ? wanted : inputs[at][i]);
          }
          for (std::int64_t i = 0; i < count; ++i)
            require_equal(parts[at], i, reference<T>(reduction, inputs, rank * count + i));
        }
      }
  SUCCEED();
}

TEMPLATE_TEST_CASE("the copying collectives move every part to its place", "[parallel][PAR-4]", float, double,
                   std::int32_t, bool) {
  using T = TestType;
  for (int ranks = 1; ranks <= 5; ++ranks)
    for (const std::int64_t count : {0, 1, 13, 1001}) {
      CAPTURE(ranks, count);
      const int root = ranks - 1;
      const auto inputs = inputs_of<T>(ranks, count * ranks);
      auto communicators = group_of(ranks);
      run_ranks(communicators, [&](auto& communicator) {
        const int rank = communicator.rank();
        const auto& mine = inputs[static_cast<std::size_t>(rank)];
        const auto check = [&](const Values<T>& got, std::int64_t offset, int from, std::int64_t from_offset) {
          for (std::int64_t i = 0; i < count; ++i)
            if (got[offset + i] != inputs[static_cast<std::size_t>(from)][from_offset + i])
              throw std::logic_error("an element is wrong");
        };
        Values<T> whole(count * ranks);
        all_gather(communicator, mine.data(), whole.data(), count);
        for (int other = 0; other < ranks; ++other) check(whole, other * count, other, 0);

        Values<T> gathered(count * ranks);
        gather(communicator, mine.data(), gathered.data(), count, root);
        for (int other = 0; other < ranks && rank == root; ++other) check(gathered, other * count, other, 0);

        Values<T> part(count);
        scatter(communicator, rank == root ? mine.data() : nullptr, part.data(), count, root);
        check(part, 0, root, rank * count);

        Values<T> copy(count * ranks);
        std::copy(mine.data(), mine.data() + mine.size(), copy.begin());
        broadcast(communicator, copy.data(), count, root);
        check(copy, 0, root, 0);

        Values<T> exchanged(count * ranks);
        all_to_all(communicator, mine.data(), exchanged.data(), count);
        for (int other = 0; other < ranks; ++other) check(exchanged, other * count, other, rank * count);
        barrier(communicator);
      });
    }
  SUCCEED();
}

TEST_CASE("a rank's own part may lie inside the whole", "[parallel]") {
  auto communicators = group_of(3);
  run_ranks(communicators, [&](auto& communicator) {
    const int rank = communicator.rank();
    std::vector<int> whole(6, -1);
    int* own = whole.data() + 2 * rank;
    own[0] = own[1] = rank;
    all_gather(communicator, own, whole.data(), 2);
    if (whole != std::vector<int>{0, 0, 1, 1, 2, 2}) throw std::logic_error("all_gather in place is wrong");
    reduce_scatter(communicator, whole.data(), own, 2);
    if (own[0] != 3 * rank || own[1] != 3 * rank) throw std::logic_error("reduce_scatter in place is wrong");
  });
}

TEST_CASE("a maximum lets NaN pass whichever rank holds it", "[parallel]") {
  for (int holder = 0; holder < 4; ++holder) {
    auto communicators = group_of(4);
    run_ranks(communicators, [&](auto& communicator) {
      float values[2] = {communicator.rank() == holder ? std::nanf("") : 1.0F, 2.0F};
      all_reduce(communicator, values, 2, holder % 2 == 0 ? Reduction::max : Reduction::min);
      if (!std::isnan(values[0]) || values[1] != 2) throw std::logic_error("NaN was lost");
    });
  }
}

TEST_CASE("sums of integers wrap around", "[parallel]") {
  auto communicators = group_of(2);
  run_ranks(communicators, [](auto& communicator) {
    std::int32_t value = std::numeric_limits<std::int32_t>::max();
    all_reduce(communicator, &value, 1);
    if (value != -2) throw std::logic_error("no wrap-around");
  });
}

TEST_CASE("sums of half are rounded once", "[parallel]") {
  auto communicators = group_of(4);
  run_ranks(communicators, [](auto& communicator) {
    // 2048 + 1 + 1 + 1 is 2051; in half precision each single 1 would be lost, and 2052 is the nearest half.
    half value(communicator.rank() == 0 ? 2048.0F : 1.0F);
    all_reduce(communicator, &value, 1);
    if (static_cast<float>(value) != 2052.0F) throw std::logic_error("a partial sum was rounded");
  });
}

TEST_CASE("a sum has the same bits in every run and on every rank, whatever the timing", "[parallel][PAR-4]") {
  constexpr std::int64_t count = 333;
  const auto inputs = inputs_of<float>(5, count);
  std::vector<float> first;
  test::simulate(200, [&](std::uint64_t run) {
    auto communicators = group_of(5);
    std::vector<std::vector<float>> results(5);
    run_ranks(communicators, [&](auto& communicator) {
      const auto rank = static_cast<std::size_t>(communicator.rank());
      results[rank].assign(inputs[rank].data(), inputs[rank].data() + count);
      // In pieces of random size, which are the same on all ranks.
      std::mt19937 pieces(static_cast<unsigned>(run));
      for (std::int64_t at = 0; at < count;) {
        const std::int64_t size = std::min<std::int64_t>(count - at, 1 + pieces() % 200);
        all_reduce(communicator, results[rank].data() + at, size);
        at += size;
      }
    });
    if (first.empty()) first = results[0];
    for (const auto& result : results) REQUIRE(result == first);
  });
}

TEST_CASE("started calls run beside the rank's own work and in order", "[parallel][PAR-4]") {
  auto communicators = group_of(3);
  run_ranks(communicators, [](auto& communicator) {
    std::vector<std::vector<float>> buckets;
    std::vector<ThreadHandle<Cpu>> handles;
    for (int bucket = 0; bucket < 8; ++bucket) {
      buckets.emplace_back(100, static_cast<float>(communicator.rank() + bucket));
      handles.push_back(communicator.start(Call::all_reduce(elements(buckets.back().data(), 100))));
    }
    barrier(communicator); // a call that waits queues up behind them
    for (auto& handle : handles)
      if (!handle.is_done()) throw std::logic_error("a later call overtook a started one");
    for (int bucket = 0; bucket < 8; ++bucket) {
      handles[static_cast<std::size_t>(bucket)].wait();
      if (buckets[static_cast<std::size_t>(bucket)] != std::vector<float>(100, static_cast<float>(3 + 3 * bucket)))
        throw std::logic_error("a sum is wrong");
    }
    float last = 1;
    { const auto dropped = communicator.start(Call::all_reduce(elements(&last, 1))); } // waits
    if (last != 3) throw std::logic_error("a dropped handle did not wait");
  });
}

TEST_CASE("messages of one tag keep their order and tags do not mix", "[parallel][PAR-6]") {
  auto communicators = group_of(3);
  run_ranks(communicators, [](auto& communicator) {
    const int rank = communicator.rank();
    const int next = (rank + 1) % 3;
    const int previous = (rank + 2) % 3;
    const int sent[4] = {rank * 10, rank * 10 + 1, rank * 10 + 2, rank * 10 + 3};
    std::vector<ThreadHandle<Cpu>> sends; // a ring of sends that wait would be a deadlock
    for (int message = 0; message < 4; ++message)
      sends.push_back(communicator.start(Call::send(elements(&sent[message], 1), next, message % 2)));
    int got[4] = {};
    receive(communicator, &got[1], 1, previous, 1);
    receive(communicator, &got[0], 1, previous, 0);
    receive(communicator, &got[2], 1, previous, 0);
    receive(communicator, &got[3], 1, previous, 1);
    for (auto& send : sends) send.wait();
    for (int message = 0; message < 4; ++message)
      if (got[message] != previous * 10 + message) throw std::logic_error("messages were mixed up");
  });
}

TEST_CASE("sub-groups are ordered by key and work beside each other", "[parallel][PAR-7]") {
  auto communicators = group_of(5);
  run_ranks(communicators, [](auto& communicator) {
    const int rank = communicator.rank();
    auto rows = communicator.split(rank % 2, -rank); // {4, 2, 0} and {3, 1}
    if (rows.size() != (rank % 2 == 0 ? 3 : 2)) throw std::logic_error("a sub-group has a wrong size");
    if (rows.rank() != (rank % 2 == 0 ? (4 - rank) / 2 : (3 - rank) / 2)) throw std::logic_error("the key is ignored");
    int sum = rank;
    for (int turn = 0; turn < 10; ++turn) {
      sum = rank;
      all_reduce(rows, &sum, 1);
    }
    if (sum != (rank % 2 == 0 ? 6 : 4)) throw std::logic_error("sub-groups were mixed up");
    auto none = communicator.split(rank == 0 ? 0 : -1, 0);
    if (none.size() != (rank == 0 ? 1 : 0)) throw std::logic_error("a negative color took part");
    all_reduce(communicator, &sum, 1);
    if (sum != 26) throw std::logic_error("the parent group is disturbed");
  });
}

TEST_CASE("ranks on devices without memory keep step and move nothing", "[parallel][MEM-8]") {
  auto communicators = thread_communicators(std::vector<Meta>{Meta{0}, Meta{1}});
  run_ranks(communicators, [](auto& communicator) {
    auto* nowhere = reinterpret_cast<float*>(std::uintptr_t{1} << 56);
    all_reduce(communicator, nowhere, 1000);
    if (communicator.rank() == 0)
      send(communicator, nowhere, 10, 1);
    else
      receive(communicator, nowhere, 10, 0);
  });
}
