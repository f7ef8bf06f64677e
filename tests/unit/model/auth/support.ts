// Helpers of the auth tests: a store in memory, a clock and timers that the test advances, bcrypt that counts calls,
// and a runner that waits for pending results and evaluates again, like the engine.

import assert from 'node:assert/strict'
import type { Clock } from '../../../../src/base/clock.ts'
import { micros } from '../../../../src/base/micros.ts'
import { Memo, Pending } from '../../../../src/base/pending.ts'
import { systemRandom } from '../../../../src/base/random.ts'
import { RequestError } from '../../../../src/base/request-errors.ts'
import type { Timers } from '../../../../src/base/timers.ts'
import type { Caller, RunPredicate } from '../../../../src/model/auth/access-contract.ts'
import {
  type Authentication,
  type AuthenticationOptions,
  createAuthentication,
} from '../../../../src/model/auth/authentication.ts'
import { type Bcrypt, type Candidate, nativeBcrypt } from '../../../../src/model/auth/bcrypt.ts'
import { makeKeySecret, makeTokenSecret, parseSecret } from '../../../../src/model/auth/secret.ts'
import type { PasswordRequest } from '../../../../src/model/auth/throttle.ts'
import type { Transaction } from '../../../../src/storage/store/store-contract.ts'
import type { Code } from '../../../../src/values/code.ts'
import {
  type DatabaseId,
  Lambda,
  native,
  Ref,
  rootDatabase,
  type Value,
} from '../../../../src/values/value.ts'
import { Bench, object } from '../../storage/store/support.ts'

export { object }

/** A time that only the test advances. */
export class ManualTime implements Timers {
  ms = 1_000
  #alarms: { at: number; callback: () => void }[] = []
  /** The milliseconds that pass with each read of the clock. */
  msPerLook = 0
  readonly clock: Clock = {
    now: () => micros(this.ms * 1000),
    elapsedMs: () => {
      this.ms += this.msPerLook
      return this.ms
    },
  }

  after(ms: number, callback: () => void): () => void {
    const alarm = { at: this.ms + ms, callback }
    this.#alarms.push(alarm)
    return () => {
      this.#alarms = this.#alarms.filter(other => other !== alarm)
    }
  }

  every(): () => void {
    throw new Error('auth repeats nothing')
  }

  /** The time until the next timer, in milliseconds. */
  get nextAlarm(): number | undefined {
    return this.#alarms.length === 0 ? undefined : Math.min(...this.#alarms.map(({ at }) => at)) - this.ms
  }

  async advance(ms: number): Promise<void> {
    this.ms += ms
    const due = this.#alarms.filter(({ at }) => at <= this.ms)
    this.#alarms = this.#alarms.filter(({ at }) => at > this.ms)
    for (const { callback } of due) callback()
    await settled()
  }
}

/** Runs everything that can continue without time passing. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** The real bcrypt, which records the hashes of each check. */
export class CountingBcrypt implements Bcrypt {
  readonly compared: string[] = []
  hashes = 0

  hash(bytes: Uint8Array, cost: number): Promise<string> {
    this.hashes++
    return nativeBcrypt.hash(bytes, cost)
  }

  async firstMatch(candidates: readonly Candidate[]): Promise<number | undefined> {
    for (const [at, candidate] of candidates.entries()) {
      this.compared.push(candidate.hash)
      if ((await nativeBcrypt.firstMatch([candidate])) !== undefined) return at
    }
    return undefined
  }
}

/** A request that checks passwords with a root secret from an address of its own. */
export function asking(transaction: Transaction, memo: Memo): PasswordRequest {
  const caller: Caller = {
    database: rootDatabase,
    authority: { kind: 'builtin', role: 'client', database: rootDatabase },
    identity: undefined,
    credential: undefined,
  }
  return { transaction, memo, caller, address: '192.0.2.1' }
}

/** A predicate for {@link World.predicates}: its body is the name of a function there. */
export function predicate(name: string, parameters: string | readonly string[] = 'x'): Lambda {
  return new Lambda('4', parameters, name)
}

export const noPredicates = (): RunPredicate => () => {
  throw new Error('no predicate should run')
}

/** Runs `work` like the engine: again until nothing is pending. */
export async function answered<T>(run: (memo: Memo) => T, memo = new Memo()): Promise<T> {
  for (;;) {
    memo.begin()
    try {
      return run(memo)
    } catch (error) {
      if (!(error instanceof Pending)) throw error
      await memo.resolve(error)
    }
  }
}

