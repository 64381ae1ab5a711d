#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What every communicator has to do, as functions that all ranks of a group call: each rank knows what the others hold,
// so it can check its results alone, in threads and in processes. A wrong result throws.

#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/reduction_tree.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace twill::test {

using namespace twill::parallel;

inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

/// What a communicator does otherwise than threads and processes; NCCL's has its own.
template <class C> struct Abilities {
  static constexpr bool reduces_in_rank_order = true; ///< to the bit; else within tolerance
  static constexpr bool reduces(Reduction, DType) { return true; }
};

/// Elements of any type: std::vector<bool> has no data().
template <class T> class Values {
public:
  explicit Values(std::int64_t count) : count_{count}, data_{new T[static_cast<std::size_t>(count) + 1]()} {}
  Values(const Values& other) : Values(other.count_) { std::copy(other.data(), other.data() + count_, data()); }
  Values& operator=(const Values&) = delete;
  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::int64_t size() const { return count_; }
  [[nodiscard]] T& operator[](std::int64_t index) const { return data_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] bool has_bits_of(const T* other, std::int64_t from, std::int64_t count) const {
    return count == 0 || std::memcmp(data() + from, other, static_cast<std::size_t>(count) * sizeof(T)) == 0;
  }

private:
  std::int64_t count_;
  std::unique_ptr<T[]> data_;
};

/// What a rank holds.
template <class T> [[nodiscard]] Values<T> values_of(int rank, std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed * 1000 + static_cast<unsigned>(rank));
  Values<T> values(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<double>(engine() % 20000) / 1000 - 10;
    if constexpr (std::same_as<T, bool>)
      values[i] = number > 0;
    else if constexpr (std::unsigned_integral<T>)
      values[i] = static_cast<T>(engine() % 256);
    else
      values[i] = static_cast<T>(number);
  }
  return values;
}

/// The reduction of all ranks' values as one thread computes it, whose order collectives.test.cpp has checked.
template <class T> [[nodiscard]] Values<T> tree_of(Reduction reduction, const std::vector<Values<T>>& inputs) {
  std::vector<const void*> sources;
  for (const auto& input : inputs) sources.push_back(input.data());
  Values<T> result(inputs[0].size());
  void* const targets[] = {result.data()};
  reduce_tree(dtype_of<T>, reduction, sources, targets, 0, result.size());
  return result;
}

/// Whether a part of `found` is the reduction `wanted` of so many ranks' values below 10 from its element `first` on.
template <class C, class T>
bool is_reduction(const Values<T>& found, std::int64_t from, const Values<T>& wanted, std::int64_t first,
                  std::int64_t count, int ranks) {
  if constexpr (Abilities<C>::reduces_in_rank_order || !FloatingScalar<T>) {
    return found.has_bits_of(wanted.data() + first, from, count);
  } else {
    const double epsilon = sizeof(T) == 2 ? 1.0 / 128 : static_cast<double>(std::numeric_limits<T>::epsilon());
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<double>(wanted[first + i]);
      const double scale = std::fmax(std::fabs(value), 10.0 * ranks);
      if (!(std::fabs(static_cast<double>(found[from + i]) - value) <= 2 * ranks * epsilon * scale)) return false;
    }
    return true;
  }
}

