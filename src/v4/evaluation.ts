// The state of one query's evaluation: its transaction, its caller, what it may do here, what it has used up.
// Evaluating the same query again in the same transaction gives the same result.

import type { Access, Authority, Caller, CreateAccess } from '../auth/contract.ts'
import type { Logins } from '../auth/login.ts'
import { step, stepsSoFar } from '../base/effort.ts'
import type { Memo } from '../base/pending.ts'
import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Transaction } from '../store/contract.ts'
import {
  type CollectionId,
  type DatabaseId,
  type Lambda,
  type Micros,
  Ref,
  type Value,
} from '../values/value.ts'
import { ValueKeys } from '../values/value-keys.ts'
import type { BoundLambda, CallExpression, Effect, LambdaExpression } from './expression.ts'
import type { ApiVersion } from './wire/version.ts'

/** Where evaluation happens, when that forbids effects; the words appear in the error. */
type EffectPlace = 'get requests' | 'stream requests' | 'auth predicates' | 'index bindings'

/** What evaluation needs from outside the query layer. */
export interface EvaluationHost {
  readonly createAccess: CreateAccess
  /** Parses a stored lambda once. */
  readonly compile: (lambda: Lambda) => LambdaExpression
  /** Runs a stored lambda as a predicate: true only for exactly true, false for every error. */
  readonly runPredicate: (evaluation: Evaluation, predicate: Lambda, argument: Value) => boolean
  /** Microseconds on a clock that is never set, for deadlines only. */
  readonly now: () => Micros
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

/** A lambda written in place as the argument `key` of a call. */
interface WrittenLambda {
  readonly bound: BoundLambda
  readonly call: CallExpression
  readonly key: string
}

interface EvaluationOptions {
  readonly host: EvaluationHost
  readonly transaction: Transaction
  readonly caller: Caller
  /** The IP address of the client; absent where no client asks. */
  readonly address?: string | undefined
  readonly apiVersion: ApiVersion
  readonly memo: Memo
  /** When evaluation has to give up, by the clock of {@link EvaluationHost.now}. */
  readonly deadline: Micros
  /** The most that calls may do. */
  readonly effectLimit?: Effect
  readonly effectPlace?: EffectPlace
}

/** Evaluated units, or elements of sets, between two looks at the clock. */
const unitsPerClockCheck = 256

/** Steps of effort that one of them is about. */
const stepsPerUnit = 8

const computeUnitsMax = limits.computeOpsMax * limits.computeUnitsPerOp

/** The error of a query whose time is up. */
export function timedOut(): RequestError {
  return new RequestError('time out', 'Read timed out (Query eval has timed out.)')
}

function readOps(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / limits.readOpBytes))
}

export class Evaluation {
  readonly host: EvaluationHost
  readonly transaction: Transaction
  readonly caller: Caller
  readonly address: string | undefined
  readonly apiVersion: ApiVersion
  readonly memo: Memo
  /** The database in which names are looked up and documents written. */
  readonly database: DatabaseId
  /** The time at which `at` makes reads look; undefined is now, with the transaction's own writes. */
  validTime: Micros | undefined
  effectLimit: Effect
  effectPlace: EffectPlace | undefined
  /** Nested applications of lambdas and functions. */
  callDepth = 0
  /** Nested expressions. */
  depth = 0
  /** The texts by which what was read is told apart. */
  readonly keys = new ValueKeys()
  byteReadOps = 0
  /** UTF-16 units of text that functions of this query have made. */
  textUnits = 0
  /** The reads that have been counted, by name. */
  readonly #reads = new Set<string>()
  /** Those of documents of the query's database as they are now, by collection: names would cost more than the reads. */
  readonly #documentsRead = new Map<CollectionId, Set<bigint>>()
  #authority: Authority
  #access: Access | undefined
  #computeUnits = 0
  #setElements = 0
  readonly #deadline: Micros
  /** The lambdas of sets that this query makes. Most queries make none. */
  #writtenLambdas: WeakMap<Lambda, WrittenLambda> | undefined

  constructor(options: EvaluationOptions) {
    this.host = options.host
    this.transaction = options.transaction
    this.caller = options.caller
    this.address = options.address
    this.apiVersion = options.apiVersion
    this.memo = options.memo
    this.database = options.caller.database
    this.effectLimit = options.effectLimit ?? 'write'
    this.effectPlace = options.effectPlace
    this.#authority = options.caller.authority
    this.#deadline = options.deadline
  }

  get authority(): Authority {
    return this.#authority
  }

  /** What the authority in force may do. */
  get access(): Access {
    this.#access ??= this.host.createAccess(this.#authority, this.transaction, (predicate, argument) =>
      this.host.runPredicate(this, predicate, argument),
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
  withValidTime<T>(time: Micros | undefined, work: () => T): T {
    const outer = this.validTime
    this.validTime = time
    try {
      return work()
    } finally {
      this.validTime = outer
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

  /** Counts evaluated units. Throws a RequestError past the compute limit or the deadline. */
  compute(units: number): void {
    const before = this.#computeUnits
    const after = before + units
    this.#computeUnits = after
    step(units * stepsPerUnit)
    if (after > computeUnitsMax) {
      const got = Math.ceil(after / limits.computeUnitsPerOp)
      const text = `Transaction does too much compute: got ${got}, limit: ${limits.computeOpsMax}`
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
      const text = `Transaction reads too many elements of sets. Max: ${limits.setElementsMax}`
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
    if (this.host.now() > this.#deadline) throw timedOut()
  }

  /** A new id for a document: larger than all before this request, and the same when it is evaluated again. */
  newId(): bigint {
    return this.memo.drawn(() => this.transaction.newId())
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
    if (database !== this.database || this.validTime !== undefined) {
      this.countRead(`${database}/${collection}/${id}@${this.validTime ?? ''}`, bytes, 1)
      return
    }
    let ids = this.#documentsRead.get(collection)
    if (ids === undefined) {
      ids = new Set()
      this.#documentsRead.set(collection, ids)
    }
    if (ids.has(id)) return
    ids.add(id)
    this.byteReadOps += readOps(bytes)
  }

  /** Billed compute operations so far, at least one; index entries of what was written are among them. */
  get computeOps(): number {
    const units = this.#computeUnits + this.transaction.counters.indexUnits
    return Math.max(1, Math.ceil(units / limits.computeUnitsPerOp))
  }

  /** Remembers how the lambda of a set is written in this query. */
  keepWritten(lambda: Lambda, written: WrittenLambda): void {
    this.#writtenLambdas ??= new WeakMap()
    this.#writtenLambdas.set(lambda, written)
  }

  /** How a lambda of a set is written in this query; undefined for one that comes from elsewhere. */
  writtenOf(lambda: Lambda): WrittenLambda | undefined {
    return this.#writtenLambdas?.get(lambda)
  }

  get deadline(): Micros {
    return this.#deadline
  }
}
