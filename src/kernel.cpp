// SPDX-License-Identifier: Apache-2.0
//
// Bodies of kernel/ in the compiled library.

#include <twill/kernel/block_functions.ipp>
#include <twill/kernel/block_memory.ipp>
#include <twill/kernel/block_reductions.ipp>
#include <twill/kernel/blocks.ipp>
#include <twill/kernel/bytes.ipp>
#include <twill/kernel/columns.ipp>
#include <twill/kernel/convolution.ipp>
#include <twill/kernel/interpret.ipp>
#include <twill/kernel/interpreted_layout.ipp>
#include <twill/kernel/interpreted_stage.ipp>
#include <twill/kernel/launch_info.ipp>
#include <twill/kernel/places.ipp>
#include <twill/kernel/print.ipp>
#include <twill/kernel/product_stack.ipp>
#include <twill/kernel/rank_group.ipp>
#include <twill/kernel/rows.ipp>
#include <twill/kernel/scratch.ipp>
#include <twill/kernel/small_launch.ipp>
#include <twill/kernel/streaming.ipp>
#include <twill/kernel/tail.ipp>
#include <twill/kernel/walk.ipp>
