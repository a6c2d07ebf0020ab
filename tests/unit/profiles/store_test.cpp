// What the store keeps is what was given to it, and its views say the right numbers.
#include <cmath>
#include <sstream>

#include "profiles/document/csv.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

using Status = MeasurementStatus;

void expect_same(const Measurement& a, const Measurement& b) {
    EXPECT_EQ(a.config, b.config);
    EXPECT_EQ(a.variant_version, b.variant_version);
    EXPECT_EQ(a.policy, b.policy);
    EXPECT_EQ(a.clock, b.clock);
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.reason, b.reason);
    EXPECT_EQ(a.median_us, b.median_us);
    EXPECT_EQ(a.q1_us, b.q1_us);
    EXPECT_EQ(a.q3_us, b.q3_us);
    EXPECT_EQ(a.min_us, b.min_us);
    EXPECT_EQ(a.ci_low_us, b.ci_low_us);
    EXPECT_EQ(a.ci_high_us, b.ci_high_us);
    EXPECT_EQ(a.samples, b.samples);
    EXPECT_EQ(a.sm_clock_mhz, b.sm_clock_mhz);
    EXPECT_EQ(a.prepare_us, b.prepare_us);
    EXPECT_EQ(a.workspace_bytes, b.workspace_bytes);
    EXPECT_EQ(a.format_bytes, b.format_bytes);
    EXPECT_EQ(a.deterministic, b.deterministic);
    EXPECT_EQ(a.approximate, b.approximate);
    EXPECT_EQ(a.max_error, b.max_error);
    EXPECT_EQ(a.mean_error, b.mean_error);
    EXPECT_EQ(a.worst_ratio, b.worst_ratio);
    EXPECT_EQ(a.taken_at, b.taken_at);
    EXPECT_EQ(a.counters, b.counters);
}

TEST_F(StoreTest, ReturnsEveryFieldOfAMeasurement) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    Measurement m = measurement("spmm.tcgnn{warps_per_block=4,S=64}", 38.2);
    m.variant_version = 3;
    m.policy = Policy::graph;
    m.clock = Clock::events;
    m.approximate = true;
    m.workspace_bytes = std::int64_t{1} << 40;
    m.max_error = 0.1;  // not a float
    Measurement early = measurement("spmm.gar", 900.0);
    early.status = Status::abandoned;
    early.reason = "20 times slower than the best after 3 samples";
    store.add_measurement(run, key, m);
    store.add_measurement(run, key, early);

    const auto read = Store::open(file(), Mode::read_only).measurements(key);

    ASSERT_EQ(read.size(), 2u);
    expect_same(read[0], m);
    expect_same(read[1], early);
}

TEST_F(StoreTest, KeepsFailedAttemptsWithTheirReason) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    Measurement wrong = not_ok("spmm.a", Status::wrong, "row 7: expected 1, got \"nan\"");
    wrong.max_error = std::nan("");
    wrong.worst_ratio = INFINITY;
    store.add_measurement(run, key, wrong);
    store.add_measurement(run, key, not_ok("spmm.b{S=1}", Status::refused, "k = 7 is not a multiple of 4"));
    store.add_measurement(run, key, not_ok("spmm.c", Status::failed, "cudaErrorIllegalAddress"));

    const auto rows = store.measurements(key);

    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].reason, wrong.reason);
    EXPECT_TRUE(std::isnan(rows[0].max_error));
    EXPECT_TRUE(std::isinf(rows[0].worst_ratio));
    expect_same(rows[1], not_ok("spmm.b{S=1}", Status::refused, "k = 7 is not a multiple of 4"));
    expect_same(rows[2], not_ok("spmm.c", Status::failed, "cudaErrorIllegalAddress"));
    EXPECT_EQ(store.database().integer("SELECT count(*) FROM failures", "counting"), 3);
}

