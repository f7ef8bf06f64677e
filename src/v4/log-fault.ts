// Describes errors of version 4 for the query log: code, text and position, without anything that could be data.

import type { ToldFault } from '../model/language.ts'
import { isServiceWord, toldText } from '../model/told-words.ts'

/** Longer bodies contain texts of the client, so only their code is logged. */
const loggedBodyChars = 65_536
/** Maximum numbers of logged position steps, and of errors and causes. */
const loggedSteps = 30
const loggedErrors = 3

/** Errors whose text comes from the client. */
const ownTexts = new Set(['transaction aborted'])

/** An element of `errors` on the wire. */
interface WireError {
  readonly code?: unknown
  readonly description?: unknown
  readonly position?: unknown
  readonly failures?: unknown
  readonly cause?: unknown
}

/** Creates the function that reads the body of an error response. `words`: the words of the language. */
export function createLogFault(
  words: ReadonlySet<string>,
): (body: string, names: readonly string[]) => ToldFault | undefined {
  return (body, names) => {
    const [first, ...others] = errorsOf(body)
    if (first === undefined) return undefined
    const isKnown = (word: string) => words.has(word) || names.includes(word)
    const texts = [
      textOf(first, isKnown),
      ...others.slice(0, loggedErrors - 1).map(each => coded(each, isKnown)),
    ]
    return {
      code: String(first.code),
      text: texts.filter(each => each !== '').join('; '),
      position: positionOf(first.position, isKnown),
    }
  }
}

type IsKnown = (word: string) => boolean

function errorsOf(body: string): readonly WireError[] {
  if (body.length > loggedBodyChars)
    return [{ code: /"code":\s*"([a-z ]+)"/.exec(body.slice(0, 500))?.[1] ?? '' }]
  try {
    const { code, errors, reason } = JSON.parse(body) as {
      readonly errors?: unknown
      /** Of endpoints other than queries. */
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

/** The text of an error, with its fields and causes. */
function textOf(error: WireError, isKnown: IsKnown, depth = 0): string {
  const { cause, code, description } = error
  const text = ownTexts.has(String(code)) ? '' : toldText(String(description ?? ''), isKnown)
  const fields = (Array.isArray(error.failures) ? error.failures : []).slice(0, loggedErrors)
  const texts = fields.map(
    ({ code, field }) => `${positionOf(field, isKnown)}: ${toldText(String(code), isKnown)}`,
  )
  const [inner] = listOf(cause)
  const behind = inner && depth < loggedErrors ? [coded(inner, isKnown, depth + 1)] : []
  return [text, ...texts, ...behind].filter(each => each !== '').join(' – ')
}

/** The text of an error, preceded by its code. */
function coded(error: WireError, isKnown: IsKnown, depth = 0): string {
  const text = textOf(error, isKnown, depth)
  return text === '' ? String(error.code) : `${error.code}: ${text}`
}

/** The steps of a position. Names of fields are the client's, so only known words are logged. */
function positionOf(position: unknown, isKnown: IsKnown): string {
  if (!Array.isArray(position)) return ''
  const steps = position.slice(0, loggedSteps)
  return steps
    .map(step =>
      Number.isInteger(step) || isServiceWord(String(step)) || isKnown(String(step)) ? String(step) : '?',
    )
    .join('/')
}
