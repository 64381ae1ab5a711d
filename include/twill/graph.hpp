#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of graph/.

#include <twill/graph/batching.hpp>
#include <twill/graph/batching_rules.hpp>
#include <twill/graph/checkpoint.hpp>
#include <twill/graph/derivatives.hpp>
#include <twill/graph/extent.hpp>
#include <twill/graph/fault.hpp>
#include <twill/graph/frozen.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/graph/graph.hpp>
#include <twill/graph/input.hpp>
#include <twill/graph/loop.hpp>
#include <twill/graph/loop_copies.hpp>
#include <twill/graph/loop_gradient.hpp>
#include <twill/graph/node.hpp>
#include <twill/graph/operation.hpp>
#include <twill/graph/operators.hpp>
#include <twill/graph/parameter.hpp>
#include <twill/graph/random.hpp>
#include <twill/graph/ranks.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/region_gradient.hpp>
#include <twill/graph/scan.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/graph/slots.hpp>
#include <twill/graph/state.hpp>
#include <twill/graph/tangent.hpp>
#include <twill/graph/transforms.hpp>
#include <twill/graph/value.hpp>
#include <twill/graph/variables.hpp>
#include <twill/graph/vmap.hpp>
