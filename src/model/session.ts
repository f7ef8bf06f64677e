// The state of one query's evaluation, whatever its language: its transaction, its caller, what it may do here, what it has
// used up. Evaluating the same query again in the same transaction gives the same result.

import { assert } from '../base/assert.ts'
import { step, stepsSoFar } from '../base/effort.ts'
import { RequestError } from '../base/errors.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import type { Memo } from '../base/pending.ts'
import { upsert } from '../base/upsert.ts'
import type { Transaction } from '../storage/store/contract.ts'
import type { Code, LanguageName } from '../values/code.ts'
import {
  type CollectionId,
  type DatabaseId,
  DocumentValue,
  isArray,
  isObject,
  Ref,
  TransactionTime,
  type Value,
} from '../values/value.ts'
import { ValueKeys } from '../values/value-keys.ts'
import type {
  Access,
  AccessOptions,
  AccessRequest,
  Authority,
  Caller,
  CallSite,
  CreateAccess,
  PredicateOutcome,
  PredicateSubject,
} from './auth/contract.ts'
import type { Logins } from './auth/login.ts'
import type { Effect, EffectPlace } from './effect.ts'
import { Failure, LanguageError } from './failure.ts'
import { NamedObjects } from './named-objects.ts'
import type { ReadNotes } from './read-notes.ts'
import { anyType, type FieldType } from './schema/field-types.ts'

/**
 * What code is applied to: a list of arguments, or one value that stands for all of them, as a call of version 4 has it (an
 * array then is taken apart by code with several parameters). Each language reads both.
 */
export type Given =
  | {
      readonly list: readonly Value[]
      /** Documents in it are what they say, not what is stored now. */
      readonly areVersions?: true
    }
  | { readonly one: Value }

/** Code of one language. */
type CodeIn<L extends LanguageName> = Extract<Code, { readonly language: L }>

/** What is known of code without running it. */
interface CodeFacts {
  readonly parameters: number
  /** The most that running it may do. */
  readonly effect: Effect
}

/** A language, as far as the code goes that is written in it. */
export interface CodeLanguage<L extends LanguageName> {
  /**
   * Runs code within a session, which is that of the caller: its transaction, rights, time and counts. Throws LanguageErrors
   * of its own, and whatever else evaluation throws.
   */
  run(code: CodeIn<L>, given: Given, session: Session): Value
  facts(code: CodeIn<L>): CodeFacts
  /** Whether code that did not come from a query could have. */
  isCode(code: CodeIn<L>): boolean
  /** Predicates are given documents, one for each parameter. Otherwise they are given what a call of the language has. */
  readonly predicatesTakeDocuments?: true
}

/** A collection whose documents fields may refer to. */
export interface ReferredCollection {
  readonly number: number
  readonly name: string
}

/** The collection of that name or alias; undefined where there is none. */
export type FindCollection = (name: string) => ReferredCollection | undefined

/** The type that a signature means; anything, where it means none. */
export type ReadSignature = (signature: string, find: FindCollection) => FieldType

/** The languages that stored code, and the types of fields, may be in. */
type CodeLanguages = {
  readonly [L in LanguageName]?: {
    readonly code: CodeLanguage<L>
    readonly readSignature?: ReadSignature
  }
}

/** The entry of an index that has led to a document. */
interface FoundEntry {
  readonly document: Ref
  /** The fields that it holds as they are: reading them is not reading the document. */
  readonly covered: ReadonlySet<string> | 'all'
}

/** What sessions need from outside. */
export interface SessionHost {
  readonly createAccess: CreateAccess
  /** The languages of stored code. */
  readonly languages: CodeLanguages
  /** Microseconds on a clock that is never set, for deadlines only. */
  readonly now: () => number
  /** Passwords, secrets and sessions. */
  readonly logins: Logins
  /** Settings that functions depend on. */
  readonly settings: QuerySettings
}

interface QuerySettings {
  /** What the audience of an access provider starts with; the database's global id follows. */
  readonly audiencePrefix: string
  /** Whether signing keys may be fetched over plain HTTP and from private addresses. */
  readonly allowInsecureJwks: boolean
}

