// JavaScript modules with one definition, as tools keep schema objects: `export default CreateIndex({…})` after imports
// of the driver. Modules are parsed and never run. Constants are replaced by their definitions, and everything that
// would have to be computed is rejected with its position.

import { type Expression, type ModuleDeclaration, parse, type Statement } from 'acorn'
import { ExpressionReader } from './expression-reader.ts'
import { type ParsedExpression, readTree } from './parse.ts'
import { FqlSyntaxError } from './source.ts'
import { dotted } from './syntax.ts'

/** The default export of a module, in either module syntax. Throws {@link FqlSyntaxError}. */
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
