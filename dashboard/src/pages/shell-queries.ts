// Prepares the queries of a text in the shell: builds a request for either version of the language, and finds the
// positions of errors in the text.

import { type Notation, NotationError, type ParsedQuery, parseQueries } from '../language.ts'
import type { Mark } from '../parts/code-editor.ts'
import { errorMarks } from '../parts/notation-switch.tsx'
import { pastTime } from '../router.ts'
import { type RequestSecret, runText, runVersion10 } from '../service/client.ts'
import { atPastTime } from '../service/data.ts'
import { ServiceError } from '../service/faults.ts'
import { currentSecret } from '../session.ts'
import { at, type Json, parseJson, type Query, writeJson } from '../wire/json.ts'
import type { ShellResponse } from './shell-result.tsx'

/** The error of a query that the service has rejected, with the marks that underline it in the text. */
export class MarkedError extends Error {
  override name = 'MarkedError'
  override readonly cause: ServiceError
  readonly marks: readonly Mark[]

  constructor(cause: ServiceError, marks: readonly Mark[]) {
    super(cause.message)
    this.cause = cause
    this.marks = marks
  }
}

/** Parts of the text that an error underlines. */
export function marksOf(error: Error | undefined): readonly Mark[] {
  return error instanceof MarkedError ? error.marks : errorMarks(error)
}

/** A query that can be sent. It maps errors of the response to the text. */
export interface ReadyQuery {
  readonly run: (as: RequestSecret, signal: AbortSignal) => Promise<ShellResponse>
  /** Returns the reads of the query; nothing is written. */
  readonly explain: (signal: AbortSignal) => Promise<Json>
  readonly marksFor: (error: ServiceError) => readonly Mark[]
  /** Returns the error with positions in the user's query, which the shell wraps in another query for a past time. */
  readonly unwrapped: (error: ServiceError) => ServiceError
}

const asUserQuery = (as: RequestSecret): RequestSecret => ({ ...as, isFromUser: true })

async function explanationOf(query: Query, signal: AbortSignal): Promise<Json> {
  const { text } = await runText(
    writeJson({ query }),
    asUserQuery(currentSecret.value),
    signal,
    '/api/v1/explain',
  )
  return at(parseJson(text), 'resource') ?? null
}

/** Returns the queries of a text. Throws {@link NotationError}. */
export function queriesOf4(text: string, notation: Notation): readonly ReadyQuery[] {
  return parseQueries(text, notation).map(readyQuery)
}

function readyQuery({ query, locate }: ParsedQuery): ReadyQuery {
  const sent = atPastTime(query)
  const inner = (position: readonly string[]) =>
    sent !== query && position[0] === 'expr' ? position.slice(1) : position
  return {
    run: async (as, signal) => {
      return { ...(await runText(writeJson(sent), asUserQuery(as), signal)), version: '4', summary: '' }
    },
    explain: signal => explanationOf(sent, signal),
    marksFor: ({ faults }) =>
      faults.map(({ code, description, position }) => ({
        ...locate(inner(position)),
        message: `${code}: ${description}`,
      })),
    unwrapped: ({ status, message, faults }) => {
      const own = faults.map(fault => ({ ...fault, position: inner(fault.position) }))
      return new ServiceError(status, message, own)
    },
  }
}

/** The whole text is one query. Throws {@link NotationError}. */
export function queryOf10(text: string): ReadyQuery {
  if (text.trim() === '') throw new NotationError('Write a query first.', 0)
  const past = pastTime.value
  const opening = past === undefined ? '' : `at (Time(${JSON.stringify(past)})) {\n`
  const sent = past === undefined ? text : `${opening}${text}\n}`
  return {
    run: async (as, signal) => ({ ...(await runVersion10(sent, asUserQuery(as), signal)), version: '10' }),
    explain: signal => explanationOf(sent, signal),
    marksFor: ({ summary }) =>
      marksInSummary(sent, summary).map(({ from, to, message }) => ({
        from: Math.max(0, from - opening.length),
        to: Math.max(0, to - opening.length),
        message,
      })),
    unwrapped: error => {
      if (opening === '') return error
      return new ServiceError(error.status, error.message, error.faults, withoutFirstLine(error.summary))
    },
  }
}

/** Reduces each line number in a summary by one, because the shell has inserted a line before the user's query. */
function withoutFirstLine(summary: string): string {
  return summary
    .replace(/\*query\*:(\d+):/g, (_, line) => `*query*:${Number(line) - 1}:`)
    .replace(/^( *)(\d+)( *\|)/gm, (_, before, line, after) => {
      return `${before}${String(Number(line) - 1).padEnd(line.length)}${after}`
    })
}

/** Finds the errors in a summary, which shows each error as `at *query*:2:5`, with carets (`^`) under the line. */
export function marksInSummary(query: string, summary: string): readonly Mark[] {
  const lines = query.split('\n')
  const errors = summary.split('\n\n').filter(block => block.startsWith('error: '))
  return errors.flatMap(error => {
    const message = error.slice(0, error.indexOf('\n'))
    const found = error.matchAll(/^at \*query\*:(\d+):(\d+)\n *\|\n.*\n *\| *(\^+)/gm)
    return [...found].map(([, line = '1', column = '1', drawn = '']) => {
      const before = lines.slice(0, Number(line) - 1).reduce((sum, each) => sum + each.length + 1, 0)
      const from = before + Number(column) - 1
      return { from, to: from + drawn.length, message }
    })
  })
}

/**
 * Calls `work`, which sends the query with the secret `as`. Throws {@link MarkedError} instead of a
 * {@link ServiceError}, except for rejected secrets.
 */
export async function withMarkedErrors<T>(
  query: ReadyQuery,
  as: RequestSecret,
  work: (query: ReadyQuery) => Promise<T>,
): Promise<T> {
  try {
    return await work(query)
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    // The user stays signed in if the service rejects a secret that was entered under Run as.
    if (cause.status === 401 && as !== currentSecret.value)
      throw new Error('The service rejects the secret under Run as. Check the secret, or choose “myself”.')
    if (cause.status === 401) throw cause
    throw new MarkedError(query.unwrapped(cause), query.marksFor(cause))
  }
}
