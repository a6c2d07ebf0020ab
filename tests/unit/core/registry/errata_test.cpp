// Errata: what their text means, what they hold for, and what is chosen in the place of a config that is under one.
#include "core/registry/errata.hpp"

#include <gtest/gtest.h>

#include "core/common/error.hpp"
#include "core/dispatch/advise.hpp"
#include "core/dispatch/plan.hpp"
#include "core/registry/device.hpp"
#include "kernels/register_all.hpp"

namespace gnntune {
namespace {

std::string error_of(const std::string& text) {
    try {
        parse_erratum(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
        return error.what();
    }
    return "";
}

TEST(Errata, TextsRoundTripInCanonicalForm) {
    const char* const all =
        "variant=spmm.gar version<=3 param.S=64 param.vec=4 op=spmm backend=cuda device=\"NVIDIA H200*\" "
        "driver<=580.65 cuda<=13.0 k>=33 k<=64 n_rows>=1 n_rows<=10 m>=5 m<=500 reason=\"says \\\"why\\\" \\\\ all\"";
    EXPECT_EQ(to_text(parse_erratum(all)), all);
    const Erratum e = parse_erratum("  reason=slow   k<=8 param.vec=4  param.S=64 variant=spmm.gar ");
    EXPECT_EQ(condition_text(e), "variant=spmm.gar param.S=64 param.vec=4 k<=8");
    EXPECT_EQ(parse_erratum(condition_text(e), "slow"), e);
}

TEST(Errata, WhatIsNoErratumIsRefusedInWords) {
    const std::pair<const char*, const char*> cases[] = {
        {"", "name a variant or an op"},
        {"reason=x", "name a variant or an op"},
        {"k<=4 reason=x", "name a variant or an op"},
        {"op=spmm", "say why"},
        {"op=spmm reason=\"\"", "reason has no value"},
        {"op=spnn reason=x", "there is no op 'spnn'"},
        {"op=spmm version<=3 reason=x", "name it with variant=ID"},
        {"op=spmm param.vec=4 reason=x", "name it with variant=ID"},
        {"variant=a variant=b reason=x", "variant= stands twice"},
        {"variant=a version<=0 reason=x", "expected a whole number from 1"},
        {"variant=a version>=2 reason=x", "there is no condition version>="},
        {"variant=a param.=2 reason=x", "there is no condition param.="},
        {"variant=a k=4 reason=x", "there is no condition k="},
        {"variant=a k<4 reason=x", "expected =, <= or >= behind k"},
        {"variant=a k>=4x reason=x", "expected a whole number"},
        {"variant=a k>=4 k<=3 reason=x", "nothing is <=3 and the other bound"},
        {"variant=a driver<=new reason=x", "expected a version such as 580.65"},
        {"variant=a backend=gpu reason=x", "expected cpu or cuda"},
        {"variant=a nonsense reason=x", "'nonsense' is no condition"},
        {"variant=a device=\"NVIDIA", "the quote behind device does not end"},
        {"variant=a device=\"NVIDIA\"x", "expected a blank behind the quote"},
        {"variant=a device=\xff reason=x", "the condition number 2 is not UTF-8"},
        {"variant=a param.\xff=1 reason=x", "the condition number 2 is not UTF-8"},
        {"variant= reason=x", "variant has no value"}};
    for (const auto& [text, words] : cases) {
        EXPECT_NE(error_of(text).find(words), std::string::npos) << text << "\n" << error_of(text);
    }
}

class ErrataOnACpu : public testing::Test {
protected:
    ErrataOnACpu() {
        register_all(registry_);
        device_ = cpu_device();
        query_ = {
            {Op::spmm, 64, 1, DType::f32, Reduce::sum, true, Direction::forward}, 100, 50, 1000, nullptr, &device_};
    }
    void forbid(const std::vector<std::string>& texts) {
        std::vector<Erratum> all;
        for (const std::string& text : texts) all.push_back(parse_erratum(text, "known to be wrong"));
        device_.errata = std::make_shared<const Errata>(std::move(all));
    }
    bool holds(const std::string& condition, const std::string& config = "spmm.cpu_rows{tile=16,row_block=16}") {
        forbid({condition});
        const Config c = Config::parse(config);
        return erratum_of(*registry_.find(c.variant), c.params, query_) != nullptr;
    }

    Registry registry_;
    Device device_;
    Query query_;
};

TEST_F(ErrataOnACpu, HoldWhereEveryConditionDoes) {
    const std::string version = std::to_string(registry_.find("spmm.cpu_rows")->version);
    const std::string before = std::to_string(registry_.find("spmm.cpu_rows")->version - 1);
    device_.environment.device_name = "NVIDIA H200 NVL";
    device_.environment.driver = "580.65.06";
    device_.environment.cuda_runtime = "13.0";
    for (const std::string condition :
         {"op=spmm", "variant=spmm.cpu_rows", "op=spmm backend=cpu", "op=spmm device=\"NVIDIA H200*\"",
          "op=spmm driver<=580", "op=spmm driver<=580.65.06", "op=spmm driver<=580.66", "op=spmm driver<=600.1.2.3",
          "op=spmm cuda<=13.0", "op=spmm cuda<=13", "op=spmm k>=64 k<=64", "op=spmm n_rows>=100 m<=1000",
          "variant=spmm.cpu_rows param.tile=16", "variant=spmm.cpu_rows param.tile=16 param.row_block=16"}) {
        EXPECT_TRUE(holds(condition)) << condition;
    }
    EXPECT_TRUE(holds("variant=spmm.cpu_rows version<=" + version));
    for (const std::string condition :
         {"op=sddmm", "variant=spmm.cpu_edges", "op=spmm backend=cuda", "op=spmm device=\"NVIDIA H200\"",
          "op=spmm driver<=579", "op=spmm driver<=580.65.05", "op=spmm cuda<=12.9", "op=spmm k>=65", "op=spmm k<=63",
          "op=spmm n_rows<=99", "op=spmm m>=1001", "variant=spmm.cpu_rows param.tile=32",
          "variant=spmm.cpu_rows param.tile=16 param.row_block=8", "variant=spmm.cpu_rows param.none=1"}) {
        EXPECT_FALSE(holds(condition)) << condition;
    }
    // What a config leaves out may have any value.
    EXPECT_TRUE(holds("variant=spmm.cpu_rows param.row_block=64", "spmm.cpu_rows{tile=16}"));
    EXPECT_FALSE(holds("variant=spmm.cpu_rows param.none=64", "spmm.cpu_rows{tile=16}"));
    if (before != "0") {
        EXPECT_FALSE(holds("variant=spmm.cpu_rows version<=" + before));
    }
    device_.environment.driver.clear();
    EXPECT_FALSE(holds("op=spmm driver<=999"));  // nobody knows
}

TEST_F(ErrataOnACpu, OfADeviceOnlyTheStarStandsForOthers) {
    device_.environment.device_name = "NVIDIA H200 [NVL]?";
    for (const std::string name : {"NVIDIA H200 [NVL]?", "*", "**", "NVIDIA*", "*?", "*H200*", "NVIDIA*200*]?",
                                   "*NVIDIA H200 [NVL]?*", "*2*0*"}) {
        EXPECT_TRUE(holds("op=spmm device=\"" + name + "\"")) << name;
    }
    for (const std::string name :
         {"NVIDIA H200", "nvidia*", "NVIDIA H20? [NVL]?", "NVIDIA H[12]00*", "*NVL", "?*", "*H200*H200*"}) {
        EXPECT_FALSE(holds("op=spmm device=\"" + name + "\"")) << name;
    }
    EXPECT_FALSE(holds("op=spmm device=\"NVIDIA H200 \\\\[NVL]?\"")) << "a backslash is one";
}

TEST_F(ErrataOnACpu, HoldForPartsOfCompositions) {
    const Config whole = Config::parse("spmm.cpu_rows{tile=16,row_block=16}");
    const auto words = [&](const std::vector<PartVersion>& parts) {
        return erratum_words(registry_, query_, *registry_.find(whole.variant), whole.params, parts);
    };
    forbid({"variant=spmm.cpu_edges"});
    EXPECT_EQ(words({}), "");
    EXPECT_EQ(words({{whole, 1}}), "");
    EXPECT_EQ(words({{whole, 1}, {Config::parse("spmm.cpu_edges{parts=8}"), 1}}),
              "erratum of its part spmm.cpu_edges{parts=8}: known to be wrong");
    forbid({"variant=spmm.cpu_rows"});
    EXPECT_EQ(words({}), "erratum: known to be wrong");
}

TEST(Errata, WhatAChoiceWasMadeUnderIsReadBack) {
    const std::vector<std::string> conditions{"variant=spmm.gar version<=3 param.vec=4", "op=spmm k>=33",
                                              "op=gat device=\"A [new] one\""};
    for (std::string& c : std::vector<std::string>(conditions)) ASSERT_EQ(condition_text(parse_erratum(c, "any")), c);
    EXPECT_EQ(made_under({}), "");
    EXPECT_EQ(made_under_in("cheapest of 3" + made_under(conditions)), conditions);
    EXPECT_EQ(made_under_in("cheapest of 3" + made_under({conditions[1]})), std::vector{conditions[1]});
    const std::string one = made_under({"op=spmm"});
    for (const std::string& strange : {std::string(), std::string("cheapest of 3"), one + " more",
                                       one.substr(0, one.size() - 1), made_under({"colour=blue"}), made_under({""}),
                                       made_under({"op=spmm", "nonsense"}), made_under({}) + "[op=spmm]"}) {
        EXPECT_TRUE(made_under_in(strange).empty()) << strange;
    }
}

TEST_F(ErrataOnACpu, ADefaultGivesWayToTheNextLegalConfig) {
    const Config standard = exact_default(registry_, query_, {});
    std::string same = "variant=" + standard.variant;
    for (const auto& [name, value] : standard.params.values()) same += " param." + name + "=" + value;
    forbid({same});
    const Config next = exact_default(registry_, query_, {});
    EXPECT_NE(next, standard);
    EXPECT_EQ(next.variant, standard.variant);
    EXPECT_TRUE(registry_.find(next.variant)->valid(query_, next.params));

    forbid({"variant=" + standard.variant});
    const Config other = exact_default(registry_, query_, {});
    EXPECT_NE(other.variant, standard.variant);

    forbid({"op=spmm"});
    try {
        exact_default(registry_, query_, {});
        ADD_FAILURE() << "a default was found";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        EXPECT_NE(std::string(error.what()).find("erratum: known to be wrong"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace gnntune
