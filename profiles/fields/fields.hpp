// What stands in a document: its sections with their fields, which say how each column of the schema is written and
// what a reader takes. The one list that the writer, the reader and docs/database.md go by.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace gnntune::store {

inline constexpr std::string_view kDocumentSchema = "gnntune.database/4";
/// Read too: they have fewer sections and lists, nothing else.
inline constexpr std::string_view kOlderDocumentSchemas[] = {"gnntune.database/1", "gnntune.database/2",
                                                             "gnntune.database/3"};

enum class FieldType {
    text,
    instant,      ///< "2026-11-21T09:30:00Z"
    fingerprint,  ///< names the record
    config,       ///< canonical text; two columns: `config`, and `variant` with what stands before the brace
    word,         ///< one of those that `known` knows
    boolean,      ///< 0 or 1 in the table
    integer,
    real,
    error,        ///< a real that may be infinite
    bytes,        ///< base64
    json_object,  ///< JSON text in the table
    configs,      ///< JSON text in the table: a list of configs
    number,       ///< names the record: its place in its section, from 1; stands for the table's `id`
    name,         ///< a text that names the record
    // Names of other records; the column has `_id` behind it.
    graph,
    environment,
    problem,
    run,
};

/// A column; two for a config, none for a number.
struct Field {
    std::string_view name;
    FieldType type = FieldType::text;
    bool may_lack = false;                                    ///< NULL in the table
    double least = -std::numeric_limits<double>::infinity();  ///< of numbers
    double most = std::numeric_limits<double>::infinity();
    bool (*known)(std::string_view) = nullptr;  ///< of words
};

/// A table whose rows belong to one row of another: a list inside its record.
struct ChildTable {
    std::string_view name;
    std::string_view parent;    ///< the column that names the row it belongs to
    bool has_position = false;  ///< the place in the list is the column `position`
    std::span<const Field> fields;
    std::string_view order;
};

/// A table: a list of records.
struct Section {
    std::string_view name;
    bool has_id = false;  ///< an INTEGER PRIMARY KEY `id`, which the document does not show
    std::span<const Field> fields;
    std::span<const ChildTable> children;
    std::string_view joins;  ///< what `order` needs
    std::string_view order;
};

/// In the order in which they stand in a document: what is named comes before what names it.
std::span<const Section> document_sections();

/// The columns of a field, with commas: "graph_id", "config, variant", "".
std::string columns_of(const Field& field);
/// The columns of all fields.
std::string columns_of(std::span<const Field> fields);

}  // namespace gnntune::store
