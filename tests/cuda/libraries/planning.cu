// SPDX-License-Identifier: Apache-2.0
//
// What cuDNN compiles at run time, planned for an H200 that is only described: its engines accept the graphs of
// convolutions and attention, and compile them; loading the code is where a machine without a GPU stops. The
// compiler wants a driver's library to be there, for which the toolkit's stub does.

#include <tests/cuda/libraries/cudnn.hpp>
#include <tests/support/skip.hpp>
#include <tests/support/suite.hpp>

#include <twill/device/cuda/cudnn.cuh>
#include <twill/device/gpu/library_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace {

using namespace twill;
using namespace twill::nvidia;
using namespace twill::nvidia::dnn;
using test::Case;
using test::Needs;

/// Fails unless an engine that the options allow was built, or was compiled and could only not be loaded here.
void require_engine(const Graph& graph, const LibraryOptions& options = {}) {
  static const Descriptor h200 = test::described_h200();
  const Descriptor finished = graph.finish();
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    for (const Descriptor& config : dnn::detail::proposals(finished, h200, mode)) {
      const auto notes = dnn::detail::notes_of(config);
      if (!notes || objection_to(*notes, dnn::detail::limits_of(graph, options, 0)) != Objection::none) continue;
      Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config).set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, h200);
      const cudnnStatus_t status = cudnnBackendFinalize(plan.handle());
      if (status == CUDNN_STATUS_SUCCESS || status == CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER) return;
    }
  throw std::logic_error("no engine for " + graph.what());
}

/// The convolutions of a ResNet-50, each shape once. Padding is that of their kernels.
std::vector<ConvolutionShape> resnet50(std::int64_t batch) {
  struct Layer {
    std::int64_t extent, in, out, kernel, stride;
  };
  constexpr Layer layers[] = {
      {224, 3, 64, 7, 2},     {56, 64, 64, 1, 1},   {56, 64, 64, 3, 1},    {56, 64, 256, 1, 1},   {56, 256, 64, 1, 1},
      {56, 256, 128, 1, 1},   {56, 128, 128, 3, 2}, {28, 128, 512, 1, 1},  {56, 256, 512, 1, 2},  {28, 512, 128, 1, 1},
      {28, 128, 128, 3, 1},   {28, 512, 256, 1, 1}, {28, 256, 256, 3, 2},  {14, 256, 1024, 1, 1}, {28, 512, 1024, 1, 2},
      {14, 1024, 256, 1, 1},  {14, 256, 256, 3, 1}, {14, 1024, 512, 1, 1}, {14, 512, 512, 3, 2},  {7, 512, 2048, 1, 1},
      {14, 1024, 2048, 1, 2}, {7, 2048, 512, 1, 1}, {7, 512, 512, 3, 1}};
  std::vector<ConvolutionShape> shapes;
  for (const Layer& layer : layers)
    shapes.push_back({.batch = batch,
                      .in_channels = layer.in,
                      .out_channels = layer.out,
                      .input = {layer.extent, layer.extent},
                      .output = {layer.extent / layer.stride, layer.extent / layer.stride},
                      .kernel = {layer.kernel, layer.kernel},
                      .stride = {layer.stride, layer.stride},
                      .padding = {layer.kernel / 2, layer.kernel / 2}});
  return shapes;
}

/// Fails unless the engine that a device of each size takes computes on tensor cores. Engines that are compiled at run time
/// do so here, and tell their working memory only where there is a GPU.
void require_tensor_cores(const Graph& graph) {
  static const Descriptor h200 = test::described_h200();
  const dnn::detail::Proposals proposals{graph, h200};
  for (const std::size_t gigabytes : {16, 24, 40, 80, 141}) {
    const auto limits = dnn::detail::limits_of(graph, {}, gpu::library_bytes_of(gigabytes * 1'000'000'000));
    bool has_plan = false, has_tensor_cores = false;
    proposals.for_each([&](const EngineNotes& notes, auto&& build) {
      if (objection_to(notes, limits) != Objection::none) return true;
      const auto plan = build();
      if (plan == nullptr || plan->workspace_bytes() > limits.workspace_bytes) return true;
      has_plan = true;
      has_tensor_cores = notes.uses_tensor_cores;
      return false;
    });
    if (!has_plan || !has_tensor_cores)
      throw std::logic_error(join_text({graph.what(), " does without tensor cores on a GPU of ", gigabytes, " GB"}));
  }
}

void images() {
  for (const ConvolutionShape& shape : resnet50(256)) {
    const Convolution c = convolution_of(DType::bfloat16, shape);
    require_tensor_cores(forward_graph(c));
    require_tensor_cores(gradient_graph(c, ConvolutionPart::weight_gradient));
    if (shape.in_channels > 3) require_tensor_cores(gradient_graph(c, ConvolutionPart::input_gradient));
  }
}

bool has_compiler() {
  if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) return true;
  test::skip("neither a driver nor its stub was found");
  return false;
}

/// Attention of a GPT-2's step, forward and backward: the engine that the heuristics like best computes on tensor cores.
void language() {
  const Attention a = self_attention(DType::bfloat16, 16 * 12, 1024, 1, 64, 0.125F, true);
  static const Descriptor h200 = test::described_h200();
  for (const bool is_deterministic : {false, true})
    for (const Graph& graph : {attention_graph(a), attention_gradient_graph(a, is_deterministic)}) {
      const auto limits = dnn::detail::limits_of(graph, {.is_deterministic = is_deterministic}, attention_engine_bytes);
      bool has_tensor_cores = false;
      dnn::detail::Proposals{graph, h200}.for_each([&](const EngineNotes& notes, auto&&) {
        if (objection_to(notes, limits) != Objection::none) return true;
        has_tensor_cores = notes.uses_tensor_cores;
        return false;
      });
      if (!has_tensor_cores) throw std::logic_error(join_text({graph.what(), " does without tensor cores"}));
    }
}

void attention() {
  if (!has_compiler()) return;
  for (const DType dtype : {DType::float16, DType::bfloat16})
    for (const bool is_causal : {false, true}) {
      const Attention a = self_attention(dtype, 2, 1024, 12, 64, 0.125F, is_causal);
      require_engine(attention_graph(a));
      require_engine(attention_gradient_graph(a, false));
      require_engine(attention_gradient_graph(a, true), {.is_deterministic = true});
    }
  Attention odd = self_attention(DType::bfloat16, 2, 1000, 12, 80, 0.11F, true);
  require_engine(attention_graph(odd));
  require_engine(attention_gradient_graph(odd, false));
  Attention shared = self_attention(DType::float16, 2, 128, 12, 64, 0.125F, false);
  shared.key_heads = 4;
  shared.k = shared.v = heads_within_rows(128, 4, 64);
  shared.q = shared.o = rows_within_heads(128, 12, 64);
  require_engine(attention_graph(shared));
}

const Case first{"cuDNN compiles attention and its gradients for an H200", &attention, Needs::nothing};
const Case third{"attention of a GPT-2 of 16 x 1024 tokens computes on tensor cores", &language, Needs::nothing};
const Case second{"a ResNet-50 of 256 images computes on tensor cores with 16 to 141 GB", &images, Needs::nothing};

} // namespace
