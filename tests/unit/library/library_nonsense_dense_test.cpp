// The cases of library_nonsense_test.cpp about functions without a graph.
#include "tests/unit/library/library_nonsense.hpp"

namespace gnntune {
namespace {

/// Arguments of gnntune_head_scores and its gradient; an array for all that is read and one for all that is written.
struct HeadScoresCall {
    std::vector<float> read = std::vector<float>(64, 1.0F);
    std::vector<float> written = std::vector<float>(64, -7.0F);
    std::int64_t n = 2;
    std::int32_t heads = 2;
    std::int32_t k = 2;
    gnntune_dtype dtype = GNNTUNE_F32;
    const void* x = read.data();
    const void* att_row = read.data();
    const void* att_col = read.data();
    const void* grad_row = read.data();
    const void* grad_col = read.data();
    void* first = written.data();
    void* second = written.data() + 32;
};

/// The same of gnntune_bias_add and its gradient.
struct BiasCall {
    std::vector<float> read = std::vector<float>(64, 1.0F);
    std::vector<float> written = std::vector<float>(64, -7.0F);
    std::int64_t n = 3;
    std::int32_t k = 4;
    gnntune_dtype dtype = GNNTUNE_F32;
    const void* x = read.data();
    const void* bias = read.data() + 32;
    void* out = written.data();
};

}  // namespace

void LibraryNonsense::add_head_scores() {
    const gnntune_context* context = context_->get();
    using Change = std::function<void(HeadScoresCall&)>;
    const auto add_scores = [&](const std::string& what, const std::string& words, const Change& change) {
        add("gnntune_head_scores", what, kInvalid, words, [=] {
            HeadScoresCall c;
            change(c);
            const gnntune_status status = gnntune_head_scores(context, c.n, c.heads, c.k, c.dtype, c.x, c.att_row,
                                                              c.att_col, c.first, c.second, nullptr);
            EXPECT_EQ(c.written, HeadScoresCall().written) << "something was written";
            return status;
        });
    };
    const auto add_grad = [&](const std::string& what, const std::string& words, const Change& change,
                              std::ptrdiff_t fewer = 0, std::ptrdiff_t shift = 0) {
        add("gnntune_head_scores_grad", what, kInvalid, words, [=] {
            HeadScoresCall c;
            HostWorkspace memory(gnntune_head_scores_workspace_bytes(c.n, c.heads, c.k));
            change(c);
            void* workspace = shift < 0 ? nullptr : static_cast<char*>(memory.data()) + shift;
            const gnntune_status status = gnntune_head_scores_grad(
                context, c.n, c.heads, c.k, c.dtype, c.x, c.att_row, c.att_col, c.grad_row, c.grad_col, c.first,
                c.second, nullptr, workspace, memory.bytes() - static_cast<std::size_t>(fewer), nullptr);
            EXPECT_EQ(c.written, HeadScoresCall().written) << "something was written";
            return status;
        });
    };
    const auto add_both = [&](const std::string& what, const std::string& words, const Change& change) {
        add_scores(what, words, change);
        add_grad(what, words, change);
    };
    const std::string sizes = "expected 0 <= n < 2^31, heads and k of at least 1, and heads k < 2^31";
    for (const auto& [n, heads, k] : std::vector<std::tuple<std::int64_t, std::int32_t, std::int32_t>>{
             {-1, 2, 2}, {2, 0, 2}, {2, 2, 0}, {2, -1, -1}, {std::int64_t{1} << 31, 1, 1}, {2, 1 << 16, 1 << 16}}) {
        const std::string given = std::to_string(n) + ", " + std::to_string(heads) + " and " + std::to_string(k);
        add_both("sizes", "n, heads and k are " + given + "; " + sizes, [n = n, heads = heads, k = k](auto& c) {
            c.n = n;
            c.heads = heads;
            c.k = k;
        });
        add("gnntune_head_scores_workspace_bytes", given,
            [n = n, heads = heads, k = k] { return gnntune_head_scores_workspace_bytes(n, heads, k) == 0; });
    }
    for (const std::int32_t word : {-1, 3, std::numeric_limits<std::int32_t>::max()}) {
        add_both("dtype", "dtype is " + std::to_string(word), [=](auto& c) { c.dtype = word; });
    }
    add_both("x", "x is NULL; expected 8 elements", [](auto& c) { c.x = nullptr; });
    add_both("att_row", "att_row is NULL; expected 4 elements", [](auto& c) { c.att_row = nullptr; });
    add_both("att_col", "att_col is NULL; expected 4 elements", [](auto& c) { c.att_col = nullptr; });
    add_both("x", "x is not aligned to the 4 bytes", [](auto& c) { c.x = shifted(c.read.data(), 2); });
    add_scores("score_row", "score_row is NULL; expected 4 elements", [](auto& c) { c.first = nullptr; });
    add_scores("score_col", "score_col is NULL; expected 4 elements", [](auto& c) { c.second = nullptr; });
    add_scores("score_col", "score_col is not aligned", [](auto& c) { c.second = static_cast<char*>(c.second) + 1; });
    add_scores("score_col", "score_row shares memory with score_col", [](auto& c) { c.second = c.first; });
    add_scores("score_row", "score_row shares memory with x", [](auto& c) { c.x = c.first; });
    add_grad("grad_x", "grad_x shares memory with x", [](auto& c) { c.x = c.first; });
    add_grad("grad_att_row", "grad_x shares memory with grad_att_row", [](auto& c) { c.second = c.first; });
    add_grad("grad_score_row", "grad_score_row is NULL; expected 4", [](auto& c) { c.grad_row = nullptr; });
    add_grad("grad_score_col", "grad_score_col is NULL; expected 4", [](auto& c) { c.grad_col = nullptr; });
    add_grad("grad_x", "grad_x is not aligned", [](auto& c) { c.first = static_cast<char*>(c.first) + 2; });
    add_grad(
        "workspace",
        "the workspace has 31 bytes, gnntune_head_scores_grad needs 32; ask "
        "gnntune_head_scores_workspace_bytes",
        [](auto&) {}, 1);
    add_grad(
        "workspace", "workspace is NULL; expected 32 bytes", [](auto&) {}, 0, -1);
    add_grad(
        "workspace", "the workspace is not aligned to 256 bytes", [](auto&) {}, 0, 4);
    add("gnntune_head_scores", "context is NULL", kInvalid, "context is NULL", [] {
        return gnntune_head_scores(nullptr, 0, 1, 1, GNNTUNE_F32, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    });
    add("gnntune_head_scores_grad", "context is NULL", kInvalid, "context is NULL", [] {
        return gnntune_head_scores_grad(nullptr, 0, 1, 1, GNNTUNE_F32, nullptr, nullptr, nullptr, nullptr, nullptr,
                                        nullptr, nullptr, nullptr, nullptr, 0, nullptr);
    });
}

void LibraryNonsense::add_bias() {
    const gnntune_context* context = context_->get();
    using Change = std::function<void(BiasCall&)>;
    const auto add_forward = [&](const std::string& what, const std::string& words, const Change& change) {
        add("gnntune_bias_add", what, kInvalid, words, [=] {
            BiasCall c;
            change(c);
            const gnntune_status status = gnntune_bias_add(context, c.n, c.k, c.dtype, c.x, c.bias, c.out, nullptr);
            EXPECT_EQ(c.written, BiasCall().written) << "something was written";
            return status;
        });
    };
    const auto add_grad = [&](const std::string& what, const std::string& words, const Change& change) {
        add("gnntune_bias_grad", what, kInvalid, words, [=] {
            BiasCall c;
            change(c);
            const gnntune_status status =
                gnntune_bias_grad(context, c.n, c.k, c.dtype, c.x, c.out, nullptr, 0, nullptr);
            EXPECT_EQ(c.written, BiasCall().written) << "something was written";
            return status;
        });
    };
    const auto add_both = [&](const std::string& what, const std::string& words, const Change& change) {
        add_forward(what, words, change);
        add_grad(what, words, change);
    };
    for (const auto& [n, k] :
         std::vector<std::pair<std::int64_t, std::int32_t>>{{-1, 4}, {3, 0}, {3, -4}, {std::int64_t{1} << 31, 1}}) {
        const std::string given = std::to_string(n) + " and " + std::to_string(k);
        add_both("sizes", "n and k are " + given + "; expected 0 <= n < 2^31 and k of at least 1",
                 [n = n, k = k](auto& c) {
                     c.n = n;
                     c.k = k;
                 });
        add("gnntune_bias_grad_workspace_bytes", given,
            [n = n, k = k] { return gnntune_bias_grad_workspace_bytes(n, k) == 0; });
    }
    for (const std::int32_t word : {-1, 3, std::numeric_limits<std::int32_t>::max()}) {
        add_both("dtype", "dtype is " + std::to_string(word), [=](auto& c) { c.dtype = word; });
    }
    add_forward("x", "x is NULL; expected 12 elements", [](auto& c) { c.x = nullptr; });
    add_forward("bias", "bias is NULL; expected 4 elements", [](auto& c) { c.bias = nullptr; });
    add_forward("y", "y is NULL; expected 12 elements", [](auto& c) { c.out = nullptr; });
    add_forward("x", "x is not aligned to the 4 bytes", [](auto& c) { c.x = shifted(c.read.data(), 2); });
    add_forward("y", "y is not aligned", [](auto& c) { c.out = static_cast<char*>(c.out) + 1; });
    add_forward("y", "y shares memory with bias", [](auto& c) { c.bias = c.written.data() + 8; });
    add_forward("y", "y shares memory with x", [](auto& c) { c.x = c.written.data() + 4; });
    add_grad("grad_y", "grad_y is NULL; expected 12 elements", [](auto& c) { c.x = nullptr; });
    add_grad("grad_bias", "grad_bias is NULL; expected 4 elements", [](auto& c) { c.out = nullptr; });
    add_grad("grad_bias", "grad_bias is not aligned", [](auto& c) { c.out = static_cast<char*>(c.out) + 2; });
    add_grad("grad_bias", "grad_bias shares memory with grad_y", [](auto& c) { c.x = c.out; });
    const auto add_memory = [&](const std::string& words, std::ptrdiff_t fewer, std::ptrdiff_t shift) {
        add("gnntune_bias_grad", "workspace", kInvalid, words, [=] {
            BiasCall c;
            c.n = 70000;  // two parts
            c.k = 1;
            HostWorkspace memory(gnntune_bias_grad_workspace_bytes(c.n, c.k));
            void* workspace = shift < 0 ? nullptr : static_cast<char*>(memory.data()) + shift;
            return gnntune_bias_grad(context, c.n, c.k, c.dtype, c.x, c.out, workspace,
                                     memory.bytes() - static_cast<std::size_t>(fewer), nullptr);
        });
    };
    add_memory("the workspace has 7 bytes, gnntune_bias_grad needs 8; ask gnntune_bias_grad_workspace_bytes", 1, 0);
    add_memory("workspace is NULL; expected 8 bytes", 0, -1);
    add_memory("the workspace is not aligned to 256 bytes", 0, 4);
    add("gnntune_bias_add", "context is NULL", kInvalid, "context is NULL",
        [] { return gnntune_bias_add(nullptr, 0, 1, GNNTUNE_F32, nullptr, nullptr, nullptr, nullptr); });
    add("gnntune_bias_grad", "context is NULL", kInvalid, "context is NULL",
        [] { return gnntune_bias_grad(nullptr, 0, 1, GNNTUNE_F32, nullptr, nullptr, nullptr, 0, nullptr); });
}

}  // namespace gnntune
