// What the query log tells of an error in version 4: code, text and position without anything that could be data.

import type { ToldFault } from '../model/language.ts'
import { isServiceWord, toldText } from '../model/told-words.ts'

/** Longer bodies hold texts of the client's: nothing but the code is told. */
const charsRead = 65_536
/** Steps of a position, and errors and causes, that are told. */
const stepsTold = 30
const errorsTold = 3

/** Errors whose text is the client's own. */
const ownTexts = new Set(['transaction aborted'])

/** An element of `errors` as it is on the wire. */
interface WireError {
  readonly code?: unknown
  readonly description?: unknown
  readonly position?: unknown
  readonly failures?: unknown
  readonly cause?: unknown
}

/** Makes the function that reads the body of a response with errors; `words` are those of the language. */
export function createToldFault(
  words: ReadonlySet<string>,
): (body: string, names: readonly string[]) => ToldFault | undefined {
  return (body, names) => {
    const [first, ...others] = errorsOf(body)
    if (first === undefined) return undefined
    const isKnown = (word: string) => words.has(word) || names.includes(word)
    const told = [
      textOf(first, isKnown),
      ...others.slice(0, errorsTold - 1).map(each => coded(each, isKnown)),
    ]
    return {
      code: String(first.code),
      text: told.filter(each => each !== '').join('; '),
      position: positionOf(first.position, isKnown),
    }
  }
}

type IsKnown = (word: string) => boolean

function errorsOf(body: string): readonly WireError[] {
  if (body.length > charsRead) return [{ code: /"code":\s*"([a-z ]+)"/.exec(body.slice(0, 500))?.[1] ?? '' }]
  try {
    const { code, errors, reason } = JSON.parse(body) as {
      readonly errors?: unknown
      /** Of endpoints beside queries. */
      readonly code?: unknown
      readonly reason?: unknown
    }
    return typeof code === 'string' ? [{ code, description: reason }] : listOf(errors)
  } catch {
    return []
  }
}

function listOf(value: unknown): readonly WireError[] {
  return Array.isArray(value) ? value.filter(each => each !== null && typeof each === 'object') : []
}

/** The text of an error, with the fields and causes that it names. */
function textOf(error: WireError, isKnown: IsKnown, depth = 0): string {
  const { cause, code, description } = error
  const text = ownTexts.has(String(code)) ? '' : toldText(String(description ?? ''), isKnown)
  const fields = (Array.isArray(error.failures) ? error.failures : []).slice(0, errorsTold)
  const told = fields.map(
    ({ code, field }) => `${positionOf(field, isKnown)}: ${toldText(String(code), isKnown)}`,
  )
  const [inner] = listOf(cause)
  const behind = inner && depth < errorsTold ? [coded(inner, isKnown, depth + 1)] : []
  return [text, ...told, ...behind].filter(each => each !== '').join(' – ')
}

/** The same with its code in front. */
function coded(error: WireError, isKnown: IsKnown, depth = 0): string {
  const text = textOf(error, isKnown, depth)
  return text === '' ? String(error.code) : `${error.code}: ${text}`
}

/** Names of fields are the client's, but for usual ones. */
function positionOf(position: unknown, isKnown: IsKnown): string {
  if (!Array.isArray(position)) return ''
  const steps = position.slice(0, stepsTold)
  return steps
    .map(step =>
      Number.isInteger(step) || isServiceWord(String(step)) || isKnown(String(step)) ? String(step) : '?',
    )
    .join('/')
}