interface SessionOptions {
  readonly host: SessionHost
  readonly transaction: Transaction
  readonly caller: Caller
  /** The IP address of the client; absent where no client asks. */
  readonly address?: string | undefined
  readonly dialect: string
  /** What the language of the request decides otherwise about rights. */
  readonly accessOptions?: AccessOptions | undefined
  readonly memo: Memo
  readonly deadline: number
  /** The most that calls may do. */
  readonly effectLimit?: Effect
  readonly effectPlace?: EffectPlace
  /** Takes down what is read; absent where it is not asked for. */
  readonly reads?: ReadNotes | undefined
}

/** Evaluated units, or elements of sets, between two looks at the clock. */
const unitsPerClockCheck = 256

/** Steps of effort that one of them is about. */
const stepsPerUnit = 8

const computeUnitsMax = limits.computeOpsMax * limits.computeUnitsPerOp

/** The error of a query whose time is up. */
export function timedOut(): RequestError {
  return new RequestError('time out', msg`Read timed out (Query eval has timed out.)`)
}

const newMap = () => new Map<CollectionId, Set<bigint>>()
const newSet = () => new Set<bigint>()

function readOps(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / limits.readOpBytes))
}

/** The documents that a predicate is given: those that are written, as they were and as they would be. */
function documentsOf(
  argument: AccessRequest['argument'],
  { action, document, next }: Partial<PredicateSubject> = {},
): readonly Value[] {
  const version = (fields: Value | undefined): Value =>
    document !== undefined && isObject(fields)
      ? new DocumentValue(document, TransactionTime.time, fields)
      : (fields ?? null)
  const list = (value: Value) => (isArray(value) ? value : [value])
  switch (action) {
    case 'create':
    case 'create_with_id':
      return [version(argument(1))]
    case 'write': {
      const [before = null, after = null] = list(argument(2))
      return [before, next?.() ?? after].map(version)
    }
    case 'history_write':
      return list(argument(4))
    default:
      return [argument(1)]
  }
}

/** What a predicate is given; that of a call is given what the function is. */
function givenTo(
  { language }: Code,
  { predicatesTakeDocuments }: { readonly predicatesTakeDocuments?: true },
  parameterCount: () => number,
  argument: AccessRequest['argument'],
  about: PredicateSubject | undefined,
): Given {
  if (about?.passed !== undefined) return { list: about.passed(language) }
  if (!predicatesTakeDocuments || about?.action === 'call') return { one: argument(parameterCount()) }
  return { list: documentsOf(argument, about), areVersions: true }
}

/** One evaluation of a query in one transaction. */
export class Session {
  readonly host: SessionHost
  readonly transaction: Transaction
  readonly caller: Caller
  readonly address: string | undefined
  /** The version of a language that the request is written in, as its clients name it. */
  readonly dialect: string
  readonly accessOptions: AccessOptions | undefined
  readonly memo: Memo
  /** When evaluation has to give up, by the clock of {@link SessionHost.now}. */
  readonly deadline: number
  /** The database in which names are looked up and documents written. */
  readonly database: DatabaseId
  /** The time at which `at` makes reads look; undefined is now, with the transaction's own writes. */
  validTime: number | undefined
  effectLimit: Effect
  effectPlace: EffectPlace | undefined
  /** The call under evaluation, to which decisions about rights belong. */
  asker: CallSite | undefined
  /** How the document was found that is being decided about. */
  foundEntry: FoundEntry | undefined
  /** Nested applications of code: lambdas, functions. */
  callDepth = 0
  /** Nested expressions. */
  depth = 0
  /** For the query log. */
  readonly named = new NamedObjects()
  /** For explanations. */
  readonly reads: ReadNotes | undefined
  byteReadOps = 0
  /** UTF-16 units of text that functions of this query have made. */
  textUnits = 0
  /** What code has told beside its results, in order and in the form of its language. */
  readonly told: unknown[] = []
  /** The reads that have been counted, by name. */
  readonly #reads = new Set<string>()
  /** Those of documents of the query's database as they are now, by collection: names would cost more than the reads. */
  readonly #documentsRead = new Map<CollectionId, Set<bigint>>()
  /** The same of those as they were at another time. */
  readonly #earlierRead = new Map<number, Map<CollectionId, Set<bigint>>>()
  #authority: Authority
  #access: Access | undefined
  #computeUnits = 0
  #setElements = 0
  #keys: ValueKeys | undefined

