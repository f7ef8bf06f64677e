// Parses the text of queries to wire JSON, the JSON of requests. The syntax is a small subset of JavaScript: calls of
// the language's functions, literals, arrays, objects and arrow functions. The library acorn parses the text, which is
// never evaluated. This file also parses JavaScript modules with one definition, and recognizes queries in version 10.

import { type Expression, type ModuleDeclaration, parse, parseExpressionAt, type Statement } from 'acorn'
import { catchError } from '../../base/catch-error.ts'
import type { Json } from '../../values/value.ts'
import { ExpressionReader } from './expression-reader.ts'
import { FqlSyntaxError, type SourceNode, type TextRange } from './source.ts'
import { dottedName } from './syntax.ts'

export interface ParsedExpression extends TextRange {
  /** The query as wire JSON. To send the query, convert it to text with `writeJson`. */
  readonly json: Json
  readonly source: SourceNode
}

/** White space, comments and semicolons between expressions. */
const between = /(?:\s|;|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/)*/y

/** Parses on demand. Semicolons are optional, a first line `#!…` is skipped. Throws {@link FqlSyntaxError}. */
export function* readExpressions(text: string): Generator<ParsedExpression> {
  let at = text.startsWith('#!') ? (/[\n\r]|$/.exec(text)?.index ?? 0) : 0
  for (;;) {
    between.lastIndex = at
    between.exec(text)
    at = between.lastIndex
    if (at >= text.length) return
    const parsed = readOne(text, at)
    yield parsed
    at = parsed.end
  }
}

/** Like {@link readExpressions}, but parses the whole text before it returns. */
export function parseExpressions(text: string): readonly ParsedExpression[] {
  return [...readExpressions(text)]
}

/** Throws {@link FqlSyntaxError} if the text contains no expression or several. */
export function parseExpression(text: string): ParsedExpression {
  const [first, second] = parseExpressions(text)
  if (!first) throw new FqlSyntaxError('an expression is missing', text, rangeOf(text.length), true)
  if (second) throw new FqlSyntaxError('there is more than one expression', text, second)
  return first
}

function readOne(text: string, start: number): ParsedExpression {
  return readTree(text, start, () => {
    const { tree, end } = parseTree(text.slice(start))
    const { json, source } = new ExpressionReader(text, start).read(tree)
    return { json, source, start, end: start + end }
  })
}

/** Converts acorn's syntax errors in the text from `start` on to {@link FqlSyntaxError}s with positions in `text`. */
function readTree<T>(text: string, start: number, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    // Reading is recursive, so deep nesting overflows the stack.
    if (cause instanceof RangeError)
      throw new FqlSyntaxError('the expression is nested too deeply', text, rangeOf(start))
    if (!(cause instanceof SyntaxError)) throw cause
    // According to acorn's documentation, `pos` is the offset, and the message ends with line and column.
    const at = Math.min(start + ((cause as SyntaxError & { readonly pos?: number }).pos ?? 0), text.length)
    const message = cause.message.replace(/ \(\d+:\d+\)$/, '')
    const isOpen = at >= text.trimEnd().length || /^Unterminated (template|comment)/.test(message)
    const description = isOpen ? 'the expression has no end' : lowerFirst(message)
    throw new FqlSyntaxError(description, text, rangeOf(at), isOpen)
  }
}

/** Callers cut off the text before the expression. Otherwise, acorn would count its lines again. */
function parseTree(text: string): { readonly tree: Expression; readonly end: number } {
  // Tokens are needed to find the end, because the tree does not contain the parentheses around the expression.
  const tokens: TextRange[] = []
  const tree = parseExpressionAt(text, 0, {
    ecmaVersion: 'latest',
    onToken: token => {
      tokens.push(token)
    },
  })
  const first = untilLineEnd(tree, text)
  const next =
    first === tree ? undefined : tokens.findIndex(({ start }) => start >= first.end && text[start] !== ')')
  const last = next === undefined ? tokens.at(-1) : tokens[next - 1]
  return { tree: first, end: last?.end ?? 0 }
}

/**
 * Cuts an expression at its first line break before a bracket or an operator. In JavaScript, such an expression
 * continues on the next line (`a()⏎[1]`, `1⏎-2`). In this language, the next line begins another expression.
 */
function untilLineEnd(tree: Expression, text: string): Expression {
  const left = leftOf(tree)
  if (!left) return tree
  const first = untilLineEnd(left, text)
  if (first !== left) return first
  const gap = /^(?:[^\S\n\r]|\)|\/\*[\s\S]*?\*\/)*(?:\/\/.*)?[\n\r]/
  return gap.test(text.slice(left.end)) ? left : tree
}

/**
 * Returns the left operand of JavaScript syntax that this language lacks, such as `a()` in `a()[1]` or `1` in `1 - 2`.
 */
