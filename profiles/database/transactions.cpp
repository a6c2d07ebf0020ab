// Transactions over a Database.
#include <utility>

#include "profiles/database/database.hpp"

namespace gnntune::store {

Transaction::Transaction(const Database& database) : database_(database) {
    database.execute("BEGIN IMMEDIATE", "taking the write lock");
}

Transaction::~Transaction() {
    if (!database_ || !database_->in_transaction()) return;
    try {
        database_->execute("ROLLBACK", "rolling back");
    } catch (...) {
        // Closing the connection rolls back as well; a destructor has nobody to tell.
    }
}

void Transaction::commit() {
    database_->execute("COMMIT", "committing");
    const Database database = *std::exchange(database_, std::nullopt);
    if (database.has_moved()) throw FileMoved(database.path(), true);
}

ReadTransaction::ReadTransaction(const Database& database) : database_(database) {
    database.execute("BEGIN", "beginning to read");
}

ReadTransaction::~ReadTransaction() {
    try {
        database_.execute("COMMIT", "ending to read");
    } catch (...) {
        // Nothing was written; closing the connection ends it as well.
    }
}

Savepoint::Savepoint(const Database& database) : database_(database) {
    database.execute("SAVEPOINT gnntune", "setting a savepoint");
}

Savepoint::~Savepoint() {
    // After some errors SQLite has rolled the whole transaction back already.
    if (!open_ || !database_.in_transaction()) return;
    try {
        database_.execute("ROLLBACK TO gnntune; RELEASE gnntune", "rolling back");
    } catch (...) {
    }
}

void Savepoint::release() {
    database_.execute("RELEASE gnntune", "releasing a savepoint");
    open_ = false;
}

}  // namespace gnntune::store
