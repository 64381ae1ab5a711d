#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of io/.

#include <twill/io/atomic_file.hpp>
#include <twill/io/mapped_file.hpp>
