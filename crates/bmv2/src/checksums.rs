//! Checksums, verified behind the parser and updated in front of the deparser; and the deparser.

use hlir::build::arithmetic;
use hlir::build::graph::Role;
use hlir::{Algorithm, Binary, Call, Expression, NodeId, Notes, Place, Statement};

use crate::json::{At, Read};
use crate::reader::Reader;

impl Reader<'_> {
    /// A block that verifies checksums, and leads to `next`.
    pub fn verification(&mut self, next: NodeId) -> Read<NodeId> {
        self.checksum_block("verify_checksum.start", "verify", next, Self::verify)
    }

    /// A block that updates checksums.
    pub fn update(&mut self, next: NodeId) -> Read<NodeId> {
        self.checksum_block("compute_checksum.start", "update", next, Self::compute)
    }

    fn checksum_block(
        &mut self,
        name: &str,
        purpose: &str,
        next: NodeId,
        lower: fn(&mut Self, &At<'_>) -> Read<()>,
    ) -> Read<NodeId> {
        let block = self.builder.plain_block(name);
        for at in self.root.list("checksums")? {
            // Both are done by default.
            if at.value.get(purpose).is_some_and(|wanted| wanted.as_bool() == Some(false)) {
                continue;
            }
            let condition = match at.get("if_cond") {
                None => Expression::Bool(true),
                Some(condition) if condition.get("op").is_some() => self.condition(&condition)?,
                Some(condition) => self.boolean(&condition)?,
            };
            let then = self.statements(|reader| lower(reader, &at))?;
            match condition {
                Expression::Bool(false) => {}
                Expression::Bool(true) => self.builder.graph.block_mut(block).body.extend(then),
                condition => {
                    let statement = Statement::If { condition, then, otherwise: Vec::new() };
                    self.builder.emit(block, statement);
                }
            }
        }
        self.builder.graph.goto(block, next);
        Ok(block)
    }

    fn hash_to(&mut self, at: &At<'_>, width: u32) -> Read<hlir::VariableId> {
        let calculation = at.field("calculation")?;
        let (algorithm, data) = self.calculation(&calculation)?;
        let variable = self.new_variable("checksum", width);
        let algorithm = algorithm.unwrap_or(Algorithm::Target);
        self.body.push(Statement::Call(Call::Hash { algorithm, data, into: Place::Variable(variable) }));
        Ok(variable)
    }

    fn verify(&mut self, at: &At<'_>) -> Read<()> {
        let target = at.field("target")?;
        let member = self.member(&target)?;
        let given = self.load(&member, &target)?;
        let sum = self.hash_to(at, member.width)?;
        let given = given.low(member.width).ok_or_else(|| target.error(crate::expressions::UNLIMITED))?;
        let condition = arithmetic::binary(Binary::NotEqual, Expression::Variable(sum), given);
        let then = self.statements(|reader| {
            let width = reader.metadata.standard_width("checksum_error");
            reader.set_standard("checksum_error", Expression::constant(1u8, width));
            Ok(())
        })?;
        self.body.push(Statement::If { condition, then, otherwise: Vec::new() });
        Ok(())
    }

    fn compute(&mut self, at: &At<'_>) -> Read<()> {
        let target = at.field("target")?;
        let member = self.member(&target)?;
        if let Some(place) = self.place(&member) {
            let (algorithm, data) = self.calculation(&at.field("calculation")?)?;
            let algorithm = algorithm.unwrap_or(Algorithm::Target);
            self.body.push(Statement::Call(Call::Hash { algorithm, data, into: place }));
        }
        Ok(())
    }

    /// The deparser: it emits the headers that are valid, in its order.
    pub fn read_deparser(&mut self, output: NodeId) -> Read<NodeId> {
        let deparsers = self.root.field("deparsers")?.items()?;
        let named = deparsers.iter().find(|deparser| deparser.name().is_ok_and(|name| name == "deparser"));
        let Some(deparser) = named.or(deparsers.first()).cloned() else {
            return Err(self.root.error("the program has no deparser"));
        };
        let block = self.builder.graph.add("deparser", Notes::default(), Role::Deparse);
        let primitives = deparser.list("primitives")?;
        let body = self.statements(|reader| reader.primitives(&primitives))?;
        self.builder.graph.block_mut(block).body.extend(body);
        for name in deparser.field("order")?.items()? {
            let instance = &self.storage.instances[self.instance_named(&name)?];
            let Some(header) = instance.header else {
                return Err(name.error("metadata cannot be emitted"));
            };
            if !self.builder.program.headers[header].fixed_bits().is_multiple_of(8) {
                return Err(name.error("this header is no whole number of bytes, and cannot be emitted"));
            }
            self.builder.emit(block, Statement::Emit(header));
        }
        self.builder.graph.goto(block, output);
        Ok(block)
    }
}
