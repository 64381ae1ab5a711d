#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of algorithms/.

#include <twill/algorithms/device_iterator.hpp>
#include <twill/algorithms/element_iterator.hpp>
#include <twill/algorithms/element_program.hpp>
#include <twill/algorithms/lazy_iterator.hpp>
#include <twill/algorithms/mdspan.hpp>
#include <twill/algorithms/policy.hpp>
#include <twill/algorithms/rows.hpp>
#include <twill/algorithms/search.hpp>
#include <twill/algorithms/select.hpp>
#include <twill/algorithms/sort.hpp>
#include <twill/algorithms/unique.hpp>