TEST_F(StoreTest, RefusesAnOkRowWithoutATime) {
    Store store = open();
    const Key key = key_in(store);
    const std::int64_t run = store.begin_run(run_info());
    error_of(ErrorKind::invalid_argument, [&] { store.add_measurement(run, key, measurement("spmm.a", 0)); });
    error_of(ErrorKind::invalid_argument,
             [&] { store.add_measurement(run, key, measurement("spmm.a", std::nan(""))); });
    error_of(ErrorKind::database, [&] { store.add_measurement(run + 1, key, measurement("spmm.a", 1)); });
    error_of(ErrorKind::invalid_argument, [&] {
        store.add_measurement(run, {key.graph, 99, key.problem}, measurement("spmm.a", 1));
    });
    EXPECT_TRUE(store.measurements(key).empty());
}

TEST_F(StoreTest, FindsAGraphByAnyOfItsNamesAndByItsFingerprint) {
    Store store = open();
    const std::int64_t id = store.graph_id(graph("cora"));
    GraphRecord again = graph("standin/cora");
    again.features_json = R"({"mean_degree":3.9,"gini":0.4})";
    EXPECT_EQ(store.graph_id(again), id);
    EXPECT_NE(store.graph_id(graph("pubmed", 2)), id);

    const auto by_name = store.find_graphs("standin/cora");
    ASSERT_EQ(by_name.size(), 1u);
    EXPECT_EQ(by_name[0].record.name, "cora");
    EXPECT_EQ(by_name[0].record.fingerprint, graph().fingerprint);
    EXPECT_EQ(by_name[0].record.features_json, again.features_json);
    EXPECT_EQ(by_name[0].other_names, std::vector<std::string>{"standin/cora"});
    EXPECT_EQ(store.find_graphs("0123456789ABCDEF").size(), 2u);
    EXPECT_EQ(store.find_graphs("012").size(), 0u);
    EXPECT_EQ(store.find_graphs("cor_").size(), 0u);
    EXPECT_EQ(store.graphs().size(), 2u);

    GraphRecord other_size = graph();
    other_size.m += 1;
    EXPECT_EQ(store.graph_id(other_size), store.graph_id(graph())) << "sizes are part of the fingerprint";
    again.features_json = "{oops";
    error_of(ErrorKind::invalid_argument, [&] { store.graph_id(again); });
}

TEST_F(StoreTest, TellsEnvironmentsAndProblemsApartByEveryField) {
    Store store = open();
    std::vector<Environment> environments(10, environment());
    environments[1].backend = Backend::cpu;
    environments[2].device_name = "NVIDIA H100";
    environments[3].compute_capability = "10.0";
    environments[4].multiprocessors = 114;
    environments[5].memory_bytes += 1;
    environments[6].l2_bytes += 1;
    environments[7].driver = "";
    environments[8].cuda_runtime = "12.8";
    environments[9].libraries = "";
    std::vector<Problem> problems(8, problem());
    problems[1].op = Op::gat;
    problems[2].k = 65;
    problems[3].heads = 8;
    problems[4].dtype = DType::bf16;
    problems[5].reduce = Reduce::max;
    problems[6].weighted = false;
    problems[7].direction = Direction::reversed;

    for (const int round : {0, 1}) {
        for (std::size_t i = 0; i < environments.size(); ++i) {
            EXPECT_EQ(store.environment_id(environments[i]), static_cast<std::int64_t>(i + 1)) << round;
        }
        for (std::size_t i = 0; i < problems.size(); ++i) {
            EXPECT_EQ(store.problem_id(problems[i]), static_cast<std::int64_t>(i + 1)) << round;
        }
    }
    for (const auto& row : store.environments()) {
        EXPECT_EQ(row.environment, environments[static_cast<std::size_t>(row.id - 1)]);
    }
    for (const auto& row : store.problems()) EXPECT_EQ(row.problem, problems[static_cast<std::size_t>(row.id - 1)]);
    error_of(ErrorKind::invalid_argument, [&] { store.problem_id(problem(0)); });
}

