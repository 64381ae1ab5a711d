// SPDX-License-Identifier: Apache-2.0
//
// Bodies of io/ in the compiled library.

#include <twill/io/atomic_file.ipp>
#include <twill/io/checkpoint.ipp>
#include <twill/io/checkpoint_folder.ipp>
#include <twill/io/csv.ipp>
#include <twill/io/files.ipp>
#include <twill/io/json.ipp>
#include <twill/io/npy.ipp>
#include <twill/io/safetensors.ipp>
#include <twill/io/sharded.ipp>
#include <twill/io/training.ipp>
