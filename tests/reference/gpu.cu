// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of several pages, which need CUDA: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/cuda.cuh>
#include <twill/profile/cuda/show_utilization.cuh>

#include <string>
#include <vector>

using namespace twill;

// clang-format off

// Settings of GPUs: `device` is a `Cuda`.
void gpus(Cuda device, const Tensor<float, Cpu, Shape<dyn, 8>>& x, cudaStream_t own) {
  { const auto pinned = pin_memory(x); }
  { const bool can_be_copied_beside_work = is_pinned(x); }
  { const auto buffer = pinned_empty<Cuda, float, Shape<dyn, 8>>(Dims(64, 8)); }
  { const std::string gpus = visible_devices(); }
  { set_visible_devices({1, 3}); }
  { const std::vector<int> most_free_first = gpus_by_free_memory(); }
  { const gpu::Stream stream{device}; }
  { const StreamGuard guard{device, own}; }
  { const auto graph = gpu::capture(device, [] {}); }
  { gpu::Capture recording{device}; }
  { const std::string choice = to_string(library_choices(device).front()); }
  { const auto choices = library_choices(device); }
  { forget_library_choices(device); }
  { const LibraryOptions options = library_options(); }
  { set_library_options({.autotune = true}); }
  { configure_memory<Cuda>({.source = gpu::Source::stream_ordered}); }
}
