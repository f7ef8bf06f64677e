// Details beside the records of the query log: the caller with its current names, the schema objects that the query
// used, and the error. Records contain numbers; the engine knows the names.

import { GenerationCache } from '../../base/generation-cache.ts'
import type { Engine, NamedCaller } from '../../engine/contract.ts'
import { isOfDashboard } from '../../query-log/exported-record.ts'
import type { LogCaller } from '../../query-log/facts.ts'
import type { LogRecord } from '../../query-log/log-search.ts'
import { rootDatabase } from '../../values/value.ts'

/** Limit of remembered callers for one request. */
const cacheSize = 10_000

/** The properties of a caller that the reader of the log may see. */
interface VisibleCaller extends NamedCaller {
  /** True: the credential belongs to a database above the reader's own. */
  readonly isOuter: boolean
}

/** Adds details to records, for the admin of a database or for the operator. */
export class RecordDetails {
  readonly #engine: Engine
  readonly #readers: string | undefined
  readonly #named = new GenerationCache<string, VisibleCaller>(cacheSize)

  /** `readers`: the id of the reader's own database; undefined for the operator. */
  constructor(engine: Engine, readers: string | undefined) {
    this.#engine = engine
    this.#readers = readers
  }

  /** A condition for a search: the caller's id, name, role or identity equals `who`. */
  callersNamed(who: string | undefined): { isWantedCaller?: (found: LogRecord) => boolean } {
    if (who === undefined) return {}
    const wanted = who.toLowerCase()
    return {
      isWantedCaller: found => {
        const caller = this.#callerOf(found)
        if (caller === undefined) return false
        const { id, identity, kind, name, roles } = caller
        return [id, name, identity, kind, ...roles].some(each => each?.toLowerCase() === wanted)
      },
    }
  }

  /** The details of a record; null for records of old versions without stored facts. */
  describe(found: LogRecord): object | null {
    const { facts, record } = found
    if (facts === undefined) return null
    const names = (kind: string) => facts.named.filter(each => each.kind === kind).map(({ name }) => name)
    const caller = this.#callerOf(found)
    return {
      shape: facts.shape,
      endpoint: facts.endpoint,
      address: facts.address,
      lane: facts.isSlow ? 'slow' : 'ordinary',
      is_dashboard: isOfDashboard(record),
      txn_ts: facts.commitTime ?? null,
      collections: names('collection'),
      indexes: names('index'),
      functions: names('function'),
      error: facts.fault
        ? { code: facts.fault.code, description: facts.fault.text, position: facts.fault.position }
        : null,
      caller: caller
        ? {
            kind: caller.kind,
            is_outer: caller.isOuter,
            id: caller.id ?? null,
            name: caller.name ?? null,
            roles: caller.roles,
            identity: caller.identity ?? null,
          }
        : null,
    }
  }

  #callerOf({ facts, trail }: LogRecord): VisibleCaller | undefined {
    const caller = facts?.caller
    if (caller === undefined || trail === undefined) return undefined
    const key = `${trail} ${caller.credential} ${caller.roles} ${caller.identity}`
    const known = this.#named.get(key)
    if (known !== undefined) return known
    const visible = this.#nameOf(caller, trail)
    this.#named.set(key, visible)
    return visible
  }

  #nameOf(caller: LogCaller, trail: string): VisibleCaller {
    const around = trail.split('/').filter(id => id !== '')
    const database = BigInt(around.at(-1) ?? rootDatabase)
    const named = this.#engine.nameOf(caller, database)
    const isOuter = this.#isOuter(caller.credential, around)
    // The id and name of a key are visible only within the key's own database.
    return { ...named, isOuter, ...(isOuter && { id: undefined, name: undefined }) }
  }

  /** Returns whether a credential belongs to a database above the reader's own. */
  #isOuter(credential: string, around: readonly string[]): boolean {
    if (this.#readers === undefined) return false
    const [, holder = String(rootDatabase)] = credential.split('/')
    const within = around.slice(around.indexOf(this.#readers))
    return credential !== 'provider' && !within.includes(holder)
  }
}
