#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What programs.cu offers to its tests: plain functions, because Catch2 takes seconds to compile under nvcc.

#include <vector>

/// How a model is written; all four mean the same function.
enum class Spelling { named, lambda, local };

/// The value of the model and its two gradients, one behind another, by the host code that nvcc compiled.
std::vector<float> value_and_gradients_on_host(Spelling spelling, const std::vector<float>& x,
                                               const std::vector<float>& w);

/// How many distinct fused programs the model has; naming them instantiated each as a kernel.
int kernels_of_model(Spelling spelling);

/// True where a GPU can run what was compiled.
bool has_gpu();

/// The three kinds of program, on rows of 7 elements: elementwise tanh(x) * 2, the softmax of rows, the sums of columns.
enum class Kind { elementwise, row, column };
std::vector<float> run_on_host(Kind kind, const std::vector<float>& x);
std::vector<float> run_on_gpu(Kind kind, const std::vector<float>& x);
