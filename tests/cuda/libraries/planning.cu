// SPDX-License-Identifier: Apache-2.0
//
// What cuDNN compiles at run time, planned for an H200 that is only described: its engines accept the graphs of fused
// convolutions, attention and norms, and compile them; loading the code is where a machine without a GPU stops. The
// compiler wants a driver's library to be there, for which the toolkit's stub does.

#include <tests/cuda/libraries/cudnn.hpp>
#include <tests/support/skip.hpp>
#include <tests/support/suite.hpp>

#include <twill/device/cuda/cudnn.cuh>

#include <cstddef>
#include <string>

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

bool has_compiler() {
  if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) return true;
  test::skip("neither a driver nor its stub was found");
  return false;
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

void activations() {
  if (!has_compiler()) return;
  const Convolution c = with_same_padding({.dtype = DType::float16,
                                           .batch = 8,
                                           .in_channels = 64,
                                           .out_channels = 128,
                                           .groups = 1,
                                           .input = {56, 56},
                                           .kernel = {3, 3}});
  for (const Activation activation : {Activation::gelu, Activation::silu}) {
    require_engine(forward_graph(c, true, activation));
    require_engine(forward_graph(c, false, activation));
  }
}

void norms() {
  if (!has_compiler()) return;
  for (const DType dtype : {DType::float16, DType::float32}) {
    require_engine(norm_graph({NormKind::layer, dtype, 4096, 768}));
    require_engine(norm_gradient_graph({NormKind::layer, dtype, 4096, 768}));
  }
  require_engine(norm_graph({NormKind::batch, DType::bfloat16, 4096, 64}));
  require_engine(norm_gradient_graph({NormKind::batch, DType::bfloat16, 4096, 64}));
}

const Case first{"cuDNN compiles attention and its gradients for an H200", &attention, Needs::nothing};
const Case second{"cuDNN compiles convolutions with smooth activations for an H200", &activations, Needs::nothing};
const Case third{"cuDNN compiles norms and their gradients for an H200", &norms, Needs::nothing};

} // namespace
