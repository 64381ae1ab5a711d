// SPDX-License-Identifier: Apache-2.0
//
// Bodies of device/ in the compiled library.

#include <twill/device/copy.ipp>
#include <twill/device/cpu/cores.ipp>
#include <twill/device/cpu/cpu.ipp>
#include <twill/device/cpu/gemm.ipp>
#include <twill/device/cpu/kept_orders.ipp>
#include <twill/device/cpu/memory.ipp>
#include <twill/device/cpu/onednn_convolution.ipp>
#include <twill/device/cpu/onednn_matmul.ipp>
#include <twill/device/cpu/partition.ipp>
#include <twill/device/cpu/pending.ipp>
#include <twill/device/cpu/signal.ipp>
#include <twill/device/cpu/team.ipp>
#include <twill/device/cpu/worker.ipp>
#include <twill/device/cuda/gemm.ipp>
#include <twill/device/current.ipp>
#include <twill/device/generator.ipp>
#include <twill/device/gpu/timed_run.ipp>
#include <twill/device/names.ipp>
