#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Ranks of a pipeline whose stages are all in this process: each has its stages, a thread, and one rank's work, a part
// of training steps or of inference. A failed group of threads is replaced, so the next run starts in a new one. Read
// next: parallel/threads/ranks.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// `Work<C>` is the work of a rank with a communicator of type C, made from the rank's part of the pipeline, the
/// communicator and further arguments.
template <class P, template <class> class Work> class LocalRanks {
  template <class C> struct Rank {
    template <class... Arguments>
    Rank(const P& all, C& communicator, const Arguments&... arguments)
        : pipeline{all, communicator.rank()}, work{pipeline, communicator, arguments...} {}

    P pipeline;
    Work<C> work;
  };
  using Numbers = std::make_index_sequence<static_cast<std::size_t>(P::ranks)>;
  template <std::size_t I> using CommunicatorOf = typename P::template ThreadOf<static_cast<int>(I)>;
  template <class> struct TupleOf; // a class, since nvcc 13 mistakes the type of a function for another
  template <std::size_t... I> struct TupleOf<std::index_sequence<I...>> {
    using type = std::tuple<std::unique_ptr<Rank<CommunicatorOf<I>>>...>;
  };

public:
  template <class... Arguments>
  LocalRanks(P& pipeline, const parallel::ThreadOptions& options, const Arguments&... arguments)
      : pipeline_{&pipeline}, options_{options}, communicators_{pipeline.make_group(options)} {
    const auto make = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      std::get<I>(ranks_) = std::make_unique<Rank<CommunicatorOf<I>>>(pipeline, communicator<I>(), arguments...);
    };
    for_each_number(make);
  }

  /// Calls `f(work)` for each rank, in order.
  template <class F> void for_each(F f) {
    std::apply([&](auto&... rank) { (f(rank->work), ...); }, ranks_);
  }

  /// Calls `f(work)` for each rank in its thread, and waits for all.    throws: like `parallel::run_ranks`
  template <class F> void run(F f) {
    try {
      parallel::run_ranks(communicators_, [&]<class C>(C& communicator) {
        for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
          if constexpr (std::same_as<C, CommunicatorOf<I>>) {
            if (static_cast<int>(I) != communicator.rank()) return;
            std::get<I>(ranks_)->work.communicator_ = &communicator;
            f(std::get<I>(ranks_)->work);
          }
        });
      });
    } catch (...) { // a failed group can serve no later run
      communicators_ = pipeline_->make_group(options_);
      throw;
    }
  }

private:
  template <class F> static void for_each_number(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::integral_constant<std::size_t, I>{}), ...); }
    (Numbers{});
  }
  template <std::size_t I> [[nodiscard]] CommunicatorOf<I>& communicator() {
    if constexpr (requires { communicators_[I]; })
      return communicators_[I];
    else
      return std::get<I>(communicators_);
  }

  P* pipeline_;
  parallel::ThreadOptions options_;
  typename P::Communicators communicators_;
  typename TupleOf<Numbers>::type ranks_{};
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