TEST_F(StoreTest, KeepsAChoiceWithItsTiedSetAndReplacesIt) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    store.add_measurement(run, key, measurement("spmm.rows{vec=4}", 44));
    Choice choice{Config::parse("spmm.rows{vec=4}"),
                  1,
                  "measured",
                  "fastest of 12, \"by far\"",
                  44.0,
                  {Config::parse("spmm.rows{vec=2}"), Config::parse("spmm_grad.unfused{spmm=spmm.rows{vec=4}}")}};
    EXPECT_FALSE(store.choice(key, Policy::hot, Clock::span));
    store.set_choice(run, key, Policy::hot, Clock::span, choice);

    const auto read = store.choice(key, Policy::hot, Clock::span);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->config, choice.config);
    EXPECT_EQ(read->variant_version, 1);
    EXPECT_EQ(read->source, choice.source);
    EXPECT_EQ(read->reason, choice.reason);
    EXPECT_EQ(read->expected_us, 44.0);
    EXPECT_EQ(read->tied, choice.tied);
    EXPECT_FALSE(store.choice(key, Policy::cold, Clock::span));
    EXPECT_FALSE(store.choice(key, Policy::hot, Clock::events));

    choice.source = "model";
    choice.config = Config::parse("spmm.other");
    choice.tied.clear();
    store.set_choice(run, key, Policy::hot, Clock::span, choice);
    const auto rows = store.choices();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].choice.config.text(), "spmm.other");
    EXPECT_EQ(rows[0].graph_name, "cora");
    EXPECT_EQ(rows[0].environment, environment());
    EXPECT_EQ(rows[0].problem, problem());
    EXPECT_EQ(rows[0].run, run);
    EXPECT_EQ(rows[0].key, key);

    choice.source = "measured";  // but never was
    error_of(ErrorKind::invalid_argument, [&] { store.set_choice(run, key, Policy::hot, Clock::span, choice); });
    EXPECT_EQ(store.choice(key, Policy::hot, Clock::span)->source, "model");
}

TEST_F(StoreTest, KnowsWhatIsDoneByVersionPolicyClockAndParts) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    const std::vector<PartVersion> parts{{Config::parse("spmm.rows{vec=4}"), 2}, {Config::parse("sddmm.dot"), 1}};
    store.add_measurement(run, key, measurement("spmm.a{S=8}", 1));
    store.add_measurement(run, key, not_ok("spmm.b", Status::refused, "no"));
    store.add_measurement(run, key, not_ok("spmm.b", Status::failed, "no again"));
    store.add_measurement(run, key, with_parts(measurement("spmm.whole", 2), parts));

    const Attempt a{"spmm.a{S=8}", 1, Policy::hot, Clock::span, ""};
    const Attempt b{"spmm.b", 1, Policy::hot, Clock::span, ""};
    const Attempt whole{"spmm.whole", 1, Policy::hot, Clock::span, parts_text(parts)};
    EXPECT_EQ(whole.parts, "spmm.rows{vec=4}@2 sddmm.dot@1");
    const AttemptSet done = store.done(key);
    EXPECT_EQ(done, (AttemptSet{a, b, whole}));

    std::vector<Attempt> others(5, whole);
    others[0].config = "spmm.a{S=16}";
    others[1].variant_version = 2;
    others[2].policy = Policy::cold;
    others[3].clock = Clock::events;
    others[4].parts = "spmm.rows{vec=4}@3 sddmm.dot@1";
    for (const Attempt& attempt : others) EXPECT_FALSE(done.contains(attempt));
    EXPECT_TRUE(store.done(key_in(store, 128)).empty());
    EXPECT_EQ(store.stored_measurements(key).back().measurement.parts, parts);
}

