// The state of a query's evaluation in any language: transaction, caller, rights and costs. Repeated evaluations on the
// same data have the same result, because random values are drawn from `memo`, which survives repetitions.

import { assert } from '../base/assert.ts'
import { step, stepsSoFar } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import type { Memo } from '../base/pending.ts'
import { RequestError } from '../base/request-errors.ts'
import { upsert } from '../base/upsert.ts'
import type { Transaction } from '../storage/store/store-contract.ts'
import type { Code, CodeLanguageName } from '../values/code.ts'
import { type CollectionId, type DatabaseId, Ref, refKey, type Value } from '../values/value.ts'
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

const sessionLimits = {
  /**
   * Maximum number of elements that a query reads from stored sets. These reads cost no compute operations, so the
   * limit of compute operations does not restrict them; own limit.
   */
  setElementsMax: 1_000_000,
  /**
   * Number of steps that cost one additional compute unit. Comparisons, merges and set operations on arrays consist of
   * such steps; own limit.
   */
  stepsPerComputeUnit: 512,
} as const

type CodeIn<L extends CodeLanguageName> = Extract<Code, { readonly language: L }>

/** Properties of code that are known before the code runs. */
interface CodeProperties {
  readonly parameters: number
  /** The strongest effect. */
  readonly effect: Effect
}

/** Runs and checks stored code. */
export interface CodeLanguage<L extends CodeLanguageName> {
  /** Uses the transaction, rights, deadline and counters of `session`. Throws LanguageErrors and other errors. */
  run(code: CodeIn<L>, given: CodeArguments, session: Session): Value
  properties(code: CodeIn<L>): CodeProperties
  /** Returns false if the code cannot be compiled. Used for imported code. */
  isValid(code: CodeIn<L>): boolean
  /**
   * True: a predicate receives documents, such as a document before and after its change, one for each parameter.
   * Absent: it receives the argument of the access request.
   */
  readonly predicatesTakeDocuments?: true
}

/** A collection in the type of a field. */
export interface ReferredCollection {
  readonly number: number
  readonly name: string
}

/** Finds the collection with the given name or alias. */
export type FindCollection = (name: string) => ReferredCollection | undefined

/** Parses the text that declares a field's type. Returns the type `Any` for an invalid signature. */
export type ReadSignature = (signature: string, find: FindCollection) => FieldType

type CodeLanguages = {
  readonly [L in CodeLanguageName]?: {
    readonly code: CodeLanguage<L>
    readonly readSignature?: ReadSignature
  }
}

/** The index entry through which a document was found. */
interface IndexMatch {
  readonly document: Ref
  /** Fields that the index entry contains unchanged. Predicates can use them without a read of the document. */
  readonly covered: ReadonlySet<string> | 'all'
}

export interface SessionHost {
  readonly createAccess: CreateAccess
  readonly languages: CodeLanguages
  /** Microseconds of a monotonic clock, for deadlines. */
  readonly now: () => number
  /** Implements the query functions for passwords, secrets and tokens. */
  readonly logins: Logins
  /** The settings that affect the results of query functions. */
  readonly settings: QuerySettings
}

interface QuerySettings {
  /** The audience of an access provider is this prefix, followed by the global id of the database. */
  readonly audiencePrefix: string
  /** Allows fetching signing keys over plain HTTP and from private addresses. */
  readonly allowInsecureJwks: boolean
}

interface SessionOptions {
  readonly host: SessionHost
  readonly transaction: Transaction
  readonly caller: Caller
  /** The IP address. Undefined if the query has no client. */
  readonly address?: string | undefined
  readonly dialect: string
  /** Permission rules that differ between the query languages. */
  readonly accessOptions?: AccessOptions | undefined
  readonly memo: Memo
  readonly deadline: number
  /** The strongest allowed effect of calls. */
  readonly effectLimit?: Effect
  readonly effectPlace?: EffectPlace
  /** Records the reads of the query; undefined unless the request asks for an explanation of the plan. */
  readonly reads?: ReadRecorder | undefined
}

/** {@link Session.with} can change these members. */
type SessionContext = Pick<
  Session,
  'callSite' | 'effectLimit' | 'effectPlace' | 'indexMatch' | 'pageTime' | 'validTime'
>

/** Compute units, or elements read from sets, between two checks of the deadline. */
const unitsPerClockCheck = 256

/** Effort steps (src/base/effort.ts) for a compute unit, or for an element read from a set. */
const stepsPerUnit = 8

const computeUnitsMax = limits.computeOpsMax * limits.computeUnitsPerOp

export function timeoutError(): RequestError {
  return new RequestError('time out', msg`Read timed out (Query eval has timed out.)`)
}

