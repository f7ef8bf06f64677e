// A call under way, and with it the place where evaluation stands: the links outwards are the trace of an error, and
// what holds for everything inside (effects, time, depth) is inherited from call to call.

import { type Message, msg } from '../base/message.ts'
import type { EffectPlace } from '../model/effect.ts'
import type { DatabaseId, Micros, Ref, Value as StoredValue, Time } from '../values/value.ts'
import {
  type Diagnostic,
  type FailureCode,
  type FailureParts,
  QueryFailure,
  type Remark,
} from './failure/failure.ts'
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

/** What a call may do, each more than the one before. */
export type CallEffect = 'pure' | 'observation' | 'read' | 'write'

const effectOrder: Readonly<Record<CallEffect, number>> = { pure: 0, observation: 1, read: 2, write: 3 }
const effectNames: Readonly<Record<CallEffect, string>> = {
  pure: 'nothing',
  observation: 'an observation',
  read: 'a read',
  write: 'a write',
}

/** Where evaluation happens, when that forbids effects; the words appear in the error. */
interface EffectLimit {
  readonly effect: CallEffect
  /** What is not allowed although it is less: entries of indexes read their document and do not know the time. */
  readonly forbids?: CallEffect
  readonly place:
    | 'set functions'
    | 'computed fields'
    | 'Writes are disallowed in stream subscriptions.'
    | EffectPlace
}

/** Why a document cannot be read. */
export interface Absence {
  readonly cause: 'not found' | 'deleted' | 'collection deleted' | 'permission denied'
  /** What reading one of its fields fails with, undefined: as on null; and what `!` fails with. */
  readonly onField: { readonly code: FailureCode; readonly message: Message } | undefined
  readonly onAssert: { readonly code: FailureCode; readonly message: Message }
}

/** Reads sets of documents (sets/stored-set.ts). */
export interface SetReader {
  /** Throws where the caller may read nothing of the collection whose index it is, at whatever time. */
  requireIndex(collection: Module, call: Call): void
  /** The entries that the caller may see, from a place on. Lazy. */
  scan(set: SetValue, from: StoredValue | undefined, call: Call): Iterable<SetItem>
  /** Whether there are documents of a collection that the caller may read, as far as its roles say. */
  mayReadSome(collection: Module): boolean
  /** The paths that an index holds, `id` left out. */
  pathsOf(collection: Module, index: string): readonly WatchedPath[]
}

/** How the fields of a written document are read: `plain` has no names with a meaning. */
export type FieldsMode = 'default' | 'plain'

/** Writes documents. Throws QueryFailures at `call`. */
export interface Writer {
  create(collection: Module, data: Struct, mode: FieldsMode, call: Call): Doc
  change(how: 'update' | 'replace', doc: Doc, data: Struct, mode: FieldsMode, call: Call): Doc
  /** The document, which is no longer there. */
  remove(doc: Doc, call: Call): Doc
}

/** Who asks, and the documents by which they prove it. Throws QueryFailures at `call`. */
export interface AccessReader {
  credentialOf(document: Doc, call: Call): Doc
  tokensOf(document: Doc, call: Call): SetValue
  verify(credential: Doc, password: string, call: Call): boolean
  login(credential: Doc, password: string, ttl: Time | undefined, call: Call): Doc
  /** Who asks, and with what; undefined where there is nothing such. */
  identity(call: Call): Doc | undefined
  token(call: Call): Value | undefined
  isProtected(call: Call): boolean
}

