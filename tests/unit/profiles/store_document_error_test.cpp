// Documents that are wrong: an error in words with the place, and nothing in the database.
#include "core/common/utf8.hpp"
#include "core/model/model.hpp"
#include "profiles/fields/json_text.hpp"
#include "profiles/fields/json_value.hpp"
#include "tests/unit/profiles/document_fixture.hpp"

namespace gnntune::store {
namespace {

struct Wrong {
    std::string_view from;  ///< what document() has
    std::string_view to;
    std::string_view words;  ///< what the message must have
};

// The sections begin in these lines: graph 3, environment 7, variant 10, problem 14, run 17, measurement 21, choice 25,
// step_choice 28, format_build 31, device_constant 34, model 37,
// erratum 40.
constexpr Wrong kWrong[] = {
    // Not JSON.
    {"\"n_rows\":2708", "\"n_rows\":NaN", "not JSON: line 4, column"},
    {"\"value\":4123.4", "\"value\":Infinity", "not JSON: line 35, column"},
    {"\"value\":4123.4", "\"value\":1e999", "number overflow"},
    {"\"reason\":\"fastest\"", "\"reason\":'fastest'", "not JSON: line 26, column"},
    {"\"seed\":1,", "\"seed\":01,", "not JSON: line 18, column"},
    {"\"name\":\"empty\"", "\"name\":\"\xff\"", "ill-formed UTF-8 byte"},
    {"\"name\":\"empty\"", "\"name\":\"\\ud800\"", "not JSON: line 5"},
    {"]\n}\n", "]\n}\n{}", "not JSON: line 50, column 1"},
    {"]\n}\n", "],\n}\n", "not JSON: line 49, column 1"},
    // Not a document.
    {"{\n\"schema\":\"gnntune.database/4\"", "[\n1",
     "line 1: expected an object with \"schema\":\"gnntune.database/4\", found a list"},
    {"\"schema\":\"gnntune.database/4\",\n", "",
     "line 2: expected \"schema\":\"gnntune.database/4\" first, found \"graph\""},
    {"gnntune.database/4", "gnntune.database/5",
     "line 2: the document is of the schema \"gnntune.database/5\", this gnntune reads"},
    {"gnntune.database/4", "gnntune.info/1", "line 2: the document is of the schema \"gnntune.info/1\""},
    {"\"gnntune.database/4\"", "1", "line 2: expected \"schema\":\"gnntune.database/4\", found a whole number"},
    {"\"schema\":\"gnntune.database/4\"", "\"schema\":\"gnntune.database/4\",\"schema\":\"gnntune.database/4\"",
     "\"schema\" stands twice"},
    {"\"graph\":[\n", "\"graphs\":[\n", "line 3: there is no section \"graphs\"; a document has graph, environment"},
    {"\"environment\":[\n", "\"graph\":[],\"environment\":[\n", "the section \"graph\" stands twice"},
    {"\"graph\":[\n", "\"problem\":[],\"graph\":[\n", "the section \"graph\" stands behind \"problem\""},
    {"\"run\":[\n", "\"run\":{},\"measurement\":[\n", "line 17: run: expected a list of records, found an object"},
    {"\"model\":[\n", "\"model\":[\n3,", "model[0]: expected an object, found a whole number"},
    // Members.
    {"\"source\":\"data/cora.mtx\",", "", "doc.json: line 4, graph[0]: the field \"source\" is missing"},
    {"\"source\":\"data/cora.mtx\",", "\"source\":null,", "line 4, graph[0]: the field \"source\" is missing"},
    {"\"samples\":31", "\"sample\":31", "line 22, measurement[0]: there is no field \"sample\""},
    {"\"samples\":31", "\"samples\":31,\"samples\":31", "line 22, measurement[0]: the key \"samples\" stands twice"},
    {"\"mean_degree\":3.9", "\"mean_degree\":3.9,\"mean_degree\":4",
     "line 4, graph[0]: the key \"mean_degree\" stands twice"},
    // Types and ranges.
    {"\"m\":10556", "\"m\":\"10556\"",
     "line 4, graph[0].m: expected a whole number from 0 to 2147483647, found \"10556\""},
    {"\"m\":10556", "\"m\":10556.0", "graph[0].m: expected a whole number from 0 to 2147483647, found 10556.0"},
    {"\"m\":10556", "\"m\":2147483648", "graph[0].m: expected a whole number from 0 to 2147483647, found 2147483648"},
    {"\"m\":10556", "\"m\":-1", "graph[0].m: expected a whole number from 0 to 2147483647, found -1"},
    {"\"seed\":-2", "\"seed\":9223372036854775808", "run[1].seed: expected a whole number, found 9223372036854775808"},
    {"\"k\":64,\"heads\"", "\"k\":0,\"heads\"", "problem[0].k: expected a whole number from 1 to 2147483647, found 0"},
    {"\"median_us\":12.5", "\"median_us\":\"fast\"",
     "measurement[0].median_us: expected a number from 0, found \"fast\""},
    {"\"median_us\":12.5", "\"median_us\":\"Infinity\"",
     "measurement[0].median_us: expected a number from 0, found \"Infinity\""},
    {"\"median_us\":12.5", "\"median_us\":-12.5", "measurement[0].median_us: expected a number from 0, found -12.5"},
    {"\"max_error\":1.25e-07", "\"max_error\":\"big\"",
     "measurement[0].max_error: expected \"Infinity\" or a number from 0, found \"big\""},
    {"\"weighted\":true", "\"weighted\":1", "problem[0].weighted: expected true or false, found 1"},
    {"\"name\":\"cora\"", "\"name\":[]", "graph[0].name: expected a text, found a list"},
    {"\"name\":\"cora\"", "\"name\":{\"base64\":\"?\"}", "graph[0].name.base64: expected base64, found \"?\""},
    {"\"name\":\"cora\"", "\"name\":{\"base64\":\"AA==\",\"x\":1}", "graph[0].name: expected a text, found an object"},
    {"\"bytes\":\"AAECAw==\"", "\"bytes\":\"AAECAx==\"", "model[0].bytes: expected base64"},
    {"\"training\":{\"graphs\":[\"cora\"]}", "\"training\":[]", "model[0].training: expected an object, found a list"},
    {"\"fingerprint\":\"0123456789abcdef0000000000000002\"", "\"fingerprint\":\"0123456789ABCDEF0000000000000002\"",
     "graph[1].fingerprint: expected 32 hexadecimal digits in lower case"},
    {"\"backend\":\"cuda\",\"device_name\"", "\"backend\":\"hip\",\"device_name\"",
     "environment[0].backend: expected a backend that this gnntune knows, found \"hip\""},
    {"\"status\":\"wrong\"", "\"status\":\"WRONG\"",
     "measurement[1].status: expected a status that this gnntune knows"},
    {"\"base\":\"csr\"", "\"base\":\"sgt\"", "format_build[0].base: expected a base that this gnntune knows"},
    {"\"decided_at\":\"2026-11-21T09:31:00Z\",\"step_call\"", "\"decided_at\":\"2026-11-21 09:31:00\",\"step_call\"",
     "step_choice[0].decided_at: expected a time in UTC such as"},
    {"2026-11-21T11:00:00Z", "2026-13-21T11:00:00Z", "model[0].fitted_at: expected a time in UTC such as"},
    {"\"config\":\"spmm.rows{vec=4}\",\"variant_version\":3}]", "\"config\":\"spmm.rows{vec\",\"variant_version\":3}]",
     "measurement[0].part[0].config: "},
    {"[\"spmm.rows{vec=4}\"]", "[\"spmm.rows{}\"]",
     "choice[0].tied[0]: expected the config in its canonical form, spmm.rows, found spmm.rows{}"},
    {"[\"spmm.rows{vec=4}\"]", "[7]", "choice[0].tied[0]: expected a text, found 7"},
    {"\"part\":[{", "\"part\":{\"a\":1},\"x\":[{", "measurement[0]: there is no field \"x\""},
    {"\"part\":[{\"config\":\"spmm.rows{vec=4}\",\"variant_version\":3}]", "\"part\":3",
     "measurement[0].part: expected a list, found a whole number"},
    {"\"part\":[{\"config\":\"spmm.rows{vec=4}\",\"variant_version\":3}]", "\"part\":[3]",
     "measurement[0].part[0]: expected an object, found a whole number"},
    // What is named must be there.
    {"\"id\":2,\"command\"", "\"id\":3,\"command\"", "line 23, measurement[1].run: the section \"run\" has no 2"},
    {"\"environment\":1,\"name\"", "\"environment\":9,\"name\"",
     "device_constant[0].environment: the section \"environment\" has no 9"},
    {"\"environment\":1,\"name\"", "\"environment\":\"1\",\"name\"",
     "device_constant[0].environment: expected a whole number, found \"1\""},
    {"\"config\":\"spmm.rows{vec=4}\",\"variant_version\":3}]",
     "\"config\":\"spmm.rows{vec=4}\",\"variant_version\":4}]",
     "measurement[0].part[0].variant_version: the section \"variant\" has no spmm.rows of version 4"},
    {"{\"graph\":\"0123456789abcdef0000000000000001\",\"environment\":1,\"base\"",
     "{\"graph\":\"0123456789abcdef0000000000000009\",\"environment\":1,\"base\"",
     "format_build[0].graph: the section \"graph\" has no 0123456789abcdef0000000000000009"},
    {"[{\"problem\":\"spmm k=64 f32 sum weighted forward\",\"runs",
     "[{\"problem\":\"spmm k=65 f32 sum weighted forward\",\"runs",
     "step_choice[0].step_call[0].problem: the section \"problem\" has no spmm k=65"},
    // Twice.
    {"\"id\":2,\"command\"", "\"id\":1,\"command\"", "line 19, run[1]: a record before it is 1 too"},
    {"\"fingerprint\":\"0123456789abcdef0000000000000002\"", "\"fingerprint\":\"0123456789abcdef0000000000000001\"",
     "line 5, graph[1]: a record before it is of the same"},
    {"\"id\":\"spmm.rows\",\"version\":3}", "\"id\":\"spmm.pair\",\"version\":1}",
     "variant[1]: a record before it is of the same"},
    {"\"name\":\"l2_hit_percent\"", "\"name\":\"dram_read_bytes\"",
     "measurement[0].counter[1]: a record before it is of the same"},
    // What does not fit together.
    {"\"text\":\"spmm k=64", "\"text\":\"spmm k=65",
     "problem[0].text: expected \"spmm k=64 f32 sum weighted forward\""},
    {"\"median_us\":12.5,", "", "line 22, measurement[0]: it has numbers that no measuring gives"},
    {"\"median_us\":12.5", "\"median_us\":0",
     "line 22, measurement[0]: it breaks a rule of the schema: CHECK constraint failed: status"},
    {"\"ci_low_us\":12.4", "\"ci_low_us\":12.55", "line 22, measurement[0]: it has numbers that no measuring gives"},
    {"\"samples\":31", "\"samples\":0", "line 22, measurement[0]: it has numbers that no measuring gives"},
    {"\"prepare_us\":1e+15", "\"prepare_us\":1e+16", "line 23, measurement[1]: it has numbers that no measuring gives"},
    {"\"config\":\"spmm.pair{spmm=default}\",\"variant_version\":1,\"source\"",
     "\"config\":\"spmm.rows{vec=4}\",\"variant_version\":3,\"source\"",
     "line 26, choice[0]: it was measured, it says, and no measurement"},
    {"\"config\":\"spmm.pair{spmm=default}\",\"variant_version\":1,\"formats\"",
     "\"config\":\"spmm.rows{vec=4}\",\"variant_version\":3,\"formats\"",
     "line 29, step_choice[0]: no measurement of status ok bears out"},
    {"\"expected_steps\":200", "\"expected_steps\":0",
     "step_choice[0]: it breaks a rule of the schema: CHECK constraint failed: expected_steps"},
    {"\"feature_version\":1", "\"feature_version\":10", "model[0].bytes: cost model:"},
};
static_assert(model::is_readable(10), "only bytes of readable versions are looked into: the line above has one");

class WrongDocumentTest : public DocumentTest {
protected:
    std::string complaint(std::string_view text) const {
        const std::string words = error_of(ErrorKind::input, [&] { import(text); });
        EXPECT_TRUE(contains(words, "doc.json: "));
        EXPECT_EQ(words.find('\n'), std::string::npos) << words;
        EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "something was left behind";
        return words;
    }
};

TEST_F(WrongDocumentTest, IsRefusedWithThePlace) {
    for (const Wrong& wrong : kWrong) {
        SCOPED_TRACE(wrong.to);
        EXPECT_TRUE(contains(complaint(edited(wrong.from, wrong.to)), std::string(wrong.words)));
    }
}

TEST_F(WrongDocumentTest, CutShortAnywhereIsRefused) {
    const std::string_view whole =
        std::string_view(document()).substr(0, document().size() - 1);  // the last line end is not missed
    Store store = at("empty.db");
    const std::string nothing = written(store);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        SCOPED_TRACE(size);
        const auto transaction = store.transaction();
        const std::string words = error_of(
            ErrorKind::input, [&] { load_document(source_of(whole.substr(0, size)), "doc.json", store.database()); });
        ASSERT_TRUE(contains(words, "doc.json: not JSON: line "));
    }
    EXPECT_EQ(written(store), nothing);
}

TEST_F(WrongDocumentTest, ChangesNothingInADatabase) {
    import(document(), "good.db");
    Store store = at("good.db");
    const std::string before = written(store);
    Store empty = at("empty.db");
    const std::string nothing = written(empty);

    {
        const auto transaction = empty.transaction();
        error_of(ErrorKind::input, [&] {
            load_document(source_of(edited("\"feature_version\":1", "\"feature_version\":-1")), "doc.json",
                          empty.database());
        });
    }
    error_of(ErrorKind::database, [&] { import(document(), "good.db"); });

    EXPECT_EQ(written(empty), nothing);
    EXPECT_EQ(written(store), before);
}

TEST_F(WrongDocumentTest, NestedDeeplyIsRefused) {
    const std::string deep = "\"x\":" + std::string(100, '[') + std::string(100, ']');
    EXPECT_TRUE(
        contains(complaint(edited("\"mean_degree\":3.9", deep)), "line 4, graph[0]: nested deeper than 64 levels"));
    EXPECT_TRUE(contains(complaint(std::string(100000, '[')), "line 1: expected an object"));
}

TEST_F(DocumentTest, TakesAModelThatThisProgramReadsOnlyWhole) {
    model::Model m;
    m.op = Op::spmm;
    m.backend = Backend::cuda;
    const auto record = [](const std::string& bytes, std::string_view op) {
        std::string text;
        append_base64(text, bytes);
        return edited(
            "\"op\":\"spmm\",\"backend\":\"cuda\",\"policy\":\"hot\",\"clock\":\"span\",\"feature_version\":1,"
            "\"bytes\":\"AAECAw==\"",
            "\"op\":\"" + std::string(op) +
                "\",\"backend\":\"cuda\",\"policy\":\"hot\",\"clock\":\"span\",\"feature_version\":" +
                std::to_string(model::kFeatureVersion) + ",\"bytes\":\"" + text + "\"");
    };
    const std::string bytes = model::to_bytes(m);

    import(record(bytes, "spmm"));
    EXPECT_EQ(at("imported.db").check(), std::vector<std::string>{});
    EXPECT_TRUE(contains(error_of(ErrorKind::input, [&] { import(record(bytes.substr(1), "spmm"), "b.db"); }),
                         "line 38, model[0].bytes: "));
    EXPECT_TRUE(contains(error_of(ErrorKind::input, [&] { import(record(bytes, "gat"), "b.db"); }),
                         "model[0].bytes: its bytes are of another"));
}

TEST(JsonText, Base64IsThatOfRfc4648AndOneTextForTheSameBytes) {
    const std::pair<std::string, std::string> kPairs[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"},
                                                          {"\xff\xfe", "//4="}};
    for (const auto& [bytes, text] : kPairs) {
        std::string written;
        append_base64(written, bytes);
        EXPECT_EQ(written, text);
        EXPECT_EQ(from_base64(text), bytes);
    }
    for (const char* wrong : {"Z", "Zg", "Zg=", "Zg= ", "Z===", "====", "Zh==", "Zm9=", "Zg==Zg==", "Zm9v\n", "Zm-v"}) {
        EXPECT_EQ(from_base64(wrong), std::nullopt) << wrong;
    }
}

TEST(JsonText, KnowsUtf8) {
    for (const char* good : {"", "plain", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                             "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
        EXPECT_TRUE(is_utf8(good)) << good;
    }
    EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
    for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2x", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",
                            "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
        EXPECT_FALSE(is_utf8(bad)) << bad;
    }
}

TEST(JsonText, NumbersAreTheShortestThatReadBack) {
    const std::pair<double, std::string> kNumbers[] = {
        {0.0, "0"},       {-0.0, "0"},        {1.0, "1"},
        {0.1, "0.1"},     {1e15, "1e+15"},    {1e-7, "1e-07"},
        {12.25, "12.25"}, {5e-324, "5e-324"}, {1.7976931348623157e308, "1.7976931348623157e+308"}};
    for (const auto& [number, text] : kNumbers) {
        std::string written;
        append_json_real(written, number);
        EXPECT_EQ(written, text);
    }
}

TEST(JsonValues, KeepOrderAndDigits) {
    const std::string text = R"({"b":[1,-2,1.50,1E5,18446744073709551615,true,null],"a":{"":"\u0001é"}})";
    std::string written;
    append_json(written, parse_json("\t" + text + " \n"));
    EXPECT_EQ(written, text);
}

}  // namespace
}  // namespace gnntune::store