  constructor(options: SessionOptions) {
    this.host = options.host
    this.transaction = options.transaction
    this.caller = options.caller
    this.address = options.address
    this.dialect = options.dialect
    this.accessOptions = options.accessOptions
    this.memo = options.memo
    this.deadline = options.deadline
    this.database = options.caller.database
    this.effectLimit = options.effectLimit ?? 'write'
    this.effectPlace = options.effectPlace
    this.reads = options.reads
    this.#authority = options.caller.authority
  }

  get authority(): Authority {
    return this.#authority
  }

  /** The texts by which what was read is told apart. */
  get keys(): ValueKeys {
    this.#keys ??= new ValueKeys()
    return this.#keys
  }

  /** A session of the same query over another transaction. */
  over(transaction: Transaction, limit?: Pick<SessionOptions, 'effectLimit' | 'effectPlace'>): Session {
    const { accessOptions, address, caller, deadline, dialect, host, memo, reads } = this
    return new Session({
      accessOptions,
      address,
      caller,
      deadline,
      dialect,
      host,
      memo,
      reads,
      transaction,
      ...limit,
    })
  }

  /** What the authority in force may do. */
  get access(): Access {
    this.#access ??= this.host.createAccess(
      this.#authority,
      this.transaction,
      (predicate, argument, about) => this.decides(predicate, argument, about),
      this.accessOptions,
    )
    return this.#access
  }

  /** Runs `work` with the rights of another authority, such as a function's role. */
  withAuthority<T>(authority: Authority, work: () => T): T {
    const { access } = this
    const outer = this.#authority
    this.#authority = authority
    this.#access = undefined
    try {
      return work()
    } finally {
      this.#authority = outer
      this.#access = access
    }
  }

  /** Runs `work` with reads looking at another time; undefined is now. */
  withValidTime<T>(time: number | undefined, work: () => T): T {
    const outer = this.validTime
    this.validTime = time
    try {
      return work()
    } finally {
      this.validTime = outer
    }
  }

  /** Runs `work`, which decides about a document that was found in an index. */
  withFoundEntry<T>(found: FoundEntry, work: () => T): T {
    const outer = this.foundEntry
    this.foundEntry = found
    try {
      return work()
    } finally {
      this.foundEntry = outer
    }
  }

  /** Runs `work` with a narrower limit on effects. */
  withEffectLimit<T>(limit: Effect, place: EffectPlace, work: () => T): T {
    const outer = { limit: this.effectLimit, place: this.effectPlace }
    this.effectLimit = limit
    this.effectPlace = place
    try {
      return work()
    } finally {
      this.effectLimit = outer.limit
      this.effectPlace = outer.place
    }
  }

  /** The value that stored code comes to. */
  run(code: Code, given: Given): Value {
    const { asker } = this
    try {
      return this.#languageOf(code).run(code, given, this)
    } finally {
      this.asker = asker
    }
  }

  /** What is known of stored code without running it. */
  factsOf(code: Code): CodeFacts {
    return this.#languageOf(code).facts(code)
  }

  /** The type that the signature of a field means. */
  typeOf(signature: string, find: FindCollection): FieldType {
    for (const language of Object.values(this.host.languages)) {
      if (language.readSignature) return language.readSignature(signature, find)
    }
    return anyType
  }

  /** The language that a piece of code is written in; the result takes code of that language only. */
  #languageOf({ language: name }: Code): CodeLanguage<LanguageName> {
    const language = this.host.languages[name]
    assert(language !== undefined, 'code is in a language that can be run')
    // The compiler does not relate the name to the type of the code: the table does.
    return language.code as unknown as CodeLanguage<LanguageName>
  }

  /** Whether a predicate of a role or access provider returns exactly true. Its errors are never shown. */
  decides(predicate: Code, argument: AccessRequest['argument'], about?: PredicateSubject): boolean {
    const outcome = this.tryPredicate(predicate, argument, about)
    return 'value' in outcome && outcome.value === true
  }

  /** What a predicate comes to: it runs with read-only rights of its own, and looks at the present. */
  tryPredicate(
    predicate: Code,
    argument: AccessRequest['argument'],
    about?: PredicateSubject,
  ): PredicateOutcome {
    const { asker } = this
    const parameterCount = () => this.factsOf(predicate).parameters
    const language = this.#languageOf(predicate)
    const apply = () => this.run(predicate, givenTo(predicate, language, parameterCount, argument, about))
    const readOnly = () => this.withEffectLimit('read', 'auth predicates', apply)
    const now = () => this.withValidTime(undefined, readOnly)
    this.asker = undefined
    try {
      return { value: this.withAuthority({ kind: 'predicate', database: this.database }, now) }
    } catch (error) {
      if (error instanceof LanguageError || error instanceof Failure) return { failure: error }
      throw error
    } finally {
      this.asker = asker
    }
  }

  /** Counts evaluated units. Throws a RequestError past the compute limit or the deadline. */
  compute(units: number): void {
    const before = this.#computeUnits
    const after = before + units
    this.#computeUnits = after
    step(units * stepsPerUnit)
    if (after > computeUnitsMax) {
      const got = Math.ceil(after / limits.computeUnitsPerOp)
      const text = msg`Transaction does too much compute: got ${got}, limit: ${limits.computeOpsMax}`
      throw new RequestError('bad request', text)
    }
    if (Math.floor(after / unitsPerClockCheck) !== Math.floor(before / unitsPerClockCheck))
      this.checkDeadline()
  }

  /** Counts one element that a set has read from storage. Throws a RequestError past the limit or the deadline. */
  countElement(): void {
    this.#setElements++
    step(stepsPerUnit)
    if (this.#setElements > limits.setElementsMax) {
      const text = msg`Transaction reads too many elements of sets. Max: ${limits.setElementsMax}`
      throw new RequestError('bad request', text)
    }
    if (this.#setElements % unitsPerClockCheck === 0) this.checkDeadline()
  }

  /** Runs work whose effort grows with what it is given; much of it costs compute. */
  metered<T>(work: () => T): T {
    const before = stepsSoFar()
    const result = work()
    const units = Math.floor((stepsSoFar() - before) / limits.stepsPerComputeUnit)
    if (units > 0) this.compute(units)
    return result
  }

  checkDeadline(): void {
    if (this.host.now() > this.deadline) throw timedOut()
  }

  /** A new id for a document: larger than all before this request, and the same when it is evaluated again. */
  newId(): bigint {
    return this.memo.draw(() => this.transaction.newId())
  }

  /** The reference for a new document: an id under which nothing is stored, drawn again until it is one. */
  newDocument(database: DatabaseId, collection: CollectionId): Ref {
    for (;;) {
      const ref = new Ref(database, collection, this.newId())
      if (!this.transaction.isTaken(ref)) return ref
    }
  }

  /** Counts a read once per query: `ceil(bytes / 4096) + partitions - 1` operations. */
  countRead(key: string, bytes: number, partitions: number): void {
    if (this.#reads.has(key)) return
    this.#reads.add(key)
    this.byteReadOps += readOps(bytes) + partitions - 1
  }

  /** The same for one document, at the time the query looks at. */
  countDocumentRead(ref: Ref, bytes: number): void {
    const { database, collection, id } = ref
    this.reads?.document(ref)
    if (database !== this.database) {
      this.countRead(`${database}/${collection}/${id}@${this.validTime ?? ''}`, bytes, 1)
      return
    }
    const { validTime } = this
    const read = validTime === undefined ? this.#documentsRead : upsert(this.#earlierRead, validTime, newMap)
    const ids = upsert(read, collection, newSet)
    const { size } = ids
    if (ids.add(id).size > size) this.byteReadOps += readOps(bytes)
  }

  /** Takes over what another session of the same transaction has cost: who asked for it pays. */
  countCostsOf(other: Session): void {
    this.#computeUnits += other.#computeUnits
    this.byteReadOps += other.byteReadOps
  }

  /** Billed compute operations so far, at least one; index entries of what was written are among them. */
  get computeOps(): number {
    const units = this.#computeUnits + this.transaction.counters.indexUnits
    return Math.max(1, Math.ceil(units / limits.computeUnitsPerOp))
  }

  /** Evaluated units so far. */
  get computeUnits(): number {
    return this.#computeUnits
  }
}
