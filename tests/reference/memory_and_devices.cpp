// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/memory_and_devices.md: tools/reference/lines.py says how they are found. They are compiled,
// not run.

#include <twill/twill.hpp>

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

using namespace twill;
using namespace twill::literals;

// clang-format off

// Devices: `Cpu{0}` is the first part of the host, `Cuda{1}` the second GPU, `Meta{0}` a device without memory, on which shapes, memory and
// errors are those of a host.
void devices() {
  { const std::string name = to_string(Cpu{1}); }
  { const int number = device_count<Cpu>(); }
  { const std::vector<Cpu> devices = all_devices<Cpu>(); }
  { const bool is_there = is_available<Cpu>(); }
  { const Cpu device = current_device<Cpu>(); }
  { set_device(Cpu{1}); }
  { const DeviceGuard current{Cpu{1}}; }
  { const std::vector<int> cores = cores_of(Cpu{0}); }
  { const std::string model = device_name(Cpu{0}); }
  { const int cores = host_cores(); }
  { configure_host({.devices = 4, .threads_per_device = 1}); }
  { static_assert(max_devices >= 4); }
}

// Streams and events: a device works in order; a GPU works behind the program.
void streams(const Cpu::Event& event) {
  { auto pending = submit(Cpu{1}, [] { return 42; }); }
  { const auto event = record(Cpu{1}); }
  { wait(event); }
  { synchronize(Cpu{1}); }
}

// Seeds of random numbers: one generator for each device.
void seeds() {
  { manual_seed(Cpu{0}, 1); }
  { manual_seed_all(1); }
  { RandomGenerator& numbers = generator(Cpu{0}); }
}

// Memory in use: of the pool of a device, with PyTorch's names.
void memory_in_use() {
  { const std::int64_t bytes = memory_allocated(Cpu{0}); }
  { const std::int64_t bytes = max_memory_allocated(Cpu{0}); }
  { const std::int64_t bytes = memory_reserved(Cpu{0}); }
  { const std::int64_t bytes = max_memory_reserved(Cpu{0}); }
  { empty_cache(Cpu{0}); }
  { reset_peak_memory_stats(Cpu{0}); }
  { const memory::MemoryStats stats = memory_stats(Cpu{0}); }
  { set_memory_limit(Cpu{0}, 2_GiB); }
  { const DeviceMemory whole = device_memory(Cpu{0}); }
  { std::cout << memory_summary(Cpu{0}); }
}

// Recordings of memory: what was allocated, when and by whom.
void recordings() {
  { const memory::Recording recording{Cpu{0}}; }
  { const memory::Place place{"training"}; }
  { memory::MemoryRecorder recorder{}; }
  { memory::MemoryHistory history{1000}; }
  { const auto segments = memory::snapshot(memory::pool(Cpu{0})); }
  { const auto figures = memory::fragmentation(memory::snapshot(memory::pool(Cpu{0}))); }
}

// Errors and warnings: all errors are derived from `twill::Error`.
void errors() {
  { set_warning_sink([](std::string_view message) { std::cerr << message << '\n'; }); }
  { warn("this loader is slow"); }
}
