// SPDX-License-Identifier: Apache-2.0
#include <cudnn_graph.h>
#include <nccl.h>

int main() { return cudnn_of_the_wheel() + nccl_of_the_wheel() == 92 ? 0 : 1; }
