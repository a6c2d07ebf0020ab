// Documents of `gnntune db export`. What is refused must be refused as a wrong input; what is taken must be sound, and
// come back as a text that gives the same text again.
#include <filesystem>

#include "profiles/document/document.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace gnntune::fuzz {
namespace {

store::Store scratch(const char* name) {
    const auto path = std::filesystem::temp_directory_path() / name;
    std::filesystem::remove(path);
    store::OpenOptions options;
    options.journal = store::Journal::rollback;
    store::Store store = store::Store::open(path, store::Mode::read_write_create, options);
    store.database().execute("PRAGMA journal_mode = MEMORY", "leaving the disk alone");
    std::filesystem::remove(path);  // it goes with the process
    return store;
}

void load(const store::Store& store, std::string_view text) {
    const auto source = [text](char* to, std::size_t n) mutable {
        n = text.copy(to, n);
        text.remove_prefix(n);
        return n;
    };
    store::load_document(source, "fuzz.json", store.database());
}

std::string written(const store::Store& store) {
    std::string out;
    store::write_document(store, [&out](std::string_view bytes) { out += bytes; });
    return out;
}

// Models of other versions are taken as they are, and check() says that nobody can read them.
bool is_sound(const store::Store& store) {
    for (const std::string& problem : store.check()) {
        if (!problem.starts_with("model of ")) return false;
    }
    return true;
}

}  // namespace
}  // namespace gnntune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gnntune;
    static store::Store first = fuzz::scratch("gnntune_fuzz_document_first.db");
    static store::Store second = fuzz::scratch("gnntune_fuzz_document_second.db");
    const auto transaction = first.transaction();  // rolled back at the end, as is the other
    try {
        fuzz::load(first, fuzz::text_of(data, size));
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::input) std::abort();
        return 0;
    }
    if (!fuzz::is_sound(first)) std::abort();
    const std::string text = fuzz::written(first);
    const auto again = second.transaction();
    fuzz::load(second, text);
    if (fuzz::written(second) != text) std::abort();
    return 0;
}
