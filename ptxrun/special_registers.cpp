// SPDX-License-Identifier: Apache-2.0
//
// Special registers, such as %tid.x: constant for a thread, and filled before its first instruction. Clocks are read by `mov`
// (instructions/moves.cpp).

#include "ptxrun/lanes.hpp"
#include "ptxrun/machine.hpp"
#include "ptxrun/options.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ptxrun {
namespace {

using Extent = std::uint32_t Dim3::*;

template <Extent Axis> std::uint64_t position(std::uint32_t index, const Dim3& size) {
  if constexpr (Axis == &Dim3::x)
    return index % size.x;
  else if constexpr (Axis == &Dim3::y)
    return index / size.x % size.y;
  else
    return index / size.x / size.y;
}

template <Extent Axis> std::uint64_t thread(const Warp& warp, int lane) {
  return position<Axis>(warp.thread(lane), warp.block->grid.launch.block);
}
template <Extent Axis> std::uint64_t block(const Warp& warp, int) {
  return position<Axis>(warp.block->index, warp.block->grid.launch.grid);
}
template <Extent Axis> std::uint64_t threads(const Warp& warp, int) { return warp.block->grid.launch.block.*Axis; }
template <Extent Axis> std::uint64_t blocks(const Warp& warp, int) { return warp.block->grid.launch.grid.*Axis; }

constexpr std::uint32_t bit(int lane) { return std::uint32_t{1} << lane; }

constexpr std::array<std::pair<std::string_view, SpecialValue>, 24> specials{{
    {"%tid.x", &thread<&Dim3::x>},
    {"%tid.y", &thread<&Dim3::y>},
    {"%tid.z", &thread<&Dim3::z>},
    {"%ntid.x", &threads<&Dim3::x>},
    {"%ntid.y", &threads<&Dim3::y>},
    {"%ntid.z", &threads<&Dim3::z>},
    {"%ctaid.x", &block<&Dim3::x>},
    {"%ctaid.y", &block<&Dim3::y>},
    {"%ctaid.z", &block<&Dim3::z>},
    {"%nctaid.x", &blocks<&Dim3::x>},
    {"%nctaid.y", &blocks<&Dim3::y>},
    {"%nctaid.z", &blocks<&Dim3::z>},
    {"%laneid", [](const Warp&, int lane) { return static_cast<std::uint64_t>(lane); }},
    {"%warpid", [](const Warp& warp, int) { return std::uint64_t{warp.index}; }},
    {"%nwarpid", [](const Warp& warp, int) { return std::uint64_t{warp.block->warps.size()}; }},
    {"%lanemask_eq", [](const Warp&, int lane) { return std::uint64_t{bit(lane)}; }},
    {"%lanemask_lt", [](const Warp&, int lane) { return std::uint64_t{bit(lane) - 1}; }},
    {"%lanemask_le", [](const Warp&, int lane) { return std::uint64_t{bit(lane) | (bit(lane) - 1)}; }},
    {"%lanemask_gt", [](const Warp&, int lane) { return std::uint64_t{~(bit(lane) | (bit(lane) - 1))}; }},
    {"%lanemask_ge", [](const Warp&, int lane) { return std::uint64_t{~(bit(lane) - 1)}; }},
    {"%smid",
     [](const Warp& warp, int) {
       return std::uint64_t{warp.block->index} % static_cast<std::uint64_t>(options().multiprocessors);
     }},
    {"%nsmid", [](const Warp&, int) { return static_cast<std::uint64_t>(options().multiprocessors); }},
    {"%dynamic_smem_size",
     [](const Warp& warp, int) { return std::uint64_t{warp.block->grid.launch.dynamic_shared_bytes}; }},
    {"%total_smem_size", [](const Warp& warp, int) { return std::uint64_t{warp.block->grid.shared_bytes}; }},
}};

} // namespace

SpecialValue find_special_register(std::string_view name) {
  const auto found = std::ranges::find(specials, name, [](const auto& entry) { return entry.first; });
  return found == specials.end() ? nullptr : found->second;
}

void fill_special_registers(Warp& warp) {
  for (const SpecialRegister& special : warp.block->grid.kernel.specials) {
    const LaneValues<std::uint32_t> lanes{warp.banks[0] + special.offset};
    for (int lane = 0; lane < 32; ++lane) lanes[lane] = static_cast<std::uint32_t>(special.value(warp, lane));
  }
}

} // namespace ptxrun
