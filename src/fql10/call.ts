// Represents a function call during evaluation. The trace of an error lists a call and its outer calls. Each call
// inherits the effect limit, the read times and the depth from its outer call. Also defines the interfaces for the data
// and the services that evaluation uses.

import { type Message, msg } from '../base/message.ts'
import type { EffectPlace } from '../model/code-interface.ts'
import type { DatabaseId, Micros, Ref, Value as StoredValue, Time } from '../values/value.ts'
import {
  type Diagnostic,
  type FailureCode,
  type FailureParts,
  QueryFailure,
  type Remark,
} from './failure/query-failure.ts'
import type { SetItem } from './sets/items.ts'
import type { Node } from './syntax/nodes.ts'
import type { Source, Span } from './syntax/source.ts'
import {
  type Doc,
  type FunctionValue,
  type Lambda,
  literalNull,
  type Module,
  NullValue,
  type Scope,
  type SetValue,
  type Struct,
  typeName,
  type UserFunction,
  type Value,
  type WatchedPath,
} from './value.ts'

/** The effects that a call can have, from the smallest to the largest. */
export type CallEffect = 'pure' | 'observation' | 'read' | 'write'

const effectOrder: Readonly<Record<CallEffect, number>> = { pure: 0, observation: 1, read: 2, write: 3 }
const effectNames: Readonly<Record<CallEffect, string>> = {
  pure: 'nothing',
  observation: 'an observation',
  read: 'a read',
  write: 'a write',
}

/** `effect` is the largest allowed effect. `place` names the limited code in the error. */
interface EffectLimit {
  readonly effect: CallEffect
  /**
   * A forbidden effect that is smaller than `effect`. Index bindings (computed values of an index) may read their
   * document, but not the time (an `observation`).
   */
  readonly forbids?: CallEffect
  readonly place:
    | 'set functions'
    | 'computed fields'
    // The reason for this sentence is in events/event-snapshots.ts.
    | 'Writes are disallowed in stream subscriptions.'
    | EffectPlace
}

/** The reason why a document cannot be read. */
export interface Absence {
  readonly cause: 'not found' | 'deleted' | 'collection deleted' | 'permission denied'
  /** If undefined, reading a field fails as for null. */
  readonly onField: { readonly code: FailureCode; readonly message: Message } | undefined
  /** The error if the operator `!` is applied to the document. */
  readonly onAssert: { readonly code: FailureCode; readonly message: Message }
}

/** Reads sets of documents (sets/stored-set.ts). */
export interface SetReader {
  /** Throws `permission_denied` if `mayReadSome` is false for the collection. */
  requireSomeRead(collection: Module, call: Call): void
  /** Reads on demand from the place `from`, or from the first entry. Omits entries that the caller may not read. */
  scan(set: SetValue, from: StoredValue | undefined, call: Call): Iterable<SetItem>
  /** True if the rights of the caller allow reading at least some documents of a collection. */
  mayReadSome(collection: Module): boolean
  /** The paths of an index's terms and values, without `id`. */
  pathsOf(collection: Module, index: string): readonly WatchedPath[]
}

/** How a write interprets field names. In the mode `plain` (`createData`), no field name has a special meaning. */
export type FieldsMode = 'default' | 'plain'

/** Throws QueryFailures with the position of `call`. */
export interface Writer {
  create(collection: Module, data: Struct, mode: FieldsMode, call: Call): Doc
  change(how: 'update' | 'replace', doc: Doc, data: Struct, mode: FieldsMode, call: Call): Doc
  /** Returns a reference to the deleted document. */
  remove(doc: Doc, call: Call): Doc
}

