#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Devices: kinds, names, streams, copies, generators. Host kinds and `Meta`; <twill/cuda.cuh> adds CUDA.

#include <twill/device/convolution.hpp>
#include <twill/device/copy.hpp>
#include <twill/device/cpu/cores.hpp>
#include <twill/device/cpu/cpu.hpp>
#include <twill/device/cpu/gemm.hpp>
#include <twill/device/cpu/kept_orders.hpp>
#include <twill/device/cpu/memory.hpp>
#include <twill/device/cpu/onednn.hpp>
#include <twill/device/cpu/onednn_convolution.hpp>
#include <twill/device/cpu/onednn_matmul.hpp>
#include <twill/device/cpu/partition.hpp>
#include <twill/device/cpu/pending.hpp>
#include <twill/device/cpu/recent_plans.hpp>
#include <twill/device/cpu/signal.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/device/cpu/worker.hpp>
#include <twill/device/current.hpp>
#include <twill/device/device.hpp>
#include <twill/device/generator.hpp>
#include <twill/device/meta/meta.hpp>
#include <twill/device/names.hpp>
