// What errors of migrations suggest, drawn as the file would be with it. Parts that stand in no file have no place.

import type { Message } from '../../../base/message.ts'
import type { FieldNames } from '../../../model/schema/migration-steps.ts'
import { pathSpelling } from '../../../model/schema/paths.ts'
import type { Diagnostic, Remark } from '../../failure/failure.ts'
import type { Span } from '../../syntax/source.ts'
import { type Declaration, type Statement, spanIn } from './declaration.ts'

/** An error at a place. */
export function fault(message: Message, span: Span | undefined, ...remarks: readonly Remark[]): Diagnostic {
  return { name: 'error', message, span, remarks }
}

/** A remark about a place. */
export function hint(message: string, span: Span | undefined): Remark {
  return { name: 'hint', message, span }
}

/** A remark with a text that would stand in the place of another one. */
export function suggestion(message: string, span: Span | undefined, text: string): Remark {
  return { name: 'hint', message, span, suggestion: text }
}

/** Suggests to leave a statement out. */
export function removal(message: string, statement: Statement): Remark {
  return suggestion(message, spanIn(statement, statement.node), '')
}

function insertion({ place }: Declaration, at: number | undefined): Span | undefined {
  return place && at !== undefined ? { source: place.source, start: at, end: at } : undefined
}

/** Suggests something behind a place. */
export function behind(message: string, span: Span | undefined, text: string): Remark {
  return suggestion(message, span && { ...span, start: span.end }, text)
}

function block(statements: readonly string[]): string {
  return `migrations {${statements.map(each => `\n    ${each}`).join('')}\n  }\n`
}

/** Where a collection's first field begins; where the collection ends, if it has none. */
function firstFieldAt({ fields, place }: Declaration): number | undefined {
  return fields[0]?.nameSpan?.start ?? place?.closing
}

/** Suggests statements behind those that are there, else a block of them at the end, or before the first field. */
export function statements(
  message: string,
  declaration: Declaration,
  texts: readonly string[],
  otherwise: 'at the end' | 'at the beginning' = 'at the end',
): Remark {
  const { place } = declaration
  if (place?.statementsClosing !== undefined) {
    const text = `  ${texts.join('\n    ')}\n`
    return suggestion(message, insertion(declaration, place.statementsClosing), text)
  }
  const at = otherwise === 'at the end' ? place?.closing : firstFieldAt(declaration)
  return suggestion(message, insertion(declaration, at), block(texts))
}

/** Suggests a block of statements before a place, whether or not there is one already. */
export function blockBefore(message: string, span: Span | undefined, texts: readonly string[]): Remark {
  return suggestion(message, span && { ...span, end: span.start }, block(texts))
}

/** Suggests a wildcard before the first field. */
export function wildcardBefore(message: string, declaration: Declaration): Remark {
  return suggestion(message, insertion(declaration, firstFieldAt(declaration)), '*: Any\n')
}

/** Suggests a wildcard behind the last field. */
export function wildcardBehind(message: string, declaration: Declaration): Remark {
  return suggestion(message, insertion(declaration, declaration.fields.at(-1)?.end), '\n  *: Any')
}

/** Suggests a field for what does not fit another one, with the statement that gives it there. */
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

/** What can be done about a field that has to have a value and has none. */
export function valueHints(typeSpan: Span | undefined): {
  readonly nullable: Remark
  readonly defaulted: Remark
} {
  return {
    nullable: behind('Make the field nullable', typeSpan, '?'),
    defaulted: behind('Add a default value to this field', typeSpan, ' = <expr>'),
  }
}
