#include "core/io/detail/column_names.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "core/io/detail/fail.hpp"

namespace gnntune::io::detail {
namespace {

constexpr std::string_view kSources[] = {"src",          "source",     "from",       "srcid",     "sourceid",
                                         "fromid",       "srcnode",    "sourcenode", "fromnode",  "srcnodeid",
                                         "sourcenodeid", "fromnodeid", "startid",    "startnode", "origin"};
constexpr std::string_view kTargets[] = {"dst",     "target",     "to",     "dstid",       "targetid",     "toid",
                                         "dstnode", "targetnode", "tonode", "dstnodeid",   "targetnodeid", "tonodeid",
                                         "endid",   "endnode",    "dest",   "destination", "destid"};
constexpr std::string_view kWeights[] = {"weight", "weights", "w", "wt", "edgeweight", "value", "val"};

// A line that is longer names no columns of an edge list, and is not taken apart.
constexpr std::size_t kLongestNames = 1024;

struct Name {
    std::string text;   ///< as it stands there
    std::string plain;  ///< its letters and digits, in lower case
};

struct Names {
    std::vector<Name> all;
    bool apart = false;  ///< by commas or tabs, which prose has not
};

Names split(std::string_view line) {
    Names names;
    const bool comma = line.find(',') != line.npos;
    const bool tab = !comma && line.find('\t') != line.npos;
    names.apart = comma || tab;
    const std::string_view separators = comma ? "," : tab ? "\t" : " ";
    for (std::size_t at = 0; at <= line.size();) {
        const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
        Name name;
        for (const char c : line.substr(at, end - at)) {
            if (c == '"' || c == '\'' || c == '\n' || c == '\r') continue;
            const bool letter = std::isalnum(static_cast<unsigned char>(c));
            // Brackets end a fix-up where a graph's source is read again.
            name.text += letter || std::string_view(" \t_-.:#/").find(c) != std::string_view::npos ? c : '?';
            if (letter) name.plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
        const auto blank = [](char c) { return c == ' ' || c == '\t'; };
        while (!name.text.empty() && blank(name.text.back())) name.text.pop_back();
        while (!name.text.empty() && blank(name.text.front())) name.text.erase(0, 1);
        // Blanks may be several, and stand at the end.
        if (names.apart || !name.text.empty()) names.all.push_back(std::move(name));
        at = end + 1;
    }
    return names;
}

template <typename List>
bool among(const List& list, const std::string& word) {
    return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

struct Roles {
    std::optional<std::size_t> source;
    std::optional<std::size_t> target;
    std::size_t known = 0;
    bool twice = false;
    bool weight_first = false;  ///< in a place of an id
};

Roles roles_of(const std::vector<Name>& names) {
    const auto named = [&](const char* word) {
        return std::any_of(names.begin(), names.end(), [&](const Name& name) { return name.plain == word; });
    };
    // One letter alone says little: `v,w` are two vertices.
    const bool letters = named("u") && named("v");
    Roles roles;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string& word = names[i].plain;
        const auto take = [&](std::optional<std::size_t>& role) {
            roles.twice = roles.twice || role.has_value();
            role = role.value_or(i);
            ++roles.known;
        };
        if (among(kSources, word) || (letters && word == "u")) {
            take(roles.source);
        } else if (among(kTargets, word) || (letters && word == "v")) {
            take(roles.target);
        } else if (among(kWeights, word)) {
            ++roles.known;
            roles.weight_first = roles.weight_first || (i < 2 && word != "w");
        }
    }
    return roles;
}

std::string listed(const std::vector<Name>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size() && i < 5; ++i) {
        out += fmt::format("{}'{}'", i == 0 ? "" : ", ", printable(names[i].text, 24));
    }
    return names.size() > 5 ? out + ", ..." : out;
}

ColumnNames judged(const Names& names, const Roles& roles) {
    ColumnNames found;
    const auto& all = names.all;
    if (roles.known == 0 && !(names.apart && all.size() >= 2)) return found;  // prose
    found.count = all.size();
    const std::size_t source = roles.source.value_or(0);
    const std::size_t target = roles.target.value_or(1);
    const bool both = roles.source && roles.target;
    const bool in_order = source == 0 && target == 1;
    found.swapped = both && source == 1 && target == 0;
    if (roles.twice || roles.weight_first || !(in_order || found.swapped) || all.size() < 2) {
        const bool index = all.front().text.empty();
        found.fault = fmt::format(
            "names the columns {}; expected the source and the target in the first two, and at most a weight behind; "
            "{}",
            listed(all),
            index ? "the first looks like an index: write the file without it (pandas: index=False)"
                  : "write or name the columns so");
        return found;
    }
    const auto remark = [&](const std::string& words) { found.remark += (found.remark.empty() ? "" : ", ") + words; };
    if (found.swapped) {
        remark(fmt::format("took columns {} by their names", listed({all[0], all[1]})));
    } else if (!both) {
        remark(fmt::format("took columns {} as source and target", listed({all[0], all[1]})));
    }
    if (all.size() == 3 && !among(kWeights, all[2].plain)) {
        remark(fmt::format("took column {} as weights", listed({all[2]})));
    }
    return found;
}

}  // namespace

ColumnNames column_names(std::string_view line) {
    if (line.size() > kLongestNames) return {};
    const Names names = split(line);
    return judged(names, roles_of(names.all));
}

ColumnNames column_names_of_comment(std::string_view line) {
    if (line.size() > kLongestNames) return {};
    line.remove_prefix(std::min(line.size(), line.find_first_not_of("#% \t")));
    const Names names = split(line);
    const Roles roles = roles_of(names.all);
    if (roles.known != names.all.size() || !roles.source || !roles.target) return {};
    return judged(names, roles);
}

}  // namespace gnntune::io::detail
