// The query errors of version 4: all codes with their HTTP statuses, and a bounded list that collects errors. The
// protocol defines the codes, statuses and texts, because clients depend on them.

import { step } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import { type Message, messageOf } from '../base/message.ts'
import { LanguageError } from '../model/failure.ts'

export const errorsLimits = {
  /**
   * Maximum number of characters in all errors of one response. Each step of a position counts as one more character;
   * own limit.
   */
  gatheredErrorUnitsMax: 262_144,
} as const

/** If a query has several errors, the error whose rank comes first in this list determines the HTTP status. */
type ErrorRank = 'parse' | 'argument' | 'permission' | 'other'

export const queryErrorStatus = {
  /** `login` failed: the password is wrong, or the document does not exist. */
  'authentication failed': 400,
  /** A document violates a check constraint of its collection. */
  'check constraint failure': 400,
  /** The body of a user function failed; `cause` contains the errors in the body. */
  'call error': 400,
  /** Reserved by the protocol; this service never sends this code. */
  'feature not available': 400,
  /** A document with this id, or a schema object with this name, already exists. */
  'instance already exists': 400,
  /** A document, schema object or set does not exist at the time of the read. */
  'instance not found': 404,
  /** The write would give a unique index a second entry for the same terms and values. */
  'instance not unique': 400,
  /** An argument has a type or a value that the function does not accept. */
  'invalid argument': 400,
  /** The query cannot be parsed, or reads or writes where it must not. */
  'invalid expression': 400,
  /** A container database can contain only databases, keys, roles and access providers. */
  'invalid object in container': 400,
  /** A reference names a schema object that does not exist. */
  'invalid ref': 400,
  /** `current_token` is used, but the credential is the root secret, or a key of another database. */
  'invalid token': 400,
  /** The `fields` parameter of a stream names an unknown field. */
  'invalid url parameter': 400,
  /** A query writes inside `at`, or inserts a version at a future time. */
  'invalid write time': 400,
  /** `current_identity` is used, but the credential has no identity. */
  'missing identity': 400,
  /** A database cannot be moved into itself or into one of its descendants. */
  'move database error': 400,
  /** The credential does not have the rights for this part of the query. */
  'permission denied': 403,
  /**
   * A protected database rejects a change that loses data, definitions cannot change while a schema is staged, a
   * function has no usable body, or a document violates the declaration of its collection.
   */
  'schema validation failed': 400,
  /** Calls or expressions are nested too deeply, for example by recursion. */
  'stack overflow': 400,
  /** The query called `abort`; the description is the argument of `abort`. */
  'transaction aborted': 400,
  /** A document or schema object has invalid fields; `failures` lists the fields with reasons. */
  'validation failed': 400,
  /** `select` finds no value at its path and has no default. */
  'value not found': 404,
} as const

export type QueryErrorCode = keyof typeof queryErrorStatus

/** A position in the query: object keys and array indexes from the root of the query. */
export type Position = readonly (string | number)[]

export interface FieldError {
  readonly field: readonly string[]
  readonly code: string
  readonly description: string
}

export interface ErrorEntry {
  readonly position: Position
  readonly code: QueryErrorCode
  readonly description: string
  /** The description as a template, so that the query log can omit quoted values. */
  readonly template: Message
  readonly failures?: readonly FieldError[]
  readonly cause?: readonly ErrorEntry[]
  readonly rank: ErrorRank
  /** Usually the status of the code. `instance not found` has status 400 for an inactive index or an unknown secret. */
  readonly status: number
}

/** `details` can replace the default rank and status of the code. */
export function errorEntry(
  code: QueryErrorCode,
  description: Message,
  position: Position,
  details: Partial<Pick<ErrorEntry, 'failures' | 'cause' | 'rank' | 'status'>> = {},
): ErrorEntry {
  const rank: ErrorRank =
    code === 'invalid argument' ? 'argument' : code === 'permission denied' ? 'permission' : 'other'
  const template = messageOf(description)
  const status = queryErrorStatus[code]
  return { position, code, description: String(description), template, rank, status, ...details }
}

/** `errors` is the content of `errors` in the response. */
export class QueryError extends LanguageError {
  override name = 'QueryError'
  readonly errors: readonly ErrorEntry[]
  constructor(errors: readonly ErrorEntry[]) {
    super(errors[0]?.description ?? 'query failed')
    this.errors = errors
  }
  /** Undefined if the query did not fail by `abort`. */
  get aborted(): string | undefined {
    let [first] = this.errors
    while (first?.code === 'call error') first = first.cause?.[0]
    return first?.code === 'transaction aborted' ? first.description : undefined
  }

  static of(...args: Parameters<typeof errorEntry>): QueryError {
    return new QueryError([errorEntry(...args)])
  }
}

const rankOrder: Record<ErrorRank, number> = { parse: 3, argument: 2, permission: 1, other: 0 }

/** The first error with the highest rank determines the status. */
export function statusOf(errors: readonly ErrorEntry[]): number {
  let chosen = errors[0]
  for (const error of errors) {
    if (chosen && rankOrder[error.rank] > rankOrder[chosen.rank]) chosen = error
  }
  return chosen?.status ?? 500
}

/**
 * Collects the errors of several elements. The list is bounded, because a short query can cause very many errors. A
 * stack overflow makes the list full, so no more elements are evaluated. Otherwise every level could overflow again,
 * and the cost would double with each level.
 */
export class ErrorList {
  readonly #errors: ErrorEntry[] = []
  #units = 0
  #isFinal = false

  add(errors: Iterable<ErrorEntry>): void {
    for (const error of errors) {
      if (this.isFull) return
      this.#errors.push(error)
      this.#units += unitsOf(error)
      if (error.code === 'stack overflow') this.#isFinal = true
    }
  }

  /** If `work` throws a QueryError, adds its errors to the list and returns undefined. */
  collectFrom<T>(work: () => T): T | undefined {
    // Parsing calls this method for each part of a query, so it creates no closure for `catchError`.
    try {
      return work()
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      this.add(error.errors)
      return undefined
    }
  }

  get isEmpty(): boolean {
    return this.#errors.length === 0
  }

  get isFull(): boolean {
    if (this.#isFinal || this.#errors.length >= limits.gatheredErrorsMax) return true
    return this.#units >= errorsLimits.gatheredErrorUnitsMax
  }

  throwIfAny(): void {
    if (this.#errors.length > 0) throw new QueryError(this.#errors)
  }
}

/** Approximate: the characters of the error, plus one for each step of a position. */
function unitsOf({ cause = [], description, failures = [], position }: ErrorEntry): number {
  let units = description.length + position.length
  for (const at of position) if (typeof at === 'string') units += at.length
  for (const { description: text, field } of failures) units += text.length + field.join('').length
  for (const inner of cause) units += unitsOf(inner)
  step(units >> 4)
  return units
}
