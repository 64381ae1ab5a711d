#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Type-erased team of threads, so that the loops that share out work are compiled once and not for each kind of team.
// Read next: kernel/rows.hpp.

namespace twill { inline namespace v0 { namespace kernel {

/// A reference to a team: `size()`, and `parallel(f)` which calls `f(rank, size)` once for each rank.
class AnyTeam {
public:
  /// The calling thread alone.
  AnyTeam() = default;

  template <class Team>
  explicit AnyTeam(const Team& team) : team_{&team}, size_{team.size()}, parallel_{&share_among<Team>} {
    if constexpr (requires { team.is_awake(); })
      is_awake_ = [](const void* own) { return static_cast<const Team*>(own)->is_awake(); };
  }

  [[nodiscard]] int size() const { return size_; }

  /// Whether its threads are known to wait for work without sleeping.
  [[nodiscard]] bool is_awake() const { return is_awake_ != nullptr && is_awake_(team_); }

  template <class F> void parallel(F f) const {
    if (team_ == nullptr)
      f(0, 1);
    else
      parallel_(
          team_, [](void* context, int rank, int size) { (*static_cast<F*>(context))(rank, size); }, &f);
  }

private:
  using Job = void (*)(void* context, int rank, int size);

  template <class Team> static void share_among(const void* team, Job job, void* context) {
    static_cast<const Team*>(team)->parallel([=](int rank, int size) { job(context, rank, size); });
  }

  const void* team_ = nullptr;
  int size_ = 1;
  void (*parallel_)(const void*, Job, void*) = nullptr;
  bool (*is_awake_)(const void*) = nullptr;
};

}}} // namespace twill::v0::kernel
