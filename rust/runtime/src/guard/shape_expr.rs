//! Conditions on integers (`s0 >= 2 and s0 * 4 == s1`), compiled to a small stack program.
//!
//! Values are 128-bit integers; truth values are 0 and 1. Overflow and division by zero make the condition unmet.

/// A compiled condition.
#[derive(Debug)]
pub(crate) struct ShapeExpr {
    text: String,
    code: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Number(i128),
    Symbol(usize),
    Binary(Binary),
    Negate,
    Not,
    Abs,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Binary {
    Add,
    Sub,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
    Pow,
    Min,
    Max,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

const STACK_LIMIT: usize = 64;

impl ShapeExpr {
    /// Compiles `text`, in which the names of `symbols` may stand.
    ///
    /// # Errors
    /// A sentence that says what cannot be understood, and where.
    pub(crate) fn parse(text: &str, symbols: &[String]) -> Result<Self, String> {
        let mut parser = Parser { text, position: 0, symbols, code: Vec::new(), nesting: 0 };
        parser.disjunction()?;
        parser.skip_space();
        if parser.position < text.len() {
            return Err(parser.error("something that is not part of an integer expression"));
        }
        let expression = Self { text: text.trim().to_owned(), code: parser.code };
        if expression.depth() > STACK_LIMIT {
            return Err(format!("shape expression {text:?} is nested too deeply"));
        }
        Ok(expression)
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn depth(&self) -> usize {
        let (mut depth, mut deepest) = (0usize, 0);
        for step in &self.code {
            match step {
                Step::Number(_) | Step::Symbol(_) => depth += 1,
                Step::Binary(_) => depth -= 1,
                Step::Negate | Step::Not | Step::Abs => {}
            }
            deepest = deepest.max(depth);
        }
        deepest
    }

    /// The value of the condition; None on overflow, division by zero or a symbol without a value.
    pub(crate) fn evaluate(&self, mut symbol: impl FnMut(usize) -> Option<i64>) -> Option<bool> {
        let mut stack = [0i128; STACK_LIMIT];
        let mut top = 0;
        for step in &self.code {
            match *step {
                Step::Number(value) => {
                    stack[top] = value;
                    top += 1;
                }
                Step::Symbol(index) => {
                    stack[top] = i128::from(symbol(index)?);
                    top += 1;
                }
                Step::Binary(operator) => {
                    top -= 1;
                    stack[top - 1] = operator.apply(stack[top - 1], stack[top])?;
                }
                Step::Negate => stack[top - 1] = stack[top - 1].checked_neg()?,
                Step::Not => stack[top - 1] = i128::from(stack[top - 1] == 0),
                Step::Abs => stack[top - 1] = stack[top - 1].checked_abs()?,
            }
        }
        Some(stack[0] != 0)
    }
}

impl Binary {
    fn apply(self, a: i128, b: i128) -> Option<i128> {
        Some(match self {
            Self::Add => a.checked_add(b)?,
            Self::Sub => a.checked_sub(b)?,
            Self::Mul => a.checked_mul(b)?,
            Self::FloorDiv => floor_div(a, b)?,
            Self::CeilDiv => floor_div(a.checked_neg()?, b)?.checked_neg()?,
            Self::Mod => a.checked_sub(floor_div(a, b)?.checked_mul(b)?)?,
            Self::Pow => a.checked_pow(u32::try_from(b).ok()?)?,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::And => i128::from(a != 0 && b != 0),
            Self::Or => i128::from(a != 0 || b != 0),
            Self::Eq => i128::from(a == b),
            Self::Ne => i128::from(a != b),
            Self::Lt => i128::from(a < b),
            Self::Le => i128::from(a <= b),
            Self::Gt => i128::from(a > b),
            Self::Ge => i128::from(a >= b),
        })
    }

    fn of_function(name: &str) -> Option<Self> {
        Some(match name {
            "Min" | "min" => Self::Min,
            "Max" | "max" => Self::Max,
            "Mod" | "PythonMod" => Self::Mod,
            "FloorDiv" => Self::FloorDiv,
            "CeilDiv" => Self::CeilDiv,
            "Eq" => Self::Eq,
            "Ne" => Self::Ne,
            "And" => Self::And,
            "Or" => Self::Or,
            _ => return None,
        })
    }

    /// Whether a call of this may have more or fewer than two arguments.
    fn is_variadic(self) -> bool {
        matches!(self, Self::Min | Self::Max | Self::And | Self::Or)
    }
}

fn floor_div(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// Recursive descent over Python's precedence: or, and, not, comparison, sum, product, sign, power, atom.
struct Parser<'a> {
    text: &'a str,
    position: usize,
    symbols: &'a [String],
    code: Vec<Step>,
    nesting: usize,
}

type Parsed = Result<(), String>;

impl Parser<'_> {
    fn error(&self, what: &str) -> String {
        format!("shape expression {:?}: {what} at column {}", self.text, self.position)
    }

    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.position += token.len();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let rest = self.rest();
        let found = rest.starts_with(word)
            && !rest[word.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if found {
            self.position += word.len();
        }
        found
    }

    fn emit(&mut self, operator: Binary) {
        self.code.push(Step::Binary(operator));
    }

    fn disjunction(&mut self) -> Parsed {
        self.nesting += 1;
        if self.nesting > STACK_LIMIT {
            return Err(self.error("too many nested parentheses"));
        }
        self.conjunction()?;
        while self.eat_word("or") {
            self.conjunction()?;
            self.emit(Binary::Or);
        }
        self.nesting -= 1;
        Ok(())
    }

    fn conjunction(&mut self) -> Parsed {
        self.inversion()?;
        while self.eat_word("and") {
            self.inversion()?;
            self.emit(Binary::And);
        }
        Ok(())
    }

    fn inversion(&mut self) -> Parsed {
        let mut negations = 0;
        while self.eat_word("not") {
            negations += 1;
        }
        self.comparison()?;
        self.code.extend(std::iter::repeat_n(Step::Not, negations));
        Ok(())
    }

    fn comparison(&mut self) -> Parsed {
        self.sum()?;
        let mut links = 0;
        while let Some(operator) = self.comparison_operator() {
            // a < b < c is (a < b) and (b < c): the operand in the middle is compiled a second time.
            let start = self.code.len();
            self.sum()?;
            let operand: Vec<Step> = self.code[start..].to_vec();
            self.emit(operator);
            if links > 0 {
                self.emit(Binary::And);
            }
            links += 1;
            let here = self.position;
            if self.comparison_operator().is_some() {
                self.code.extend(operand);
            }
            self.position = here;
        }
        Ok(())
    }

    fn comparison_operator(&mut self) -> Option<Binary> {
        let table = [
            ("==", Binary::Eq),
            ("!=", Binary::Ne),
            ("<=", Binary::Le),
            (">=", Binary::Ge),
            ("<", Binary::Lt),
            (">", Binary::Gt),
        ];
        table.into_iter().find(|(token, _)| self.eat(token)).map(|(_, operator)| operator)
    }

    fn sum(&mut self) -> Parsed {
        self.product()?;
        loop {
            let operator = if self.eat("+") {
                Binary::Add
            } else if self.eat("-") {
                Binary::Sub
            } else {
                return Ok(());
            };
            self.product()?;
            self.emit(operator);
        }
    }

    fn product(&mut self) -> Parsed {
        self.sign()?;
        loop {
            let operator = if self.eat("//") {
                Binary::FloorDiv
            } else if self.eat("%") {
                Binary::Mod
            } else if self.eat("*") {
                Binary::Mul
            } else {
                return Ok(());
            };
            self.sign()?;
            self.emit(operator);
        }
    }

    fn sign(&mut self) -> Parsed {
        let mut negations = 0;
        loop {
            if self.eat("-") {
                negations += 1;
            } else if !self.eat("+") {
                break;
            }
        }
        self.power()?;
        self.code.extend(std::iter::repeat_n(Step::Negate, negations));
        Ok(())
    }

    fn power(&mut self) -> Parsed {
        self.atom()?;
        if self.eat("**") {
            self.nesting += 1;
            if self.nesting > STACK_LIMIT {
                return Err(self.error("too many nested powers"));
            }
            self.sign()?;
            self.nesting -= 1;
            self.emit(Binary::Pow);
        }
        Ok(())
    }

    fn atom(&mut self) -> Parsed {
        self.skip_space();
        if self.eat("(") {
            self.disjunction()?;
            return if self.eat(")") { Ok(()) } else { Err(self.error("a closing parenthesis is missing")) };
        }
        let word: String =
            self.rest().chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.')).collect();
        if word.is_empty() {
            return Err(self.error("a number, a name or a parenthesis is missing"));
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number =
                word.parse().map_err(|_| self.error("a number that is not an integer of 128 bits"))?;
            self.position += word.len();
            self.code.push(Step::Number(number));
            return Ok(());
        }
        if let Some(index) = self.symbols.iter().position(|symbol| *symbol == word) {
            self.position += word.len();
            self.code.push(Step::Symbol(index));
            return Ok(());
        }
        if word == "True" || word == "False" {
            self.position += word.len();
            self.code.push(Step::Number(i128::from(word == "True")));
            return Ok(());
        }
        self.call(&word)
    }

    fn call(&mut self, name: &str) -> Parsed {
        let operator = Binary::of_function(name);
        let unary = match name {
            "abs" | "Abs" => Some(Step::Abs),
            "Not" => Some(Step::Not),
            _ => None,
        };
        if operator.is_none() && unary.is_none() {
            return Err(self.error(&format!("unknown name {name:?}")));
        }
        self.position += name.len();
        if !self.eat("(") {
            return Err(self.error("an opening parenthesis is missing"));
        }
        let mut arguments = 0;
        loop {
            self.disjunction()?;
            arguments += 1;
            if let (Some(operator), true) = (operator, arguments > 1) {
                self.emit(operator);
            }
            if !self.eat(",") {
                break;
            }
        }
        if !self.eat(")") {
            return Err(self.error("a closing parenthesis is missing"));
        }
        let count_fits = match operator {
            Some(operator) => arguments == 2 || operator.is_variadic(),
            None => arguments == 1,
        };
        if !count_fits {
            return Err(self.error(&format!("{name} does not take {arguments} arguments")));
        }
        self.code.extend(unary);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::ShapeExpr;

    fn value(text: &str, symbols: &[(&str, i64)]) -> Option<bool> {
        let names: Vec<String> = symbols.iter().map(|(name, _)| (*name).to_owned()).collect();
        ShapeExpr::parse(text, &names).unwrap().evaluate(|index| Some(symbols[index].1))
    }

    #[test]
    fn precedence_is_pythons() {
        assert_eq!(value("2 + 3 * 4 == 14 and not 1 > 2 or 0 == 1", &[]), Some(true));
        assert_eq!(value("-2 ** 2 == -4", &[]), Some(true));
        assert_eq!(value("2 ** 3 ** 2 == 512", &[]), Some(true));
        assert_eq!(value("-7 // 2 == -4 and -7 % 2 == 1 and 7 % -2 == -1", &[]), Some(true));
    }

    #[test]
    fn comparisons_chain() {
        assert_eq!(value("1 < s0 < 5 <= s1", &[("s0", 3), ("s1", 5)]), Some(true));
        assert_eq!(value("1 < s0 < 5 <= s1", &[("s0", 5), ("s1", 5)]), Some(false));
    }

    #[test]
    fn functions_of_sympy_are_known() {
        assert_eq!(value("Eq(Mod(s0, 8), 0) and Max(1, s0, 3) == s0", &[("s0", 16)]), Some(true));
        assert_eq!(value("CeilDiv(s0, 8) == 3", &[("s0", 17)]), Some(true));
    }

    #[test]
    fn overflow_and_division_by_zero_have_no_value() {
        assert_eq!(value("1 // (s0 - s0) == 0", &[("s0", 1)]), None);
        assert_eq!(value("s0 ** 99 > 0", &[("s0", i64::MAX)]), None);
    }

    #[test]
    fn nonsense_is_named() {
        let names = ["s0".to_owned()];
        for text in
            ["", "s0 +", "s0 ** ", "(s0", "s1 > 2", "s0 > 2 2", "Mod(s0)", "1.5 > s0", "s0 = 2", "abs(s0, 1)"]
        {
            assert!(ShapeExpr::parse(text, &names).is_err(), "{text:?}");
        }
        let deep = format!("{}1{}", "(".repeat(500), ")".repeat(500));
        assert!(ShapeExpr::parse(&deep, &names).is_err());
        let right = (0..500).map(|_| "1+(").collect::<String>() + "1" + &")".repeat(500);
        assert!(ShapeExpr::parse(&right, &names).is_err());
    }
}
