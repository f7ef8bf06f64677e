// What is told beside records of the query log: who asked, in names as they are now, which schema objects the query used, and
// what went wrong. Records keep numbers; the engine knows the names.

import { GenerationCache } from '../../base/generation-cache.ts'
import type { Engine, NamedCaller } from '../../engine/contract.ts'
import { isOfDashboard } from '../../query-log/exported-record.ts'
import type { LogCaller } from '../../query-log/facts.ts'
import type { LogRecord } from '../../query-log/log-search.ts'
import { rootDatabase } from '../../values/value.ts'

/** Callers whose names are remembered for one request of the log. */
const namesHeld = 10_000

/** Who asked, as far as the reader of the log may know. */
interface ToldCaller extends NamedCaller {
  /** It belongs to a database around the one that the reader is of. */
  readonly isOuter: boolean
}

/** Tells records to the admin of a database, or to the operator. */
export class RecordTeller {
  readonly #engine: Engine
  readonly #readers: string | undefined
  readonly #named = new GenerationCache<string, ToldCaller>(namesHeld)

  /** `readers`: the number of the reader's own database; undefined for the operator. */
  constructor(engine: Engine, readers: string | undefined) {
    this.#engine = engine
    this.#readers = readers
  }

  /** A search for callers of whom something is called like that: number, name, role or identity. */
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

  /** What is known beside a record; null for records of versions that wrote nothing beside. */
  tell(found: LogRecord): object | null {
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

  #callerOf({ facts, trail }: LogRecord): ToldCaller | undefined {
    const caller = facts?.caller
    if (caller === undefined || trail === undefined) return undefined
    const key = `${trail} ${caller.credential} ${caller.roles} ${caller.identity}`
    const known = this.#named.get(key)
    if (known !== undefined) return known
    const told = this.#nameOf(caller, trail)
    this.#named.set(key, told)
    return told
  }

  #nameOf(caller: LogCaller, trail: string): ToldCaller {
    const around = trail.split('/').filter(id => id !== '')
    const database = BigInt(around.at(-1) ?? rootDatabase)
    const named = this.#engine.nameOf(caller, database)
    const isOuter = this.#isOuter(caller.credential, around)
    // What a key is called is for those of its own database.
    return { ...named, isOuter, ...(isOuter && { id: undefined, name: undefined }) }
  }

  /** Whether a credential belongs to a database around the reader's own. */
  #isOuter(credential: string, around: readonly string[]): boolean {
    if (this.#readers === undefined) return false
    const [, holder = String(rootDatabase)] = credential.split('/')
    const within = around.slice(around.indexOf(this.#readers))
    return credential !== 'provider' && !within.includes(holder)
  }
}
