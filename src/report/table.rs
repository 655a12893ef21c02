//! One table with its title and footnotes, written as text or Markdown. Knows no figures.

use std::fmt::Write;

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};

/// Rows of text under a header. Without colours, so that it reads the same in a pipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows, in a line.
    pub title: String,
    /// The columns' names.
    pub header: Vec<&'static str>,
    /// As many cells each as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// What has to be known to read it.
    pub notes: Vec<String>,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// Whether it is the best of its column: `*` in text, bold in Markdown.
    pub best: bool,
    /// Numbers stand on the right.
    pub number: bool,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), best: false, number: false }
    }

    /// A number.
    #[expect(clippy::needless_pass_by_value, reason = "so that it maps over arrays of counts")]
    pub fn number(number: impl ToString) -> Self {
        Self { text: number.to_string(), best: false, number: true }
    }

    /// A number that may be the best of its column.
    #[must_use]
    pub fn best_if(self, best: bool) -> Self {
        Self { best, ..self }
    }
}

impl Table {
    /// For terminals and pipes.
    pub fn to_text(&self) -> String {
        let style = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
        let mark = |cell: &Cell| if cell.best { format!("{}*", cell.text) } else { cell.text.clone() };
        self.written(&self.title, style, mark)
    }

    /// For documents.
    pub fn to_markdown(&self) -> String {
        let mark = |cell: &Cell| {
            let text = cell.text.replace('|', "\\|");
            if cell.best { format!("**{text}**") } else { text }
        };
        self.written(&format!("### {}", self.title), ASCII_MARKDOWN, mark)
    }

    /// Takes a column that says the same in every row out, and says it once, in the title.
    pub(super) fn fold_into_title(&mut self, column: &str) {
        let Some(place) = self.header.iter().position(|name| *name == column) else { return };
        let Some(said) = self.rows.first().map(|row| row[place].text.clone()) else { return };
        if self.rows.iter().all(|row| row[place].text == said) {
            self.header.remove(place);
            for row in &mut self.rows {
                row.remove(place);
            }
            self.title = format!("{} · {}: {said}", self.title, column.to_lowercase());
        }
    }

    fn written(&self, title: &str, style: TableStyle, mark: impl Fn(&Cell) -> String) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(style).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
        table.set_header(self.header.iter().enumerate().map(|(column, name)| {
            aligned((*name).to_owned(), self.rows.first().is_some_and(|row| row[column].number))
        }));
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| aligned(mark(cell), cell.number)));
        }
        let mut text = format!("{title}\n\n");
        for line in table.lines() {
            writeln!(text, "{}", line.trim_end()).expect("a String takes everything");
        }
        for note in &self.notes {
            write!(text, "\n{note}\n").expect("a String takes everything");
        }
        text
    }
}

fn aligned(text: String, number: bool) -> comfy_table::Cell {
    let alignment = if number { CellAlignment::Right } else { CellAlignment::Left };
    comfy_table::Cell::new(text).set_alignment(alignment)
}
