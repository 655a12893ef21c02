//! The schema's history: one ordered list of SQL files against `user_version`. A landed file never changes.

use rusqlite::{Connection, TransactionBehavior};

/// What `application_id` of our databases says: "njar".
pub(super) const APPLICATION_ID: i32 = 0x6e6a_6172;

/// Migration n takes a database from version n to n + 1.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_tables.sql"),
    include_str!("migrations/0002_views.sql"),
    include_str!("migrations/0003_paper.sql"),
];

/// The number of migrations applied.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<usize> {
    connection.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0)).map(|n| n as usize)
}

/// Applies what is missing of `migrations`, each in a transaction of its own.
pub(super) fn apply(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    while version(connection)? < migrations.len() {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read again under the lock: another process may have been faster.
        let done = version(&transaction)?;
        if let Some(sql) = migrations.get(done) {
            transaction.execute_batch(sql)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", done as u32 + 1)?;
        }
        transaction.commit()?;
    }
    Ok(())
}
