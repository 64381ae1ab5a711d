#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/threads/elastic.hpp.

#include <twill/parallel/threads/elastic.hpp>

#include <algorithm>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY ElasticMembers::ElasticMembers(std::vector<std::string> devices, std::size_t ranks, const Limits& limits)
    : spare_{ranks}, limits_{limits} {
  const auto count = static_cast<int>(ranks);
  if (limits.least < 1 || limits.least > count)
    throw ValueError(
        join_text({"run_elastic: .least is from 1 to the number of devices, ", count, ", got ", limits.least}));
  if (limits.most_restarts < 0 || limits.tries < 1)
    throw ValueError(join_text({"run_elastic: .most_restarts is at least 0 and .tries at least 1, got ",
                                limits.most_restarts, " and ", limits.tries}));
  for (std::string& name : devices) devices_.push_back({std::move(name), 0});
  for (std::size_t place = 0; place < ranks; ++place) places_.push_back(place);
}

TWILL_BODY void ElasticMembers::begin() {
  if (report_.restarts == 0) return;
  const double stop_s = std::chrono::duration<double>(now() - stopped_).count();
  report_.longest_stop_s = std::max(report_.longest_stop_s, stop_s);
}

TWILL_BODY void ElasticMembers::note(int rank) {
  Thrown thrown{rank, std::current_exception(), false};
  try {
    std::rethrow_exception(thrown.exception);
  } catch (const CommunicatorError& error) {
    thrown.rank = error.origin() >= 0 ? error.origin() : error.rank(); // of a group of the group's ranks
    thrown.tells_of_another = true;
  } catch (...) { // its own
  }
  const std::lock_guard lock(mutex_);
  if (thrown_.empty()) stopped_ = now();
  thrown_.push_back(std::move(thrown));
}

TWILL_BODY std::vector<ElasticMembers::Thrown> ElasticMembers::at_fault() {
  std::vector<Thrown> found;
  for (const Thrown& each : thrown_)
    if (!each.tells_of_another) found.push_back(each);
  const auto size = static_cast<int>(places_.size());
  for (const Thrown& each : thrown_)
    if (found.empty() && each.rank >= 0 && each.rank < size) found.push_back(each);
  thrown_.clear();
  std::sort(found.begin(), found.end(), [](const Thrown& left, const Thrown& right) { return left.rank < right.rank; });
  return found;
}

TWILL_BODY bool ElasticMembers::regroup() {
  const std::vector<Thrown> found = at_fault();
  if (found.empty()) return false;
  std::vector<std::size_t> next;
  auto failed = found.begin();
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    const std::size_t place = places_[rank];
    if (failed == found.end() || failed->rank != static_cast<int>(rank)) {
      next.push_back(place);
      continue;
    }
    Device& device = devices_[place];
    report_.failures.push_back(
        {report_.restarts, failed->rank, device.name, text_of(failed->exception), failed->exception});
    ++failed;
    if (++device.failures < limits_.tries)
      next.push_back(place);
    else if (spare_ < devices_.size())
      next.push_back(spare_++);
  }
  places_ = std::move(next);
  const auto left = static_cast<int>(places_.size());
  if (left < limits_.least)
    give_up(join_text({left, left == 1 ? " rank is" : " ranks are", " left, .least is ", limits_.least}));
  if (report_.restarts == limits_.most_restarts)
    give_up(join_text({"the limit .most_restarts, ", limits_.most_restarts, ", is reached"}));
  ++report_.restarts;
  return true;
}

TWILL_COLD TWILL_BODY void ElasticMembers::give_up(const std::string& reason) const {
  std::string text = join_text({"run_elastic: ", reason, "; failures: "});
  for (const RankFailure& each : report_.failures)
    text = join_text({text, &each == report_.failures.data() ? "" : "; ", "rank ", each.rank, " on ", each.device,
                      " after restart ", each.restarts, ": ", each.text});
  throw ElasticError(text, report_.failures);
}

TWILL_BODY ElasticReport ElasticMembers::report() const {
  ElasticReport report = report_;
  for (const std::size_t place : places_) report.devices.push_back(devices_[place].name);
  return report;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
