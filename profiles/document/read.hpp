// From the bytes of a document to its records, one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "profiles/document/document.hpp"
#include "profiles/fields/fields.hpp"
#include "profiles/fields/json_value.hpp"

namespace gnntune::store {

/// Where a record stands: of the section's records the one number `index`, from 0.
struct RecordPlace {
    const Section* section = nullptr;
    std::int64_t index = 0;
    std::int64_t line = 0;
};
/// "line 12, measurement[3]"
std::string to_text(const RecordPlace& place);

/// Calls `take` for each record, always an object, in the order of the document. Throws ErrorKind::input, with the
/// place, for what is no JSON, no document of this version, cut short, or in a section that is unknown or out of order,
/// and for a RecordError (profiles/fields/values.hpp) of `take`.
void read_records(const ByteSource& source, const std::string& name,
                  const std::function<void(const RecordPlace&, const JsonValue&)>& take);

}  // namespace gnntune::store
