//! Complaints about answers: one text for the person, one for the model.

/// Reason why an answer cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The problem, for a person.
    pub problem: String,
    /// The problem, and the request for a better answer, for the model.
    pub for_model: String,
    /// Files that the model has to see first.
    pub show: Vec<String>,
}

impl Complaint {
    /// Creates a complaint with a request that only the model reads.
    pub fn with_request(problem: impl Into<String>, request: &str) -> Complaint {
        let problem = problem.into();
        Complaint { for_model: format!("{problem}{request}"), problem, show: Vec::new() }
    }

    /// Creates a complaint about files that the model has not seen.
    pub(crate) fn about_unseen(problem: impl Into<String>, show: Vec<String>) -> Complaint {
        Complaint { show, ..problem.into().into() }
    }

    /// Creates a complaint about an answer in which no change can be found.
    pub(crate) fn without_edits(for_model: impl Into<String>) -> Complaint {
        let problem = "it has no search/replace block".to_owned();
        Complaint { problem, for_model: for_model.into(), show: Vec::new() }
    }

    /// Creates a complaint about an answer that repeats the change of an earlier fix, whose number
    /// counts from 1.
    pub fn repeated(fix: u32) -> Complaint {
        Complaint {
            problem: format!("it is the same as fix {fix}"),
            for_model: format!("it is the very change of fix {fix}: make another one"),
            show: Vec::new(),
        }
    }
}

impl From<String> for Complaint {
    fn from(problem: String) -> Complaint {
        Complaint::with_request(problem, "")
    }
}

impl From<&str> for Complaint {
    fn from(problem: &str) -> Complaint {
        problem.to_owned().into()
    }
}