/** The data behind a query, and what users have defined there. */
export interface World {
  /** A collection or a function of the users, by name or alias. */
  global(name: string): Module | UserFunction | undefined
  /** The same, where the name has to be that of a collection or of a function. Throws QueryFailures at `call`. */
  collection(name: string, call: Call): Module
  userFunction(name: string, call: Call): UserFunction
  /** The definition of a collection or a function by its name or alias. */
  definitionOf(name: string): Doc | undefined
  byId(collection: Module, id: bigint, call: Call): Doc
  byName(collection: Module, name: string, call: Call): Doc
  /** Why a document cannot be read; undefined where it can. `asWhole`: all of it will be read, if it is there. */
  absence(doc: Doc, call: Call, asWhole?: boolean): Absence | undefined
  /** All fields of a document that can be read, as they are shown. */
  fields(doc: Doc, call: Call): Struct
  /**
   * The JSON text of what a document that can be read shows behind its id and its collection, without braces; undefined
   * where that is not remembered because it depends on more than the stored version.
   */
  storedText(doc: Doc, tagged: boolean, call: Call): string | undefined
  /** One of them, or `data`, which holds also what has the name of something else; undefined: it has none such. */
  field(doc: Doc, name: string, call: Call): Value | undefined
  readonly writer: Writer
  readonly access: AccessReader
  /** Tells that a field of a document's data is not in the index by which it was found. */
  tellUncovered(doc: Doc, name: string, call: Call): void
  /** The companion of a document's collection, be it gone. */
  collectionOf(ref: Ref): Module
  /** Reads sets of documents. */
  readonly sets: SetReader
  /** In which event sources are made, and used. */
  readonly database: DatabaseId
  /** The time that the response to the query will tell. */
  resultTime(): Micros
  /** What proves that this service has made a cursor. */
  readonly cursorKey: Uint8Array
  /** The same for event sources: one for all databases, as a source says in which it was made. */
  readonly sourceKey: Uint8Array
  /** Calls a function of the users; the count of arguments fits. What has no rights of its own is left to be evaluated. */
  callUser(callee: UserFunction, args: readonly Value[], call: Call): Value | BoundCall
}

/** A lambda or a function of the users that is ready to be evaluated. */
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

/** What hints are about; clients find pages of these names. */
export type HintCode = 'non_covered_document_read' | 'full_set_read' | 'collection_scan'

/** What one query's evaluation keeps, and what it can do for functions of the library. */
export interface Evaluation {
  readonly world: World
  /** The time of the snapshot. */
  readonly now: Micros
  /** The value of an expression. Throws QueryFailures, and what ends the request: limits, Pending. */
  evaluate(node: Node, scope: Scope | undefined, call: Call): Value
  /** What `work` gives, or the failure of the query that it throws: evaluation goes on. */
  attempt<T>(work: () => T): T | QueryFailure
  /** A name of the library or of the users. */
  global(name: string): Value | undefined
  /** A field or a method of a value that the library knows. */
  member(receiver: Value, name: string): Value | undefined
  /** Applies a function that `call` was given: its errors have that call in their trace. */
  apply(callee: FunctionValue, args: readonly Value[], call: Call): Value
  /**
   * Begins to call what `call` is the call of: evaluating the body is left to who asks, which keeps calls within calls
   * from using up the stack. Functions that run with rights of their own have been called.
   */
  bind(callee: Lambda | UserFunction, args: readonly Value[], call: Call): Value | BoundCall
  /** Counts compute: 1 for each call of a function. Throws past the limit. */
  compute(units: number): void
  /** Adds a line or a drawing to the summary, behind those before. */
  tell(diagnostic: Diagnostic): void
  /** Says how the query could do with less, where that was asked for; each thing at each place once. */
  hint(code: HintCode, text: string, span: Span | undefined): void
  /** A new id, the same when the query is replayed. */
  newId(): bigint
}

/** What can hold for a part of a call only. */
interface CallOptions {
  readonly source?: Source
  readonly depth?: number
  readonly limit?: EffectLimit
}

/** A call of a function, of an operator, of a lambda. */
export class Call {
  readonly evaluation: Evaluation
  readonly outer: Call | undefined
  /** The text that is evaluated within this call. */
  readonly source: Source
  /** The argument list; undefined where the trace shows nothing. */
  readonly span: Span | undefined
  /** How many lambdas and user functions are around. */
  readonly depth: number
  readonly limit: EffectLimit | undefined
  /** The time that reads look at, within an `at`. */
  readonly at: number | undefined

  constructor(
    evaluation: Evaluation,
    outer: Call | undefined,
    source: Source,
    span: Span | undefined,
    depth = 0,
    limit?: EffectLimit,
    at?: number,
  ) {
    this.evaluation = evaluation
    this.outer = outer
    this.source = source
    this.span = span
    this.depth = depth
    this.limit = limit
    this.at = at
  }

  /** A call within this one, whose argument list is at `span`. */
  within(span: Span): Call {
    return new Call(this.evaluation, this, this.source, span, this.depth, this.limit, this.at)
  }

