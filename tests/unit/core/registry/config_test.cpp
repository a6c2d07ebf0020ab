// The text of params and configs: what databases hold and people type. And the bridge to typed params.
#include "core/registry/config.hpp"

#include <gtest/gtest.h>

#include "core/common/error.hpp"
#include "core/registry/param_fields.hpp"

namespace gnntune {
namespace {

/// The words with which parsing refuses `text`.
template <typename T>
std::string refusal(const std::string& text) {
    try {
        (void)T::parse(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
        return error.what();
    }
    ADD_FAILURE() << "'" << text << "' was accepted";
    return "";
}

TEST(Params, SurviveTheirTextForm) {
    for (const Params& params :
         {Params{}, Params{{"S", "64"}}, Params{{"warps_per_block", "4"}, {"S", "64"}, {"vec", "4"}},
          Params{{"algorithm", "csr_2"}}, Params{{"spmm", "spmm.rows{vec=4,S=64}"}, {"k", "1"}}}) {
        EXPECT_EQ(Params::parse(params.text()), params) << params.text();
    }
}

TEST(Params, KeepTheOrderInWhichTheyWereNamed) {
    const Params params{{"b", "1"}, {"a", "2"}};

    EXPECT_EQ(params.text(), "b=1,a=2");
    EXPECT_EQ(Params::parse("b=1,a=2"), params);
    EXPECT_NE(Params::parse("a=2,b=1"), params);
}

TEST(Params, AreFoundAndReplacedByName) {
    Params params{{"S", "64"}, {"vec", "4"}};

    params.set("S", "128");
    params.set("new", "x");

    EXPECT_EQ(params.text(), "S=128,vec=4,new=x");
    ASSERT_NE(params.find("vec"), nullptr);
    EXPECT_EQ(*params.find("vec"), "4");
    EXPECT_EQ(params.find("ve"), nullptr);
    EXPECT_EQ(Params{}.find("S"), nullptr);
}

TEST(Params, ACommaInsideBracesBelongsToTheNestedConfig) {
    const Params params = Params::parse("spmm=spmm.rows{vec=4,S=64},softmax=edge_softmax.rows{inner=x{y=1,z=2}},k=1");

    ASSERT_EQ(params.values().size(), 3u);
    EXPECT_EQ(*params.find("spmm"), "spmm.rows{vec=4,S=64}");
    EXPECT_EQ(*params.find("softmax"), "edge_softmax.rows{inner=x{y=1,z=2}}");
    EXPECT_EQ(*params.find("k"), "1");
}

TEST(Params, WhatIsNoListIsRefusedInWords) {
    EXPECT_EQ(refusal<Params>("vec"), "params 'vec': expected name=value[,name=value...] at 'vec'");
    EXPECT_EQ(refusal<Params>("S=1,vec"), "params 'S=1,vec': expected name=value[,name=value...] at 'vec'");
    EXPECT_EQ(refusal<Params>("S=1,S=2"), "params 'S=1,S=2': 'S' stands twice");
    EXPECT_EQ(refusal<Params>("S=1,"), "params 'S=1,' end with a comma");
    for (const char* text : {"=4", "vec=", ",", ",S=1", "S=1,,vec=4", "a=x{b=1", "a=x}b=1{", "a=1},b=2", "}"}) {
        EXPECT_NE(refusal<Params>(text), "") << text;
    }
}

TEST(Config, SurvivesItsTextForm) {
    for (const Config& config :
         {Config{"spmm.gar", {}}, Config{"spmm.tcgnn", {{"warps_per_block", "4"}}},
          Config{"gat.unfused", {{"spmm", "spmm.rows{vec=4,S=64}"}, {"softmax", "edge_softmax.rows"}}}}) {
        EXPECT_EQ(Config::parse(config.text()), config) << config.text();
    }
}

TEST(Config, HasOneCanonicalText) {
    EXPECT_EQ((Config{"spmm.gar", {}}.text()), "spmm.gar");
    EXPECT_EQ((Config{"spmm.tcgnn", {{"warps_per_block", "4"}, {"S", "64"}}}.text()),
              "spmm.tcgnn{warps_per_block=4,S=64}");
    EXPECT_EQ(Config::parse("spmm.gar{}").text(), "spmm.gar");
}

TEST(Config, ANestedConfigIsReadFromItsParam) {
    const Config whole = Config::parse("spmm_grad.unfused{spmm=spmm.rows{vec=4,S=64}}");

    const Config part = Config::parse(*whole.params.find("spmm"));

    EXPECT_EQ(part.variant, "spmm.rows");
    EXPECT_EQ(*part.params.find("S"), "64");
}

TEST(Config, WhatIsNoConfigIsRefusedInWords) {
    EXPECT_EQ(refusal<Config>(""), "config '': expected variant or variant{name=value,...}");
    for (const char* text : {"{vec=4}", "spmm.rows{vec=4", "spmm.rows}", "spmm.rows{vec=4}x", "spmm.rows{vec}",
                             "spmm.rows{vec=4}{S=1}", "spmm.rows{vec=4}}", "spmm.rows{{vec=4}", "spmm.rows{vec=4,}"}) {
        EXPECT_NE(refusal<Config>(text), "") << text;
    }
}

struct TypedParams {
    int vec = 4;
    int S = 64;
    int order = 1;

    static const std::vector<ParamField<TypedParams>>& fields() {
        static const std::vector<ParamField<TypedParams>> kFields{
            {"vec", &TypedParams::vec, {1, 2, 4}},
            {"S", &TypedParams::S, {32, 64}},
            {"order", &TypedParams::order, {0, 1}, {"rows", "edges"}},
        };
        return kFields;
    }
    bool operator==(const TypedParams&) const = default;
};

/// The words with which the typed params refuse `text`.
std::string typed_refusal(const std::string& text) {
    try {
        (void)from_params<TypedParams>(Params::parse(text));
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
        return error.what();
    }
    ADD_FAILURE() << "'" << text << "' was accepted";
    return "";
}

TEST(ParamFields, EveryCombinationSurvivesTheTextForm) {
    const auto space = enumerate_params<TypedParams>();

    ASSERT_EQ(space.size(), 12u);
    for (std::size_t i = 0; i < space.size(); ++i) {
        EXPECT_EQ(from_params<TypedParams>(Params::parse(to_params(space[i]).text())), space[i]);
        for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(space[i] == space[j]) << i << " and " << j;
    }
}

TEST(ParamFields, AreEnumeratedLastFieldFastest) {
    const auto space = enumerate_params<TypedParams>();

    EXPECT_EQ(to_params(space.front()).text(), "vec=1,S=32,order=rows");
    EXPECT_EQ(to_params(space[1]).text(), "vec=1,S=32,order=edges");
    EXPECT_EQ(to_params(space[2]).text(), "vec=1,S=64,order=rows");
    EXPECT_EQ(to_params(space.back()).text(), "vec=4,S=64,order=edges");
}

TEST(ParamFields, WordsStandForValues) {
    EXPECT_EQ(to_params(TypedParams{}).text(), "vec=4,S=64,order=edges");
    EXPECT_EQ(from_params<TypedParams>({{"order", "rows"}}).order, 0);
}

TEST(ParamFields, NamesLeftOutKeepTheirDefaultAndOrderIsFree) {
    EXPECT_EQ(from_params<TypedParams>({}), TypedParams{});
    EXPECT_EQ(from_params<TypedParams>({{"order", "rows"}, {"vec", "2"}}), (TypedParams{2, 64, 0}));
}

TEST(ParamFields, WhatTheFieldsDoNotListIsRefusedInWords) {
    EXPECT_EQ(typed_refusal("vec=3"), "param vec=3 is not one of 1, 2, 4");
    EXPECT_EQ(typed_refusal("order=1"), "param order=1 is not one of rows, edges");
    EXPECT_EQ(typed_refusal("order=columns"), "param order=columns is not one of rows, edges");
    EXPECT_EQ(typed_refusal("wide=1"), "unknown param 'wide'; expected vec, S, order");
    EXPECT_EQ(typed_refusal("vec=04"), "param vec=04 is not one of 1, 2, 4");
}

struct NoParams {
    int unnamed = 0;  // no field of it is a param

    static const std::vector<ParamField<NoParams>>& fields() {
        static const std::vector<ParamField<NoParams>> kFields;
        return kFields;
    }
};

TEST(ParamFields, AVariantWithoutParamsHasOneConfig) {
    EXPECT_EQ(enumerate_params<NoParams>().size(), 1u);
    EXPECT_TRUE(to_params(NoParams{}).empty());
    EXPECT_THROW(from_params<NoParams>({{"vec", "4"}}), Error);
}

}  // namespace
}  // namespace gnntune
