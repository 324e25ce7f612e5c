//! Formats numbers and system errors for people.

use std::fmt::Display;
use std::io::{Error, ErrorKind};

/// Formats a count with its noun: `1 test`, `2 tests`.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Formats the first names of a list: `a, b and 4 more`.
pub fn listed(names: &[String], limit: usize) -> String {
    let first = names[..names.len().min(limit)].join(", ");
    match names.len().saturating_sub(limit) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Formats a size: `2 GiB`, `1.5 MiB`, `600 bytes`.
pub fn bytes(count: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, bits)| count >> bits > 0) {
        None => format!("{count} bytes"),
        Some((unit, bits)) if count.trailing_zeros() >= bits => format!("{} {unit}", count >> bits),
        #[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
        Some((unit, bits)) => format!("{:.1} {unit}", count as f64 / f64::from(1_u32 << bits)),
    }
}

/// Returns the reason a file or folder could not be used, without the number of the system error.
pub fn reason(error: &Error) -> String {
    let known = match error.kind() {
        _ if error.raw_os_error().is_none() => return error.to_string(),
        ErrorKind::NotFound => "it does not exist",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::IsADirectory => "it is a folder, not a file",
        ErrorKind::NotADirectory => "a part of its path is a file, not a folder",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::StorageFull => "the disk is full",
        _ => {
            return without_numbers(&error.to_string());
        }
    };
    known.to_owned()
}

/// Returns a message without the numbers of system errors, such as ` (os error 28)`.
pub fn without_numbers(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(')') {
        Some((number, rest)) if number.bytes().all(|it| it.is_ascii_digit()) => text + rest,
        _ => text + " (os error " + part,
    })
}

/// Returns the message for a failure to read `shown`, which the user has named.
pub fn cannot_read(shown: impl Display, error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("{shown} does not exist"),
        ErrorKind::IsADirectory => format!("{shown} is a folder, not a file"),
        _ => format!("cannot read {shown}: {}", reason(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::{bytes, cannot_read, counted, listed, reason, without_numbers};

    #[test]
    fn counts_name_one_or_many() {
        assert_eq!(counted(1, "node", "nodes"), "1 node");
        assert_eq!(counted(0, "node", "nodes"), "0 nodes");
        assert_eq!(counted(2, "process", "processes"), "2 processes");
    }

    #[test]
    fn lists_name_the_first_and_count_the_rest() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&names, 3), "a, b, c");
        assert_eq!(listed(&names, 2), "a, b and 1 more");
        assert_eq!(listed(&[], 2), "");
    }

    #[test]
    fn sizes_have_the_largest_unit_that_fits() {
        let cases = [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (3 << 19, "1.5 MiB"),
            (2 << 30, "2 GiB"),
            (5000, "4.9 KiB"),
        ];
        for (count, shown) in cases {
            assert_eq!(bytes(count), shown);
        }
    }

    #[test]
    fn errors_of_the_system_have_no_number() {
        let os = Error::from_raw_os_error;
        assert_eq!(cannot_read("a.json", &os(libc::ENOENT)), "a.json does not exist");
        assert_eq!(cannot_read("a", &os(libc::EISDIR)), "a is a folder, not a file");
        assert_eq!(cannot_read("a", &os(libc::EACCES)), "cannot read a: permission denied");
        assert_eq!(reason(&os(libc::ENOTDIR)), "a part of its path is a file, not a folder");
        assert_eq!(reason(&os(libc::EMFILE)), "Too many open files");
        let own = Error::new(ErrorKind::InvalidData, "it is not valid UTF-8");
        assert_eq!(cannot_read("a", &own), "cannot read a: it is not valid UTF-8");
    }

    #[test]
    fn numbers_go_wherever_they_are() {
        let cases = [
            ("cannot write a: No space left (os error 28)", "cannot write a: No space left"),
            ("a (os error 2) and b (os error 13): c", "a and b: c"),
            ("a (os error x)", "a (os error x)"),
            ("a (os error 2", "a (os error 2"),
            ("", ""),
        ];
        for (message, plain) in cases {
            assert_eq!(without_numbers(message), plain);
        }
    }
}