type PredicateFunction = (argument: Value, caller: Caller, transaction: Transaction) => boolean

/** A store with an authentication over it. */
export class World {
  readonly bench = new Bench()
  readonly time = new ManualTime()
  readonly bcrypt = new CountingBcrypt()
  readonly log: string[] = []
  readonly predicates = new Map<string, PredicateFunction>()
  readonly auth: Authentication
  #nextId = 1000n

  constructor(options: Partial<AuthenticationOptions> = {}) {
    this.auth = createAuthentication({
      clock: this.time.clock,
      timers: this.time,
      random: systemRandom,
      rootSecret: 'the root secret',
      passwordHashCost: 4,
      audiencePrefix: 'https://db.fauna.com/db/',
      allowInsecureJwks: false,
      log: reason => this.log.push(reason),
      bcrypt: this.bcrypt,
      ...options,
    })
  }

  /** The caller for a header. Rejects with the RequestError that the client would get. */
  identify(header: string | undefined): Promise<Caller> {
    return this.read((transaction, memo) =>
      this.auth.identifier.identify(
        header,
        transaction,
        memo,
        caller => (predicate, argument) =>
          this.predicates.get(String(lambdaOf(predicate).body))?.(argument(1), caller, transaction) ?? false,
      ),
    )
  }

  /** Returns whether a header is rejected; rethrows every error but `unauthorized`. */
  async rejects(header: string | undefined): Promise<boolean> {
    try {
      await this.identify(header)
      return false
    } catch (error) {
      if (error instanceof RequestError && error.status === 401) return true
      throw error
    }
  }

  read<T>(work: (transaction: Transaction, memo: Memo) => T): Promise<T> {
    return answered(memo => this.bench.read(transaction => work(transaction, memo)))
  }

  async put(ref: Ref, fields: Record<string, Value>): Promise<Ref> {
    await this.bench.put(ref, object(fields))
    return ref
  }

  newId(): bigint {
    return this.#nextId++
  }

  database(name: string, parent: DatabaseId = rootDatabase): Promise<Ref> {
    return this.put(new Ref(parent, native.databases, this.newId()), { name })
  }

  collection(name: string, database: DatabaseId = rootDatabase): Promise<Ref> {
    return this.bench.write(transaction => {
      const id = transaction.nextSchemaId(database, native.collections)
      return transaction.put(new Ref(database, native.collections, id), object({ name })).ref
    })
  }

  document(collection: Ref, fields: Record<string, Value> = {}): Promise<Ref> {
    return this.put(new Ref(collection.database, Number(collection.id), this.newId()), {
      data: object(fields),
    })
  }

  role(name: string, fields: Record<string, Value>, database: DatabaseId = rootDatabase): Promise<Ref> {
    return this.put(new Ref(database, native.roles, this.newId()), { name, ...fields })
  }

  /** A key with a real secret. */
  async key(
    fields: Record<string, Value>,
    database: DatabaseId = rootDatabase,
  ): Promise<{ ref: Ref; secret: string }> {
    const id = this.newId()
    const secret = makeKeySecret(id, systemRandom.bytes(20))
    const ref = new Ref(database, native.keys, id)
    return { ref: await this.put(ref, { ...fields, hashed_secret: await hashOf(secret) }), secret }
  }

  /** A token with a real secret. */
  async token(instance: Ref): Promise<{ ref: Ref; secret: string }> {
    const id = this.newId()
    const secret = makeTokenSecret(id, instance.database, systemRandom.bytes(20))
    const ref = new Ref(instance.database, native.tokens, id)
    const stored = { instance, hashed_secret: await hashOf(secret) }
    return { ref: await this.put(ref, stored), secret }
  }

  close(): Promise<void> {
    return this.bench.close()
  }
}

/** The stored hash of a secret. */
export function hashOf(secret: string): Promise<string> {
  return nativeBcrypt.hash(Buffer.from(parseSecret(secret)?.random ?? ''), 4)
}

export function bearer(secret: string): string {
  return `Bearer ${secret}`
}

export function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

/** The lambda for code of version 4. */
function lambdaOf(code: Code): Lambda {
  assert.ok(code.language === '4')
  return code
}
