#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of ops/.

#include <twill/ops/matmul.hpp>
