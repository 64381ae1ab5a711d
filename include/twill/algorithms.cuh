#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of algorithms/, for files that nvcc compiles.

#include <twill/algorithms.hpp>
#include <twill/algorithms/on.cuh>