TEST_F(StoreTest, FiltersByPolicyClockAndRun) {
    Store store = open();
    const std::int64_t first = store.begin_run(run_info());
    const std::int64_t second = store.begin_run(run_info());
    const Key key = key_in(store);
    for (const std::int64_t run : {first, second}) {
        for (const Policy policy : {Policy::hot, Policy::cold}) {
            Measurement m = measurement("spmm.a", 10.0 * static_cast<double>(run));
            m.policy = policy;
            store.add_measurement(run, key, m);
        }
    }
    EXPECT_EQ(store.measurements(key).size(), 4u);
    EXPECT_EQ(store.measurements(key, {Policy::cold, {}, {}}).size(), 2u);
    EXPECT_EQ(store.measurements(key, {{}, Clock::events, {}}).size(), 0u);
    const auto score = store.stored_measurements(key, {Policy::cold, Clock::span, second});
    ASSERT_EQ(score.size(), 1u);
    EXPECT_EQ(score[0].run, second);
    EXPECT_EQ(score[0].measurement.median_us, 20.0);
    const Key later = key_in(store, 128);
    store.add_measurement(second, later, measurement("spmm.a", 30));
    EXPECT_EQ(store.measured(Policy::hot, Clock::span), (std::vector<Key>{key, later}));
    EXPECT_EQ(store.measured(Policy::cold, Clock::span), std::vector<Key>{key});
}

TEST_F(StoreTest, KeepsRunsAndDeviceConstants) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const std::int64_t killed = store.begin_run(run_info());
    store.end_run(run);
    const auto runs = store.runs();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].id, run);
    EXPECT_EQ(runs[0].info.command, run_info().command);
    EXPECT_EQ(runs[0].info.git_commit, run_info().git_commit);
    EXPECT_EQ(runs[0].info.seed, 15);
    EXPECT_EQ(runs[0].info.host, run_info().host);
    EXPECT_TRUE(runs[0].ended_at);
    EXPECT_EQ(runs[1].id, killed);
    EXPECT_FALSE(runs[1].ended_at);

    const std::int64_t env = store.environment_id(environment());
    store.put_device_constant(env, {"copy_gbps", 0, 0, 4100.5, "GB/s", "2026-11-21T09:00:00Z"});
    store.put_device_constant(env, {"gather_gbps", 1 << 26, 256, 3000, "GB/s", ""});
    store.put_device_constant(env, {"gather_gbps", 1 << 20, 256, 9000, "GB/s", ""});
    store.put_device_constant(env, {"copy_gbps", 0, 0, 4200.5, "GB/s", "2026-11-21T10:00:00Z"});
    EXPECT_EQ(store.device_constants(env).size(), 3u);
    const auto gather = store.device_constants(env, "gather_gbps");
    ASSERT_EQ(gather.size(), 2u);
    EXPECT_EQ(gather[0].table_bytes, 1 << 20);
    EXPECT_EQ(gather[1].value, 3000);
    EXPECT_FALSE(gather[1].taken_at.empty());
    EXPECT_EQ(store.device_constants(env, "copy_gbps")[0].value, 4200.5);
    EXPECT_EQ(store.device_constants(env, "copy_gbps")[0].taken_at, "2026-11-21T10:00:00Z");
}

class StoreViewTest : public StoreTest {
protected:
    void fill(Store& store) {
        const std::int64_t run = store.begin_run(run_info());
        const Key key = key_in(store);
        store.add_measurement(run, key, measurement("spmm.rows{vec=4}", 30));  // taken again below
        store.add_measurement(run, key, measurement("spmm.rows{vec=4}", 44));
        store.add_measurement(run, key, measurement("spmm.rows{vec=2}", 46.2));
        store.add_measurement(run, key, measurement("spmm.cusparse{alg=2}", 61.6));
        store.add_measurement(run, key, measurement("spmm.cusparse{alg=3}", 80));
        Measurement sampled = measurement("spmm.es{S=64}", 10);
        sampled.approximate = true;
        store.add_measurement(run, key, sampled);
        store.add_measurement(run, key, measurement("spmm.old", 5));  // of a version that no longer counts
        Measurement renewed = measurement("spmm.old", 500);
        renewed.variant_version = 2;
        store.add_measurement(run, key, renewed);
        store.add_measurement(run, key, measurement("spmm.broken", 6));
        store.add_measurement(run, key, not_ok("spmm.broken", Status::wrong, "found wrong later"));
        // A composition falls with its part.
        const std::vector<PartVersion> stale{{Config::parse("spmm.old"), 1}};
        store.add_measurement(run, key, with_parts(measurement("spmm.whole", 7), stale));
        Measurement cold = measurement("spmm.rows{vec=4}", 99);
        cold.policy = Policy::cold;
        store.add_measurement(run, key, cold);
        store.set_choice(run, key, Policy::hot, Clock::span,
                         {Config::parse("spmm.rows{vec=4}"), 1, "measured", "fastest", 44, {}});
        store.end_run(run);
    }
};