/// Every operation for one element type and size.
template <class T, Communicator C> void check_operations(C& communicator, std::int64_t count, unsigned seed) {
  const int rank = communicator.rank();
  const int size = communicator.size();
  const int root = static_cast<int>(seed % static_cast<unsigned>(size));
  const std::string where = std::string(name(dtype_of<T>)) + " x " + std::to_string(count);
  std::vector<Values<T>> inputs;
  for (int other = 0; other < size; ++other) inputs.push_back(values_of<T>(other, count * size, seed));
  const Values<T>& mine = inputs[static_cast<std::size_t>(rank)];

  for (const Reduction reduction : {Reduction::sum, Reduction::min, Reduction::max, Reduction::product, Reduction::mean,
                                    Reduction::any, Reduction::all}) {
    if ((reduction == Reduction::mean && !FloatingScalar<T>) || !Abilities<C>::reduces(reduction, dtype_of<T>))
      continue;
    const std::string what = std::string(name(reduction)) + " of " + where;
    const Values<T> wanted = tree_of(reduction, inputs);
    Values<T> all = mine;
    all_reduce(communicator, all.data(), all.size(), reduction);
    require(is_reduction<C>(all, 0, wanted, 0, all.size(), size), "all_reduce is wrong: " + what);
    Values<T> at_root = mine;
    reduce(communicator, at_root.data(), at_root.size(), root, reduction);
    require(rank == root ? is_reduction<C>(at_root, 0, wanted, 0, mine.size(), size)
                         : at_root.has_bits_of(mine.data(), 0, mine.size()),
            "reduce is wrong: " + what);
    Values<T> part(count);
    reduce_scatter(communicator, mine.data(), part.data(), count, reduction);
    require(is_reduction<C>(part, 0, wanted, rank * count, count, size), "reduce_scatter is wrong: " + what);
  }

  Values<T> whole(count * size);
  all_gather(communicator, mine.data(), whole.data(), count);
  for (int other = 0; other < size; ++other)
    require(whole.has_bits_of(inputs[static_cast<std::size_t>(other)].data(), other * count, count),
            "all_gather is wrong: " + where);
  Values<T> gathered(rank == root ? count * size : 0);
  gather(communicator, mine.data(), gathered.data(), count, root);
  for (int other = 0; other < size && rank == root; ++other)
    require(gathered.has_bits_of(inputs[static_cast<std::size_t>(other)].data(), other * count, count),
            "gather is wrong: " + where);
  Values<T> part(count);
  scatter(communicator, rank == root ? mine.data() : nullptr, part.data(), count, root);
  const Values<T>& of_root = inputs[static_cast<std::size_t>(root)];
  require(part.has_bits_of(of_root.data() + rank * count, 0, count), "scatter is wrong: " + where);
  Values<T> copy = mine;
  broadcast(communicator, copy.data(), copy.size(), root);
  require(copy.has_bits_of(of_root.data(), 0, copy.size()), "broadcast is wrong: " + where);
  Values<T> exchanged(count * size);
  all_to_all(communicator, mine.data(), exchanged.data(), count);
  for (int other = 0; other < size; ++other)
    require(exchanged.has_bits_of(inputs[static_cast<std::size_t>(other)].data() + rank * count, other * count, count),
            "all_to_all is wrong: " + where);
  barrier(communicator);

  // In place, where the interface allows it.
  Values<T> in_place(count * size);
  std::copy(mine.data(), mine.data() + count, in_place.data() + rank * count);
  all_gather(communicator, in_place.data() + rank * count, in_place.data(), count);
  require(in_place.has_bits_of(whole.data(), 0, whole.size()), "all_gather in place is wrong: " + where);
  const Values<T> sums = tree_of(Reduction::sum, inputs);
  Values<T> own = mine;
  reduce_scatter(communicator, own.data(), own.data() + rank * count, count);
  require(is_reduction<C>(own, rank * count, sums, rank * count, count, size),
          "reduce_scatter in place is wrong: " + where);
}

/// All element types; sizes of none, one and uneven shares.
template <Communicator C> void check_collectives(C& communicator, unsigned seed = 1) {
  for (const std::int64_t count : {0, 1, 7, 229}) {
    check_operations<float>(communicator, count, seed);
    check_operations<std::int64_t>(communicator, count, seed + 1);
  }
  check_operations<double>(communicator, 65, seed);
  check_operations<std::int32_t>(communicator, 5, seed);
  check_operations<std::uint8_t>(communicator, 131, seed);
  check_operations<bool>(communicator, 67, seed);
  check_operations<half>(communicator, 129, seed);
  check_operations<bfloat16>(communicator, 3, seed);
}

/// Messages in a ring: order within a tag, tags taken in another order than sent, sizes of none and many.
template <Communicator C> void check_messages(C& communicator) {
  const int size = communicator.size();
  if (size == 1) return;
  const int rank = communicator.rank();
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  std::vector<std::vector<float>> sent;
  std::vector<typename C::Handle> handles;
  for (int message = 0; message < 6; ++message) {
    sent.emplace_back(message == 5 ? 20000U : static_cast<std::size_t>(message),
                      static_cast<float>(rank * 10 + message));
    handles.push_back(communicator.start(Call::send(
        elements(sent.back().data(), static_cast<std::int64_t>(sent.back().size())), next, message % 2 - 1)));
  }
  for (const int message : {1, 0, 2, 3, 5, 4}) {
    std::vector<float> got(sent[static_cast<std::size_t>(message)].size(), -1.0F);
    receive(communicator, got.data(), static_cast<std::int64_t>(got.size()), previous, message % 2 - 1);
    require(got == std::vector<float>(got.size(), static_cast<float>(previous * 10 + message)), "a message is wrong");
  }
  for (auto& handle : handles) handle.wait();
  // Both directions at once, received first by one side.
  int number = rank;
  int other = -1;
  auto receiving = communicator.start(Call::receive(elements(&other, 1), previous, 7));
  send(communicator, &number, 1, next, 7);
  receiving.wait();
  require(other == previous, "a started receive is wrong");
}

