// Describes the effects of a collection's migrations on the documents of the collection.

import { unreachable } from '../../../../base/assert.ts'
import { typeText } from '../../../../model/schema/field-types.ts'
import type { FieldNames } from '../../../../model/schema/migration-steps.ts'
import type { DeclaredExpression, PlannedStep, Statement } from '../../migrations/declaration.ts'
import { ExpressionPrinter, printPath } from '../print-expression.ts'
import type { SchemaItem } from '../schema-items.ts'
import { type DiffLine, indentLine, markedLine } from './drawing.ts'

/** The new migration statements of a collection, and the steps that implement the statements. */
interface PlannedMigration {
  readonly steps: readonly PlannedStep[]
  readonly statements: readonly Statement[]
}

/**
 * Returns undefined if there are neither steps nor an `add_wildcard` statement. The result can be empty, because some
 * steps have no line.
 */
export function migrationLines(
  { statements, steps }: PlannedMigration,
  { source }: SchemaItem,
): readonly DiffLine[] | undefined {
  const printer = new ExpressionPrinter(source.text)
  const valueText = ({ node }: DeclaredExpression) => `\`${printer.expression(node)}\``
  const opensWildcard = statements.some(({ node }) => node.kind === 'add_wildcard')
  if (steps.length === 0 && !opensWildcard) return undefined
  return [
    ...steps.flatMap(step => stepLines(step, valueText)),
    ...(opensWildcard ? [markedLine('added', 'add a top-level wildcard')] : []),
  ]
}

function stepLines(step: PlannedStep, valueText: (value: DeclaredExpression) => string): readonly DiffLine[] {
  switch (step.kind) {
    case 'add':
      // A new field without a value changes no document.
      if (step.value === undefined) return []
      return [markedLine('added', `add field ${field(step.path)} with backfill ${valueText(step.value)}`)]
    case 'drop':
      return [markedLine('removed', `drop field ${field(step.path)}`)]
    case 'move':
      return [markedLine('changed', `move field ${field(step.from)} to field ${field(step.to)}`)]
    case 'split':
      return splitLines(step, valueText)
    case 'move conflicts':
      return [markedLine('changed', `move values with type conflicts into ${field([step.into])}`)]
    case 'move wildcard': {
      const kept = step.keep.map(name => printPath([name])).join(', ')
      const into = `move all fields into the field ${field([step.into])}`
      return [markedLine('changed', `${into} except fields in the list \`[${kept}]\``)]
    }
    default:
      return unreachable(step)
  }
}

function splitLines(
  { from, targets }: Extract<PlannedStep, { readonly kind: 'split' }>,
  valueText: (value: DeclaredExpression) => string,
): readonly DiffLine[] {
  const into = targets.map(({ path }) => field(path)).join(',')
  const turns = targets.map(({ path, type }, index): DiffLine => {
    const when = index === 0 ? 'if' : 'else if'
    const where = field(path) === field(from) ? 'stays in' : 'moves to'
    const text = `- ${when} the value matches type \`${typeText(type)}\`, the value ${where} field ${field(path)}`
    return indentLine({ tone: 'plain', text })
  })
  const fills = targets.flatMap(({ path, value }) =>
    value === undefined
      ? []
      : [markedLine('added', `backfill field ${field(path)} with value ${valueText(value)}`)],
  )
  return [markedLine('changed', `split field ${field(from)} into fields ${into}`), ...turns, ...fills]
}

function field(path: FieldNames): string {
  return `\`${printPath(path)}\``
}
