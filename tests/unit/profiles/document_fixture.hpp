// A small document, which the fuzz target begins with too, and the ways between text and database.
#pragma once

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "profiles/document/document.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {

/// A document with a record in every section, as the writer writes it.
inline const std::string& document() {
    static const std::string kText = [] {
        std::ifstream file(GNNTUNE_DOCUMENT, std::ios::binary);
        EXPECT_TRUE(file) << GNNTUNE_DOCUMENT;
        return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    return kText;
}

class DocumentTest : public StoreTest {
protected:
    static ByteSource source_of(std::string_view text) {
        return [text](char* to, std::size_t n) mutable {
            n = std::min(n, text.size());
            std::memcpy(to, text.data(), n);
            text.remove_prefix(n);
            return n;
        };
    }
    static std::string written(const Store& store) {
        std::string out;
        write_document(store, [&out](std::string_view bytes) { out += bytes; });
        return out;
    }
    void import(std::string_view text, const std::string& name = "imported.db") const {
        import_document(source_of(text), "doc.json", file(name));
    }
    Store at(const std::string& name) const { return Store::open(file(name), Mode::read_write_create); }

    /// document() with another text in the place of one that it has once.
    static std::string edited(std::string_view from, std::string_view to) {
        std::string text = document();
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from << " stands there several times";
        return at == std::string::npos ? text : text.replace(at, from.size(), to);
    }
};

}  // namespace gnntune::store
