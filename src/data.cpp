// SPDX-License-Identifier: Apache-2.0
//
// Bodies of data/ in the compiled library.

#include <twill/data/batching.ipp>
#include <twill/data/image_dataset.ipp>
#include <twill/data/sampler.ipp>
#include <twill/data/transforms.ipp>
#include <twill/data/wait_report.ipp>
