#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of memory/.

#include <twill/memory/block.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/counters.hpp>
#include <twill/memory/free_index.hpp>
#include <twill/memory/heap.hpp>
#include <twill/memory/kept_back.hpp>
#include <twill/memory/lent.hpp>
#include <twill/memory/offsets.hpp>
#include <twill/memory/out_of_memory.hpp>
#include <twill/memory/place.hpp>
#include <twill/memory/policies.hpp>
#include <twill/memory/pool.hpp>
#include <twill/memory/recording.hpp>
#include <twill/memory/registry.hpp>
#include <twill/memory/size_classes.hpp>
#include <twill/memory/snapshot.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/memory/stream_arenas.hpp>
#include <twill/memory/summary.hpp>
#include <twill/memory/tracking.hpp>
