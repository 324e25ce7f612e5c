//! Maps top-level imports to the distributions that install them, where the two names differ.

/// Returns the distribution to install for a top-level import (`PyYAML` for `yaml`); the import's
/// own name if both are the same.
pub fn distribution(module: &str) -> &str {
    TABLE.iter().find(|it| it.module == module).map_or(module, |it| it.distribution)
}

/// Returns the distribution meant by a requirement that uses the import's name (`yaml>=6`). `None`
/// if a distribution of that name exists, whatever it contains. Case is ignored, and `-`, `_` and
/// `.` are equal, as for installers.
pub fn for_import_requirement(requirement: &str) -> Option<&'static str> {
    let known = TABLE.iter().find(|it| normalized(it.module) == normalized(requirement));
    known.filter(|it| it.is_free).map(|it| it.distribution)
}

/// Normalizes a distribution's name as installers do (PEP 503): lowercase, each run of `-`, `_` and
/// `.` replaced by one `-`.
pub fn normalized(name: &str) -> String {
    let is_separator = |c: char| matches!(c, '-' | '_' | '.');
    let parts: Vec<&str> = name.split(is_separator).filter(|it| !it.is_empty()).collect();
    parts.join("-").to_lowercase()
}

struct Mapping {
    module: &'static str,
    distribution: &'static str,
    /// True if no useful distribution has the module's name on the package index, at most an empty
    /// placeholder (checked in November 2026).
    is_free: bool,
}

const fn free(module: &'static str, distribution: &'static str) -> Mapping {
    Mapping { module, distribution, is_free: true }
}

const fn taken(module: &'static str, distribution: &'static str) -> Mapping {
    Mapping { module, distribution, is_free: false }
}

/// Modules and their distributions, by module.
const TABLE: &[Mapping] = &[
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
