// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/findings.hpp"
#include "ptxrun/lanes.hpp"
#include "ptxrun/machine.hpp"
#include "ptxrun/options.hpp"

#include <optional>
#include <string_view>

namespace ptxrun {
namespace {

std::uint32_t extent(const Dim3& size, char axis) { return axis == 'x' ? size.x : axis == 'y' ? size.y : size.z; }
std::uint32_t position(std::uint32_t index, const Dim3& size, char axis) {
  return axis == 'x' ? index % size.x : axis == 'y' ? index / size.x % size.y : index / size.x / size.y;
}

std::optional<std::uint64_t> special_value(const Warp& warp, std::string_view name, int lane) {
  const Block& block = *warp.block;
  const Launch& launch = block.grid.launch;
  const std::uint32_t bit = std::uint32_t{1} << lane;
  const char axis = name.back();
  if (name.starts_with("%tid.")) return position(warp.thread(lane), launch.block, axis);
  if (name.starts_with("%ntid.")) return extent(launch.block, axis);
  if (name.starts_with("%ctaid.")) return position(block.index, launch.grid, axis);
  if (name.starts_with("%nctaid.")) return extent(launch.grid, axis);
  if (name == "%laneid") return lane;
  if (name == "%warpid") return warp.index;
  if (name == "%nwarpid") return block.warps.size();
  if (name == "%lanemask_eq") return bit;
  if (name == "%lanemask_lt") return bit - 1;
  if (name == "%lanemask_le") return bit | (bit - 1);
  if (name == "%lanemask_gt") return ~(bit | (bit - 1));
  if (name == "%lanemask_ge") return ~(bit - 1);
  if (name == "%smid") return block.index % static_cast<std::uint32_t>(options().multiprocessors);
  if (name == "%nsmid") return options().multiprocessors;
  if (name == "%dynamic_smem_size") return launch.dynamic_shared_bytes;
  if (name == "%total_smem_size") return block.grid.shared_bytes;
  if (name == "%gridid") return block.grid.kernel.launches;
  return std::nullopt;
}

} // namespace

void fill_special_registers(Warp& warp) {
  const Kernel& kernel = warp.block->grid.kernel;
  for (const SpecialRegister& special : kernel.specials) {
    const Operand operand{special.offset, 0, static_cast<std::uint8_t>(special.name == "%gridid" ? 3 : 2), false};
    for (int lane = 0; lane < 32; ++lane) {
      const auto value = special_value(warp, special.name, lane);
      if (!value) report_finding("unknown special register", &kernel, nullptr, special.name + " is taken as zero");
      set_bits(warp, operand, lane, value.value_or(0));
    }
  }
}

} // namespace ptxrun
