// Parses text to wire JSON. The syntax is a small subset of JavaScript: calls of the language's functions, literals,
// arrays, objects and arrow functions. Acorn parses the text, and nothing is ever evaluated. This file also parses
// JavaScript modules with one definition. And it recognises texts in version 10, so that an error can name the version.

import { type Expression, type ModuleDeclaration, parse, parseExpressionAt, type Statement } from 'acorn'
import type { Json } from '../../values/value.ts'
import { ExpressionReader } from './expression-reader.ts'
import { FqlSyntaxError, type SourceNode, type TextRange } from './source.ts'
import { dotted } from './syntax.ts'

/** A parsed expression. */
export interface ParsedExpression extends TextRange {
  /** The query as wire JSON. To send the query, convert it to text with `writeJson`. */
  readonly json: Json
  /** The positions of the query's parts in the text. */
  readonly source: SourceNode
}

/** White space, comments, semicolons and, as the very first line, `#!…`. */
const between = /(?:\s|;|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/)*/y

/**
 * The consecutive expressions of a text, each parsed on demand. Semicolons between them are optional. Throws {@link
 * FqlSyntaxError}.
 */
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

/** All expressions of a text. Throws {@link FqlSyntaxError}. */
export function parseExpressions(text: string): readonly ParsedExpression[] {
  return [...readExpressions(text)]
}

/** The only expression of a text. Throws {@link FqlSyntaxError} if the text contains no expression or more than one. */
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

/**
 * Runs `read`, which parses the text from `start` on. Converts the syntax errors of acorn to {@link FqlSyntaxError}s
 * with positions in `text`.
 */
function readTree<T>(text: string, start: number, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    // Reading is recursive, so deep nesting overflows the stack.
    if (cause instanceof RangeError)
      throw new FqlSyntaxError('the expression is nested too deeply', text, rangeOf(start))
    if (!(cause instanceof SyntaxError)) throw cause
    // As documented, acorn's errors have the offset as `pos` and end with line and column.
    const at = Math.min(start + ((cause as SyntaxError & { readonly pos?: number }).pos ?? 0), text.length)
    const message = cause.message.replace(/ \(\d+:\d+\)$/, '')
    const isOpen = at >= text.trimEnd().length || /^Unterminated (template|comment)/.test(message)
    const said = isOpen ? `the expression has no end` : lowerFirst(message)
    throw new FqlSyntaxError(said, text, rangeOf(at), isOpen)
  }
}

/**
 * The syntax tree of the expression at the start of a text, and its end. The text contains no earlier expressions,
 * because acorn would count their lines again for each expression.
 */
function parseTree(text: string): { readonly tree: Expression; readonly end: number } {
  // The tree does not contain the parentheses around the expression.
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
 * The part of an expression before a line break that ends the expression in this language. JavaScript continues the
 * expression on the next line (`a()⏎[1]`, `1⏎-2`). In this language, the next line begins another expression.
 */
function untilLineEnd(tree: Expression, text: string): Expression {
  const left = leftOf(tree)
  if (!left) return tree
  const first = untilLineEnd(left, text)
  if (first !== left) return first
  const gap = /^(?:[^\S\n\r]|\)|\/\*[\s\S]*?\*\/)*(?:\/\/.*)?[\n\r]/
  return gap.test(text.slice(left.end)) ? left : tree
}

/** The expression before a bracket, a parenthesis, a template or an operator that is not part of the language. */
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

// JavaScript modules with one definition, in the form in which tools store schema objects: `export default
// CreateIndex({…})` after imports of the driver. Modules are parsed and never run. Constants are replaced by their
// definitions. Code that would have to be run is rejected with its position.

/** The default export of a module, in the syntax of ES modules or of CommonJS. Throws {@link FqlSyntaxError}. */
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
    // `const Query = q.Query` is the driver's function under its own name, not a constant.
    id.type === 'Identifier' && init && !dotted(init).endsWith(`.${id.name}`)
      ? [[id.name, init] as const]
      : [],
  )
}

/** `export default …`, `module.exports = …`, `exports.default = …`. */
function exportOf(node: Statement | ModuleDeclaration): Expression | undefined {
  if (node.type === 'ExportDefaultDeclaration') {
    const { declaration } = node
    return declaration.type === 'FunctionDeclaration' || declaration.type === 'ClassDeclaration'
      ? undefined
      : declaration
  }
  const assigned = node.type === 'ExpressionStatement' ? node.expression : undefined
  if (assigned?.type !== 'AssignmentExpression' || assigned.left.type !== 'MemberExpression') return undefined
  return /^(?:module\.)?exports(?:\.default)?$/.test(dotted(assigned.left)) ? assigned.right : undefined
}

// Recognises texts in the wrong version of the language, so that an error can name the other version.

const stringsAndComments = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/.*|\/\*[\s\S]*?\*\//g

/** Syntax of version 10 that version 4 lacks. The pattern expects a text in which all strings are replaced by `""`. */
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

/** Returns whether a text that is invalid in version 4 has the syntax of version 10. */
export function looksLikeVersion10(text: string): boolean {
  const code = text.replace(stringsAndComments, '""')
  // The driver of version 4 is usually imported as `q`.
  return syntax10.test(code) && !/\bq\.[A-Z]/.test(code)
}

/** Returns whether a text that is invalid in version 10 is valid in version 4, and calls a function. */
export function isVersion4(text: string): boolean {
  try {
    return /\b[A-Z]\w*\s*\(/.test(text) && parseExpressions(text).length > 0
  } catch (cause) {
    if (cause instanceof FqlSyntaxError) return false
    throw cause
  }
}
