// The state of one query's evaluation in any language: its transaction, caller, rights and costs. Evaluating a query
// again in the same transaction gives the same result.

import { assert } from '../base/assert.ts'
import { step, stepsSoFar } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import type { Memo } from '../base/pending.ts'
import { RequestError } from '../base/request-errors.ts'
import { upsert } from '../base/upsert.ts'
import type { Transaction } from '../storage/store/store-contract.ts'
import type { Code, LanguageName } from '../values/code.ts'
import { type CollectionId, type DatabaseId, Ref, type Value } from '../values/value.ts'
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
} from './auth/access-contract.ts'
import type { Logins } from './auth/login.ts'
import { type CodeArguments, type Effect, type EffectPlace, predicateArguments } from './code-interface.ts'
import { Failure, LanguageError } from './failure.ts'
import { anyType, type FieldType } from './schema/field-types.ts'
import { NamedObjects, type ReadRecorder } from './use-recorders.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
const sessionLimits = {
  /** Elements that all sets of one query read from storage; own limit: reading sets costs no compute operations. */
  setElementsMax: 1_000_000,
  /**
   * Steps of comparisons, merges and set operations on arrays that count as one additional evaluated unit; own limit.
   */
  stepsPerComputeUnit: 512,
} as const

/** Code of one language. */
type CodeIn<L extends LanguageName> = Extract<Code, { readonly language: L }>

/** Properties of code that are known without running it. */
interface CodeFacts {
  readonly parameters: number
  /** The strongest effect of the code. */
  readonly effect: Effect
}

/** The part of a language that handles stored code. */
export interface CodeLanguage<L extends LanguageName> {
  /**
   * Runs code within the session of the caller: with its transaction, rights, deadline and counts. Throws
   * LanguageErrors of this language, and all other errors of the evaluation.
   */
  run(code: CodeIn<L>, given: CodeArguments, session: Session): Value
  facts(code: CodeIn<L>): CodeFacts
  /** Returns whether code that does not come from a query, such as imported code, is valid. */
  isCode(code: CodeIn<L>): boolean
  /**
   * Present if predicates take documents, one for each parameter. If absent, predicates take the arguments of a call.
   */
  readonly predicatesTakeDocuments?: true
}

/** A collection that the types of fields can refer to. */
export interface ReferredCollection {
  readonly number: number
  readonly name: string
}

/** Finds the collection with a name or alias. */
export type FindCollection = (name: string) => ReferredCollection | undefined

/** Parses the signature of a field. The result is the type `Any` for an invalid signature. */
export type ReadSignature = (signature: string, find: FindCollection) => FieldType

/** The languages of stored code and of the types of fields. */
type CodeLanguages = {
  readonly [L in LanguageName]?: {
    readonly code: CodeLanguage<L>
    readonly readSignature?: ReadSignature
  }
}

/** The index entry through which a document was found. */
interface IndexMatch {
  readonly document: Ref
  /** The fields that the entry contains unchanged. A read of these fields does not count as a read of the document. */
  readonly covered: ReadonlySet<string> | 'all'
}

/** The services and settings that sessions need. */
export interface SessionHost {
  readonly createAccess: CreateAccess
  readonly languages: CodeLanguages
  /** Microseconds of a monotonic clock, for deadlines only. */
  readonly now: () => number
  /** Checks and creates passwords, secrets and sessions. */
  readonly logins: Logins
  /** Settings that functions depend on. */
  readonly settings: QuerySettings
}

interface QuerySettings {
  /** The start of the audience of an access provider. The database's global id follows. */
  readonly audiencePrefix: string
  /** Allows fetching signing keys over plain HTTP and from private addresses. */
  readonly allowInsecureJwks: boolean
}

