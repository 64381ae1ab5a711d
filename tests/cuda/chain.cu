// SPDX-License-Identifier: Apache-2.0
//
// Statements over tensors on a GPU whose kernels check_ptx.py knows by what they compute: each has to be one kernel, of the
// machine code that it says.

#include <twill/cuda.cuh>

using namespace twill;

using X = Tensor<float, Cuda, Shape<dyn>>;
using Narrow = Tensor<bfloat16, Cuda, Shape<dyn>>;

/// The chain of the benchmarks.
void chain(X& result, const X& a, const X& b, const X& c, const X& d) { result = tanh(a * b + c) * d - 0.5F * a; }

/// Sixteen bits in, sixteen out, computed in float.
void narrow_sum(Narrow& result, const Narrow& a, const Narrow& b) { result = a + b; }
