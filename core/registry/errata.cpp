#include "core/registry/errata.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "core/common/error.hpp"
#include "core/common/numbers.hpp"
#include "core/common/utf8.hpp"
#include "core/registry/device.hpp"

namespace gnntune {
namespace {

constexpr std::string_view kTerms =
    "variant=ID, version<=N, param.NAME=VALUE, op=OP, backend=cpu|cuda, device=NAME (* for any text), driver<=VERSION, "
    "cuda<=VERSION, and k, n_rows or m with >=N or <=N";

constexpr std::string_view kMadeUnder = "; errata kept configs from being measured: ";

[[noreturn]] void refuse(const std::string& words) {
    throw invalid_argument("erratum: " + words);
}

/// NAME, OPERATOR and VALUE of a term.
struct Term {
    std::string name;
    std::string sign;  ///< "=", "<=" or ">="
    std::string value;
};

/// Takes the next term off the front of `text`, which does not begin with a blank.
Term take_term(std::string_view& text) {
    Term term;
    const std::size_t at = text.find_first_of("=<> ");
    const std::string word = '\'' + std::string(text.substr(0, text.find(' '))) + '\'';
    if (at == 0 || at == std::string_view::npos || text[at] == ' ') {
        refuse(word + " is no condition; expected " + std::string(kTerms));
    }
    term.name = text.substr(0, at);
    term.sign = text[at] == '=' ? "=" : std::string{text[at], '='};
    if (!text.substr(at).starts_with(term.sign)) {
        refuse(word + ": expected =, <= or >= behind " + term.name);
    }
    text.remove_prefix(at + term.sign.size());
    if (!text.starts_with('"')) {
        term.value = text.substr(0, text.find(' '));
        text.remove_prefix(term.value.size());
    } else {
        std::size_t end = 1;
        for (; end < text.size() && text[end] != '"'; ++end) {
            if (text[end] == '\\' && end + 1 < text.size()) ++end;
            term.value += text[end];
        }
        if (end == text.size()) refuse("the quote behind " + term.name + " does not end");
        text.remove_prefix(end + 1);
        if (!text.empty() && text.front() != ' ') refuse("expected a blank behind the quote of " + term.name);
    }
    if (term.value.empty()) refuse(term.name + " has no value");
    return term;
}

std::int64_t number(const Term& term, std::int64_t least) {
    const auto value = parse_number<std::int64_t>(term.value);
    if (!value || *value < least) {
        refuse(term.name + term.sign + term.value + ": expected a whole number from " + std::to_string(least));
    }
    return *value;
}

/// "580.65.06" as its numbers; empty if it is something else.
std::vector<std::int64_t> version_numbers(std::string_view text) {
    std::vector<std::int64_t> out;
    while (true) {
        std::int64_t value = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || value < 0) return {};
        out.push_back(value);
        text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
        if (text.empty()) return out;
        if (text.front() != '.') return {};
        text.remove_prefix(1);
    }
}

/// As far as `last` goes; false if either is no version.
bool is_up_to(std::string_view version, std::string_view last) {
    auto here = version_numbers(version);
    const auto limit = version_numbers(last);
    if (here.empty() || limit.empty()) return false;
    here.resize(std::min(here.size(), limit.size()));
    return here <= limit;
}

void take_range(ErratumRange& range, const Term& term) {
    (term.sign == "<=" ? range.most : range.least) = number(term, 0);
    if (range.least > range.most) refuse(term.name + ": nothing is " + term.sign + term.value + " and the other bound");
}

std::string version(const Term& term) {
    if (version_numbers(term.value).empty()) {
        refuse(term.name + term.sign + term.value + ": expected a version such as 580.65");
    }
    return term.value;
}

void take(Erratum& e, const Term& term) {
    const auto is = [&](std::string_view name, std::string_view sign) {
        return term.name == name && term.sign == sign;
    };
    const bool bound = term.sign != "=";
    if (is("variant", "=")) {
        e.variant = term.value;
    } else if (is("version", "<=")) {
        e.last_version = static_cast<std::int32_t>(
            std::min<std::int64_t>(number(term, 1), std::numeric_limits<std::int32_t>::max()));
    } else if (term.name.starts_with("param.") && term.name.size() > 6 && !bound) {
        e.params.emplace_back(term.name.substr(6), term.value);
    } else if (is("op", "=")) {
        e.op = parse_op(term.value);
        if (!e.op) refuse("there is no op '" + term.value + "'");
    } else if (is("backend", "=")) {
        e.backend = parse_backend(term.value);
        if (!e.backend) refuse("backend=" + term.value + ": expected cpu or cuda");
    } else if (is("device", "=")) {
        e.device = term.value;
    } else if (is("driver", "<=")) {
        e.last_driver = version(term);
    } else if (is("cuda", "<=")) {
        e.last_cuda = version(term);
    } else if (term.name == "k" && bound) {
        take_range(e.k, term);
    } else if (term.name == "n_rows" && bound) {
        take_range(e.n_rows, term);
    } else if (term.name == "m" && bound) {
        take_range(e.m, term);
    } else if (is("reason", "=")) {
        e.reason = term.value;
    } else {
        refuse("there is no condition " + term.name + term.sign + "; expected " + std::string(kTerms));
    }
}

Erratum parse(std::string_view text) {
    Erratum e;
    std::set<std::string> seen;
    const auto skip_blanks = [&] { text.remove_prefix(std::min(text.find_first_not_of(' '), text.size())); };
    for (skip_blanks(); !text.empty(); skip_blanks()) {
        const Term term = take_term(text);
        // Documents carry a condition as text. A reason may have any bytes: it must not cost the erratum its force.
        if (term.name != "reason" && (!is_utf8(term.name) || !is_utf8(term.value))) {
            refuse("the condition number " + std::to_string(seen.size() + 1) + " is not UTF-8; write it in UTF-8");
        }
        if (!seen.insert(term.name + term.sign).second) refuse(term.name + term.sign + " stands twice");
        take(e, term);
    }
    if (e.variant.empty() && !e.op) refuse("name a variant or an op; otherwise it would leave nothing to run");
    if (e.variant.empty() && (e.last_version || !e.params.empty())) {
        refuse("a version and params are those of a variant; name it with variant=ID");
    }
    std::sort(e.params.begin(), e.params.end());
    return e;
}

std::string quoted(const std::string& value) {
    if (value.find_first_of(" \"\\") == std::string::npos) return value;
    std::string out = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

/// Whether `text` is `pattern`, in which * stands for any text and every other character for itself.
bool fits(std::string_view pattern, std::string_view text) {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;  // the last one met
    std::size_t behind = 0;                     // where what it stands for ends
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            behind = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++behind;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

/// A param of the variant that the config leaves out may have any value.
bool has_params(const Erratum& e, const Variant& v, const Params& params, const Query& query) {
    std::optional<Params> known;
    return std::all_of(e.params.begin(), e.params.end(), [&](const auto& wanted) {
        if (const std::string* value = params.find(wanted.first)) return *value == wanted.second;
        if (!known) known = v.default_params(query);
        return known->find(wanted.first) != nullptr;
    });
}

bool holds(const Erratum& e, const Variant& v, const Params& params, const Query& query) {
    if (!e.variant.empty() && e.variant != v.id) return false;
    if (e.last_version && v.version > *e.last_version) return false;
    if ((e.op && *e.op != v.op) || (e.backend && *e.backend != v.backend)) return false;
    if (!e.k.holds(query.problem.k) || !e.n_rows.holds(query.n_rows) || !e.m.holds(query.m)) return false;
    const Environment& here = query.device->environment;
    if (!e.device.empty() && !fits(e.device, here.device_name)) return false;
    if (!e.last_driver.empty() && !is_up_to(here.driver, e.last_driver)) return false;
    if (!e.last_cuda.empty() && !is_up_to(here.cuda_runtime, e.last_cuda)) return false;
    return has_params(e, v, params, query);
}

}  // namespace

std::string condition_text(const Erratum& e) {
    std::string out;
    const auto term = [&](const std::string& name, const std::string& value) {
        out += (out.empty() ? "" : " ") + name + quoted(value);
    };
    const auto range = [&](const std::string& name, const ErratumRange& r) {
        if (r.least > 0) term(name + ">=", std::to_string(r.least));
        if (r.most < std::numeric_limits<std::int64_t>::max()) term(name + "<=", std::to_string(r.most));
    };
    if (!e.variant.empty()) term("variant=", e.variant);
    if (e.last_version) term("version<=", std::to_string(*e.last_version));
    for (const auto& [name, value] : e.params) term("param." + name + "=", value);
    if (e.op) term("op=", std::string(to_text(*e.op)));
    if (e.backend) term("backend=", std::string(to_text(*e.backend)));
    if (!e.device.empty()) term("device=", e.device);
    if (!e.last_driver.empty()) term("driver<=", e.last_driver);
    if (!e.last_cuda.empty()) term("cuda<=", e.last_cuda);
    range("k", e.k);
    range("n_rows", e.n_rows);
    range("m", e.m);
    return out;
}

std::string to_text(const Erratum& e) {
    return condition_text(e) + " reason=" + quoted(e.reason);
}

Erratum parse_erratum(std::string_view text) {
    Erratum e = parse(text);
    if (e.reason.empty()) refuse("say why, in reason=\"...\"");
    return e;
}

Erratum parse_erratum(std::string_view condition, std::string reason) {
    Erratum e = parse(condition);
    if (!e.reason.empty()) refuse("the reason stands twice");
    if (reason.empty()) refuse("say why: the reason is empty");
    e.reason = std::move(reason);
    return e;
}

std::string made_under(const std::vector<std::string>& conditions) {
    std::string out;
    for (const std::string& condition : conditions) {
        out += (out.empty() ? std::string(kMadeUnder) : " ") + '[' + condition + ']';
    }
    return out;
}

std::vector<std::string> made_under_in(std::string_view sentence) {
    const std::size_t at = sentence.rfind(kMadeUnder);
    if (at == std::string_view::npos || !sentence.ends_with(']')) return {};
    sentence.remove_prefix(at + kMadeUnder.size());
    std::vector<std::string> out;
    while (sentence.starts_with('[')) {
        // A device may have brackets in its name, and none that a blank and another bracket follow.
        const std::size_t end = std::min(sentence.find("] ["), sentence.size() - 1);
        const std::string condition(sentence.substr(1, end - 1));
        try {
            if (condition_text(parse_erratum(condition, "any")) != condition) return {};
        } catch (const Error&) {
            return {};
        }
        out.push_back(condition);
        sentence.remove_prefix(std::min(end + 2, sentence.size()));
    }
    return out;
}

const Erratum* Errata::find(const Variant& variant, const Params& params, const Query& query) const {
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const Erratum& e) { return holds(e, variant, params, query); });
    return found == all_.end() ? nullptr : &*found;
}

const Erratum* erratum_of(const Variant& variant, const Params& params, const Query& query) {
    if (!query.device || !query.device->errata) return nullptr;
    return query.device->errata->find(variant, params, query);
}

}  // namespace gnntune