/** Throws QueryFailures with the position of `call`. */
export interface AccessReader {
  credentialOf(document: Doc): Doc
  /**
   * Reads a set of tokens (sets/token-set.ts) on demand from the place `from`, or from the first token. Omits tokens
   * that the caller may not read.
   */
  tokensOf(set: SetValue, from: StoredValue | undefined, call: Call): Iterable<SetItem>
  verify(credential: Doc, password: string): boolean
  login(credential: Doc, password: string, ttl: Time | undefined, call: Call): Doc
  identity(): Doc | undefined
  token(): Value | undefined
  isProtected(call: Call): boolean
  /** True if the database checks queries before they run. */
  isTypechecked(): boolean
}

export interface NameReader {
  /** Finds a global name or alias. Returns undefined if the name is unknown. */
  global(name: string): Module | UserFunction | undefined
  /** Finds a collection by name or alias. Throws a QueryFailure at `call` if the name is unknown. */
  collection(name: string, call: Call): Module
  /** Finds a function by name or alias. Throws a QueryFailure at `call` if the name is unknown. */
  userFunction(name: string, call: Call): UserFunction
  /** The definition of a collection or a function, by name or alias. */
  definitionOf(name: string): Doc | undefined
}

/** Reads documents with the rights of the caller. */
export interface DocumentAccess {
  byId(collection: Module, id: bigint, call: Call): Doc
  byName(collection: Module, name: string, call: Call): Doc
  /**
   * Returns undefined if the document can be read. `asWhole`: whether the caller needs all fields of the document. The
   * check has no read cost if an index found the document and `asWhole` is false.
   */
  absence(doc: Doc, call: Call, asWhole?: boolean): Absence | undefined
  /** Returns the fields in the order of the response. The document must be readable. */
  fields(doc: Doc, call: Call): Struct
  /**
   * The cached JSON text of a readable document's fields, without the id, the collection and the braces. Returns
   * undefined if the text cannot be made from the stored version alone, for example because of computed fields.
   */
  storedText(doc: Doc, tagged: boolean, call: Call): string | undefined
  /**
   * `data` is the object with all data fields. The document must be readable. Returns undefined for a missing field.
   */
  field(doc: Doc, name: string, call: Call): Value | undefined
  /** Adds a hint at `call.span` if the index that found the document does not contain the given field. */
  hintUncovered(doc: Doc, name: string, call: Call): void
  /** `Collection.Deleted` if the collection was deleted. */
  collectionOf(ref: Ref): Module
}

/** The keys and the data of the tokens that clients receive: cursors and event sources. */
export interface TokenSealing {
  readonly database: DatabaseId
  /** The time of the response: the commit time if the query has written. */
  resultTime(): Micros
  /** The commit time of the query's writes. Returns undefined if the query has not written. */
  writeTime(): Micros | undefined
  /** The key that authenticates cursors. */
  readonly cursorKey: Uint8Array
  /** The key that authenticates event sources of all databases, because each event source names its database. */
  readonly sourceKey: Uint8Array
}

/** The data and the user-defined names that a query can access. */
export interface World {
  readonly names: NameReader
  readonly documents: DocumentAccess
  readonly sets: SetReader
  readonly writer: Writer
  readonly access: AccessReader
  readonly sealing: TokenSealing
  /**
   * The caller checks the number of arguments. Returns the result, or a BoundCall, which the caller must evaluate, if
   * the function is written in version 10 and has no role.
   */
  callUser(callee: UserFunction, args: readonly Value[], call: Call): Value | BoundCall
}

/** A call of a lambda or user function, ready for evaluation. */
export class BoundCall {
  readonly body: Node
  readonly scope: Scope | undefined
  readonly within: Call
  constructor(body: Node, scope: Scope | undefined, within: Call) {
    this.body = body
    this.scope = scope
    this.within = within
  }
}

/** Each code is part of a documentation URL. */
export type HintCode = 'non_covered_document_read' | 'full_set_read' | 'collection_scan'