  /** This call, as it is for a part of what it does. */
  as({ source = this.source, depth = this.depth, limit = this.limit }: CallOptions): Call {
    return new Call(this.evaluation, this.outer, source, this.span, depth, limit, this.at)
  }

  /** This call with reads as of a time; undefined is the present, with the query's own writes. */
  asOf(time: number | undefined): Call {
    return new Call(this.evaluation, this.outer, this.source, this.span, this.depth, this.limit, time)
  }

  /** A failure at the argument list of this call; throw it. */
  failure(
    code: FailureCode,
    message: Message,
    remarks: readonly Remark[] = [],
    parts: FailureParts = {},
  ): QueryFailure {
    return failureAt(code, message, this.span, this.outer, remarks, parts)
  }

  /** The failure of an argument whose value is not taken: ``invalid argument `x`: x must be positive``. */
  invalidArgument(parameter: string, reason: Message): QueryFailure {
    return this.failure('invalid_argument', msg`invalid argument \`${parameter}\`: ${reason}`)
  }

  /** The failure of a position that is not within so many elements or characters. */
  outOfBounds(index: number, length: number): QueryFailure {
    return this.failure('index_out_of_bounds', msg`index ${index} out of bounds for length ${length}`)
  }

  /** Null because there is nothing to give; `reason` ends the sentence `Null value, due to …`. */
  nothing(reason: Message): NullValue {
    return new NullValue({ type: 'no element', reason }, this.span)
  }

  /** The null that functions give who have nothing to give. */
  done(): NullValue {
    return new NullValue(literalNull, this.span)
  }

  /** Applies a function that was given as an argument; the parameter's type has checked its arity. */
  apply(callee: FunctionValue, ...args: Value[]): Value {
    return this.evaluation.apply(callee, args, this)
  }

  /** Applies a predicate: null counts as false. */
  holds(predicate: FunctionValue, ...args: Value[]): boolean {
    const result = this.evaluation.apply(predicate, args, this)
    if (typeof result === 'boolean') return result
    if (result === null || result instanceof NullValue) return false
    throw this.mismatch('Boolean', result)
  }

  /** The failure of a value of the wrong type that is no argument. */
  mismatch(expected: string, received: Value): QueryFailure {
    return this.failure('type_mismatch', msg`expected type: ${expected}, received ${typeName(received)}`)
  }

  /** A failure at a range of this call's text, with this call in the trace. */
  failureWithin(
    code: FailureCode,
    message: Message,
    start: number,
    end: number,
    remarks?: readonly Remark[],
  ) {
    return failureAt(code, message, this.place(start, end), this, remarks)
  }

  /** A range of this call's text. */
  place(start: number, end: number): Span {
    return { source: this.source, start, end }
  }

  /** Where in which text a question about rights comes from, as summaries say it. */
  position(): readonly (string | number)[] {
    const { span } = this
    if (span === undefined) return []
    const line = span.source.lineOf(span.start)
    return [span.source.name, line, span.start - span.source.lineStart(line) + 1]
  }

  /** Throws unless the place allows the effect; `action` as the message says it: `` `now` ``, `Projection`. */
  requireEffect(effect: CallEffect, action: string): void {
    const { limit } = this
    if (limit === undefined) return
    if (effectOrder[effect] <= effectOrder[limit.effect] && effect !== limit.forbids) return
    const message = msg`${action} performs ${effectNames[effect]}, which is not allowed in ${limit.place}.`
    throw this.failure('invalid_effect', message)
  }
}

/** A failure at a place within a call: the calls around it are its trace. */
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

/** The failure of stored code that a call has run: the call and those around it end its trace. */
export function failureWithin(failure: QueryFailure, call: Call): QueryFailure {
  const [first, ...others] = failure.diagnostics
  if (first === undefined) return failure
  const traced = { ...first, trace: [...(first.trace ?? []), ...traceOf(call)] }
  return new QueryFailure(failure.code, failure.template, [traced, ...others], failure)
}

/** The argument lists of a call and of those around it, innermost first. */
function traceOf(call: Call | undefined): (Span | undefined)[] {
  const trace: (Span | undefined)[] = []
  for (let each = call; each !== undefined; each = each.outer)
    if (each.span !== undefined) trace.push(each.span)
  return trace
}
