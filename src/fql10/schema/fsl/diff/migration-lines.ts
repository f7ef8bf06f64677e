// Describes the effects of a collection's migrations on its documents.

import { unreachable } from '../../../../base/assert.ts'
import { typeText } from '../../../../model/schema/field-types.ts'
import type { FieldNames } from '../../../../model/schema/migration-steps.ts'
import type { Statement } from '../../migrations/declaration.ts'
import type { Filler, PlannedStep } from '../../migrations/planned-step.ts'
import { printedPath } from '../print.ts'
import { ExpressionPrinter } from '../print-expression.ts'
import type { SchemaItem } from '../schema-items.ts'
import { type DiffLine, indented, marked } from './drawing.ts'

/** The new statements of an item, and their steps. */
interface PlannedMigration {
  readonly steps: readonly PlannedStep[]
  readonly statements: readonly Statement[]
}

/** Lines about the effects of migrations; undefined if there are none. Some steps have no line. */
export function migrationLines(
  { statements, steps }: PlannedMigration,
  { source }: SchemaItem,
): readonly DiffLine[] | undefined {
  const printer = new ExpressionPrinter(source.text)
  const told = ({ expression }: Filler) => `\`${printer.expression(expression.node)}\``
  const opensWildcard = statements.some(({ node }) => node.kind === 'add_wildcard')
  if (steps.length === 0 && !opensWildcard) return undefined
  return [
    ...steps.flatMap(step => stepLines(step, told)),
    ...(opensWildcard ? [marked('added', 'add a top-level wildcard')] : []),
  ]
}

function stepLines(step: PlannedStep, told: (filler: Filler) => string): readonly DiffLine[] {
  switch (step.kind) {
    case 'add':
      // A new field without a value changes no document.
      if (step.value === undefined) return []
      return [marked('added', `add field ${field(step.path)} with backfill ${told(step.value)}`)]
    case 'drop':
      return [marked('removed', `drop field ${field(step.path)}`)]
    case 'move':
      return [marked('changed', `move field ${field(step.from)} to field ${field(step.to)}`)]
    case 'split':
      return splitLines(step, told)
    case 'move conflicts':
      return [marked('changed', `move values with type conflicts into ${field([step.into])}`)]
    case 'move wildcard': {
      const kept = step.keep.map(name => printedPath([name])).join(', ')
      const into = `move all fields into the field ${field([step.into])}`
      return [marked('changed', `${into} except fields in the list \`[${kept}]\``)]
    }
    default:
      return unreachable(step)
  }
}

function splitLines(
  { from, targets }: Extract<PlannedStep, { readonly kind: 'split' }>,
  told: (filler: Filler) => string,
): readonly DiffLine[] {
  const into = targets.map(({ path }) => field(path)).join(',')
  const turns = targets.map(({ path, type }, index): DiffLine => {
    const when = index === 0 ? 'if' : 'else if'
    const where = field(path) === field(from) ? 'stays in' : 'moves to'
    const text = `- ${when} the value matches type \`${typeText(type)}\`, the value ${where} field ${field(path)}`
    return indented({ tone: 'plain', text }, 2)
  })
  const fills = targets.flatMap(({ path, value }) =>
    value === undefined ? [] : [marked('added', `backfill field ${field(path)} with value ${told(value)}`)],
  )
  return [marked('changed', `split field ${field(from)} into fields ${into}`), ...turns, ...fills]
}

function field(path: FieldNames): string {
  return `\`${printedPath(path)}\``
}
