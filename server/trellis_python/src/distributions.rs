//! Which distribution brings which package, where their names differ.

/// The distribution to install for a top-level import (`yaml` comes with PyYAML); the import's own
/// name where both are the same.
pub fn distribution(module: &str) -> &str {
    TABLE.iter().find(|it| it.module == module).map_or(module, |it| it.distribution)
}

/// The same for a requirement that was written with the import's name (`yaml>=6`): None where a distribution is called
/// so, whatever is in it. Capitals do not count, and `-`, `_` and `.` are the same, as for installers.
pub fn meant_by(requirement: &str) -> Option<&'static str> {
    let known = TABLE.iter().find(|it| normalized(it.module) == normalized(requirement));
    known.filter(|it| it.is_free).map(|it| it.distribution)
}

/// A distribution's name as installers compare it (PEP 503): in lowercase, runs of `-`, `_` and `.` as one `-`.
pub fn normalized(name: &str) -> String {
    let is_separator = |c: char| matches!(c, '-' | '_' | '.');
    let parts: Vec<&str> = name.split(is_separator).filter(|it| !it.is_empty()).collect();
    parts.join("-").to_lowercase()
}

struct Differs {
    module: &'static str,
    distribution: &'static str,
    /// Nothing that could be wanted has the module's name on the package index, but an empty placeholder at most (looked
    /// up in November 2026).
    is_free: bool,
}

const fn free(module: &'static str, distribution: &'static str) -> Differs {
    Differs { module, distribution, is_free: true }
}

const fn taken(module: &'static str, distribution: &'static str) -> Differs {
    Differs { module, distribution, is_free: false }
}

/// By module.
const TABLE: &[Differs] = &[
    taken("Crypto", "pycryptodome"),
    free("OpenSSL", "pyOpenSSL"),
    free("PIL", "Pillow"),
    taken("attr", "attrs"),
    free("bs4", "beautifulsoup4"),
    free("cv2", "opencv-python"),
    free("dateutil", "python-dateutil"),
    taken("docx", "python-docx"),
    taken("dotenv", "python-dotenv"),
    free("fitz", "PyMuPDF"),
    free("git", "GitPython"),
    free("google.protobuf", "protobuf"),
    taken("jose", "python-jose"),
    taken("jwt", "PyJWT"),
    taken("lxml", "lxml"),
    free("magic", "python-magic"),
    taken("markdown", "Markdown"),
    free("mpl_toolkits", "matplotlib"),
    free("pkg_resources", "setuptools"),
    taken("psycopg2", "psycopg2-binary"),
    taken("serial", "pyserial"),
    free("skimage", "scikit-image"),
    free("sklearn", "scikit-learn"),
    free("slugify", "python-slugify"),
    free("socks", "PySocks"),
    free("usb", "pyusb"),
    free("win32api", "pywin32"),
    free("yaml", "PyYAML"),
    free("zmq", "pyzmq"),
];
