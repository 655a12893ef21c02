//! The two kinds of connection: the one that writes, and those that only read. No statements about content.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::migrations::{self, APPLICATION_ID, MIGRATIONS};
use super::verdicts::{Scoring, current_scoring};
use super::{Error, Result};

/// Far above any transaction of ours; another process may hold the lock to migrate or to record.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The writing connection. A process holds one.
#[derive(Debug)]
pub struct Store {
    /// Its connection may write; only this module's writers do.
    reader: Reader,
    /// What new verdicts are scored with: the row that is current in the database.
    pub(super) scoring: Scoring,
}

/// A connection that answers questions; it works while a [`Store`] of another process writes, and after it has gone.
#[derive(Debug)]
pub struct Reader {
    pub(super) connection: Connection,
}

impl Store {
    /// Opens the database at `path`, making or migrating it where needed.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = connect(path, flags)?;
        let open = |source| Error::Open { path: path.to_owned(), source };
        check_version(path, &connection)?;
        connection.pragma_update(None, "journal_mode", "wal").map_err(open)?;
        // FULL: a commit is on the disk when it returns. NORMAL could lose the last ones to a power cut, and one
        // fsync per attempt costs nothing beside the seconds that the attempt took.
        connection.pragma_update(None, "synchronous", "full").map_err(open)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(open)?;
        migrations::apply(&mut connection, MIGRATIONS).map_err(open)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let scoring = current_scoring(&transaction)?;
        transaction.commit()?;
        Ok(Self { reader: Reader { connection }, scoring })
    }

    /// The same connection, for questions.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Begins a transaction that holds the write lock from its start, so that it cannot fail half-way for want of it.
    pub(super) fn begin(&mut self) -> Result<Transaction<'_>> {
        Ok(self.reader.connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }
}

impl Reader {
    /// Opens the database at `path` for reading only. It must exist and have this nightjar's schema.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Err(Error::Missing { path: path.to_owned() });
        }
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        let (found, known) = (check_version(path, &connection)?, MIGRATIONS.len());
        if found < known {
            return Err(Error::Older { path: path.to_owned(), found, known });
        }
        Ok(Self { connection })
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|source| Error::Open { path: path.to_owned(), source })?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // A sweep has some forty different statements; the default cache of 16 would prepare them over and over.
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// The schema version of a database that is ours, or still empty.
fn check_version(path: &Path, connection: &Connection) -> Result<usize> {
    let open = |source| Error::Open { path: path.to_owned(), source };
    let found: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(open)?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(open)?;
    if found != APPLICATION_ID && (found != 0 || tables > 0) {
        return Err(Error::Foreign { path: path.to_owned(), found });
    }
    let (found, known) = (migrations::version(connection).map_err(open)?, MIGRATIONS.len());
    if found > known {
        return Err(Error::Newer { path: path.to_owned(), found, known });
    }
    Ok(found)
}

/// Whether it was refused because a row of that key is already there.
pub(super) fn is_duplicate(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
        && error.sqlite_error().is_some_and(|e| e.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
}
