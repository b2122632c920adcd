//! The [language server](../../../docs/editors.md): a program as an editor has it, checked while it is written.
//!
//! One thread answers. Changes that arrive together are analysed together, once there is no message to read.

mod analysis;
mod answers;
mod index;
mod places;
mod uri;

use analysis::{Analysis, analyse};
use driver::explained;
use driver::options::Source;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentFormattingParams,
    GotoDefinitionParams, HoverParams, HoverProviderCapability, InlayHintParams, OneOf, Position,
    PublishDiagnosticsParams, Range, ReferenceParams, RenameParams, ServerCapabilities, TextDocumentPositionParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextEdit, Uri,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};

/// An answer, or why there is none.
type Answer = Result<Value, (ErrorCode, String)>;

/// Serves an editor on standard input and output until it ends. `flags` are those of the preprocessor and of warnings; its program does not matter.
pub fn serve(flags: &Source) -> Result<(), Box<dyn Error + Sync + Send>> {
    let (connection, threads) = Connection::stdio();
    let (id, _) = connection.initialize_start()?;
    let about = json!({ "name": "bacus", "version": env!("CARGO_PKG_VERSION") });
    connection.initialize_finish(id, json!({ "capabilities": capabilities(), "serverInfo": about }))?;
    let mut server = Server { flags: flags.clone(), documents: BTreeMap::new(), published: BTreeMap::new() };
    server.run(&connection)?;
    drop(connection);
    threads.join()?;
    Ok(())
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        rename_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

/// A file that an editor has open.
struct Document {
    /// In the editor's spelling.
    uri: Uri,
    text: String,
    version: i32,
    analysis: Option<Analysis>,
}

struct Server {
    flags: Source,
    documents: BTreeMap<PathBuf, Document>,
    /// The files that each document has diagnostics in.
    published: BTreeMap<PathBuf, BTreeSet<String>>,
}

impl Server {
    fn run(&mut self, connection: &Connection) -> Result<(), Box<dyn Error + Sync + Send>> {
        loop {
            // What has arrived already is read first.
            let message = match connection.receiver.try_recv() {
                Ok(message) => message,
                Err(_) => {
                    self.analyse_all(connection)?;
                    let Ok(message) = connection.receiver.recv() else { return Ok(()) };
                    message
                }
            };
            match message {
                Message::Request(request) => {
                    if connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    self.analyse_all(connection)?;
                    let response = self.response(request);
                    connection.sender.send(Message::Response(response))?;
                }
                Message::Notification(notification) => self.notified(connection, &notification)?,
                Message::Response(_) => {}
            }
        }
    }

    fn notified(
        &mut self,
        connection: &Connection,
        notification: &Notification,
    ) -> Result<(), Box<dyn Error + Sync + Send>> {
        let params = notification.params.clone();
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let opened: DidOpenTextDocumentParams = serde_json::from_value(params)?;
                let document = opened.text_document;
                if let Some(path) = uri::path(&document.uri) {
                    let (uri, text, version) = (document.uri, document.text, document.version);
                    self.documents.insert(path, Document { uri, text, version, analysis: None });
                }
            }
            "textDocument/didChange" => {
                let changed: DidChangeTextDocumentParams = serde_json::from_value(params)?;
                let path = uri::path(&changed.text_document.uri);
                if let Some(document) = path.and_then(|path| self.documents.get_mut(&path)) {
                    for change in changed.content_changes {
                        match change.range {
                            Some(range) => replace(&mut document.text, range, &change.text),
                            None => document.text = change.text,
                        }
                    }
                    document.version = changed.text_document.version;
                    document.analysis = None;
                }
            }
            // Files that others include have changed on the disk.
            "textDocument/didSave" => self.documents.values_mut().for_each(|document| document.analysis = None),
            "textDocument/didClose" => {
                let closed: DidCloseTextDocumentParams = serde_json::from_value(params)?;
                if let Some(path) = uri::path(&closed.text_document.uri) {
                    for file in self.published.remove(&path).unwrap_or_default() {
                        self.publish(connection, &file, Vec::new(), None)?;
                    }
                    self.documents.remove(&path);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Analyses what has changed, and sends the diagnostics.
    fn analyse_all(&mut self, connection: &Connection) -> Result<(), Box<dyn Error + Sync + Send>> {
        let changed: Vec<PathBuf> = self
            .documents
            .iter()
            .filter(|(_, document)| document.analysis.is_none())
            .map(|(path, _)| path.clone())
            .collect();
        for path in &changed {
            let source = Source { program: path.clone(), ..self.flags.clone() };
            if let Some(document) = self.documents.get_mut(path) {
                document.analysis = Some(analyse(&source, &document.text));
            }
        }
        for path in &changed {
            self.publish_of(connection, path)?;
        }
        Ok(())
    }

    /// A file that another open program includes is not a program: its diagnostics are those of that one.
    fn publish_of(&mut self, connection: &Connection, path: &Path) -> Result<(), Box<dyn Error + Sync + Send>> {
        let is_part = self.includer(path).is_some();
        let Some(document) = self.documents.get(path) else { return Ok(()) };
        let Some(analysis) = &document.analysis else { return Ok(()) };
        let before = self.published.remove(path).unwrap_or_default();
        let mut now = BTreeSet::new();
        if !is_part {
            for (file, diagnostics) in &analysis.diagnostics {
                let version = (Path::new(file) == path).then_some(document.version);
                self.publish(connection, file, diagnostics.clone(), version)?;
                now.insert(file.clone());
            }
        }
        for file in before.difference(&now) {
            self.publish(connection, file, Vec::new(), None)?;
        }
        self.published.insert(path.to_path_buf(), now);
        Ok(())
    }

    fn publish(
        &self,
        connection: &Connection,
        file: &str,
        diagnostics: Vec<lsp_types::Diagnostic>,
        version: Option<i32>,
    ) -> Result<(), Box<dyn Error + Sync + Send>> {
        let Some(uri) = uri::of(file) else { return Ok(()) };
        let mut params = serde_json::to_value(PublishDiagnosticsParams { uri, diagnostics, version })?;
        uri::respell(&mut params, &|path| self.opened(path));
        let method = "textDocument/publishDiagnostics".to_string();
        connection.sender.send(Message::Notification(Notification { method, params }))?;
        Ok(())
    }

    /// The editor's URI of a file that it has open.
    fn opened(&self, path: PathBuf) -> Option<&Uri> {
        self.documents.get(&path).map(|document| &document.uri)
    }

    /// An open program that includes a file.
    fn includer(&self, path: &Path) -> Option<(&Path, &Analysis)> {
        let others = self.documents.iter().filter(|(other, _)| other.as_path() != path);
        let mut analysed = others.filter_map(|(other, document)| Some((other.as_path(), document.analysis.as_ref()?)));
        analysed.find(|(_, analysis)| analysis.places.has(path))
    }

    fn response(&self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let answer = match method.as_str() {
            "textDocument/definition" => self.definition(params),
            "textDocument/references" => self.references(params),
            "textDocument/hover" => self.hover(params),
            "textDocument/rename" => self.rename(params),
            "textDocument/inlayHint" => self.hints(params),
            "textDocument/formatting" => self.formatting(params),
            other => Err((ErrorCode::MethodNotFound, format!("bacus has no `{other}`"))),
        };
        match answer {
            Ok(mut result) => {
                uri::respell(&mut result, &|path| self.opened(path));
                Response::new_ok(id, result)
            }
            Err((code, message)) => Response::new_err(id, code as i32, message),
        }
    }

    /// The program that a position is in, and the file's name there.
    fn at<'s>(&'s self, uri: &Uri) -> Result<(PathBuf, &'s Path, &'s Analysis), (ErrorCode, String)> {
        let unknown = || (ErrorCode::InvalidParams, format!("{} is not open", uri.as_str()));
        let path = uri::path(uri).ok_or_else(unknown)?;
        if let Some((program, analysis)) = self.includer(&path) {
            return Ok((path, program, analysis));
        }
        let (program, document) = self.documents.get_key_value(&path).ok_or_else(unknown)?;
        let analysis = document.analysis.as_ref().ok_or_else(unknown)?;
        Ok((path.clone(), program, analysis))
    }

    fn definition(&self, params: Value) -> Answer {
        let params: GotoDefinitionParams = parsed(params)?;
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let (path, _, analysis) = self.at(&text_document.uri)?;
        answer(analysis.definition(&path.display().to_string(), position))
    }

    fn references(&self, params: Value) -> Answer {
        let params: ReferenceParams = parsed(params)?;
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let (path, _, analysis) = self.at(&text_document.uri)?;
        answer(analysis.references(&path.display().to_string(), position))
    }

    fn hover(&self, params: Value) -> Answer {
        let params: HoverParams = parsed(params)?;
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let (path, program, analysis) = self.at(&text_document.uri)?;
        answer(analysis.hover(&path.display().to_string(), position, &explained::costs(program)))
    }

    fn rename(&self, params: Value) -> Answer {
        let params: RenameParams = parsed(params)?;
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let (path, _, analysis) = self.at(&text_document.uri)?;
        let renamed = analysis.rename(&path.display().to_string(), position, &params.new_name);
        renamed.map_err(|why| (ErrorCode::RequestFailed, why)).and_then(answer)
    }

    fn hints(&self, params: Value) -> Answer {
        let params: InlayHintParams = parsed(params)?;
        let (path, program, analysis) = self.at(&params.text_document.uri)?;
        let mut hints = analysis.hints(&path.display().to_string(), &explained::costs(program));
        hints.retain(|hint| params.range.start <= hint.position && hint.position <= params.range.end);
        answer(hints)
    }

    fn formatting(&self, params: Value) -> Answer {
        let params: DocumentFormattingParams = parsed(params)?;
        let uri = &params.text_document.uri;
        let document = uri::path(uri).and_then(|path| self.documents.get(&path));
        let document = document.ok_or_else(|| (ErrorCode::InvalidParams, format!("{} is not open", uri.as_str())))?;
        let formatted = p4::format::format(&document.text)
            .map_err(|mistake| (ErrorCode::RequestFailed, mistake.message().to_string()))?;
        if formatted == document.text {
            return answer(Vec::<TextEdit>::new());
        }
        let lines = document.text.split('\n').count() as u32;
        answer(vec![TextEdit {
            range: Range { start: Position::default(), end: Position::new(lines, 0) },
            new_text: formatted,
        }])
    }
}

fn parsed<T: serde::de::DeserializeOwned>(params: Value) -> Result<T, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn answer<T: serde::Serialize>(result: T) -> Answer {
    serde_json::to_value(result).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}

/// Replaces a range of a text. What is beyond its end is the end.
fn replace(text: &mut String, range: Range, by: &str) {
    let offset = |position: Position| {
        let mut start = 0;
        for _ in 0..position.line {
            match text[start..].find('\n') {
                Some(end) => start += end + 1,
                None => return text.len(),
            }
        }
        let line = text[start..].split('\n').next().unwrap_or_default();
        start + places::bytes(line, position.character)
    };
    let (start, end) = (offset(range.start), offset(range.end));
    text.replace_range(start.min(end)..end.max(start), by);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_ranges_are_made_also_beyond_the_end() {
        let range =
            |a: (u32, u32), b: (u32, u32)| Range { start: Position::new(a.0, a.1), end: Position::new(b.0, b.1) };
        let mut text = "é = 1;\nb\n".to_string();
        replace(&mut text, range((0, 4), (1, 1)), "2;\nc");
        assert_eq!(text, "é = 2;\nc\n");
        replace(&mut text, range((7, 3), (9, 1)), "end");
        assert_eq!(text, "é = 2;\nc\nend");
    }
}
