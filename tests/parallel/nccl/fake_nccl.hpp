#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// NCCL's functions over host memory, for ranks that are threads: each rank's stream is a list of groups that advances when
// its peers' lists have come as far. Results, asynchronous errors and hangs are injected by rank. Reductions take the ranks
// in an order of their own, the last first, as NCCL does.

#include <twill/core/config.hpp>
#include <twill/device/cpu/cpu.hpp>
#include <twill/parallel/group/reduction_tree.hpp>
#include <twill/parallel/nccl/communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace twill::test {

namespace nccl = parallel::nccl;

/// One communicator of a rank; freed by destroy and abort, after which its use is an error that address sanitizers see.
struct FakeComm {
  int clique = 0;
  int rank = 0;
  int size = 0;
  int busy_polls = 0; ///< how often async_error still says "in progress"
};

/// A group of calls in a stream, or a wait for another stream.
struct FakeGroup {
  int clique = 0;
  int rank = 0;
  std::vector<nccl::Step> steps{};
  std::vector<bool> is_done{};
  std::pair<int, int> held_by{}; ///< until so many groups of this stream are done
  std::uint64_t held_number = 0;
};

/// The network that all fake ranks share. Everything under one lock.
struct FakeNetwork {
  std::mutex mutex{};
  std::map<std::pair<int, int>, std::deque<FakeGroup>> queues{}; ///< by device and stream, in order
  std::map<std::pair<int, int>, std::uint64_t> given{};          ///< groups given to a stream
  std::map<std::pair<int, int>, std::uint64_t> passed{};         ///< and done
  std::map<int, int> sizes{};                                    ///< by clique
  int cliques = 0;
  std::map<std::pair<int, int>, int> split_cliques{}; ///< by parent and color
  struct SplitWish {
    int parent, color, key, rank;
    FakeComm* comm;
  };
  std::vector<SplitWish> wishes{};
  int aborted = 0;
  int destroyed = 0;
  int fail_rank = -1; ///< whose next enqueue returns fail_result
  int fail_result = 0;
  int async_rank = -1; ///< whose communicator says async_result when asked
  int async_result = 0;
  int settle_polls = 0;  ///< async_error says "in progress" so often after each call
  bool is_stuck = false; ///< kernels never finish
  bool is_capturing = false;
  std::function<void()> before_end{}; ///< called once, before a group of calls is closed

  static FakeNetwork& get() {
    static FakeNetwork network;
    return network;
  }
  void reset() {
    const std::lock_guard lock(mutex);
    queues.clear();
    given.clear();
    passed.clear();
    split_cliques.clear();
    wishes.clear();
    cliques = aborted = destroyed = settle_polls = fail_result = 0;
    fail_rank = async_rank = -1;
    async_result = 0;
    is_stuck = is_capturing = false;
  }

  /// Lets every stream go on as far as it can.
  void advance() {
    if (is_stuck) return;
    bool moved = true;
    while (moved) {
      moved = false;
      for (auto& [place, queue] : queues) moved = advance_front(queue) || moved;
      for (auto& [place, queue] : queues)
        while (!queue.empty() && is_over(queue.front())) {
          queue.pop_front();
          ++passed[place];
          moved = true;
        }
    }
  }

private:
  bool is_over(const FakeGroup& group) {
    for (const bool done : group.is_done)
      if (!done) return false;
    return passed[group.held_by] >= group.held_number;
  }

  FakeGroup* front_of(int clique, int rank) {
    for (auto& [place, queue] : queues)
      if (!queue.empty() && queue.front().clique == clique && queue.front().rank == rank) return &queue.front();
    return nullptr;
  }

  bool advance_front(std::deque<FakeGroup>& queue) {
    if (queue.empty()) return false;
    FakeGroup& mine = queue.front();
    bool moved = false;
    for (std::size_t i = 0; i < mine.steps.size(); ++i) {
      if (mine.is_done[i]) continue;
      if (mine.steps[i].kind == nccl::StepKind::send)
        moved = deliver(mine, i) || moved;
      else if (mine.steps[i].kind != nccl::StepKind::receive)
        moved = collect(mine, i) || moved;
    }
    return moved;
  }

  bool deliver(FakeGroup& mine, std::size_t i) {
    const nccl::Step& send = mine.steps[i];
    FakeGroup* const other = front_of(mine.clique, send.peer);
    for (std::size_t j = 0; other != nullptr && j < other->steps.size(); ++j) {
      const nccl::Step& receive = other->steps[j];
      if (other->is_done[j] || receive.kind != nccl::StepKind::receive || receive.peer != mine.rank) continue;
      std::memcpy(receive.target, send.source, static_cast<std::size_t>(send.count) * size_of(send.dtype));
      mine.is_done[i] = other->is_done[j] = true;
      return true;
    }
    return false;
  }

