#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/data/replicas.hpp.

#include <twill/parallel/data/replicas.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void rethrow_from_replica(const std::string& where) {
  try {
    throw;
  } catch (const ShapeError& error) {
    throw_named(error, where);
  } catch (const DeviceError& error) {
    throw_named(error, where);
  } catch (const ValueError& error) {
    throw_named(error, where);
  } catch (const IndexError& error) {
    throw_named(error, where);
  } catch (const NumericError& error) {
    throw_named(error, where);
  } catch (const SystemError& error) {
    throw_named(error, where);
  } catch (const std::runtime_error& error) {
    throw_named(error, where);
  }
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
