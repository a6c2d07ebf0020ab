// The cases of library_nonsense_test.cpp about lists of edges that are no graph yet.
#include "tests/unit/library/library_nonsense.hpp"

namespace gnntune {
namespace {

/// Arguments of gnntune_edge_list.
struct EdgeListCall {
    std::vector<std::int64_t> ids = std::vector<std::int64_t>(8, 1);
    std::vector<std::int32_t> written = std::vector<std::int32_t>(16, -7);
    std::int64_t m = 3;
    std::int64_t loops = 2;
    gnntune_index id_type = GNNTUNE_INT64;
    const void* sources = ids.data();
    const void* targets = ids.data() + 4;
    void* edges = written.data();
    std::int32_t has_loops = 5;
};

}  // namespace

void LibraryNonsense::add_edge_list() {
    gnntune_context* context = context_->get();
    const auto add_list = [&](const std::string& what, const std::string& words,
                              const std::function<void(EdgeListCall&)>& change) {
        add("gnntune_edge_list", what, kInvalid, words, [=] {
            EdgeListCall c;
            change(c);
            const gnntune_status status = gnntune_edge_list(context, c.m, c.id_type, c.sources, c.targets, c.loops,
                                                            static_cast<std::int32_t*>(c.edges), &c.has_loops, nullptr);
            EXPECT_EQ(c.written, EdgeListCall().written) << "something was written";
            EXPECT_EQ(c.has_loops, 5) << "something was said";
            return status;
        });
    };
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
    for (const auto& [m, loops] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {-1, 2}, {3, -1}, {kMost + 1, 0}, {0, kMost + 1}, {kMost, 1}, {kLargest, kLargest}}) {
        const std::string given = std::to_string(m) + " and " + std::to_string(loops);
        add_list("sizes", "m and loops are " + given + "; expected none below 0 and less than 2^31 together",
                 [m = m, loops = loops](auto& c) {
                     c.m = m;
                     c.loops = loops;
                 });
    }
    for (const std::int32_t word : {-1, 2, std::numeric_limits<std::int32_t>::max()}) {
        add_list("id_type", "id_type is " + std::to_string(word) + "; expected GNNTUNE_INT32 or GNNTUNE_INT64",
                 [=](auto& c) { c.id_type = word; });
    }
    add_list("sources", "sources is NULL; expected 3 elements", [](auto& c) { c.sources = nullptr; });
    add_list("targets", "targets is NULL; expected 3 elements", [](auto& c) { c.targets = nullptr; });
    add_list("edges", "edges is NULL; expected 10 elements", [](auto& c) { c.edges = nullptr; });
    add_list("sources", "sources is not aligned to the 8 bytes", [](auto& c) { c.sources = shifted(c.ids.data(), 4); });
    add_list("edges", "edges is not aligned to the 4 bytes",
             [](auto& c) { c.edges = static_cast<char*>(c.edges) + 1; });
    add_list("edges", "edges shares memory with targets", [](auto& c) { c.targets = c.written.data() + 8; });
    add_list("edges", "edges shares memory with sources", [](auto& c) { c.sources = c.written.data(); });
    add("gnntune_edge_list", "context is NULL", kInvalid, "context is NULL",
        [] { return gnntune_edge_list(nullptr, 0, GNNTUNE_INT32, nullptr, nullptr, 0, nullptr, nullptr, nullptr); });
}

}  // namespace gnntune
