#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A PTX interpreter: runs the text that nvcc makes of kernels, on a machine without a GPU, a driver or ptxas, and checks each
// access. Warps of 32 lanes execute in lockstep and meet again at the lowest program counter. This header is all that the
// runtime stand-in (runtime/) needs: a module's kernels and variables, the memory that kernels may touch, and a launch.
// Options come from the environment (options.hpp); what is wrong with a program is reported in findings.hpp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun {

/// A kernel of a module; instructions.hpp has its parsed form.
class Kernel;

/// A `.global` or `.const` variable of a module, in memory of the host.
struct Variable {
  std::string name{};
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// The kernels and variables of one PTX text. Kernels are parsed when they are first asked for what only their code tells.
class Module {
public:
  explicit Module(std::string text);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Null where the text has none of this (mangled) name.
  [[nodiscard]] Kernel* find_kernel(std::string_view name) const;
  [[nodiscard]] Variable* find_variable(std::string_view name) const;

private:
  struct Content;
  std::unique_ptr<Content> content_;
};

/// What a launch has to know of a kernel. Throws ParseError where the text holds what the interpreter does not know.
struct KernelTraits {
  std::string_view name{}; ///< mangled
  struct Parameter {
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  std::vector<Parameter> parameters{};
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0; ///< of a thread
  int max_threads = 1024;        ///< of a block, by `.maxntid`
};
[[nodiscard]] const KernelTraits& traits_of(Kernel& kernel);

/// The largest dynamic shared memory that launches of this kernel may ask for, from cudaFuncSetAttribute.
void allow_dynamic_shared(Kernel& kernel, std::uint32_t bytes);

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

struct Launch {
  Dim3 grid{};
  Dim3 block{};
  const std::byte* parameters = nullptr; ///< traits_of(kernel).parameter_bytes of them
  std::size_t dynamic_shared_bytes = 0;
};

/// How a launch ended, by the names of the driver's errors.
enum class Outcome : std::uint8_t {
  success,
  invalid_value,
  invalid_configuration,
  illegal_address,
  misaligned_address,
  trap,
  assert_failed,
  launch_timeout
};

/// Why a launch cannot begin; `outcome` is success where it can.
struct LaunchFault {
  Outcome outcome = Outcome::success;
  std::string_view kind{}; ///< of the finding that `run` reports
  std::string detail{};
};
/// Checks block and grid against the device's and the kernel's limits, and shared memory with its static part.
[[nodiscard]] LaunchFault fault_of(Kernel& kernel, const Launch& launch);

/// Runs all blocks to their end. One launch at a time in a process; callers from several threads wait for each other.
Outcome run(Kernel& kernel, const Launch& launch);

/// Memory that kernels may touch: an access is legal when it lies in one registered range. `label` stands in findings.
void register_memory(const void* begin, std::size_t bytes, std::string_view label);
void unregister_memory(const void* begin);

/// The text holds an instruction, type or directive that the interpreter does not know.
struct ParseError;

} // namespace ptxrun
