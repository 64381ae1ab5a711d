#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/threads/rank.hpp.

#include <twill/parallel/threads/rank.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY std::shared_ptr<ThreadHub> thread_hub(std::vector<std::string> devices, std::int64_t timeout_ms) {
  if (devices.empty()) throw ValueError("thread_communicators: a group has at least one device, got none");
  if (timeout_ms < 1) throw ValueError(join_text({"thread_communicators: timeout_ms is at least 1, got ", timeout_ms}));
  std::vector<std::string> labels;
  std::vector<int> origins;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    labels.push_back(join_text({"rank ", rank, " on ", devices[rank]}));
    origins.push_back(static_cast<int>(rank));
  }
  auto world = std::make_shared<ThreadWorld>(labels);
  return std::make_shared<ThreadHub>(
      std::make_shared<ThreadGroup>(std::move(labels), std::move(origins), timeout_ms, std::move(world)));
}

TWILL_BODY void ThreadRank::run(const Call& call) {
  if (is_point_to_point(call.operation)) return mailbox().wait(mailbox().post(call, rank_));
  group().slot(rank_).call = call;
  group().meet(rank_);
  work(call);
  group().part();
}

TWILL_BODY std::pair<std::shared_ptr<ThreadHub>, int> ThreadRank::split(int color, int key) const {
  std::vector<SplitRequest> requests(static_cast<std::size_t>(size()));
  auto& mine = group().slot(rank_);
  mine.call = Call{Operation::split, {}, {}};
  mine.request = {color, key};
  group().meet(rank_);
  SubGroup part;
  try {
    for (int other = 0; other < size(); ++other) requests[at(other)] = group().slot(other).request;
    part = group().sub_group(rank_, requests);
    if (color >= 0 && part.place == 0) mine.child = make_child(part);
  } catch (...) {
    group().give_up(rank_, std::current_exception()); // the others are told below, by the missing child
  }
  group().part();
  std::shared_ptr<ThreadHub> hub;
  if (color >= 0 && !part.members.empty())
    hub = std::static_pointer_cast<ThreadHub>(group().slot(part.members.front()).child);
  group().part(); // the first member may clear its slot only now
  mine.child = nullptr;
  if (color >= 0 && hub == nullptr) group().check_alive();
  return {std::move(hub), part.place};
}

TWILL_BODY std::shared_ptr<ThreadHub> ThreadRank::make_child(const SubGroup& part) const {
  auto child = std::make_shared<ThreadHub>(
      std::make_shared<ThreadGroup>(part.labels, part.origins, group().timeout_ms(), group().world()));
  const std::lock_guard lock(group().mutex());
  group().adopt(child->group);
  return child;
}

TWILL_BODY const std::byte* ThreadRank::source(int rank) const {
  return static_cast<const std::byte*>(group().slot(rank).call.source.data);
}

TWILL_BODY std::byte* ThreadRank::target(int rank) const {
  return static_cast<std::byte*>(group().slot(rank).call.target.data);
}

TWILL_BODY void ThreadRank::work(const Call& call) {
  const Signature shape = signature_of(call, size());
  const std::size_t part = static_cast<std::size_t>(shape.count) * size_of(shape.dtype);
  switch (call.operation) {
  case Operation::all_reduce:
    return reduce_share(shape, true);
  case Operation::reduce:
    return reduce_share(shape, false);
  case Operation::reduce_scatter:
    return reduce_own_part(shape, part);
  case Operation::gather: // each rank copies its own
    return copy(shape, rank_, shape.root);
  default:
    for (int other = 0; other < size(); ++other) copy(shape, other, rank_);
  }
}

TWILL_BODY void ThreadRank::copy(const Signature& shape, int from, int to) const {
  const std::size_t width = size_of(shape.dtype);
  const std::optional<Move> move = move_of(shape, from, to);
  if (!move || source(from) == nullptr || target(to) == nullptr || shape.count == 0) return;
  const std::byte* const part = source(from) + static_cast<std::size_t>(move->from) * width;
  std::byte* const place = target(to) + static_cast<std::size_t>(move->to) * width;
  if (part != place) std::memcpy(place, part, static_cast<std::size_t>(shape.count) * width);
}

TWILL_BODY void ThreadRank::reduce_share(const Signature& shape, bool into_all) {
  const auto [begin, end] = share_of(shape.count, rank_, size());
  if (begin == end || !gather_sources(0)) return;
  std::size_t used = 0;
  for (int other = 0; other < size(); ++other)
    if (into_all || other == shape.root) targets_[used++] = target(other);
  reduce_tree(shape.dtype, shape.reduction, sources_, {targets_.data(), used}, begin, end);
}

TWILL_BODY void ThreadRank::reduce_own_part(const Signature& shape, std::size_t part) {
  if (part == 0 || !gather_sources(at(rank_) * part)) return;
  targets_[0] = target(rank_);
  reduce_tree(shape.dtype, shape.reduction, sources_, {targets_.data(), 1}, 0, shape.count);
}

TWILL_BODY bool ThreadRank::gather_sources(std::size_t offset_bytes) {
  for (int other = 0; other < size(); ++other) {
    if (source(other) == nullptr) return false;
    sources_[at(other)] = source(other) + offset_bytes;
  }
  return true;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
