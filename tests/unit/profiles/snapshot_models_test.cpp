// Which cost model and which device constants a dispatcher goes by.
#include "core/model/model_features.hpp"
#include "profiles/snapshot/snapshot.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

class SnapshotModels : public StoreTest {
protected:
    static ModelRow row(const std::string& name, Clock clock, const std::string& fitted_at,
                        std::int32_t features = model::kFeatureVersion) {
        return {Op::spmm, Backend::cuda, Policy::hot, clock, features, name, "{}", "{}", "0.1.0", "abc", fitted_at};
    }
    Store open_named(const std::string& name) const { return Store::open(file(name), Mode::read_write_create); }
    std::string chosen(const std::vector<std::filesystem::path>& paths) const {
        const Snapshot snapshot = Snapshot::load(paths, environment());
        const SnapshotModel* found = snapshot.model(Op::spmm, Policy::hot);
        return found ? found->row.bytes + " of " + std::to_string(found->file) : "none";
    }
};

TEST_F(SnapshotModels, TheNewestOfTheFirstFileThatFitsThisBuild) {
    {
        Store user = open_named("user.db");
        Store shipped = open_named("shipped.db");
        shipped.put_model(row("shipped", Clock::events, "2026-11-30T00:00:00Z"));
        EXPECT_EQ(chosen({file("user.db"), file("shipped.db")}), "shipped of 1");
        user.put_model(row("other features", Clock::host, "2026-11-29T00:00:00Z", model::kFeatureVersion + 1));
        EXPECT_EQ(chosen({file("user.db")}), "other features of 0") << "so that it can be named";
        EXPECT_EQ(chosen({file("user.db"), file("shipped.db")}), "shipped of 1");
        user.put_model(row("older", Clock::span, "2026-11-01T00:00:00Z"));
        EXPECT_EQ(chosen({file("user.db"), file("shipped.db")}), "older of 0");
        user.put_model(row("newer", Clock::events, "2026-11-02T00:00:00Z"));
        EXPECT_EQ(chosen({file("user.db"), file("shipped.db")}), "newer of 0");
    }
    const Snapshot snapshot = Snapshot::load(file("user.db"), environment());
    EXPECT_EQ(snapshot.model(Op::gat, Policy::hot), nullptr);
    EXPECT_EQ(snapshot.model(Op::spmm, Policy::cold), nullptr);
    Environment cpu = environment();
    cpu.backend = Backend::cpu;
    EXPECT_EQ(Snapshot::load(file("user.db"), cpu).model(Op::spmm, Policy::hot), nullptr);
}

TEST_F(SnapshotModels, AModelOfAnOpOfTomorrowIsPassedOver) {
    {
        Store store = open();
        store.put_model(row("known", Clock::events, "2026-11-30T00:00:00Z"));
        store.database().execute(
            "INSERT INTO model SELECT NULL, 'spgemm', backend, policy, clock, feature_version, "
            "bytes, training, scores, tool_version, git_commit, fitted_at FROM model",
            "adding a model");
        EXPECT_EQ(store.models().size(), 1U);
    }
    EXPECT_EQ(chosen({file()}), "known of 0");
}

TEST_F(SnapshotModels, ConstantsAreThoseOfTheDeviceOrOfItsName) {
    {
        Store store = open();
        Environment other = environment();
        other.driver = "another";
        store.put_device_constant(store.environment_id(other), {"copy_gbps", 0, 0, 4000, "GB/s", ""});
    }
    EXPECT_EQ(Snapshot::load(file(), environment()).constants().copy_gbps, 4000);
    {
        Store store = open();
        store.put_device_constant(store.environment_id(environment()), {"copy_gbps", 0, 0, 4100, "GB/s", ""});
    }
    EXPECT_EQ(Snapshot::load(file(), environment()).constants().copy_gbps, 4100);
    Environment elsewhere = environment();
    elsewhere.device_name = "NVIDIA H100";
    EXPECT_EQ(Snapshot::load(file(), elsewhere).constants().copy_gbps, 0);
}

}  // namespace
}  // namespace gnntune::store