/** The state of one query's evaluation, and the services that library functions use. */
export interface Evaluation {
  readonly world: World
  readonly now: Micros
  /**
   * Throws QueryFailures, and errors that end the evaluation, such as an exceeded limit or `Pending` (the evaluation
   * must wait for a result).
   */
  evaluate(node: Node, scope: Scope | undefined, call: Call): Value
  /** Returns a QueryFailure instead of throwing it, so that evaluation can continue. */
  catchFailure<T>(work: () => T): T | QueryFailure
  global(name: string): Value | undefined
  /** The library's field or method for the type of `receiver`. Returns undefined if the type has no such member. */
  member(receiver: Value, name: string): Value | undefined
  /** Applies a function that `call` has received as an argument. Errors in the function include `call` in traces. */
  apply(callee: FunctionValue, args: readonly Value[], call: Call): Value
  /**
   * Prepares a call of a lambda or a user function. `call` represents this call, not the call that encloses it. The
   * caller evaluates the returned body, so that nested calls use less stack. If the function has a role or a body of
   * version 4, `bind` evaluates the body itself and returns the value.
   */
  bind(callee: Lambda | UserFunction, args: readonly Value[], call: Call): Value | BoundCall
  /** Throws if the query exceeds its limit of compute units. */
  compute(units: number): void
  /** Adds a diagnostic of `log` or `dbg`. */
  addLogLine(diagnostic: Diagnostic): void
  /** Has no effect if the request asks for no hints. The same hint at the same position is added only once. */
  hint(code: HintCode, text: string, span: Span | undefined): void
  /** A repeated evaluation of the query gets the same ids. */
  newId(): bigint
}

interface CallOptions {
  readonly source?: Source
  readonly depth?: number
  readonly limit?: EffectLimit
}

/** If both times are undefined, the call reads the present. */
export interface ReadTimes {
  /** The time that an `at` block sets. Reads at this time need the right to read the history. */
  readonly at: number | undefined
  /**
   * The snapshot time of the first page, while a later page of a set is read. Reads at this time need the same rights
   * as reads of the present. An `at` block takes precedence.
   */
  readonly snapshot: number | undefined
}

export class Call implements ReadTimes {
  readonly evaluation: Evaluation
  readonly outer: Call | undefined
  readonly source: Source
  /** The range that errors underline, such as the argument list. Undefined if the trace does not show this call. */
  readonly span: Span | undefined
  /** Counts the enclosing calls of lambdas and user functions. */
  readonly depth: number
  readonly limit: EffectLimit | undefined
  readonly at: number | undefined
  readonly snapshot: number | undefined

  constructor(
    evaluation: Evaluation,
    outer: Call | undefined,
    source: Source,
    span: Span | undefined,
    depth = 0,
    limit?: EffectLimit,
    at?: number,
    snapshot?: number,
  ) {
    this.evaluation = evaluation
    this.outer = outer
    this.source = source
    this.span = span
    this.depth = depth
    this.limit = limit
    this.at = at
    this.snapshot = snapshot
  }

  /** Returns an inner call, whose errors underline `span`. */
  within(span: Span): Call {
    return new Call(this.evaluation, this, this.source, span, this.depth, this.limit, this.at, this.snapshot)
  }

  as({ source = this.source, depth = this.depth, limit = this.limit }: CallOptions): Call {
    return new Call(this.evaluation, this.outer, source, this.span, depth, limit, this.at, this.snapshot)
  }

  /** If undefined, reads return the current data, including the query's own writes. */
  get readTime(): number | undefined {
    return this.at ?? this.snapshot
  }

  /** Returns a call that reads as of `at`. If `at` is undefined, only `snapshot` determines the read time. */
  asOf(at: number | undefined): Call {
    return this.reading({ at, snapshot: this.snapshot })
  }

  reading({ at, snapshot }: ReadTimes): Call {
    return new Call(this.evaluation, this.outer, this.source, this.span, this.depth, this.limit, at, snapshot)
  }

  failure(
    code: FailureCode,
    message: Message,
    remarks: readonly Remark[] = [],
    parts: FailureParts = {},
  ): QueryFailure {
    return failureAt(code, message, this.span, this.outer, remarks, parts)
  }