  bool collect(FakeGroup& mine, std::size_t i) {
    const int size = sizes[mine.clique];
    std::vector<FakeGroup*> all;
    for (int rank = 0; rank < size; ++rank) {
      FakeGroup* const other = front_of(mine.clique, rank);
      if (other == nullptr || other->steps.size() != 1 || other->steps[0].kind != mine.steps[i].kind) return false;
      all.push_back(other);
    }
    const nccl::Step& first = all[0]->steps[0];
    const auto bytes = static_cast<std::size_t>(first.count) * size_of(first.dtype);
    std::vector<std::vector<std::byte>> sources; // copied: source and target may be the same memory
    using enum nccl::StepKind;
    for (FakeGroup* each : all) {
      const nccl::Step& step = each->steps[0];
      const auto* const data = static_cast<const std::byte*>(step.source);
      const bool reads = step.kind != broadcast || each->rank == step.peer;
      sources.emplace_back(data, reads ? data + bytes * (step.kind == reduce_scatter ? all.size() : 1) : data);
    }
    for (FakeGroup* each : all) {
      const nccl::Step& step = each->steps[0];
      auto* const target = static_cast<std::byte*>(step.target);
      if (step.kind == broadcast) {
        std::memcpy(target, sources[static_cast<std::size_t>(step.peer)].data(), bytes);
      } else if (step.kind == all_gather) {
        for (std::size_t r = 0; r < all.size(); ++r) std::memcpy(target + r * bytes, sources[r].data(), bytes);
      } else if (step.kind != reduce || each->rank == step.peer) {
        const std::size_t offset = step.kind == reduce_scatter ? static_cast<std::size_t>(each->rank) * bytes : 0;
        reduce_from_last(step, target, sources, offset);
      }
      each->is_done[0] = true;
    }
    return true;
  }

  static void reduce_from_last(const nccl::Step& step, std::byte* target,
                               const std::vector<std::vector<std::byte>>& sources, std::size_t offset) {
    constexpr parallel::Reduction reductions[] = {parallel::Reduction::sum, parallel::Reduction::product,
                                                  parallel::Reduction::max, parallel::Reduction::min,
                                                  parallel::Reduction::mean};
    std::vector<const void*> from;
    for (std::size_t rank = sources.size(); rank-- > 0;) from.push_back(sources[rank].data() + offset);
    void* const to[] = {target};
    parallel::reduce_tree(step.dtype, reductions[step.operation], from, to, 0, step.count);
  }
};

/// A device of the fake kind; its streams are numbers.
struct FakeGpu {
  int index = 0;
  friend bool operator==(FakeGpu, FakeGpu) = default;
};

struct FakeNccl {
  using Comm = FakeComm*;
  using Stream = std::pair<int, int>; ///< device, and 0 for the current one, 1 for that of started calls
  struct Mark {
    Stream stream{};
    std::uint64_t number = 0;
  };

  static FakeNetwork& net() { return FakeNetwork::get(); }
  static Stream stream(FakeGpu device) { return {device.index, 0}; }
  static Stream side_stream(FakeGpu device) { return {device.index, 1}; }
  static void* scratch(FakeGpu device) {
    static std::uint8_t bytes[64] = {};
    return &bytes[device.index];
  }
  static std::string text(int result, Comm) {
    return result == 4 ? "invalid argument" : result == 6 ? "remote process exited" : "unhandled system error";
  }
  static int enqueue(const nccl::Step& step, Comm comm, Stream stream) {
    const std::lock_guard lock(net().mutex);
    if (net().fail_rank == comm->rank) {
      net().fail_rank = -1;
      return net().fail_result;
    }
    if (depth() > 0) {
      for (Open& each : open())
        if (each.comm == comm) {
          each.group.steps.push_back(step);
          return nccl::success;
        }
      open().push_back({comm, stream, {.clique = comm->clique, .rank = comm->rank, .steps = {step}}});
      return nccl::success;
    }
    return give({.clique = comm->clique, .rank = comm->rank, .steps = {step}, .is_done = {false}}, comm, stream);
  }
  static int begin_group() {
    ++depth();
    return nccl::success;
  }
  static int end_group() {
    if (--depth() > 0) return nccl::success;
    if (const auto meanwhile = std::exchange(net().before_end, nullptr)) meanwhile();
    const std::lock_guard lock(net().mutex);
    int result = nccl::success;
    for (Open& each : open()) {
      each.group.is_done.assign(each.group.steps.size(), false);
      result = give(std::move(each.group), each.comm, each.stream);
    }
    open().clear();
    return result;
  }
  static int async_error(Comm comm, int* status) {
    const std::lock_guard lock(net().mutex);
    net().advance();
    *status = net().async_rank == comm->rank && comm->size > 1 ? net().async_result : nccl::success;
    if (comm->busy_polls > 0) {
      --comm->busy_polls;
      *status = nccl::in_progress;
    }
    return nccl::success;
  }
  static int split(Comm comm, int color, int key, Comm* made) {
    const std::lock_guard lock(net().mutex);
    *made = color < 0 ? nullptr : new FakeComm{-1, comm->rank, 0, 1 << 30};
    net().wishes.push_back({comm->clique, color, key, comm->rank, *made});
    int count = 0;
    for (const auto& wish : net().wishes) count += wish.parent == comm->clique ? 1 : 0;
    if (count == comm->size) complete_split(comm->clique);
    return nccl::in_progress;
  }
  static void read_place(Comm comm, int* rank, int* size) {
    const std::lock_guard lock(net().mutex);
    *rank = comm->rank;
    *size = comm->size;
  }
  static int finalize(Comm comm) {
    const std::lock_guard lock(net().mutex);
    comm->busy_polls += net().settle_polls;
    return nccl::in_progress;
  }
  static int destroy(Comm comm) {
    const std::lock_guard lock(net().mutex);
    ++net().destroyed;
    delete comm;
    return nccl::success;
  }
  static int abort(Comm comm) {
    const std::lock_guard lock(net().mutex);
    ++net().aborted;
    for (auto& [place, queue] : net().queues) // its kernels end
      net().passed[place] += std::erase_if(queue, [&](const FakeGroup& group) {
        return group.held_number == 0 && group.clique == comm->clique && group.rank == comm->rank;
      });
    delete comm;
    return nccl::success;
  }
  static Mark mark(int, Stream stream) {
    const std::lock_guard lock(net().mutex);
    return {stream, net().given[stream]};
  }
  static bool has_passed(const Mark& mark) {
    const std::lock_guard lock(net().mutex);
    net().advance();
    return net().passed[mark.stream] >= mark.number;
  }
  static void hold(int, Stream stream, const Mark& mark) {
    const std::lock_guard lock(net().mutex);
    if (net().passed[mark.stream] >= mark.number) return;
    net().queues[stream].push_back({.clique = -1, .held_by = mark.stream, .held_number = mark.number});
    ++net().given[stream];
  }
  static bool is_capturing(Stream) { return net().is_capturing; }

