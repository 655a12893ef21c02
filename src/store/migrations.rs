//! The schema's history: one ordered list of SQL files against `user_version`. A landed file never changes.

use rusqlite::{Connection, TransactionBehavior};

/// What `application_id` of our databases says: "njar".
pub(super) const APPLICATION_ID: i32 = 0x6e6a_6172;

/// Migration n takes a database from version n to n + 1.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_tables.sql"),
    include_str!("migrations/0002_views.sql"),
    include_str!("migrations/0003_paper.sql"),
    include_str!("migrations/0004_work.sql"),
    include_str!("migrations/0005_grammar.sql"),
    include_str!("migrations/0006_current_grammar.sql"),
    include_str!("migrations/0007_spared.sql"),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn migrated_from(version: usize) -> Connection {
        let mut connection = Connection::open_in_memory().expect("a database in memory");
        apply(&mut connection, &MIGRATIONS[..version]).expect("an older database");
        apply(&mut connection, MIGRATIONS).expect("the current one");
        connection
    }

    fn schema(connection: &Connection) -> Vec<String> {
        let mut statement =
            connection.prepare("SELECT sql FROM sqlite_schema ORDER BY name").expect("a query");
        let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0)).expect("rows");
        rows.filter_map(|sql| sql.expect("a row")).collect()
    }

    #[test]
    fn every_older_version_becomes_the_current_one() {
        let blank = schema(&migrated_from(0));
        for older in 0..=MIGRATIONS.len() {
            let connection = migrated_from(older);
            assert_eq!(schema(&connection), blank, "from version {older}");
            assert_eq!(version(&connection).expect("a version"), MIGRATIONS.len());
        }
    }

    #[test]
    fn a_migration_that_fails_leaves_the_version_before_it() {
        let mut connection = Connection::open_in_memory().expect("a database in memory");
        let broken = ["CREATE TABLE a (x)", "CREATE TABLE b (x); CREATE TABLE a (x)"];
        apply(&mut connection, &broken).expect_err("table a is there");
        assert_eq!(version(&connection).expect("a version"), 1);
        assert_eq!(schema(&connection), ["CREATE TABLE a (x)"]);
    }

    /// The bundled build has no mathematical functions, so a view that needs one fails here.
    #[test]
    fn every_view_can_be_read() {
        let connection = migrated_from(0);
        let mut statement =
            connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").expect("a query");
        let names: Vec<String> = statement
            .query_map([], |row| row.get(0))
            .expect("rows")
            .collect::<Result<_, _>>()
            .expect("names");
        assert!(names.len() >= 14, "{names:?}");
        for name in names {
            connection
                .prepare(&format!("SELECT * FROM {name}"))
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}
