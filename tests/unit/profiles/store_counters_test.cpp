// Counters come back with their measurement, and in the view and the export beside it.
#include <sstream>

#include "profiles/document/csv.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

TEST_F(StoreTest, KeepsCountersWithTheirMeasurement) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    Measurement counted = measurement("spmm.a", 2);
    counted.counters.emplace();
    double value = 0.5;
    for (const CounterField& field : kCounterFields) (*counted.counters).*field.value = value += 1;
    store.add_measurement(run, key, counted);
    const std::int64_t later = store.add_measurement(run, key, measurement("spmm.b", 3));
    Counters few;
    few.dram_read_bytes = 100;
    store.put_counters(later, *counted.counters);
    store.put_counters(later, few);  // replaces: what is not counted any more is gone
    store.add_measurement(run, key, measurement("spmm.c", 4));

    const auto rows = Store::open(file(), Mode::read_only).measurements(key);

    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].counters, counted.counters);
    EXPECT_EQ(rows[1].counters, few);
    EXPECT_FALSE(rows[2].counters.has_value());
    error_of(ErrorKind::database, [&] { store.put_counters(99, few); });
    const Database& db = store.database();
    EXPECT_EQ(db.integer("SELECT count(*) FROM counters", "counting"), 2);
    EXPECT_EQ(db.text("SELECT graph || config || dram_read_bytes FROM counters WHERE l2_read_bytes IS NULL", "reading"),
              "coraspmm.b100.0");
    EXPECT_EQ(db.integer("SELECT count(*) FROM counters WHERE l2_read_bytes = 32 * 3.5", "reading"), 1);
    // A name of a later version is passed over.
    db.execute("INSERT INTO counter VALUES (3, 'spilled_bytes', 1, '')", "writing");
    EXPECT_EQ(store.measurements(key)[2].counters, Counters());
    std::ostringstream csv;
    write_measurements_csv(store, std::nullopt, csv);
    EXPECT_TRUE(contains(csv.str(), ",100,,,"));
}

}  // namespace
}  // namespace gnntune::store
