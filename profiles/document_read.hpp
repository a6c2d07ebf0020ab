// From the bytes of a document to its records, one after the other.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "profiles/document.hpp"
#include "profiles/document_fields.hpp"
#include "profiles/json_value.hpp"

namespace gnntune::store {

/// Where a record stands: of the section's records the one number `index`, from 0.
struct RecordPlace {
    const Section* section = nullptr;
    std::int64_t index = 0;
    std::int64_t line = 0;
};
/// "line 12, measurement[3]"
std::string to_text(const RecordPlace& place);

/// What is wrong with a record, thrown by those who take it; the reader adds where it stands.
class RecordError : public std::exception {
public:
    /// `field` is a path inside the record, ".median_us" or ".part[0].config", or empty.
    RecordError(std::string field, std::string words) : field_(std::move(field)), words_(std::move(words)) {}
    const char* what() const noexcept override { return words_.c_str(); }
    const std::string& field() const { return field_; }

private:
    std::string field_;
    std::string words_;
};

/// Calls `take` for each record, always an object, in the order of the document. Throws ErrorKind::input, with the
/// place, for what is no JSON, no document of this version, cut short, or in a section that is unknown or out of order,
/// and for a RecordError of `take`.
void read_records(const ByteSource& source, const std::string& name,
                  const std::function<void(const RecordPlace&, const JsonValue&)>& take);

}  // namespace gnntune::store