const newMap = () => new Map<CollectionId, Set<bigint>>()
const newSet = () => new Set<bigint>()

function readOps(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / limits.readOpBytes))
}

export class Session {
  readonly host: SessionHost
  readonly transaction: Transaction
  readonly caller: Caller
  readonly address: string | undefined
  readonly dialect: string
  readonly accessOptions: AccessOptions | undefined
  readonly memo: Memo
  /** The deadline of the evaluation, as a time of {@link SessionHost.now}. */
  readonly deadline: number
  /** Names are resolved and documents are written in this database. */
  readonly database: DatabaseId
  /**
   * Inside the query function `at`, the time of reads. If undefined, reads return the current state, including the
   * writes of the transaction.
   */
  validTime: number | undefined
  /**
   * While a later page of a set of version 10 is read, the snapshot time of the first page. If `validTime` equals it,
   * reads need no right to read the history.
   */
  pageTime: number | undefined
  /** The strongest allowed effect of calls. */
  effectLimit: Effect
  effectPlace: EffectPlace | undefined
  /** Explanations assign permission decisions to this call. */
  callSite: CallSite | undefined
  /** Set during the permission decision for a document that was found through an index entry. */
  indexMatch: IndexMatch | undefined
  /** Enables or disables the check of static types. Undefined: the database decides. */
  typecheck: boolean | undefined
  /** The current depth of nested calls of lambdas and functions. */
  callDepth = 0
  /** The current depth of nested expressions. */
  depth = 0
  /** The schema objects that the query has found by name, for the query log. */
  readonly named = new NamedObjects()
  /** Records the reads of the query; undefined unless the request asks for an explanation of the plan. */
  readonly reads: ReadRecorder | undefined
  byteReadOps = 0
  /** The total length of the created texts, in UTF-16 code units. */
  textUnits = 0
  /** Additional output of code, such as log messages. The language of the code defines the type of the elements. */
  readonly output: unknown[] = []
  /** The keys of reads that {@link countRead} has counted. */
  readonly #countedReads = new Set<string>()
  /**
   * Counted reads of current documents in the query's database: ids by collection, because creating a key for
   * `#countedReads` takes longer than reading the document.
   */
  readonly #documentsRead = new Map<CollectionId, Set<bigint>>()
  /** Counted reads inside `at`: ids by time and collection. */
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

  /** Creates keys of values, for {@link countRead} and for the elements of joins. */
  get keys(): ValueKeys {
    this.#keys ??= new ValueKeys()
    return this.#keys
  }

  /**
   * Creates a session of the same query with another transaction. It has its own counts and named objects, no
   * `validTime`, and the rights of the caller, even inside {@link withAuthority}.
   */
  withTransaction(
    transaction: Transaction,
    limit?: Pick<SessionOptions, 'effectLimit' | 'effectPlace'>,
  ): Session {
    const { accessOptions, address, caller, deadline, dialect, host, memo, reads } = this
    const options = { accessOptions, address, caller, deadline, dialect, host, memo, reads, transaction }
    const session = new Session({ ...options, ...limit })
    session.typecheck = this.typecheck
    return session
  }

