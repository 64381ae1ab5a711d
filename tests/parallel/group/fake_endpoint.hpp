#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A network inside one process, for ranks that are threads: packets take a random time, overtake each other, and are
// lost where a test says so. In a simulation that time is the simulation's.

#include "tests/support/simulation.hpp"

#include <twill/core/text.hpp>
#include <twill/device/cpu/cpu.hpp>
#include <twill/parallel/messages/communicator.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

namespace twill::test {

using parallel::messages::Incoming;
using parallel::messages::Packet;

/// What the ranks of a fake network share. Everything under one lock.
struct FakeNet {
  struct Flying {
    Incoming incoming{};
    Moment due{};
  };

  std::mutex mutex{};
  std::vector<std::vector<Flying>> to_rank{};
  std::mt19937 engine{1};
  int most_microseconds = 0;
  std::function<bool(int from, int to)> is_lost{};
  std::int64_t packets = 0;
};

class FakeEndpoint {
public:
  static constexpr bool lingers = false;

  FakeEndpoint(std::shared_ptr<FakeNet> net, int rank) : net_{std::move(net)}, rank_{rank} {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return static_cast<int>(net_->to_rank.size()); }
  [[nodiscard]] std::string label(int rank) const { return join_text({"rank ", rank, " on a network"}); }
  void send(int to, const Packet& packet) {
    const std::lock_guard lock(net_->mutex);
    ++net_->packets;
    if (net_->is_lost && net_->is_lost(rank_, to)) return;
    // A copy of its own, as a network would make: nobody sees what the sender does with its packet later.
    const Packet copy(packet.size());
    std::copy(packet.data(), packet.data() + packet.size(), copy.data());
    Moment due = parallel::detail::now();
    if (net_->most_microseconds > 0)
      due += std::chrono::microseconds(net_->engine() % static_cast<unsigned>(net_->most_microseconds));
    net_->to_rank[static_cast<std::size_t>(to)].push_back({{rank_, copy}, due});
    if (Simulation* const simulation = Simulation::current()) simulation->expect(due);
  }
  [[nodiscard]] std::optional<Incoming> poll() {
    const std::lock_guard lock(net_->mutex);
    auto& mine = net_->to_rank[static_cast<std::size_t>(rank_)];
    const Moment now = parallel::detail::now();
    for (std::size_t i = mine.size(); i-- > 0;) { // the last first: packets overtake each other
      if (mine[i].due > now) continue;
      const Incoming incoming = mine[i].incoming;
      mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(i));
      return incoming;
    }
    return std::nullopt;
  }
  [[nodiscard]] bool is_idle() const { return true; }
  void close(bool) {}

private:
  std::shared_ptr<FakeNet> net_;
  int rank_;
};
static_assert(parallel::messages::Endpoint<FakeEndpoint>);

template <class D = Cpu> using FakeCommunicator = parallel::messages::MessageCommunicator<FakeEndpoint, D>;
static_assert(parallel::Communicator<FakeCommunicator<>>);

/// A group over a network of its own. Packets take up to `most_microseconds`.
template <class D = Cpu>
[[nodiscard]] std::vector<FakeCommunicator<D>>
fake_communicators(const std::vector<D>& devices, std::int64_t timeout_ms, int most_microseconds = 0, unsigned seed = 1,
                   std::function<bool(int, int)> is_lost = {}) {
  auto net = std::make_shared<FakeNet>();
  net->to_rank.resize(devices.size());
  net->most_microseconds = most_microseconds;
  net->engine.seed(seed);
  net->is_lost = std::move(is_lost);
  std::vector<FakeCommunicator<D>> communicators;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    auto engine =
        std::make_shared<parallel::messages::ProgressEngine<FakeEndpoint>>(FakeEndpoint(net, static_cast<int>(rank)));
    auto member = engine->join(timeout_ms);
    communicators.emplace_back(std::make_shared<parallel::messages::MessageTransport<FakeEndpoint, D>>(
        std::move(engine), std::move(member), devices[rank]));
  }
  return communicators;
}

} // namespace twill::test
