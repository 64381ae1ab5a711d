// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/machine.hpp"

#include "ptxrun/findings.hpp"
#include "ptxrun/options.hpp"

#include <algorithm>
#include <string>

namespace ptxrun {
namespace {

constexpr std::size_t default_shared_bytes = 48 << 10;

std::string extents(const Dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

std::size_t threads_of_multiprocessor() {
  const int capability = options().capability;
  return capability == 75 ? 1024 : capability == 86 || capability == 89 || capability == 120 ? 1536 : 2048;
}

} // namespace

const KernelTraits& traits_of(Kernel& kernel) {
  parse(kernel);
  return kernel.traits;
}

void allow_dynamic_shared(Kernel& kernel, std::uint32_t bytes) {
  kernel.allowed_dynamic_bytes = bytes;
  kernel.allows_dynamic_bytes = true;
}

LaunchFault fault_of(Kernel& kernel, const Launch& launch) {
  const KernelTraits& traits = traits_of(kernel);
  const Dim3 &grid = launch.grid, &block = launch.block;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > 1024 || block.z > 64 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
      grid.x > 0x7fffffffU || grid.y > 65535 || grid.z > 65535)
    return {Outcome::invalid_configuration, "invalid launch configuration",
            extents(grid) + " blocks of " + extents(block) + " threads"};
  if (threads > static_cast<std::uint64_t>(traits.max_threads))
    return {Outcome::invalid_configuration, "more threads than the kernel's bound",
            std::to_string(threads) + " of at most " + std::to_string(traits.max_threads)};
  const std::size_t all = traits.static_shared_bytes + launch.dynamic_shared_bytes;
  const std::size_t limit =
      kernel.allows_dynamic_bytes
          ? std::min(options().opt_in_shared_bytes(),
                     std::max(default_shared_bytes, kernel.allowed_dynamic_bytes + traits.static_shared_bytes))
          : default_shared_bytes;
  if (all > limit)
    return {Outcome::invalid_value, "more shared memory than allowed",
            std::to_string(traits.static_shared_bytes) + " static and " + std::to_string(launch.dynamic_shared_bytes) +
                " dynamic bytes, together at most " + std::to_string(limit)};
  return {};
}

std::size_t resident_blocks(const Kernel& kernel, const Launch& launch) {
  const std::size_t threads = (std::size_t{launch.block.x} * launch.block.y * launch.block.z + 31) / 32 * 32;
  const std::size_t reserved = options().capability == 75 ? 0 : 1024;
  const std::size_t shared = kernel.traits.static_shared_bytes + launch.dynamic_shared_bytes + reserved;
  std::size_t blocks = std::min<std::size_t>(32, threads_of_multiprocessor() / threads);
  if (shared != 0) blocks = std::min(blocks, options().multiprocessor_shared_bytes() / shared);
  return std::max<std::size_t>(1, blocks) * static_cast<std::size_t>(std::max(1, options().multiprocessors));
}

} // namespace ptxrun