  /** Makes permission decisions for the current authority. */
  get access(): Access {
    this.#access ??= this.host.createAccess(
      this.#authority,
      this.transaction,
      (predicate, argument, subject) => this.decides(predicate, argument, subject),
      this.accessOptions,
    )
    return this.#access
  }

  /** Runs `work` with the rights of another authority, such as the role of a function. */
  withAuthority<T>(authority: Authority, work: () => T): T {
    const access = this.#access
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

  /** Restores all members of {@link SessionContext} afterwards. */
  with<T>(changes: Partial<SessionContext>, work: () => T): T {
    const { callSite, effectLimit, effectPlace, indexMatch, pageTime, validTime } = this
    Object.assign(this, changes)
    try {
      return work()
    } finally {
      this.callSite = callSite
      this.effectLimit = effectLimit
      this.effectPlace = effectPlace
      this.indexMatch = indexMatch
      this.pageTime = pageTime
      this.validTime = validTime
    }
  }

  /** Restores the call site afterwards, because code of version 10 changes it. */
  run(code: Code, given: CodeArguments): Value {
    return this.with({}, () => this.#languageOf(code).run(code, given, this))
  }

  propertiesOfCode(code: Code): CodeProperties {
    return this.#languageOf(code).properties(code)
  }

  /** Returns the type that a field's signature declares. */
  typeOf(signature: string, find: FindCollection): FieldType {
    for (const language of Object.values(this.host.languages)) {
      if (language.readSignature) return language.readSignature(signature, find)
    }
    return anyType
  }

  #languageOf({ language: name }: Code): CodeLanguage<CodeLanguageName> {
    const language = this.host.languages[name]
    assert(language !== undefined, 'code is in a language that can be run')
    // The cast is valid: the type of `languages` guarantees that the language with this name accepts this code.
    return language.code as unknown as CodeLanguage<CodeLanguageName>
  }

  /** Returns false if the predicate fails, because clients must not see the errors of predicates. */
  decides(predicate: Code, argument: AccessRequest['argument'], subject?: PredicateSubject): boolean {
    const outcome = this.tryPredicate(predicate, argument, subject)
    return 'value' in outcome && outcome.value === true
  }

  /** Reads the current state. Predicates have their own rights, which are read-only and independent of the caller. */
  tryPredicate(
    predicate: Code,
    argument: AccessRequest['argument'],
    subject?: PredicateSubject,
  ): PredicateOutcome {
    const parameterCount = () => this.propertiesOfCode(predicate).parameters
    const language = this.#languageOf(predicate)
    const apply = () =>
      this.run(predicate, predicateArguments(predicate, language, parameterCount, argument, subject))
    const context = {
      callSite: undefined,
      effectLimit: 'read',
      effectPlace: 'auth predicates',
      pageTime: undefined,
      validTime: undefined,
    } as const
    const readNow = () => this.with(context, apply)
    try {
      return { value: this.withAuthority({ kind: 'predicate', database: this.database }, readNow) }
    } catch (error) {
      if (error instanceof LanguageError || error instanceof Failure) return { failure: error }
      throw error
    }
  }

  /** Throws a RequestError if the query exceeds the compute limit or the deadline. */
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

  /** Counts an element of a stored set. Throws a RequestError at the limit of elements or the deadline. */
  countElement(): void {
    this.#setElements++
    step(stepsPerUnit)
    if (this.#setElements > sessionLimits.setElementsMax) {
      const text = msg`Transaction reads too many elements of sets. Max: ${sessionLimits.setElementsMax}`
      throw new RequestError('bad request', text)
    }
    if (this.#setElements % unitsPerClockCheck === 0) this.checkDeadline()
  }

  /** Counts compute units for the effort steps (src/base/effort.ts) of `work`. */
  metered<T>(work: () => T): T {
    const before = stepsSoFar()
    const result = work()
    const units = Math.floor((stepsSoFar() - before) / sessionLimits.stepsPerComputeUnit)
    if (units > 0) this.compute(units)
    return result
  }

  checkDeadline(): void {
    if (this.host.now() > this.deadline) throw timeoutError()
  }

  /**
   * Returns an id that is greater than all earlier ids of this process. A repeated evaluation of the query gets the same
   * id.
   */
  newId(): bigint {
    return this.memo.draw(() => this.transaction.newId())
  }

  /** Returns the reference for a new document, with an unused id. */
  newDocument(database: DatabaseId, collection: CollectionId): Ref {
    for (;;) {
      const ref = new Ref(database, collection, this.newId())
      if (!this.transaction.isTaken(ref)) return ref
    }
  }

  /**
   * Counts one read operation for each started 4096 bytes, at least one, and one for each further partition; once per
   * `key` and query.
   */
  countRead(key: string, bytes: number, partitions: number): void {
    if (this.#countedReads.has(key)) return
    this.#countedReads.add(key)
    this.byteReadOps += readOps(bytes) + partitions - 1
  }

  /** Repeated reads of the document at the valid time are counted once per query. */
  countDocumentRead(ref: Ref, bytes: number): void {
    const { database, collection, id } = ref
    this.reads?.document(ref)
    if (database !== this.database) {
      this.countRead(`${refKey(ref)}@${this.validTime ?? ''}`, bytes, 1)
      return
    }
    const { validTime } = this
    const read = validTime === undefined ? this.#documentsRead : upsert(this.#earlierRead, validTime, newMap)
    const ids = upsert(read, collection, newSet)
    const { size } = ids
    if (ids.add(id).size > size) this.byteReadOps += readOps(bytes)
  }

  /** Adds the costs of another session that ran for this query. */
  countCostsOf(other: Session): void {
    this.#computeUnits += other.#computeUnits
    this.byteReadOps += other.byteReadOps
  }

  /** The number of compute operations so far, at least one. Includes the costs of writing index entries. */
  get computeOps(): number {
    const units = this.#computeUnits + this.transaction.counters.indexUnits
    return Math.max(1, Math.ceil(units / limits.computeUnitsPerOp))
  }

  get computeUnits(): number {
    return this.#computeUnits
  }
}
