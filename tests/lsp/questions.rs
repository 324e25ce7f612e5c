//! Requests of the server that the test itself answers.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Failure};
use crate::wire;

/// A request of the server that waits for an answer.
#[derive(Debug)]
pub struct Question {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub params: Value,
}

/// Methods that the test answers; all others are answered at once.
#[derive(Clone, Default)]
pub(crate) struct Reserved(Arc<Mutex<HashSet<String>>>);

impl Reserved {
    pub(crate) fn holds(&self, method: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(method)
    }

    fn add(&self, method: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(method.to_owned());
    }
}

/// Received requests that the test has not read yet.
#[derive(Default)]
pub(crate) struct Questions {
    pub(crate) reserved: Reserved,
    pub(crate) waiting: VecDeque<Question>,
}

impl Client {
    /// Reserves a method: the test answers its requests from now on.
    pub fn reserve(&self, method: &str) {
        self.questions.reserved.add(method);
    }

    /// Returns the next request with this reserved method, already received or still to come.
    pub fn question(&mut self, method: &str, patience: Duration) -> Result<Question, Failure> {
        let deadline = Instant::now() + patience;
        loop {
            let waiting = &mut self.questions.waiting;
            let found = waiting.iter().position(|it| it.method == method);
            if let Some(question) = found.and_then(|at| waiting.remove(at)) {
                return Ok(question);
            }
            self.hear(method, deadline, patience)?;
        }
    }

    /// Responds with a result, or with an error of this code, message and data.
    pub fn answer(&self, question: &Question, answer: Result<Value, (i64, &str, Value)>) {
        let mut message = json!({"jsonrpc": "2.0", "id": question.id});
        match answer {
            Ok(result) => message["result"] = result,
            Err((code, text, data)) => {
                message["error"] = json!({"code": code, "message": text, "data": data});
            }
        }
        self.send(wire::frame(&message));
    }
}
