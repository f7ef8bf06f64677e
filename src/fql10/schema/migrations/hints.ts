// Creates the suggestions in migration errors, which show the file with the proposed change. If the declaration does
// not come from a file, the suggestion has no position.

import type { Message } from '../../../base/message.ts'
import type { FieldNames } from '../../../model/schema/migration-steps.ts'
import { pathSpelling } from '../../../model/schema/paths.ts'
import type { Diagnostic, Remark } from '../../failure/query-failure.ts'
import type { Span } from '../../syntax/source.ts'
import { type Declaration, type Statement, spanIn } from './declaration.ts'

export function fault(message: Message, span: Span | undefined, ...remarks: readonly Remark[]): Diagnostic {
  return { name: 'error', message, span, remarks }
}

export function hint(message: string, span: Span | undefined): Remark {
  return { name: 'hint', message, span }
}

export function suggestion(message: string, span: Span | undefined, text: string): Remark {
  return { name: 'hint', message, span, suggestion: text }
}

export function removal(message: string, statement: Statement): Remark {
  return suggestion(message, spanIn(statement, statement.node), '')
}

function insertion({ ranges }: Declaration, at: number | undefined): Span | undefined {
  return ranges && at !== undefined ? { source: ranges.source, start: at, end: at } : undefined
}

/** Suggests a text after the range. */
export function insertAfter(message: string, span: Span | undefined, text: string): Remark {
  return suggestion(message, span && { ...span, start: span.end }, text)
}

function block(statements: readonly string[]): string {
  return `migrations {${statements.map(each => `\n    ${each}`).join('')}\n  }\n`
}

/** The offset of the first field, or of the closing brace of a collection without fields. */
function firstFieldAt({ fields, ranges }: Declaration): number | undefined {
  return fields[0]?.nameSpan?.start ?? ranges?.closing
}

/**
 * Appends statements to the migrations block, or adds a block. `otherwise` is the position of the new block: the end of
 * the collection, or before the first field.
 */
export function addStatements(
  message: string,
  declaration: Declaration,
  texts: readonly string[],
  otherwise: 'at the end' | 'at the beginning' = 'at the end',
): Remark {
  const { ranges } = declaration
  if (ranges?.statementsClosing !== undefined) {
    const text = `  ${texts.join('\n    ')}\n`
    return suggestion(message, insertion(declaration, ranges.statementsClosing), text)
  }
  const at = otherwise === 'at the end' ? ranges?.closing : firstFieldAt(declaration)
  return suggestion(message, insertion(declaration, at), block(texts))
}

/** Inserts a migrations block, even if the collection already has one. */
export function insertBlockBefore(message: string, span: Span | undefined, texts: readonly string[]): Remark {
  return suggestion(message, span && { ...span, end: span.start }, block(texts))
}

/** Inserts the wildcard before the first field. */
export function wildcardFirst(message: string, declaration: Declaration): Remark {
  return suggestion(message, insertion(declaration, firstFieldAt(declaration)), '*: Any\n')
}

/** Inserts the wildcard after the last field. */
export function wildcardLast(message: string, declaration: Declaration): Remark {
  return suggestion(message, insertion(declaration, declaration.fields.at(-1)?.end), '\n  *: Any')
}

/** Suggests a field `tmp` for values of the given type, and a `split` statement that moves these values to it. */
export function splitBefore(
  message: string,
  declaration: Declaration,
  span: Span | undefined,
  path: FieldNames,
  type: string,
): Remark {
  const at = span ?? insertion(declaration, firstFieldAt(declaration))
  const text = `tmp: ${type}\n  ${block([`split ${pathSpelling(path)} -> ${pathSpelling(path)}, .tmp`])}`
  return suggestion(message, at && { ...at, end: at.start }, text)
}

/** Suggestions for a required field that would have no value in existing documents. */
export function valueHints(typeSpan: Span | undefined): {
  readonly nullable: Remark
  readonly defaulted: Remark
} {
  return {
    nullable: insertAfter('Make the field nullable', typeSpan, '?'),
    defaulted: insertAfter('Add a default value to this field', typeSpan, ' = <expr>'),
  }
}