function leftOf(tree: Expression): Expression | undefined {
  switch (tree.type) {
    case 'MemberExpression':
      return tree.computed && tree.object.type !== 'Super' ? tree.object : undefined
    case 'CallExpression': {
      const { callee } = tree
      const isName = callee.type === 'Identifier' || (callee.type === 'MemberExpression' && !callee.computed)
      return isName || callee.type === 'Super' ? undefined : callee
    }
    case 'TaggedTemplateExpression':
      return tree.tag
    case 'BinaryExpression':
      return tree.left.type === 'PrivateIdentifier' ? undefined : tree.left
  }
  return undefined
}

function rangeOf(start: number): TextRange {
  return { start, end: start + 1 }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

/**
 * Parses the default export of an ES module or a CommonJS module. Migration tools store a schema object in a module
 * that imports the driver and contains `export default CreateIndex({…})`. Modules never run: constants are replaced by
 * their definitions, and code that would have to run, such as a loop, causes {@link FqlSyntaxError}.
 */
export function parseModule(text: string): ParsedExpression {
  return readTree(text, 0, () => {
    const constants = new Map<string, Expression>()
    let exported: Expression | undefined
    for (const node of parse(text, { ecmaVersion: 'latest', sourceType: 'module' }).body) {
      for (const [name, value] of constantsOf(node)) constants.set(name, value)
      exported = exportOf(node) ?? exported
    }
    if (exported?.type === 'Identifier') exported = constants.get(exported.name) ?? exported
    if (exported === undefined)
      throw new FqlSyntaxError('nothing is exported: export default CreateFunction({…})', text, {
        start: 0,
        end: text.length,
      })
    const { start, end } = exported
    return { ...new ExpressionReader(text, 0, constants).read(exported), start, end }
  })
}

function constantsOf(node: Statement | ModuleDeclaration): readonly (readonly [string, Expression])[] {
  const declaration = node.type === 'ExportNamedDeclaration' ? node.declaration : node
  if (declaration?.type !== 'VariableDeclaration') return []
  return declaration.declarations.flatMap(({ id, init }) =>
    // Skips aliases of the driver's functions, such as `const Query = q.Query`.
    id.type === 'Identifier' && init && !dottedName(init).endsWith(`.${id.name}`)
      ? [[id.name, init] as const]
      : [],
  )
}

/** Returns the expression in `export default …`, `module.exports = …` or `exports.default = …`. */
function exportOf(node: Statement | ModuleDeclaration): Expression | undefined {
  if (node.type === 'ExportDefaultDeclaration') {
    const { declaration } = node
    return declaration.type === 'FunctionDeclaration' || declaration.type === 'ClassDeclaration'
      ? undefined
      : declaration
  }
  const assigned = node.type === 'ExpressionStatement' ? node.expression : undefined
  if (assigned?.type !== 'AssignmentExpression' || assigned.left.type !== 'MemberExpression') return undefined
  return /^(?:module\.)?exports(?:\.default)?$/.test(dottedName(assigned.left)) ? assigned.right : undefined
}

const stringsAndComments = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/.*|\/\*[\s\S]*?\*\//g

/** Syntax that version 4 lacks. Callers first replace all strings and comments in the text by `""`. */
const syntax10 = new RegExp(
  [
    // Methods and fields of values: `Orders.all()`, `byId("")!.name`, `[1].map`, `(.price`, `.first()?.name`.
    String.raw`(?<![\w.)\]"])[A-Za-z_]\w*\s*\.\s*[a-z]\w*\s*\(`,
    String.raw`[)\]"!?]\s*\.\s*[a-z]`,
    String.raw`[(,]\s*\.\s*[a-z]`,
    // Statements, projections, operators and the assertion `!`.
    String.raw`\blet\s+\w+\s*(?::[^=]+)?=`,
    String.raw`\bif\s*\(`,
    String.raw`\)\s*\{`,
    String.raw`\bisa\b`,
    String.raw`[\w)\]"]\s*(?:==|!=|<=|>=|&&|\|\||\?\?|[-+*/%<](?!=))\s*[\w(["{.]`,
    String.raw`[\w)\]]!`,
  ].join('|'),
)

/** Returns whether a text contains syntax of version 10. Intended for texts that are invalid in version 4. */
export function looksLikeVersion10(text: string): boolean {
  const code = text.replace(stringsAndComments, '""')
  // The driver of version 4 is usually imported as `q`.
  return syntax10.test(code) && !/\bq\.[A-Z]/.test(code)
}

/** Returns whether a text is valid in version 4 and calls a function, for texts that are invalid in version 10. */
export function isVersion4(text: string): boolean {
  const isValid = () => /\b[A-Z]\w*\s*\(/.test(text) && parseExpressions(text).length > 0
  return catchError(FqlSyntaxError, isValid, () => false)
}