  /** Creates errors such as ``invalid argument `x`: x must be positive``. */
  invalidArgument(parameter: string, reason: Message): QueryFailure {
    return this.failure('invalid_argument', msg`invalid argument \`${parameter}\`: ${reason}`)
  }

  outOfBounds(index: number, length: number): QueryFailure {
    return this.failure('index_out_of_bounds', msg`index ${index} out of bounds for length ${length}`)
  }

  /** `reason` is the end of the message `Null value, due to …`. */
  noElement(reason: Message): NullValue {
    return new NullValue({ type: 'no element', reason }, this.span)
  }

  nullResult(): NullValue {
    return new NullValue(literalNull, this.span)
  }

  /**
   * `callee` was an argument of a library function, whose check of arguments has ensured that `callee` accepts this
   * number of `args`.
   */
  apply(callee: FunctionValue, ...args: Value[]): Value {
    return this.evaluation.apply(callee, args, this)
  }

  /** A null result counts as false. All other results that are not Booleans are errors. */
  test(predicate: FunctionValue, ...args: Value[]): boolean {
    const result = this.evaluation.apply(predicate, args, this)
    if (typeof result === 'boolean') return result
    if (result === null || result instanceof NullValue) return false
    throw this.mismatch('Boolean', result)
  }

  /** Returns the error for a value with the wrong type. For arguments, use `invalidArgument`. */
  mismatch(expected: string, received: Value): QueryFailure {
    return this.failure('type_mismatch', msg`expected type: ${expected}, received ${typeName(received)}`)
  }

  /** `start` and `end` are offsets in this call's text. The trace contains this call. */
  failureWithin(
    code: FailureCode,
    message: Message,
    start: number,
    end: number,
    remarks?: readonly Remark[],
  ) {
    return failureAt(code, message, this.spanOf(start, end), this, remarks)
  }

  spanOf(start: number, end: number): Span {
    return { source: this.source, start, end }
  }

  /** Source name, line and column, for the explanation of access decisions. */
  position(): readonly (string | number)[] {
    const { span } = this
    if (span === undefined) return []
    const { source, start } = span
    return [source.name, source.lineOf(start), source.columnOf(start)]
  }

  /** Throws if `limit` forbids the effect. `action`, such as `` `now` ``, is the subject of the message. */
  requireEffect(effect: CallEffect, action: string): void {
    const { limit } = this
    if (limit === undefined) return
    if (effectOrder[effect] <= effectOrder[limit.effect] && effect !== limit.forbids) return
    const message = msg`${action} performs ${effectNames[effect]}, which is not allowed in ${limit.place}.`
    throw this.failure('invalid_effect', message)
  }
}

/** The call `within` and its outer calls form the trace. */
export function failureAt(
  code: FailureCode,
  message: Message,
  span: Span | undefined,
  within: Call | undefined,
  remarks: readonly Remark[] = [],
  parts: FailureParts = {},
): QueryFailure {
  const diagnostic = { name: 'error', message, span, remarks, trace: traceOf(within) } as const
  return new QueryFailure(code, message, [diagnostic], parts)
}

/** Appends a call and its enclosing calls to the trace of a failure from stored code. */
export function withOuterTrace(failure: QueryFailure, call: Call): QueryFailure {
  const [first, ...others] = failure.diagnostics
  if (first === undefined) return failure
  const traced = { ...first, trace: [...(first.trace ?? []), ...traceOf(call)] }
  return new QueryFailure(failure.code, failure.template, [traced, ...others], failure)
}

/** The spans of a call and its enclosing calls, innermost first. */
function traceOf(call: Call | undefined): (Span | undefined)[] {
  const trace: (Span | undefined)[] = []
  for (let each = call; each !== undefined; each = each.outer)
    if (each.span !== undefined) trace.push(each.span)
  return trace
}
