//! The prompt of `bacus ctl`: history, and completion of commands, tables, keys, actions and ports.

use super::messages;
use ctl::{Failure, Session};
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

const PROMPT: &str = "bacus> ";
/// Lines that are kept for the next prompt.
const HISTORY: usize = 1000;

struct Completion(Rc<RefCell<Session>>);

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or(line);
        let (start, words) = self.0.borrow_mut().complete(before);
        let pair = |word: String| Pair { display: word.trim_end().to_string(), replacement: word };
        Ok((start, words.into_iter().map(pair).collect()))
    }
}

impl Helper for Completion {}
impl Highlighter for Completion {}
impl Validator for Completion {}

impl Hinter for Completion {
    type Hint = String;
}

/// Executes commands until the user ends it, by `exit` or Ctrl-D.
pub fn run(session: Session) -> ExitCode {
    let session = Rc::new(RefCell::new(session));
    let config = Config::builder().completion_type(CompletionType::List).max_history_size(HISTORY);
    let config = config.map(|config| config.history_ignore_space(true).auto_add_history(true).build());
    let editor = config.and_then(Editor::<Completion, FileHistory>::with_config);
    let mut editor = match editor {
        Ok(editor) => editor,
        Err(error) => return failed(&error),
    };
    editor.set_helper(Some(Completion(session.clone())));
    let history = history();
    if let Some(path) = &history {
        // There is none before the first prompt.
        drop(editor.load_history(path));
    }
    eprintln!("`help` lists the commands, Tab completes, `exit` or Ctrl-D ends");
    let code = read(&mut editor, &session);
    if let Some(path) = &history {
        drop(editor.save_history(path));
    }
    code
}

fn read(editor: &mut Editor<Completion, FileHistory>, session: &RefCell<Session>) -> ExitCode {
    loop {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            // Ctrl-C gives up the line.
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return ExitCode::SUCCESS,
            Err(error) => return failed(&error),
        };
        if matches!(line.trim(), "exit" | "quit") {
            return ExitCode::SUCCESS;
        }
        execute(&mut session.borrow_mut(), &line);
    }
}

fn execute(session: &mut Session, line: &str) {
    let executed = session.execute(line, 1);
    messages::print_warnings(&session.take_warnings(), None);
    if let Err(failure) = executed {
        messages::print_failure(&failure, line, 1, None);
        if matches!(failure, Failure::Unreachable(_)) {
            eprintln!("`exit`, and start again for another switch");
        }
    }
    session.leave();
}

fn failed(error: &ReadlineError) -> ExitCode {
    eprintln!("error: the terminal cannot be read: {error}");
    ExitCode::from(3)
}

/// Where the lines are kept. None: nowhere.
fn history() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    let folder = state.or_else(home)?.join("bacus");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("ctl_history"))
}
