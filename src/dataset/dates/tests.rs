use jiff::civil::date;

use super::*;
use crate::dataset::text::plain;
use crate::dataset::tokens::tokens;

fn read(text: &str) -> Dates {
    Dates::read(&tokens(&plain(text)))
}

/// A message, and a date as day, month and year.
type Row = (&'static str, (i8, i8, i16));

#[test]
fn dates_are_stated_in_every_notation() {
    let table: [Row; 49] = [
        ("on 14.05.2024", (14, 5, 2024)),
        ("14.5.24, in a hurry", (14, 5, 2024)),
        ("am 14. 5. 2024", (14, 5, 2024)),
        ("14/05/2024", (14, 5, 2024)),
        ("05/14/2024", (14, 5, 2024)),
        ("5/14/24", (14, 5, 2024)),
        ("2024-05-14T09:00", (14, 5, 2024)),
        ("2024/05/14", (14, 5, 2024)),
        ("20240514", (14, 5, 2024)),
        ("14-05-2024", (14, 5, 2024)),
        ("14 05 24", (14, 5, 2024)),
        ("14.V.2024", (14, 5, 2024)),
        ("14 May 2024", (14, 5, 2024)),
        ("14 May '24", (14, 5, 2024)),
        ("14-May-24", (14, 5, 2024)),
        ("14May2024", (14, 5, 2024)),
        ("Tue, 14th of May, 2024", (14, 5, 2024)),
        ("May 14th, 2024", (14, 5, 2024)),
        ("room 3 May 14, 2024", (14, 5, 2024)),
        ("the last possible one is May 14, 2024", (14, 5, 2024)),
        ("the fourteenth of May 2024", (14, 5, 2024)),
        ("May the twenty-first, 2024", (21, 5, 2024)),
        ("on the fourteenth of May, twenty twenty-four", (14, 5, 2024)),
        ("the fourteenth of May, two thousand and twenty-four", (14, 5, 2024)),
        ("14 to 16 May 2024", (14, 5, 2024)),
        ("14 to 16 May 2024", (16, 5, 2024)),
        ("May 14 - 16, 2024", (16, 5, 2024)),
        ("26, 27 and 28 August 2024", (26, 8, 2024)),
        ("Tuesday 11th and Wednesday 12th February 2025", (11, 2, 2025)),
        ("the 8th to the 19th of September 2025", (8, 9, 2025)),
        ("from 3 May until 4 June 2024", (3, 5, 2024)),
        ("Date: 2 May 2024. Back on the 14th", (14, 5, 2024)),
        ("in October 2025: the second week is out, so the 24th, a Friday", (24, 10, 2025)),
        ("dated 20 December 2024; back on 7 January", (7, 1, 2025)),
        ("from 14/5, that is 2024", (14, 5, 2024)),
        ("Christmas Eve 2023", (24, 12, 2023)),
        ("season 2024/25, on 1 March", (1, 3, 2025)),
        ("den 26. marts 2020", (26, 3, 2020)),
        ("le 14 février 2024", (14, 2, 2024)),
        ("14 de mayo de 2024", (14, 5, 2024)),
        ("14. Mai 2024", (14, 5, 2024)),
        ("14 maja 2024 r.", (14, 5, 2024)),
        ("2024年1月26日の完了", (26, 1, 2024)),
        ("the twenty-third. The month is September, the year twenty-four", (23, 9, 2024)),
        ("Sept 3rd – year 2024", (3, 9, 2024)),
        ("my truck is WCH-2\nMarch 12, 2019", (12, 3, 2019)),
        ("Out 19/12-24, in 3/1-25", (3, 1, 2025)),
        ("that's August second, two thousand an' nineteen", (2, 8, 2019)),
        ("the thirtieth and the thirty-first of October; received 30.10.2024", (31, 10, 2024)),
    ];
    for (text, (day, month, year)) in table {
        assert!(read(text).ground(date(year, month, day)), "{text}: {:?}", read(text).stated);
    }
}

#[test]
fn dates_follow_from_dates() {
    let table: [Row; 28] = [
        ("14 May 2024: I am ill, back tomorrow", (15, 5, 2024)),
        ("yesterday (1 October 2025) you asked, so I report it today", (2, 10, 2025)),
        ("sent 14.05.2024, the day after tomorrow", (16, 5, 2024)),
        ("since 14 May 2024, a week later", (21, 5, 2024)),
        ("14 May 2024, for two weeks", (28, 5, 2024)),
        ("14 May 2024, for two weeks", (27, 5, 2024)),
        ("from Monday 13 May 2024 for two weeks", (24, 5, 2024)),
        ("from 14 May 2024 for five days", (18, 5, 2024)),
        ("ten working days from 14 May 2024", (28, 5, 2024)),
        ("a fortnight from 14 May 2024", (28, 5, 2024)),
        ("from 30.06.2023, three months more", (30, 9, 2023)),
        ("from 31.01.2025, five more months", (30, 6, 2025)),
        ("from 28.02.2025, +6 months", (31, 8, 2025)),
        ("from 29.08.2025 by eight weeks", (24, 10, 2025)),
        ("14 May 2024. Back at the end of the month", (31, 5, 2024)),
        ("until the end of June 2024", (30, 6, 2024)),
        ("14 May 2024. By the end of next month", (30, 6, 2024)),
        ("14 May 2024. By the end of the year", (31, 12, 2024)),
        ("by the end of Q3 2025", (30, 9, 2025)),
        ("mid-June 2024", (15, 6, 2024)),
        ("Tue 14 May 2024: until Friday", (17, 5, 2024)),
        ("14 May 2024: until Thursday week", (23, 5, 2024)),
        ("on Monday of week 23; Date: 2 May 2024", (3, 6, 2024)),
        ("the concert is on 28 June 2025, I return it the day after", (29, 6, 2025)),
        ("the day before the exam of 16.06.2023", (15, 6, 2023)),
        ("until Friday, 14 June 2024. A week later, on the Monday", (24, 6, 2024)),
        ("a year from 14 May 2024", (14, 5, 2025)),
        ("two weeks are the rule, I take the double, from 14 May 2024", (11, 6, 2024)),
    ];
    for (text, (day, month, year)) in table {
        assert!(read(text).ground(date(year, month, day)), "{text}");
    }
}

#[test]
fn dates_that_are_not_there_are_not_grounded() {
    let table: [Row; 16] = [
        ("14 May 2024", (15, 5, 2024)),
        ("14 May 2024", (14, 6, 2024)),
        ("14 May 2024", (14, 5, 2023)),
        ("14.05.2024", (5, 2, 2024)),
        ("04.05.2024", (5, 4, 2024)),
        ("14 to 16 May 2024", (17, 5, 2024)),
        ("14 May 2024, a week later", (22, 5, 2024)),
        ("14 May 2024, back tomorrow", (16, 5, 2024)),
        ("14 May 2024, twice a day", (15, 5, 2024)),
        ("14 May 2024, 10:30", (10, 5, 2024)),
        ("ticket 15 of 2024 in May", (14, 5, 2024)),
        ("Monday 13 May 2024", (14, 5, 2024)),
        ("the end is near, 14 May 2024", (31, 5, 2024)),
        ("Tuesday 14 May 2024", (21, 5, 2024)),
        ("14 May 2024, for two days", (13, 5, 2024)),
        ("no date at all, on Friday", (17, 5, 2024)),
    ];
    for (text, (day, month, year)) in table {
        assert!(!read(text).ground(date(year, month, day)), "{text}");
    }
}

#[test]
fn nights_lie_between_days() {
    assert!(read("arriving 3 May 2024, leaving 6 May 2024").span(3));
    assert!(read("5 nights, Mon-Sat").span(5) && read("from Tuesday to Thursday").span(2));
    assert!(!read("arriving 3 May 2024, leaving 6 May 2024").span(5));
    assert!(!read("on 3 May 2024").span(0) && !read("on 3 May 2024").span(1));
    assert!(read("from 3 May 2024 to 4 May 2024").span(1) && !read("from 3 May 2024 to 4 May 2024").span(0));
}

#[test]
fn expected_dates_are_known_by_their_shape() {
    let table = [
        ("14.05.2024", Some(vec![date(2024, 5, 14)])),
        ("2024-05-14", Some(vec![date(2024, 5, 14)])),
        ("14/05/2024", Some(vec![date(2024, 5, 14)])),
        ("05/14/2024", Some(vec![date(2024, 5, 14)])),
        ("04/05/2024", Some(vec![date(2024, 5, 4), date(2024, 4, 5)])),
        ("31.02.2024", Some(vec![])),
        ("31/31/2024", Some(vec![])),
        ("14.05.24", None),
        ("GFT-2019", None),
        ("10.20.30.40", None),
    ];
    for (text, expected) in table {
        assert_eq!(as_date(text), expected, "{text}");
    }
}