interface SessionOptions {
  readonly host: SessionHost
  readonly transaction: Transaction
  readonly caller: Caller
  /** The IP address of the client; undefined if the query has no client. */
  readonly address?: string | undefined
  readonly dialect: string
  /** Options of the request's language for access decisions. */
  readonly accessOptions?: AccessOptions | undefined
  readonly memo: Memo
  readonly deadline: number
  /** The strongest effect that calls may have. */
  readonly effectLimit?: Effect
  readonly effectPlace?: EffectPlace
  /** Records the reads, if requested. */
  readonly reads?: ReadRecorder | undefined
}

/** The compute units, or elements of sets, between two checks of the deadline. */
const unitsPerClockCheck = 256

/** The number of effort steps (base/effort.ts) that one compute unit or one element of a set counts as. */
const stepsPerUnit = 8

const computeUnitsMax = limits.computeOpsMax * limits.computeUnitsPerOp

/** The error of a query past its deadline. */
export function timedOut(): RequestError {
  return new RequestError('time out', msg`Read timed out (Query eval has timed out.)`)
}

const newMap = () => new Map<CollectionId, Set<bigint>>()
const newSet = () => new Set<bigint>()

function readOps(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / limits.readOpBytes))
}

/** The evaluation of a query in one transaction. */
export class Session {
  readonly host: SessionHost
  readonly transaction: Transaction
  readonly caller: Caller
  readonly address: string | undefined
  /** The version of the request's language, as clients name it. */
  readonly dialect: string
  readonly accessOptions: AccessOptions | undefined
  readonly memo: Memo
  /** The time at which evaluation must stop, by the clock of {@link SessionHost.now}. */
  readonly deadline: number
  /** The database in which names are looked up and documents written. */
  readonly database: DatabaseId
  /** The time that `at` sets for reads. Undefined: the current state, with the transaction's own writes. */
  validTime: number | undefined
  effectLimit: Effect
  effectPlace: EffectPlace | undefined
  /** The call that is being evaluated. Access decisions are attributed to it. */
  callSite: CallSite | undefined
  /** The index entry that led to the document whose access is being decided. */
  indexMatch: IndexMatch | undefined
  /** The number of nested calls of lambdas and functions. */
  callDepth = 0
  /** The number of nested expressions. */
  depth = 0
  /** The schema objects that the query has found, for the query log. */
  readonly named = new NamedObjects()
  /** The reads of the query, for its explanation. */
  readonly reads: ReadRecorder | undefined
  byteReadOps = 0
  /** UTF-16 code units of the texts that functions of this query have created. */
  textUnits = 0
  /** Output of code other than results, such as log messages. In order, and in the form of the code's language. */
  readonly output: unknown[] = []
  /** The keys of the reads that have been counted. */
  readonly #reads = new Set<string>()
  /**
   * The current documents of the query's database that have been read, by collection. They are not in `#reads`, because
   * creating a key takes longer than reading the document.
   */
  readonly #documentsRead = new Map<CollectionId, Set<bigint>>()
  /** The documents that have been read as of other times, by time and collection. */
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

  /** The keys by which the query's reads are identified. */
  get keys(): ValueKeys {
    this.#keys ??= new ValueKeys()
    return this.#keys
  }

  /** Returns a session of the same query over another transaction. */
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

