// Databases as JSON: from records to rows.
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "core/model/model.hpp"
#include "profiles/document/document.hpp"
#include "profiles/document/read.hpp"
#include "profiles/fields/values.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

constexpr std::string_view kImporting = "importing a document";

/// INSERT with a place for each column; `head` are columns before those of the fields.
std::string insertion(std::string_view table, const std::vector<std::string_view>& head,
                      std::span<const Field> fields) {
    std::string columns;
    std::string places;
    const auto add = [&](const std::string& column, std::string_view place) {
        columns += (columns.empty() ? "" : ", ") + column;
        places += (places.empty() ? "" : ", ") + std::string(place);
    };
    for (const std::string_view column : head) add(std::string(column), "?");
    for (const Field& field : fields) {
        if (field.type == FieldType::number) continue;
        add(columns_of(field), field.type == FieldType::config  ? "?, ?"
                               : field.type == FieldType::bytes ? "CAST(? AS BLOB)"
                                                                : "?");
    }
    return fmt::format("INSERT INTO {} ({}) VALUES ({})", table, columns, places);
}

class DocumentLoader {
public:
    DocumentLoader(const Database& database, const ConfigCheck& check) : database_(database), check_(check) {}

    void take(const RecordPlace& place, const JsonValue& record) {
        const Section& section = *place.section;
        if (&section != section_) begin(section);
        lines_[section.name].push_back(place.line);
        columns_.clear();
        const std::string name = read_fields(record, section.fields, section.children, "");
        insert(*into_section_, "");
        const std::int64_t id = database_.last_insert_id();
        if (section.name == "variant") note_variant();
        if (section.name == "problem") require_same_text(id);
        if (section.name == "model") require_readable(id);
        if (!name.empty() && !ids_[section.name].emplace(name, id).second) {
            throw RecordError("", fmt::format("a record before it is {} too", name));
        }
        for (std::size_t c = 0; c < section.children.size(); ++c) {
            take_children(section.children[c], into_children_[c], record, id);
        }
    }

    /// What no record shows by itself.
    void finish(const std::string& name) const {
        require_none(name, "measurement", "measurement", kImpossibleNumbers, "it has numbers that no measuring gives");
        require_none(name, "choice", "choice", kUnsupportedChoice,
                     "it was measured, it says, and no measurement of status ok bears it out");
        require_none(name, "step_choice", "step_call JOIN step_choice ON step_choice.id = step_choice_id",
                     kUnsupportedStepCall, "no measurement of status ok bears out one of its calls");
    }

private:
    void begin(const Section& section) {
        section_ = &section;
        into_section_.emplace(database_.prepare(insertion(section.name, {}, section.fields), kImporting));
        into_children_.clear();
        for (const ChildTable& child : section.children) {
            std::vector<std::string_view> head{child.parent};
            if (child.has_position) head.emplace_back("position");
            into_children_.push_back(database_.prepare(insertion(child.name, head, child.fields), kImporting));
        }
    }

    /// Appends to columns_ what a record, or a child's, has for its table. The name that the record has for others, if
    /// it has one.
    std::string read_fields(const JsonValue& record, std::span<const Field> fields,
                            std::span<const ChildTable> children, const std::string& path) {
        const auto members = members_of(record, fields, children, path);
        std::string name;
        std::string variant;
        for (std::size_t f = 0; f < fields.size(); ++f) {
            const Field& field = fields[f];
            if (!members[f]) {
                columns_.emplace_back(nullptr);
                continue;
            }
            const std::string here = fmt::format("{}.{}", path, field.name);
            switch (field.type) {
                case FieldType::graph:
                case FieldType::environment:
                case FieldType::problem:
                case FieldType::run:
                    columns_.emplace_back(named(field, *members[f], here));
                    break;
                case FieldType::number:
                case FieldType::name:
                case FieldType::fingerprint:
                    name = name_of(field, *members[f], here);
                    [[fallthrough]];
                default:
                    append_columns(columns_, field, *members[f], here);
            }
            if (field.type == FieldType::config) variant = std::get<std::string>(columns_.back());
            if (field.name == "variant_version") {
                require_variant(variant, std::get<std::int64_t>(columns_.back()), here);
                // The config and its variant stand before their version.
                require_taken(std::get<std::string>(*(columns_.end() - 3)), std::get<std::int64_t>(columns_.back()),
                              path + ".config");
            }
        }
        return name;
    }

    void take_children(const ChildTable& child, Statement& into, const JsonValue& record, std::int64_t parent) {
        const JsonValue* list = member_of(record, child.name);
        if (!list) return;
        const std::string path = fmt::format(".{}", child.name);
        if (!list->is(JsonValue::Kind::list)) {
            throw RecordError(path, fmt::format("expected a list, found {}", kind_words(*list)));
        }
        for (std::size_t i = 0; i < list->items.size(); ++i) {
            const JsonValue& item = list->items[i];
            const std::string here = fmt::format("{}[{}]", path, i);
            if (!item.is(JsonValue::Kind::object)) {
                throw RecordError(here, fmt::format("expected an object, found {}", kind_words(item)));
            }
            columns_.clear();
            columns_.emplace_back(parent);
            if (child.has_position) columns_.emplace_back(static_cast<std::int64_t>(i));
            read_fields(item, child.fields, {}, here);
            insert(into, here);
        }
    }

