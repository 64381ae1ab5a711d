// SPDX-License-Identifier: Apache-2.0
//
// Bodies of memory/ in the compiled library.

#include <twill/memory/counters.ipp>
#include <twill/memory/out_of_memory.ipp>
#include <twill/memory/place.ipp>
#include <twill/memory/policies.ipp>
#include <twill/memory/recording.ipp>
#include <twill/memory/snapshot.ipp>
#include <twill/memory/summary.ipp>
#include <twill/memory/tracking.ipp>