  /** The rights of the current authority. */
  get access(): Access {
    this.#access ??= this.host.createAccess(
      this.#authority,
      this.transaction,
      (predicate, argument, about) => this.decides(predicate, argument, about),
      this.accessOptions,
    )
    return this.#access
  }

  /** Runs `work` with the rights of another authority, such as the role of a function. */
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

  /** Runs `work` with reads as of another time. Undefined means the current state. */
  withValidTime<T>(time: number | undefined, work: () => T): T {
    const outer = this.validTime
    this.validTime = time
    try {
      return work()
    } finally {
      this.validTime = outer
    }
  }

  /** Runs `work`, which decides about access to a document that was found in an index. */
  withIndexMatch<T>(match: IndexMatch, work: () => T): T {
    const outer = this.indexMatch
    this.indexMatch = match
    try {
      return work()
    } finally {
      this.indexMatch = outer
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

  /** Runs stored code and returns its value. */
  run(code: Code, given: CodeArguments): Value {
    const { callSite } = this
    try {
      return this.#languageOf(code).run(code, given, this)
    } finally {
      this.callSite = callSite
    }
  }

  /** Returns the properties of stored code that are known without running it. */
  factsOf(code: Code): CodeFacts {
    return this.#languageOf(code).facts(code)
  }

  /** Returns the type that the signature of a field means. */
  typeOf(signature: string, find: FindCollection): FieldType {
    for (const language of Object.values(this.host.languages)) {
      if (language.readSignature) return language.readSignature(signature, find)
    }
    return anyType
  }

  #languageOf({ language: name }: Code): CodeLanguage<LanguageName> {
    const language = this.host.languages[name]
    assert(language !== undefined, 'code is in a language that can be run')
    // The compiler cannot relate the name to the type of the code; the table of languages does.
    return language.code as unknown as CodeLanguage<LanguageName>
  }

  /**
   * Returns whether a predicate of a role or access provider returns exactly `true`. Clients never see errors of the
   * predicate.
   */
  decides(predicate: Code, argument: AccessRequest['argument'], about?: PredicateSubject): boolean {
    const outcome = this.tryPredicate(predicate, argument, about)
    return 'value' in outcome && outcome.value === true
  }

  /** Runs a predicate with its own read-only rights, on the current state. */
  tryPredicate(
    predicate: Code,
    argument: AccessRequest['argument'],
    about?: PredicateSubject,
  ): PredicateOutcome {
    const { callSite } = this
    const parameterCount = () => this.factsOf(predicate).parameters
    const language = this.#languageOf(predicate)
    const apply = () =>
      this.run(predicate, predicateArguments(predicate, language, parameterCount, argument, about))
    const readOnly = () => this.withEffectLimit('read', 'auth predicates', apply)
    const now = () => this.withValidTime(undefined, readOnly)
    this.callSite = undefined
    try {
      return { value: this.withAuthority({ kind: 'predicate', database: this.database }, now) }
    } catch (error) {
      if (error instanceof LanguageError || error instanceof Failure) return { failure: error }
      throw error
    } finally {
      this.callSite = callSite
    }
  }

  /** Counts compute units. Throws a RequestError past the compute limit or the deadline. */
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
    if (this.#setElements > sessionLimits.setElementsMax) {
      const text = msg`Transaction reads too many elements of sets. Max: ${sessionLimits.setElementsMax}`
      throw new RequestError('bad request', text)
    }
    if (this.#setElements % unitsPerClockCheck === 0) this.checkDeadline()
  }

  /** Runs work whose effort depends on its input. Counts compute units if the work takes many effort steps. */
  metered<T>(work: () => T): T {
    const before = stepsSoFar()
    const result = work()
    const units = Math.floor((stepsSoFar() - before) / sessionLimits.stepsPerComputeUnit)
    if (units > 0) this.compute(units)
    return result
  }

  checkDeadline(): void {
    if (this.host.now() > this.deadline) throw timedOut()
  }

  /**
   * Returns a new id for a document. The id is larger than all ids from before this request. A repeated evaluation of
   * the query gets the same id.
   */
  newId(): bigint {
    return this.memo.draw(() => this.transaction.newId())
  }

  /** Returns a reference for a new document, with an id under which nothing is stored. */
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

  /** Counts a read of one document, as of the query's valid time. */
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

  /** Adds the costs of another session of the same transaction, which ran on behalf of this session. */
  countCostsOf(other: Session): void {
    this.#computeUnits += other.#computeUnits
    this.byteReadOps += other.byteReadOps
  }

  /** Billed compute operations so far, at least one. This number includes the index entries of the query's writes. */
  get computeOps(): number {
    const units = this.#computeUnits + this.transaction.counters.indexUnits
    return Math.max(1, Math.ceil(units / limits.computeUnitsPerOp))
  }

  /** Compute units so far. */
  get computeUnits(): number {
    return this.#computeUnits
  }
}
