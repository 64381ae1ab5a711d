#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/group/failure.hpp.

#include <twill/parallel/group/failure.hpp>

#include <algorithm>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_COLD TWILL_BODY void throw_failure(const Failure& failure) {
  if (failure.is_timeout) throw TimeoutError(failure.text, failure.rank, failure.cause, failure.origin);
  throw CommunicatorError(failure.text, failure.rank, failure.cause, failure.origin);
}

TWILL_COLD TWILL_BODY std::string text_of(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

TWILL_BODY int WaitForGraph::culprit(int rank) const {
  int last = rank;
  for (int turn = 0; turn < size(); ++turn) {
    const int next = next_of(last);
    if (next < 0 || next == last) return last;
    last = next;
  }
  return rank;
}

TWILL_COLD TWILL_BODY std::string Progress::last_seen() const {
  if (calls == 0) return "before its first collective call";
  return join_text(
      {"after ", calls, calls > 1 ? " collective calls" : " collective call", ", the last: ", to_string(last)});
}

TWILL_BODY SubGroup GroupState::sub_group(int rank, const std::vector<SplitRequest>& requests) const {
  const auto request = [&](int other) { return requests[static_cast<std::size_t>(other)]; };
  SubGroup part;
  for (int other = 0; other < size(); ++other)
    if (request(other).color == request(rank).color) part.members.push_back(other);
  std::stable_sort(part.members.begin(), part.members.end(),
                   [&](int left, int right) { return request(left).key < request(right).key; });
  for (const int member : part.members) {
    if (member == rank) part.place = static_cast<int>(part.origins.size());
    part.labels.push_back(join_text({"rank ", part.origins.size(), " (", label(member), ")"}));
    part.origins.push_back(origin(member));
  }
  return part;
}

TWILL_COLD TWILL_BODY void GroupState::keep(const Failure& failure, bool is_news) {
  if (has_failed()) return;
  failure_ = failure;
  has_failed_.store(true, std::memory_order_relaxed);
  end_calls(failure, is_news);
  for (const auto& child : children_)
    if (const auto alive = child.lock()) alive->follow(failure);
}

TWILL_BODY void GroupState::adopt(const std::shared_ptr<GroupState>& child) {
  std::size_t place = 0; // of a sub-group that is gone, or one more
  while (place < children_.size() && !children_[place].expired()) ++place;
  if (place == children_.size()) children_.emplace_back();
  children_[place] = child;
  if (has_failed()) child->follow(failure_);
}

TWILL_COLD TWILL_BODY void GroupState::fail_for_exception(int rank, const std::exception_ptr& cause) {
  Failure failure{join_text({label(rank), " failed: ", text_of(cause)}), rank, false, cause, origin(rank)};
  try {
    std::rethrow_exception(cause);
  } catch (const CommunicatorError& error) { // of another group, whose words name the rank at fault
    if (error.origin() >= 0) failure.origin = error.origin();
    failure.is_timeout = dynamic_cast<const TimeoutError*>(&error) != nullptr;
    for (int other = 0; other < size(); ++other)
      if (origin(other) == failure.origin) failure.rank = other;
  } catch (...) { // its own
  }
  fail(failure);
}

TWILL_COLD TWILL_BODY void GroupState::fail_for_leaving(int rank) {
  const bool has_thrown = progress(rank).has_thrown;
  const int culprit = has_thrown ? chain_->culprit(origin(rank)) : origin(rank); // another may have failed it elsewhere
  fail({join_text({label(rank), has_thrown ? " left the group with an exception " : " left the group ",
                   progress(rank).last_seen(), through(rank, " had waited for ", culprit)}),
        rank, false, nullptr, culprit});
}

TWILL_COLD TWILL_BODY void GroupState::fail_for_silence(int rank, const Call& call) {
  fail_for_time(join_text({calls(rank, call), ": ", label(call.peer), " has not answered for ", timeout_ms_,
                           " ms; it was seen ", progress(call.peer).last_seen()}),
                call.peer);
}

TWILL_COLD TWILL_BODY void GroupState::fail_for_sides(int rank, const Call& call, int other, const Call& theirs) {
  fail({join_text({"a message differs on its two sides: ", calls(other, theirs), ", ", calls(rank, call)}), -1, false,
        nullptr, -1});
}

TWILL_COLD TWILL_BODY void GroupState::fail_for_missing(const Signature& call, const std::vector<int>& missing) {
  std::string names;
  for (const int other : missing)
    names = join_text({names, names.empty() ? "" : ", ", label(other), " (", progress(other).last_seen(), ")"});
  fail_for_time(join_text({to_string(call), ": missing after ", timeout_ms_, " ms: ", names}),
                missing.empty() ? -1 : missing.front());
}

TWILL_COLD TWILL_BODY void GroupState::fail_for_order(std::int64_t number, const Signature& first, int other,
                                                      const Signature& theirs) {
  fail({join_text({"ranks have lost step in call ", number, ": ", label(0), " calls ", to_string(first), ", ",
                   label(other), " calls ", to_string(theirs)}),
        -1, false, nullptr, -1});
}

TWILL_COLD TWILL_BODY void GroupState::fail_for_time(const std::string& text, int missing) {
  if (missing < 0) return fail({text, missing, true, nullptr, -1});
  const int culprit = chain_->culprit(origin(missing));
  int named = missing; // a culprit outside this group is reached through one inside
  for (int other = 0; other < size(); ++other)
    if (origin(other) == culprit) named = other;
  fail({join_text({text, through(missing, " waits for ", culprit)}), named, true, nullptr, culprit});
}

TWILL_COLD TWILL_BODY std::string GroupState::through(int rank, const char* how, int culprit) const {
  if (culprit == origin(rank)) return {};
  return join_text({"; ", label(rank), how, chain_->label(culprit)});
}

TWILL_COLD TWILL_BODY std::string GroupState::calls(int rank, const Call& call) const {
  return join_text({label(rank), " calls ", to_string(call, size())});
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
