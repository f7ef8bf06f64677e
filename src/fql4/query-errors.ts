// The query errors of version 4: all codes with their statuses, and the ranks that determine the status of a response.
// The protocol defines the codes, statuses and fixed phrases, because clients depend on them. The errors of sibling
// elements are collected in a bounded list.

import { step } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import { type Message, messageOf } from '../base/message.ts'
import { LanguageError } from '../model/failure.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
export const errorsLimits = {
  /** Characters and path elements of the positions of all errors in one response; own limit. */
  gatheredErrorUnitsMax: 262_144,
} as const

/** The priority of an error for the status of a response with several errors; parse errors come first. */
type ErrorRank = 'parse' | 'argument' | 'permission' | 'other'

/** All error codes within a query, with the HTTP status of each code. */
export const queryErrorStatus = {
  /** `login` with a password that is wrong, or for a document that does not exist; the response is the same. */
  'authentication failed': 400,
  /** A document violates a check of its collection; nothing was written. */
  'check constraint failure': 400,
  /** The body of a user function failed; `cause` holds its own errors. */
  'call error': 400,
  /** Reserved by the protocol; this service does not send it. */
  'feature not available': 400,
  /** A document with that id, or a schema object with that name, already exists. */
  'instance already exists': 400,
  /** A document, schema object or set does not exist at the time of the read. */
  'instance not found': 404,
  /** The write would give a unique index a second entry for the same terms and values. */
  'instance not unique': 400,
  /** An argument has a type or a value that the function does not accept. */
  'invalid argument': 400,
  /** The query cannot be parsed, or has a write where writes are not allowed. */
  'invalid expression': 400,
  /** A container database can contain only databases, keys, roles and access providers. */
  'invalid object in container': 400,
  /** A reference names a schema object that does not exist. */
  'invalid ref': 400,
  /** `current_token` is used, but the credential is not a token. */
  'invalid token': 400,
  /** The `fields` parameter of a stream names an unknown field. */
  'invalid url parameter': 400,
  /** A write inside an `at` with another time, or a version inserted at a future time. */
  'invalid write time': 400,
  /** `current_identity` is used, but the credential has no identity. */
  'missing identity': 400,
  /** A database cannot be moved into itself or into one of its children. */
  'move database error': 400,
  /** The credential does not have the rights for this part of the query. */
  'permission denied': 403,
  /**
   * A protected database rejects a change that loses data, a function has no usable body, or a document violates the
   * declaration of its collection.
   */
  'schema validation failed': 400,
  /** Calls or expressions are nested too deep, for example by recursion. */
  'stack overflow': 400,
  /** `abort` failed the query, without writes; the description is its text. */
  'transaction aborted': 400,
  /** A document or schema object has invalid fields; `failures` lists them with reasons. */
  'validation failed': 400,
  /** `select` finds no value at its path and has no default. */
  'value not found': 404,
} as const

/** The code of an error with a position in the query. */
export type QueryErrorCode = keyof typeof queryErrorStatus

/** A position in the query: object keys and array indexes from its root. */
export type Position = readonly (string | number)[]

/** The reason why a field of a written document was rejected. */
export interface FieldError {
  readonly field: readonly string[]
  readonly code: string
  readonly description: string
}

/** An element of a response's `errors`. */
export interface ErrorEntry {
  readonly position: Position
  readonly code: QueryErrorCode
  readonly description: string
  /** The description in the form that the query log may contain. */
  readonly template: Message
  readonly failures?: readonly FieldError[]
  readonly cause?: readonly ErrorEntry[]
  readonly rank: ErrorRank
  /**
   * The HTTP status. In a few situations, it differs from the usual status of the code (such as 400 for an inactive
   * index).
   */
  readonly status: number
}

/** Creates an entry with the default rank and status of its code. */
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

/** A failed query, with the content of the response's `errors`. */
export class QueryError extends LanguageError {
  override name = 'QueryError'
  readonly errors: readonly ErrorEntry[]
  constructor(errors: readonly ErrorEntry[]) {
    super(errors[0]?.description ?? 'query failed')
    this.errors = errors
  }
  /**
   * The text passed to `abort`, in the query or in a called function. Undefined if the query failed for another reason.
   */
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

/** The HTTP status of a failed query: the status of the first error with the highest rank. */
export function statusOf(errors: readonly ErrorEntry[]): number {
  let chosen = errors[0]
  for (const error of errors) {
    if (chosen && rankOrder[error.rank] > rankOrder[chosen.rank]) chosen = error
  }
  return chosen?.status ?? 500
}

// Collects the errors of sibling elements for one response. The list is bounded, because a short query can cause very
// many errors. After a stack overflow, no more elements are evaluated. The stack would overflow in these elements as
// well, and the cost would double with each level.

/** Errors of several elements, for one response. */
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

  /**
   * Runs `work` and returns its result. If `work` throws query errors, adds the errors to the list and returns
   * undefined.
   */
  attempt<T>(work: () => T): T | undefined {
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

  /** Returns whether the list accepts no more errors, so that collecting can stop. */
  get isFull(): boolean {
    if (this.#isFinal || this.#errors.length >= limits.gatheredErrorsMax) return true
    return this.#units >= errorsLimits.gatheredErrorUnitsMax
  }

  throwIfAny(): void {
    if (this.#errors.length > 0) throw new QueryError(this.#errors)
  }
}

/** The approximate size of an error in a response: steps of its position, and characters. */
function unitsOf({ cause = [], description, failures = [], position }: ErrorEntry): number {
  let units = description.length + position.length
  for (const at of position) if (typeof at === 'string') units += at.length
  for (const { description: text, field } of failures) units += text.length + field.join('').length
  for (const inner of cause) units += unitsOf(inner)
  step(units >> 4)
  return units
}
