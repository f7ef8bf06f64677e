// Converts a failure to the fault in the query log: code, text and position. Quoted values stay separate from the words
// of the service, because the query log must not store them.

import { type Message, messageOf, msg, own } from '../../base/message.ts'
import type { Fault } from '../../model/language.ts'
import type { Span } from '../syntax/source.ts'
import type { QueryFailure } from './query-failure.ts'

/** Matches the source names that the service gives: `*query*`, `*udf:NAME*`. */
const namedSource = /^\*([a-z_]+)(?::(.*))?\*$/s

/** Returns the fault of a failure. The argument of `abort` is data of the client, so it is left out. */
export function faultOf({ code, diagnostics, template }: QueryFailure): Fault {
  const [first] = diagnostics
  // The message of an invalid query only counts its faults; the first fault is the reason.
  const text = code === 'invalid_query' && first !== undefined ? messageOf(first.message) : template
  return { code, text: code === 'abort' ? msg`` : text, position: positionOf(first?.span) }
}

/** Returns source, line and column; empty without a span. */
export function positionOf(span: Span | undefined): Message {
  if (span === undefined) return msg``
  const { source, start } = span
  const line = source.lineOf(start)
  return msg`${nameOf(source.name)}:${own(line)}:${own(start - source.lineStart(line) + 1)}`
}

/** Names of schema files are data of the client. */
function nameOf(source: string): Message {
  const [, kind, name] = namedSource.exec(source) ?? []
  if (kind === undefined) return msg`a schema file`
  return name === undefined ? msg`*${own(kind)}*` : msg`*${own(kind)}:${name}*`
}
