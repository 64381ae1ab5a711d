#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Streams for tests of the pool: integers with a virtual clock each. Work is queued and finishes when the test says so; an
// event remembers how much of its stream was queued, and waiting makes one stream's work depend on another's. The log
// shows what the pool asked for.

#include <twill/memory/policies.hpp>

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace twill_tests {

class FakeStreams {
public:
  using policy_kind = twill::memory::StreamPolicyKind;
  using Stream = int;
  struct Event {
    int stream = 0;
    int position = 0;
  };
  static constexpr bool several = true;

  struct State {
    std::map<int, int> queued;
    std::map<int, int> finished;
    std::set<int> dead;
    std::vector<std::string> log;
    int synchronizations = 0;
    int failing_records = 0; ///< how many of the next records fail
  };

  [[nodiscard]] Stream default_stream() const { return 0; }

  [[nodiscard]] Event record(Stream stream) {
    if (state->dead.count(stream) != 0) throw std::logic_error("recorded on a dead stream");
    if (state->failing_records > 0) {
      --state->failing_records;
      throw std::runtime_error("no event");
    }
    state->log.push_back("record " + std::to_string(stream));
    return {stream, state->queued[stream]};
  }
  void wait(Stream stream, const Event& event) {
    state->log.push_back(std::to_string(stream) + " waits for " + std::to_string(event.stream));
  }
  [[nodiscard]] bool done(const Event& event) const {
    const auto found = state->finished.find(event.stream);
    return (found != state->finished.end() ? found->second : 0) >= event.position;
  }
  void wait_on_host(const Event& event) { state->finished[event.stream] = state->queued[event.stream]; }
  void synchronize() {
    ++state->synchronizations;
    state->finished = state->queued;
  }

  std::shared_ptr<State> state = std::make_shared<State>();
};

static_assert(twill::memory::SeveralStreams<FakeStreams>);

} // namespace twill_tests
