#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the parsers of chrome://tracing and Perfetto ask of a document in the Trace Event Format, after its description ("Trace
// Event Format", 2016): members of each kind of event, events of a thread in order and one in another or apart, arrows with
// two ends on events, names of threads once. The JSON parser refuses what is no UTF-8.

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace twill::test {

class TraceDocument {
public:
  explicit TraceDocument(const std::string& text) : document_(nlohmann::json::parse(text)) {
    require(document_.is_object() && document_.at("traceEvents").is_array(), "no list of events");
    require(document_.at("displayTimeUnit") == "ms" || document_.at("displayTimeUnit") == "ns", "no unit");
    for (const auto& event : events()) look_at(event);
    for (const auto& [number, arrow] : arrows_) require(arrow == std::pair{1, 1}, "an arrow has two ends");
  }

  [[nodiscard]] const nlohmann::json& events() const { return document_.at("traceEvents"); }
  /// How many events there are of a kind: "X", "M", ...
  [[nodiscard]] int count(const std::string& kind) const {
    const auto found = kinds_.find(kind);
    return found == kinds_.end() ? 0 : found->second;
  }
  /// The complete events of a name of a thread's kind, "runs" or "copies".
  [[nodiscard]] std::vector<nlohmann::json> complete(const std::string& thread_words) const {
    std::vector<nlohmann::json> found{};
    for (const auto& event : events())
      if (event.at("ph") == "X" && thread_of(event).rfind(thread_words, 0) == 0) found.push_back(event);
    return found;
  }
  [[nodiscard]] std::string thread_of(const nlohmann::json& event) const {
    const auto found = threads_.find({event.at("pid").get<int>(), event.at("tid").get<int>()});
    return found == threads_.end() ? "" : found->second;
  }
  /// What is wrong with it, empty when nothing is.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

private:
  using Thread = std::pair<int, int>;

  void require(bool holds, const std::string& words) {
    if (!holds && complaint_.empty()) complaint_ = words;
  }
  /// Whole nanoseconds. What is no number counts as wrong.
  std::int64_t time(const nlohmann::json& event, const char* member) {
    const bool is_number = event.contains(member) && event.at(member).is_number();
    require(is_number, event.dump() + ": a time is a number");
    const double microseconds = is_number ? event.at(member).get<double>() : 0;
    require(std::isfinite(microseconds) && microseconds >= 0, event.dump() + ": a time is not negative");
    return std::llround(1e3 * microseconds);
  }

  void look_at(const nlohmann::json& event) {
    const std::string words = event.dump();
    require(event.at("name").is_string() && event.at("ph").is_string(), words + ": a name and a kind");
    require(event.at("pid").is_number_integer() && event.at("tid").is_number_integer(), words + ": where it happened");
    const std::string kind = event.at("ph");
    const Thread thread{event.at("pid").get<int>(), event.at("tid").get<int>()};
    require(thread.second != 0 && thread.second != thread.first, words + ": Perfetto's main thread");
    ++kinds_[kind];
    if (kind == "M") return look_at_name(event, thread);
    const std::int64_t at = time(event, "ts");
    if (kind == "X") {
      look_at_slice(event, thread, at, at + time(event, "dur"));
    } else if (kind == "C") {
      require(!event.at("args").empty(), words + ": a counter has a value");
      for (const auto& value : event.at("args")) require(value.is_number(), words + ": a counter is a number");
      std::int64_t& before = counters_[{thread.first, event.at("name")}];
      require(at >= before, words + ": a counter goes on in time");
      before = at;
    } else if (kind == "i") {
      require(std::set<std::string>{"g", "p", "t"}.contains(event.at("s").get<std::string>()), words + ": a scope");
    } else if (kind == "s" || kind == "f") {
      require(event.at("cat").is_string() && event.contains("id"), words + ": an arrow has a category and a number");
      require(kind == "s" || event.at("bp") == "e", words + ": the head lies on an event");
      require(lies_in_slice(thread, at), words + ": no event there");
      auto& [tails, heads] = arrows_[event.at("cat").get<std::string>() + event.at("id").dump()];
      ++(kind == "s" ? tails : heads);
      require(heads <= tails, words + ": a head before its tail");
    } else {
      require(false, words + ": a kind that nobody knows");
    }
  }

  void look_at_name(const nlohmann::json& event, const Thread& thread) {
    require(event.at("args").at("name").is_string(), event.dump() + ": something has a name");
    const bool is_thread = event.at("name") == "thread_name";
    require(is_thread || event.at("name") == "process_name", event.dump() + ": a thread or a process");
    const std::string name = event.at("args").at("name");
    if (is_thread)
      require(threads_.emplace(thread, name).second, event.dump() + ": named twice");
    else
      require(processes_.emplace(thread.first, name).second, event.dump() + ": named twice");
  }

  /// In a thread slices begin one after the other, and each lies in those that are open, or behind them.
  void look_at_slice(const nlohmann::json& event, const Thread& thread, std::int64_t begin, std::int64_t end) {
    require(event.at("cat").is_string() && event.at("args").is_object(), event.dump() + ": category and arguments");
    auto& [last, open] = slices_[thread];
    require(begin >= last, event.dump() + ": a thread goes on in time");
    last = begin;
    while (!open.empty() && open.back().second <= begin) open.pop_back();
    require(open.empty() || end <= open.back().second, event.dump() + ": slices overlap");
    open.emplace_back(begin, end);
    all_slices_[thread].emplace_back(begin, end);
  }
  [[nodiscard]] bool lies_in_slice(const Thread& thread, std::int64_t at) const {
    const auto found = all_slices_.find(thread);
    if (found == all_slices_.end()) return false;
    for (const auto& [begin, end] : found->second)
      if (begin <= at && at <= end) return true;
    return false;
  }

  using Slices = std::vector<std::pair<std::int64_t, std::int64_t>>;
  nlohmann::json document_;
  std::string complaint_{};
  std::map<std::string, int> kinds_{};
  std::map<Thread, std::string> threads_{};
  std::map<int, std::string> processes_{};
  std::map<Thread, std::pair<std::int64_t, Slices>> slices_{};
  std::map<Thread, Slices> all_slices_{};
  std::map<std::pair<int, std::string>, std::int64_t> counters_{};
  std::map<std::string, std::pair<int, int>> arrows_{};
};

} // namespace twill::test