TEST_F(StoreViewTest, BestNamesTheFastestExactConfigThatCounts) {
    Store store = open();
    fill(store);
    const auto best = store.best();
    ASSERT_EQ(best.size(), 2u);
    EXPECT_EQ(best[0].policy, Policy::cold);
    EXPECT_EQ(best[0].time_us, 99);
    EXPECT_FALSE(best[0].runner_up);
    EXPECT_FALSE(best[0].cusparse_us);
    EXPECT_EQ(best[1].graph, "cora");
    EXPECT_EQ(best[1].op, Op::spmm);
    EXPECT_EQ(best[1].k, 64);
    EXPECT_EQ(best[1].problem, to_text(problem()));
    EXPECT_EQ(best[1].device, "NVIDIA H200");
    EXPECT_EQ(best[1].policy, Policy::hot);
    EXPECT_EQ(best[1].clock, Clock::span);
    EXPECT_EQ(best[1].config, "spmm.rows{vec=4}");
    EXPECT_EQ(best[1].time_us, 44);
    EXPECT_EQ(best[1].cusparse_us, 61.6);
    EXPECT_EQ(best[1].vs_cusparse, 1.4);
    EXPECT_EQ(best[1].runner_up, "spmm.rows{vec=2}");
    EXPECT_EQ(best[1].margin_percent, 5.0);
    EXPECT_TRUE(best[1].deterministic);
    EXPECT_EQ(best[1].taken_at, "2026-11-21T09:30:00Z");
}

TEST_F(StoreViewTest, OtherViewsCountRight) {
    Store store = open();
    fill(store);
    const Database& db = store.database();
    EXPECT_EQ(db.integer("SELECT measurements FROM runs", "counting"), 12);
    EXPECT_EQ(db.integer("SELECT ok FROM runs", "counting"), 11);
    EXPECT_EQ(db.text("SELECT device FROM runs", "reading"), "NVIDIA H200");
    EXPECT_EQ(db.integer("SELECT seconds FROM runs", "reading") / 60, 0);
    EXPECT_EQ(db.text("SELECT reason FROM failures", "reading"), "found wrong later");
    EXPECT_EQ(db.text("SELECT config FROM choices", "reading"), "spmm.rows{vec=4}");
    EXPECT_EQ(
        db.text("SELECT op || backend || deterministic || approximate FROM variant WHERE id = 'spmm.es'", "reading"),
        "spmmcuda11");
    EXPECT_EQ(store.check(), std::vector<std::string>{});
}

