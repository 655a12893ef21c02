//! The `format`s that are asserted, as patterns that a text has to match all of. Sources: RFC 3339, 3986, 4122, 4291,
//! 5321, 6570, 6901, 1123 and ISO 8601 as RFC 3339 gives it.

/// The most characters a text of this format has.
pub(super) fn max_length(name: &str) -> Option<u64> {
    match name {
        "email" => Some(254),
        "hostname" => Some(253),
        _ => None,
    }
}

/// The patterns of a format; `None` when the format is not known and so never asserted.
pub(super) fn patterns(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "date" => &[DATE],
        "time" => &[TIME],
        "date-time" => &[DATE_TIME],
        "duration" => &[DURATION],
        "email" => &[EMAIL, r"^[^@]{1,64}@"],
        "hostname" => &[HOSTNAME, r"^[^.]{1,63}(\.[^.]{1,63})*$"],
        "ipv4" => &[IPV4],
        "ipv6" => &[IPV6],
        "uri" => &[URI],
        "uri-reference" => &[URI_REFERENCE],
        "uuid" => &[r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"],
        "json-pointer" => &[r"^(/([^~/]|~[01])*)*$"],
        "relative-json-pointer" => &[r"^(0|[1-9][0-9]*)(#|(/([^~/]|~[01])*)*)$"],
        "uri-template" => &[URI_TEMPLATE],
        _ => return None,
    })
}

macro_rules! date {
    () => {
        concat!(
            r"([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)",
            r"|02-(0[1-9]|1[0-9]|2[0-8]))",
            // The 29th of February, in leap years.
            r"|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)"
        )
    };
}

macro_rules! time {
    () => {
        r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
    };
}

macro_rules! ipv4 {
    () => {
        r"((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
    };
}

const DATE: &str = concat!("^", date!(), "$");
const TIME: &str = concat!("^", time!(), "$");
const DATE_TIME: &str = concat!("^", date!(), "[Tt]", time!(), "$");
const DURATION: &str = concat!(
    r"^P([0-9]+W|([0-9]+D|[0-9]+M([0-9]+D)?|[0-9]+Y([0-9]+M([0-9]+D)?)?)",
    r"(T([0-9]+S|[0-9]+M([0-9]+S)?|[0-9]+H([0-9]+M([0-9]+S)?)?))?",
    r"|T([0-9]+S|[0-9]+M([0-9]+S)?|[0-9]+H([0-9]+M([0-9]+S)?)?))$"
);
const HOSTNAME: &str = r"^[A-Za-z0-9]+(-[A-Za-z0-9]+)*(\.[A-Za-z0-9]+(-[A-Za-z0-9]+)*)*$";
const EMAIL: &str = concat!(
    r"^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*",
    r"@[A-Za-z0-9]+(-[A-Za-z0-9]+)*(\.[A-Za-z0-9]+(-[A-Za-z0-9]+)*)*$"
);
const IPV4: &str = concat!("^", ipv4!(), "$");
const IPV6: &str = concat!(
    r"^(([0-9A-Fa-f]{1,4}:){6}([0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}|",
    ipv4!(),
    r")",
    r"|::([0-9A-Fa-f]{1,4}:){5}([0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}|",
    ipv4!(),
    r")",
    r"|([0-9A-Fa-f]{1,4})?::([0-9A-Fa-f]{1,4}:){4}([0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}|",
    ipv4!(),
    r")",
    r"|(([0-9A-Fa-f]{1,4}:){0,1}[0-9A-Fa-f]{1,4})?::([0-9A-Fa-f]{1,4}:){3}([0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}|",
    ipv4!(),
    r")",
    r"|(([0-9A-Fa-f]{1,4}:){0,2}[0-9A-Fa-f]{1,4})?::([0-9A-Fa-f]{1,4}:){2}([0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}|",
    ipv4!(),
    r")",
    r"|(([0-9A-Fa-f]{1,4}:){0,3}[0-9A-Fa-f]{1,4})?::([0-9A-Fa-f]{1,4}:){1}([0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}|",
    ipv4!(),
    r")",
    r"|(([0-9A-Fa-f]{1,4}:){0,4}[0-9A-Fa-f]{1,4})?::([0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}|",
    ipv4!(),
    r")",
    r"|(([0-9A-Fa-f]{1,4}:){0,5}[0-9A-Fa-f]{1,4})?::[0-9A-Fa-f]{1,4}",
    r"|(([0-9A-Fa-f]{1,4}:){0,6}[0-9A-Fa-f]{1,4})?::",
    r")$"
);

macro_rules! path_char {
    () => {
        r"([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})"
    };
}

macro_rules! query {
    () => {
        concat!(r"(\?([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?(#([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?")
    };
}

macro_rules! authority {
    () => {
        concat!(
            r"//(([A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?",
            r"(\[[0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4}){7}\]|([A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(:[0-9]*)?"
        )
    };
}

const URI_TEMPLATE: &str = concat!(
    r"^([A-Za-z0-9._~:/?#\[\]@!$&()*+,;=-]|%[0-9A-Fa-f]{2}",
    r"|\{[+#./;?&]?[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*(:[1-9][0-9]{0,3}|\*)?",
    r"(,[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*(:[1-9][0-9]{0,3}|\*)?)*\})*$"
);

/// With an authority the path is empty or begins with a slash; without one it does not begin with two.
const URI: &str = concat!(
    r"^[A-Za-z][A-Za-z0-9+.-]*:(",
    authority!(),
    r"(/",
    path_char!(),
    r"*)?",
    r"|/?([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})",
    path_char!(),
    r"*",
    r"|/?)",
    query!(),
    "$"
);
const URI_REFERENCE: &str = concat!(
    r"^([A-Za-z][A-Za-z0-9+.-]*:(",
    authority!(),
    r"(/",
    path_char!(),
    r"*)?",
    r"|/?([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})",
    path_char!(),
    r"*",
    r"|/?)",
    r"|",
    authority!(),
    r"(/",
    path_char!(),
    r"*)?",
    r"|/(([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})",
    path_char!(),
    r"*)?",
    // A first segment with a colon would be a scheme.
    r"|([A-Za-z0-9._~!$&'()*+,;=@-]|%[0-9A-Fa-f]{2})+(/",
    path_char!(),
    r"*)?",
    r"|)",
    query!(),
    "$"
);
