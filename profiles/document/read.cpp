#include "profiles/document/read.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "profiles/fields/json_sax.hpp"
#include "profiles/fields/values.hpp"

namespace gnntune::store {
namespace {

/// The bytes one at a time, counting lines.
class CharacterSource {
public:
    explicit CharacterSource(const ByteSource& source) : source_(source) { refill(); }

    bool at_end() const { return size_ == 0; }
    char current() const { return buffer_[at_]; }
    void advance() {
        if (buffer_[at_] == '\n') ++line_;
        if (++at_ == size_) refill();
    }
    std::int64_t line() const { return line_; }

private:
    void refill() {
        at_ = 0;
        size_ = source_(buffer_.data(), buffer_.size());
    }

    const ByteSource& source_;
    std::array<char, 1 << 16> buffer_{};
    std::size_t at_ = 0;
    std::size_t size_ = 0;
    std::int64_t line_ = 1;
};

/// What nlohmann's parser reads from. Without a source: the end.
class CharacterIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    CharacterIterator() = default;
    explicit CharacterIterator(CharacterSource& source) : source_(&source) {}
    char operator*() const { return source_->current(); }
    CharacterIterator& operator++() {
        source_->advance();
        return *this;
    }
    CharacterIterator operator++(int) {
        CharacterIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CharacterIterator& other) const { return is_end() == other.is_end(); }

private:
    bool is_end() const { return !source_ || source_->at_end(); }
    CharacterSource* source_ = nullptr;
};

const Section* section_named(std::string_view name) {
    for (const Section& section : document_sections()) {
        if (section.name == name) return &section;
    }
    return nullptr;
}

std::string section_names() {
    std::vector<std::string_view> names;
    for (const Section& section : document_sections()) names.push_back(section.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

/// From the parser's events to records.
class DocumentEvents {
public:
    DocumentEvents(const std::string& name, const CharacterSource& source,
                   const std::function<void(const RecordPlace&, const JsonValue&)>& take)
        : name_(name), source_(source), take_(take) {}

    void value(JsonValue&& value) {
        if (record_.inside()) {
            record_.add(std::move(value));
        } else if (state_ == State::member && member_ == "schema") {
            take_schema(value);
        } else {
            refuse(kind_words(value));
        }
    }

    void open(JsonValue::Kind kind) {
        const bool object = kind == JsonValue::Kind::object;
        if (record_.inside()) {
            at_place([&] { record_.open(kind); });
        } else if (state_ == State::before && object) {
            state_ = State::member;
        } else if (state_ == State::member && member_ != "schema" && !object) {
            state_ = State::section;
            place_.index = 0;
        } else if (state_ == State::section && object) {
            place_.line = source_.line();
            record_.open(kind);
        } else {
            refuse(object ? "an object" : "a list");
        }
    }

    void key(std::string&& name) {
        if (record_.inside()) {
            record_.key(std::move(name));
        } else {
            begin_member(std::move(name));
        }
    }

    void close() {
        if (record_.inside()) {
            at_place([&] {
                record_.close();
                if (!record_.inside()) take_(place_, record_.take());
            });
            if (!record_.inside()) ++place_.index;
        } else if (state_ == State::section) {
            state_ = State::member;
        } else {
            if (!has_schema_) fail("it lacks its first member, " + expected_schema());
            state_ = State::after;
        }
    }

    [[noreturn]] void error(const std::string& words) { throw input_error(name_ + ": not JSON: " + words); }

private:
    /// Where the parser is: `member` is anywhere between the braces of the document.
    enum class State { before, member, section, after };

    static std::string expected_schema() { return fmt::format("\"schema\":\"{}\"", kDocumentSchema); }

    [[noreturn]] void fail(const std::string& words) const {
        throw input_error(fmt::format("{}: line {}: {}", name_, source_.line(), words));
    }

    [[noreturn]] void refuse(std::string_view found) const {
        if (state_ == State::before)
            fail(fmt::format("expected an object with {}, found {}", expected_schema(), found));
        if (state_ == State::section) {
            fail(fmt::format("{}[{}]: expected an object, found {}", place_.section->name, place_.index, found));
        }
        if (member_ == "schema") fail(fmt::format("expected {}, found {}", expected_schema(), found));
        fail(fmt::format("{}: expected a list of records, found {}", member_, found));
    }

    void take_schema(const JsonValue& value) {
        if (!value.is(JsonValue::Kind::text)) refuse(kind_words(value));
        if (value.text == kDocumentSchema || std::ranges::count(kOlderDocumentSchemas, value.text) > 0) {
            has_schema_ = true;
            return;
        }
        const std::string_view format = kDocumentSchema.substr(0, kDocumentSchema.find('/') + 1);
        fail(fmt::format("the document is of the schema \"{}\", this gnntune reads \"{}\"{}", value.text,
                         kDocumentSchema, value.text.starts_with(format) ? "; use the version that wrote it" : ""));
    }

    void begin_member(std::string&& name) {
        member_ = std::move(name);
        if (member_ == "schema") {
            if (has_schema_) fail("\"schema\" stands twice");
            return;
        }
        if (!has_schema_) fail(fmt::format("expected {} first, found \"{}\"", expected_schema(), member_));
        const Section* section = section_named(member_);
        if (!section) {
            fail(fmt::format("there is no section \"{}\"; a document has {}", member_, section_names()));
        }
        if (place_.section && section <= place_.section) {
            fail(fmt::format("the section \"{}\" stands {} \"{}\"; their order is {}", member_,
                             section == place_.section ? "twice," : "behind", place_.section->name, section_names()));
        }
        place_.section = section;
    }

    template <class F>
    void at_place(F&& body) {
        try {
            body();
        } catch (const RecordError& error) {
            throw input_error(fmt::format("{}: {}{}: {}", name_, to_text(place_), error.field(), error.what()));
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::input) throw;
            throw input_error(fmt::format("{}: {}: {}", name_, to_text(place_), error.what()));
        }
    }

    const std::string& name_;
    const CharacterSource& source_;
    const std::function<void(const RecordPlace&, const JsonValue&)>& take_;
    State state_ = State::before;
    std::string member_;
    bool has_schema_ = false;
    RecordPlace place_;
    JsonBuilder record_;
};

}  // namespace

std::string to_text(const RecordPlace& place) {
    return fmt::format("line {}, {}[{}]", place.line, place.section->name, place.index);
}

void read_records(const ByteSource& source, const std::string& name,
                  const std::function<void(const RecordPlace&, const JsonValue&)>& take) {
    CharacterSource characters(source);
    DocumentEvents events(name, characters, take);
    JsonSax<DocumentEvents> sax(events);
    nlohmann::json::sax_parse(CharacterIterator(characters), CharacterIterator(), &sax);
}

}  // namespace gnntune::store