TEST_F(StoreViewTest, ExportsCsv) {
    Store store = open();
    fill(store);
    std::ostringstream best;
    write_best_csv(
        store, [](const BestRow& row) { return row.policy == Policy::hot ? "yes: no" : ""; }, best);
    EXPECT_TRUE(contains(best.str(),
                         "graph,op,k,problem,device,policy,clock,config,time_us,cusparse_us,vs_cusparse,runner_up,"
                         "margin_percent,deterministic,taken_at,environment_id,held_back\n"));
    EXPECT_TRUE(contains(best.str(),
                         "cora,spmm,64,spmm k=64 f32 sum weighted forward,NVIDIA H200,hot,span,spmm.rows{vec=4},44,"
                         "61.6,1.4,spmm.rows{vec=2},5,yes,2026-11-21T09:30:00Z,1,yes: no\n"));

    const std::int64_t run = store.begin_run(run_info());
    store.add_measurement(run, key_in(store), not_ok("spmm.x{a=1,b=2}", Status::failed, "said \"no\""));
    std::ostringstream rows;
    write_measurements_csv(store, run, rows);
    EXPECT_EQ(
        rows.str(),
        "graph,n_rows,n_cols,m,op,k,heads,weighted,direction,self_loop,dtype,reduce,policy,clock,config,variant_"
        "version,status,"
        "reason,"
        "median_us,q1_us,q3_us,samples,sm_clock_mhz,prepare_us,workspace_bytes,max_error,device,driver,cuda,taken_at,"
        "commit,dram_read_bytes,dram_write_bytes,l2_read_bytes,l2_write_bytes,l2_atomic_bytes,l2_reduction_bytes,"
        "l2_hit_percent,l1_hit_percent,occupancy_percent,issue_percent,l1_pipe_percent,tensor_pipe_percent,"
        "tensor_instructions,shared_bank_conflicts,sm_active_us,atomic_unit_us\n"
        "cora,2708,2708,10556,spmm,64,1,1,forward,0,f32,sum,hot,span,\"spmm.x{a=1,b=2}\",1,failed,\"said \"\"no\"\"\","
        ",,,0,0,0,0,0,NVIDIA H200,580.65.06,13.0,2026-11-21T09:31:00Z,6f4d9f3,,,,,,,,,,,,,,,,\n");
    std::ostringstream all;
    write_measurements_csv(store, std::nullopt, all);
    EXPECT_TRUE(contains(all.str(), ",1.25e-07,"));
    error_of(ErrorKind::invalid_argument, [&] { write_measurements_csv(store, 77, all); });
}

TEST_F(StoreViewTest, CheckFindsWhatIsWrong) {
    Store store = open();
    fill(store);
    const Database& db = store.database();
    int asked = 0;
    const auto problems =
        store.check([&](const Config& config, std::int32_t version, bool) -> std::optional<std::string> {
            ++asked;
            if (config.variant == "spmm.old") {
                EXPECT_EQ(version, 2);
            }
            if (config.text() == "spmm.rows{vec=2}") return "vec must be 1 or 4";
            return std::nullopt;
        });
    EXPECT_EQ(asked, 8);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0], "config spmm.rows{vec=2} version 1 (1 row): vec must be 1 or 4");

    db.execute(
        "PRAGMA foreign_keys = OFF; UPDATE choice SET config = 'spmm.never', graph_id = 1; "
        "UPDATE measurement SET config = 'spmm.rows{' WHERE config = 'spmm.rows{vec=2}'; "
        "UPDATE problem SET text = 'other'; UPDATE measurement SET run_id = 50 WHERE config = 'spmm.old'; "
        "UPDATE graph SET fingerprint = 'zz345678901234567890123456789012'",
        "breaking it");
    std::string all;
    for (const auto& problem : store.check()) all += problem + '\n';
    EXPECT_TRUE(
        contains(all, "rows of measurement that name a row of run which does not exist: 2, the first is row 7\n"));
    EXPECT_TRUE(contains(all, "is spmm.never version 1, of which no ok measurement is stored"));
    EXPECT_TRUE(contains(all, "malformed fingerprint 'zz3"));
    EXPECT_TRUE(contains(all, "but says 'other'"));
    EXPECT_TRUE(contains(all, "config spmm.rows{ version 1 (1 row): config 'spmm.rows{': expected"));
}

TEST_F(StoreTest, TransactionGroupsWritesAndRollsBack) {
    Store store = open();
    const Key key = key_in(store);
    const std::int64_t run = store.begin_run(run_info());
    {
        Transaction transaction = store.transaction();
        store.add_measurement(run, key, measurement("spmm.a", 1));
        error_of(ErrorKind::database, [&] { store.add_measurement(run + 1, key, measurement("spmm.new", 1)); });
        store.add_measurement(run, key, measurement("spmm.b", 1));
        transaction.commit();
    }
    {
        Transaction transaction = store.transaction();
        store.add_measurement(run, key, measurement("spmm.c", 1));
    }
    EXPECT_EQ(store.measurements(key).size(), 2u);
    EXPECT_EQ(store.database().integer("SELECT count(*) FROM variant", "counting"), 2);
}

}  // namespace
}  // namespace gnntune::store