  /// A group of so many ranks, each with a device of its own.
  static std::vector<Comm> make_clique(int size) {
    const std::lock_guard lock(net().mutex);
    const int clique = net().cliques++;
    net().sizes[clique] = size;
    std::vector<Comm> comms;
    for (int rank = 0; rank < size; ++rank) comms.push_back(new FakeComm{clique, rank, size});
    return comms;
  }

private:
  struct Open {
    Comm comm = nullptr;
    Stream stream{};
    FakeGroup group{};
  };
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }
  static std::vector<Open>& open() {
    thread_local std::vector<Open> groups;
    return groups;
  }
  static int give(FakeGroup group, Comm comm, Stream stream) {
    net().queues[stream].push_back(std::move(group));
    ++net().given[stream];
    comm->busy_polls = net().settle_polls;
    net().advance();
    return net().settle_polls > 0 ? nccl::in_progress : nccl::success;
  }
  static void complete_split(int parent) {
    for (auto& wish : net().wishes) {
      if (wish.parent != parent || wish.comm == nullptr) continue;
      const auto [place, is_new] = net().split_cliques.try_emplace({parent, wish.color}, net().cliques);
      if (is_new) ++net().cliques;
      int rank = 0;
      int size = 0;
      for (const auto& other : net().wishes) {
        if (other.parent != parent || other.color != wish.color) continue;
        ++size;
        if (other.key < wish.key || (other.key == wish.key && other.rank < wish.rank)) ++rank;
      }
      wish.comm->clique = place->second;
      wish.comm->rank = rank;
      wish.comm->size = size;
      wish.comm->busy_polls = 0;
      net().sizes[place->second] = size;
    }
    std::vector<FakeNetwork::SplitWish> rest;
    for (const auto& wish : net().wishes)
      if (wish.parent != parent) rest.push_back(wish);
    net().wishes = rest;
    std::erase_if(net().split_cliques, [&](const auto& entry) { return entry.first.first == parent; });
  }
};

using FakeCommunicator = parallel::BasicNcclCommunicator<FakeGpu, FakeNccl>;

/// A group of `size` ranks of this process.
inline std::vector<FakeCommunicator> fake_communicators(int size, parallel::NcclOptions options = {}) {
  auto group = std::make_shared<nccl::Group<FakeNccl>>(options.timeout_ms, options.is_watched);
  const auto comms = FakeNccl::make_clique(size);
  std::vector<FakeCommunicator> communicators;
  for (int rank = 0; rank < size; ++rank) {
    auto member = std::make_shared<nccl::Member<FakeNccl>>();
    member->comm = comms[static_cast<std::size_t>(rank)];
    member->rank = rank;
    member->size = size;
    member->label = "rank " + std::to_string(rank) + " (gpu:" + std::to_string(rank) + ")";
    communicators.emplace_back(std::make_unique<nccl::Rank<FakeGpu, FakeNccl>>(group, member, FakeGpu{rank}));
  }
  return communicators;
}

static_assert(nccl::Api<FakeNccl>);
static_assert(parallel::Communicator<FakeCommunicator>);

} // namespace twill::test
