// Account keys: the credentials of programs that export the query log (log pipelines). An account key belongs to the
// operator, not to a database, and gives access only to the log API. A secret is shown once, and its SHA-256 is stored.
// A slow hash such as bcrypt is not needed, because 256 random bits cannot be guessed. With a fast hash, the check of a
// key is cheap.

import { hash, timingSafeEqual } from 'node:crypto'
import { microsPerDay, nearestMicros } from '../base/micros.ts'
import type { Random } from '../base/random.ts'
import type { KeyValueStore, View } from '../storage/kv/kv-contract.ts'
import type { Micros } from '../values/value.ts'

export interface AccountKey {
  /** 16 hexadecimal digits. */
  readonly id: string
  readonly name: string
  readonly createdAt: Micros
  /** If undefined, the key never expires. */
  readonly expiresAt?: Micros
  /** If undefined, the key gives access to all region groups. */
  readonly regionGroups?: readonly string[]
}

interface StoredKey extends AccountKey {
  /** SHA-256 of the complete secret, in hexadecimal. */
  readonly hash: string
}

interface NewAccountKey {
  readonly name: string
  readonly ttlDays?: number
  readonly regionGroups?: readonly string[]
}

/** Thrown when the requested name belongs to another key that has not expired. */
export class NameConflict {}

const secretPattern = /^tak_([0-9a-f]{16})_[\w-]{43}$/

const keyOf = (id: string) => Buffer.from(`A${id}`)

export class AccountKeys {
  readonly #kv: KeyValueStore
  readonly #random: Random
  readonly #now: () => Micros

  constructor(kv: KeyValueStore, random: Random, now: () => Micros) {
    this.#kv = kv
    this.#random = random
    this.#now = now
  }

  /** Creates a key and returns its secret, which cannot be retrieved later. Throws {@link NameConflict}. */
  create(wanted: NewAccountKey): Promise<{ readonly key: AccountKey; readonly secret: string }> {
    const now = this.#now()
    const id = this.#random.hex(8)
    const secret = `tak_${id}_${Buffer.from(this.#random.bytes(32)).toString('base64url')}`
    const { name, ttlDays, regionGroups } = wanted
    const key: AccountKey = {
      id,
      name,
      createdAt: now,
      ...(ttlDays !== undefined && { expiresAt: nearestMicros(now + ttlDays * microsPerDay) }),
      ...(regionGroups !== undefined && { regionGroups }),
    }
    return this.#kv.transact(view => {
      if (all(view).some(other => other.name === name && !hasExpired(other, now))) throw new NameConflict()
      const stored: StoredKey = { ...key, hash: digest(secret) }
      const write = { key: keyOf(id), value: Buffer.from(JSON.stringify(stored)) }
      return { result: { key, secret }, writes: [write] }
    })
  }

  /** Returns all keys, the oldest first, including expired keys. */
  list(): readonly AccountKey[] {
    const keys = this.#kv.read(all).map(({ hash, ...key }) => key)
    return keys.sort((a, b) => a.createdAt - b.createdAt)
  }

  /** Takes effect immediately. Resolves with false when no key has this id. */
  revoke(id: string): Promise<boolean> {
    return this.#kv.transact(view => {
      const known = view.get(keyOf(id)) !== undefined
      return { result: known, writes: known ? [{ key: keyOf(id), value: undefined }] : [] }
    })
  }

  /** Returns undefined if no key has the secret or the key has expired. */
  find(secret: string): AccountKey | undefined {
    const id = secretPattern.exec(secret)?.[1]
    if (id === undefined) return undefined
    const bytes = this.#kv.read(view => view.get(keyOf(id)))
    if (!bytes) return undefined
    const { hash, ...key } = parse(bytes)
    const matches = timingSafeEqual(Buffer.from(hash), Buffer.from(digest(secret)))
    return matches && !hasExpired(key, this.#now()) ? key : undefined
  }
}

function all(view: View): StoredKey[] {
  const range = { start: Buffer.from('A'), end: Buffer.from('B') }
  return Array.from(view.range(range), entry => parse(entry.value))
}

const parse = (bytes: Uint8Array): StoredKey => JSON.parse(Buffer.from(bytes).toString())
const digest = (secret: string) => hash('sha256', secret, 'hex')

function hasExpired({ expiresAt }: AccountKey, now: Micros): boolean {
  return expiresAt !== undefined && expiresAt <= now
}

/**
 * Region groups of the hosted service. Groups other than the instance's own are valid, too, so that a pipeline that
 * queries all groups gets empty results for them, not errors.
 */
const hosted: readonly string[] = ['us-std', 'eu-std']

/** `own`: the region group of this instance. */
export function isRegionGroup(name: string, own: string): boolean {
  return name === own || hosted.includes(name)
}
