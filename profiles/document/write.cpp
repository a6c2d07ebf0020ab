// Databases as JSON: the writer.
#include <cmath>
#include <optional>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "core/common/printable.hpp"
#include "core/common/utf8.hpp"
#include "profiles/document/document.hpp"
#include "profiles/fields/fields.hpp"
#include "profiles/fields/json_text.hpp"
#include "profiles/fields/json_value.hpp"

namespace gnntune::store {
namespace {

constexpr std::string_view kExporting = "exporting it";

class DocumentWriter {
public:
    DocumentWriter(const Store& store, const ByteSink& sink) : database_(store.database()), sink_(sink) {}

    void write() {
        line_ = "{\n\"schema\":";
        append_json_text(line_, kDocumentSchema);
        for (const Section& section : document_sections()) write(section);
        line_ += "\n}\n";
        flush();
    }

private:
    /// Names of rows that others refer to, as JSON, by id.
    using Names = std::unordered_map<std::int64_t, std::string>;

    void write(const Section& section) {
        line_ += fmt::format(",\n\"{}\":[", section.name);
        if (!database_.has_table(section.name)) {  // the file is older
            line_ += "\n]";
            return;
        }
        Statement rows =
            database_.prepare(fmt::format("SELECT {}{} FROM {} {} ORDER BY {}", section.has_id ? "id, " : "",
                                          columns_of(section.fields), section.name, section.joins, section.order),
                              kExporting);
        std::vector<Statement> children;
        std::vector<const ChildTable*> child_tables;
        for (const ChildTable& child : section.children) {
            if (!database_.has_table(child.name)) continue;  // the file is older
            child_tables.push_back(&child);
            children.push_back(
                database_.prepare(fmt::format("SELECT {} FROM {} WHERE {} = ? ORDER BY {}", columns_of(child.fields),
                                              child.name, child.parent, child.order),
                                  kExporting));
        }
        Names& names = names_[section.name];
        std::int64_t place = 0;
        while (rows.step()) {
            line_ += place++ == 0 ? "\n{" : "\n,{";
            const std::int64_t id = section.has_id ? rows.integer(0) : 0;
            where_ = fmt::format("row {} of {}", section.has_id ? id : place, section.name);
            const auto name = write_fields(section.fields, rows, section.has_id ? 1 : 0, place);
            if (name) names.emplace(id, *name);
            for (std::size_t c = 0; c < children.size(); ++c) write(*child_tables[c], children[c].bind(id));
            line_ += '}';
            flush();
        }
        line_ += "\n]";
    }

    void write(const ChildTable& child, Statement& rows) {
        bool first = true;
        while (rows.step()) {
            line_ += first ? fmt::format(",\"{}\":[{{", child.name) : ",{";
            first = false;
            write_fields(child.fields, rows, 0, 0);
            line_ += '}';
        }
        if (!first) line_ += ']';
    }

    /// The name of the record, as JSON, if it has one.
    std::optional<std::string> write_fields(std::span<const Field> fields, const Statement& row, int column,
                                            std::int64_t place) {
        std::optional<std::string> name;
        bool first = true;
        for (const Field& field : fields) {
            const int here = column;
            if (field.type != FieldType::number) column += field.type == FieldType::config ? 2 : 1;
            if (field.may_lack && row.is_null(here)) continue;
            line_ += fmt::format("{}\"{}\":", first ? "" : ",", field.name);
            first = false;
            const std::size_t begin = line_.size();
            write_value(field, row, here, place);
            if (field.type == FieldType::number || field.type == FieldType::name ||
                field.type == FieldType::fingerprint) {
                name = line_.substr(begin);
            }
        }
        return name;
    }

    void write_value(const Field& field, const Statement& row, int column, std::int64_t place) {
        switch (field.type) {
            case FieldType::number:
                line_ += std::to_string(place);
                return;
            case FieldType::boolean:
                line_ += row.boolean(column) ? "true" : "false";
                return;
            case FieldType::integer:
                line_ += std::to_string(row.integer(column));
                return;
            case FieldType::real:
            case FieldType::error:
                write_real(field, row.real(column));
                return;
            case FieldType::bytes:
                line_ += '"';
                append_base64(line_, row.view(column));
                line_ += '"';
                return;
            case FieldType::json_object:
            case FieldType::configs:
                write_json(field, row.view(column));
                return;
            case FieldType::graph:
            case FieldType::environment:
            case FieldType::problem:
            case FieldType::run:
                write_reference(field, row.integer(column));
                return;
            case FieldType::config:
                if (const std::string_view text = row.view(column);
                    text.substr(0, text.find('{')) != row.view(column + 1)) {
                    fail(fmt::format("the config {} stands under the variant {}", text, row.view(column + 1)));
                }
                write_text(row.view(column));
                return;
            case FieldType::text:
            case FieldType::instant:
            case FieldType::fingerprint:
            case FieldType::name:
            case FieldType::word:
                write_text(row.view(column));
                return;
        }
    }

    void write_text(std::string_view text) {
        if (is_utf8(text)) {
            append_json_text(line_, text);
            return;
        }
        line_ += R"({"base64":")";
        append_base64(line_, text);
        line_ += "\"}";
    }

    void write_real(const Field& field, double value) {
        if (std::isfinite(value)) {
            append_json_real(line_, value);
        } else if (field.type == FieldType::error && value > 0) {
            line_ += "\"Infinity\"";
        } else {
            fail(fmt::format("{} is infinite", field.name));
        }
    }

    void write_json(const Field& field, std::string_view text) {
        try {
            append_json(line_, parse_json(text));
        } catch (const Error& error) {
            fail(fmt::format("{} cannot be written as JSON: {}", field.name, error.what()));
        }
    }

    void write_reference(const Field& field, std::int64_t id) {
        const Names& names = names_[field.name];
        const auto found = names.find(id);
        if (found == names.end()) fail(fmt::format("it names {} {}, which does not exist", field.name, id));
        line_ += found->second;
    }

    [[noreturn]] void fail(const std::string& words) const {
        throw database_error(fmt::format("{}: {}: {}; `gnntune db check` says what else is wrong",
                                         database_.path().string(), where_, words));
    }

    void flush() {
        sink_(printable_json(line_));
        line_.clear();
    }

    const Database& database_;
    const ByteSink& sink_;
    std::unordered_map<std::string_view, Names> names_;  // by section
    std::string line_;
    std::string where_;
};

}  // namespace

void write_document(const Store& store, const ByteSink& sink) {
    std::optional<ReadTransaction> one_state;
    if (!store.database().in_transaction()) one_state.emplace(store.database());
    DocumentWriter(store, sink).write();
}

}  // namespace gnntune::store
