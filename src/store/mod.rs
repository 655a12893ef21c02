//! The database: schema, one writer, views, reading back. The only rusqlite.