/// Started calls, waited for in another order than started, with calls between.
template <Communicator C> void check_handles(C& communicator) {
  const int size = communicator.size();
  const auto sum_of_ranks = static_cast<float>(size * (size - 1) / 2);
  std::vector<std::vector<float>> buckets;
  std::vector<typename C::Handle> handles;
  for (int bucket = 0; bucket < 8; ++bucket)
    buckets.emplace_back(100, static_cast<float>(communicator.rank() + bucket));
  for (auto& bucket : buckets) handles.push_back(communicator.start(Call::all_reduce(elements(bucket.data(), 100))));
  for (const int bucket : {3, 0, 7}) handles[static_cast<std::size_t>(bucket)].wait();
  barrier(communicator);
  for (auto& handle : handles) require(handle.is_done(), "a later call overtook a started one");
  for (auto& handle : handles) handle.wait();
  for (int bucket = 0; bucket < 8; ++bucket)
    require(buckets[static_cast<std::size_t>(bucket)] ==
                std::vector<float>(100, sum_of_ranks + static_cast<float>(size * bucket)),
            "a started sum is wrong");
  float last = 1;
  { const auto dropped = communicator.start(Call::all_reduce(elements(&last, 1))); } // waits
  require(last == static_cast<float>(size), "a dropped handle did not wait");
}

/// Sub-groups work beside each other and beside their parent; what was split can be split again.
template <Communicator C> void check_sub_groups(C& communicator) {
  const int rank = communicator.rank();
  const int size = communicator.size();
  auto group = communicator.split(rank % 2, -rank); // in descending order
  const int members = rank % 2 == 0 ? (size + 1) / 2 : size / 2;
  require(group.size() == members, "a sub-group has a wrong size");
  require(group.rank() == (size - 1 - rank) / 2, "the key is ignored");
  check_operations<float>(group, 13, 3);
  int sum = rank;
  for (int turn = 0; turn < 3; ++turn) { // the sub-groups lose step with each other, and nobody minds
    sum = rank;
    all_reduce(group, &sum, 1);
    if (rank % 2 == 0) barrier(group);
  }
  int wanted = 0;
  for (int other = rank % 2; other < size; other += 2) wanted += other;
  require(sum == wanted, "sub-groups were mixed up");
  auto alone = group.split(group.rank(), 0);
  require(alone.size() == 1 && alone.rank() == 0, "a sub-group of a sub-group is wrong");
  check_operations<float>(alone, 5, 2);
  auto none = communicator.split(rank == 0 ? 0 : -1, 0);
  require(none.size() == (rank == 0 ? 1 : 0), "a negative color took part");
  int all = 1;
  all_reduce(communicator, &all, 1);
  require(all == size, "the parent is disturbed");
}

/// What has been counted in `all_reduce` and `all_gather`: the same for threads and for processes.
template <Communicator C> void check_traffic(C& communicator) {
  constexpr std::int64_t count = 640;
  const std::int64_t others = communicator.size() - 1;
  auto group = communicator.split(0, communicator.rank());
  std::vector<double> part(count);
  std::vector<double> whole(static_cast<std::size_t>(count * group.size()));
  all_reduce(group, whole.data(), count * group.size()); // equal shares: 2 S (n - 1) / n
  all_gather(group, part.data(), whole.data(), count);
  reduce(group, part.data(), 100, 0); // unequal ones
  broadcast(group, part.data(), 10, 0);
  const auto traffic = group.traffic();
  require(traffic[Operation::all_reduce] == Transfer{1, 2 * 8 * count * others, 2 * 8 * count * others},
          "the bytes of all_reduce are counted wrongly");
  require(traffic[Operation::all_gather] == Transfer{1, 8 * count * others, 8 * count * others},
          "the bytes of all_gather are counted wrongly");
  require(traffic[Operation::broadcast].sent_bytes == (group.rank() == 0 ? 80 * others : 0),
          "the bytes of broadcast are counted wrongly");
  require(traffic[Operation::reduce] ==
              twill::parallel::detail::transfer_of(
                  Call::reduce({part.data(), 100, DType::float64}, {part.data(), 100, DType::float64}, 0), group.rank(),
                  group.size()),
          "the bytes of reduce are counted wrongly");
}

/// Everything.
template <Communicator C> void check_communicator(C& communicator, unsigned seed = 1) {
  check_collectives(communicator, seed);
  check_messages(communicator);
  check_handles(communicator);
  check_sub_groups(communicator);
  check_traffic(communicator);
}

} // namespace twill::test