    void insert(Statement& into, const std::string& path) {
        try {
            into.bind_values(columns_).run();
        } catch (const Error& error) {
            if (!database_.broke_a_rule()) throw;
            const std::string words = error.what();
            if (words.find("UNIQUE constraint") != std::string::npos) {
                throw RecordError(path, "a record before it is of the same");
            }
            throw RecordError(path, "it breaks a rule of the schema: " +
                                        words.substr(words.find(kImporting) + kImporting.size() + 2));
        }
    }

    std::int64_t named(const Field& field, const JsonValue& value, const std::string& path) const {
        const std::string name = name_of(field, value, path);
        if (const auto ids = ids_.find(field.name); ids != ids_.end()) {
            if (const auto found = ids->second.find(name); found != ids->second.end()) return found->second;
        }
        throw RecordError(path, fmt::format("the section \"{}\" has no {}", field.name, name));
    }

    static std::string version_text(const std::string& variant, std::int64_t version) {
        return fmt::format("{} of version {}", variant, version);
    }
    void note_variant() {
        variants_.insert(version_text(std::get<std::string>(columns_[0]), std::get<std::int64_t>(columns_[1])));
    }
    void require_variant(const std::string& variant, std::int64_t version, const std::string& path) const {
        const std::string text = version_text(variant, version);
        if (!variants_.contains(text)) throw RecordError(path, fmt::format("the section \"variant\" has no {}", text));
    }

    void require_taken(const std::string& config, std::int64_t version, const std::string& path) {
        if (!check_ || !checked_.insert(version_text(config, version)).second) return;
        const auto complaint = check_(Config::parse(config), static_cast<std::int32_t>(version), true);
        if (complaint) throw RecordError(path, fmt::format("{}: {}", config, *complaint));
    }

    void require_same_text(std::int64_t id) const {
        Statement row =
            database_.prepare(fmt::format("SELECT text, {} FROM problem WHERE id = ?", kProblemColumns), kImporting);
        row.bind(id).step();
        const std::string text = gnntune::to_text(read_problem(row, 1));
        if (text == row.view(0)) return;
        throw RecordError(".text",
                          fmt::format("expected \"{}\", which is this problem, found \"{}\"", text, row.view(0)));
    }

    void require_readable(std::int64_t id) const {
        Statement row =
            database_.prepare("SELECT op, backend, feature_version, bytes FROM model WHERE id = ?", kImporting);
        row.bind(id).step();
        ModelRow model;
        model.op = op_from(row.view(0));
        model.backend = backend_from(row.view(1));
        model.feature_version = static_cast<std::int32_t>(row.integer(2));
        model.bytes = row.text(3);
        if (const auto complaint = complaint_of(model)) throw RecordError(".bytes", *complaint);
    }

    void require_none(const std::string& name, std::string_view section, std::string_view from,
                      std::string_view condition, std::string_view words) const {
        Statement s =
            database_.prepare(fmt::format("SELECT min({}.id) FROM {} WHERE {}", section, from, condition), kImporting);
        if (!s.step() || s.is_null(0)) return;
        // The database had no rows before: ids are places in the section, from 1.
        const std::int64_t index = s.integer(0) - 1;
        const std::int64_t line = lines_.at(section).at(static_cast<std::size_t>(index));
        throw input_error(fmt::format("{}: line {}, {}[{}]: {}", name, line, section, index, words));
    }

    const Database& database_;
    const ConfigCheck& check_;
    std::unordered_set<std::string> checked_;  // configs with their versions
    const Section* section_ = nullptr;
    std::optional<Statement> into_section_;
    std::vector<Statement> into_children_;
    std::vector<SqlValue> columns_;  // of the row that is being read
    std::unordered_map<std::string_view, std::unordered_map<std::string, std::int64_t>> ids_;  // by section and name
    std::unordered_set<std::string> variants_;
    std::unordered_map<std::string_view, std::vector<std::int64_t>> lines_;  // of records, by section
};

}  // namespace

void load_document(const ByteSource& source, const std::string& name, const Database& empty, const ConfigCheck& check) {
    DocumentLoader loader(empty, check);
    read_records(source, name, [&](const RecordPlace& place, const JsonValue& record) { loader.take(place, record); });
    loader.finish(name);
}

void import_document(const ByteSource& source, const std::string& name, const std::filesystem::path& target,
                     const ConfigCheck& check) {
    std::error_code ignored;
    if (std::filesystem::exists(target, ignored)) {
        throw database_error(target.string() + ": exists already; name a new file for what is imported");
    }
    try {
        OpenOptions options;
        options.journal = Journal::rollback;
        Store store = Store::open(target, Mode::read_write_create, options);
        Transaction transaction = store.transaction();
        load_document(source, name, store.database(), check);
        transaction.commit();
    } catch (...) {
        std::filesystem::remove(target, ignored);  // nothing of use is in it
        throw;
    }
}

}  // namespace gnntune::store
