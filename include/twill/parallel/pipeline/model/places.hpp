#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Places of the ranks of a pipeline: on devices of one kind, or each on its own kind, `pipeline::On<Cpu, Cuda>`. Then a
// group of threads has ranks of these kinds, and values sent between two of them go through host memory, like messages
// of threads. Stages of one rank are on its device. Read next: parallel/pipeline/model/pipeline.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/device/copy.hpp>
#include <twill/device/device.hpp>
#include <twill/parallel/threads/communicator.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Devices of several kinds, one for each rank of a pipeline, in order: `On<Cpu, Cuda>{Cpu{0}, Cuda{0}}`.
template <ComputeDevice... D> struct On {
  std::tuple<D...> devices{}; ///< one for each rank
  /// One device for each rank.
  constexpr On(D... each) : devices{each...} {}
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The devices of the ranks of a pipeline on devices of one kind.
template <class D> struct Places {
  using Devices = std::vector<D>;
  template <int Rank> using Kind = D;
  template <class Own> using KindOf = D; ///< of a rank whose communicator has devices of kind `Own`
  using Communicators = std::vector<parallel::ThreadCommunicator<D>>;
  template <int Ranks> static constexpr bool has = true; ///< known only at run time

  [[nodiscard]] static Devices everywhere(int ranks, const D& device) {
    return Devices(static_cast<std::size_t>(ranks), device);
  }
  template <int Rank> [[nodiscard]] static const D& at(const Devices& devices) {
    return devices[static_cast<std::size_t>(Rank)];
  }
  [[nodiscard]] static std::size_t count(const Devices& devices) { return devices.size(); }
  [[nodiscard]] static Communicators group(const Devices& devices, const parallel::ThreadOptions& options) {
    return parallel::thread_communicators(devices, options);
  }
};

template <class... D> struct Places<On<D...>> {
  using Devices = On<D...>;
  template <int Rank> static constexpr std::size_t number = Rank < static_cast<int>(sizeof...(D)) ? Rank : 0;
  template <int Rank> using Kind = std::tuple_element_t<number<Rank>, std::tuple<D...>>;
  template <class Own> using KindOf = Own;
  using Communicators = std::tuple<parallel::ThreadCommunicator<D>...>;
  template <int Ranks> static constexpr bool has = Ranks == static_cast<int>(sizeof...(D));

  [[nodiscard]] static Devices everywhere(int, const Devices& devices) { return devices; }
  template <int Rank> [[nodiscard]] static const Kind<Rank>& at(const Devices& devices) {
    return std::get<number<Rank>>(devices.devices);
  }
  [[nodiscard]] static std::size_t count(const Devices&) { return sizeof...(D); }
  [[nodiscard]] static Communicators group(const Devices& devices, const parallel::ThreadOptions& options) {
    return parallel::thread_communicators(devices.devices, options);
  }
};

template <class D> inline constexpr bool is_on = false;
template <class... D> inline constexpr bool is_on<On<D...>> = sizeof...(D) > 0;

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// A kind of device for all ranks, or one for each.
template <class D>
concept RankPlaces = ComputeDevice<D> || detail::is_on<D>;

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
