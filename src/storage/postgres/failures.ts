// Converts errors of the driver and of the database into errors of the store, whose messages have one line and contain
// no password. Also reports to the operator why a replica cannot follow its record (the store's tables in PostgreSQL).

import { AddressFault } from '../../base/addresses.ts'
import { causeText, StoreUnavailableError } from '../kv/store-errors.ts'

/** SQLSTATEs after which the session is closed: connection exceptions, shutdowns, time limits of the session. */
const fatalStates = /^(08|57P0|25P03)/

/** The database rejected a statement without closing the session. */
export function isRejection(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== undefined && !fatalStates.test(state)
}

/** The SQLSTATE; undefined when the error is not from the database. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  return typeof severity === 'string' && typeof code === 'string' ? code : undefined
}

/**
 * A server may have rejected a connection because it uses TLS, or does not. SQLSTATE 28000 means that no line of
 * `pg_hba.conf` allows the connection, for example without TLS.
 */
export function isAboutTls(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return (
    sqlStateOf(error) === '28000' ||
    code === 'EPROTO' ||
    /\b(SSL|TLS)\b|^ERR_(SSL|TLS)/.test(`${code} ${error}`)
  )
}

/** Converts an error of the database into a failure of the store. */
export function rejection(cause: unknown): StoreUnavailableError {
  if (cause instanceof StoreUnavailableError) return cause
  return new StoreUnavailableError(`the database of the store rejects this: ${causeText(cause)}`, { cause })
}

/** Converts a failure to connect into a failure of the store. The message contains no password. */
export function unavailable(cause: unknown, reason = causeText(cause)): StoreUnavailableError {
  if (cause instanceof StoreUnavailableError) return cause
  if (cause instanceof AddressFault)
    return new StoreUnavailableError(`the address of the store ${cause.message}`)
  return new StoreUnavailableError(`the database of the store cannot be reached: ${reason}`, { cause })
}

/** A node's own replica cannot be updated, for example because its disk is full; the database may be available. */
export class CopyFault extends StoreUnavailableError {
  override name = 'CopyFault'

  constructor(cause: unknown) {
    super(`the replica of the store on this node cannot be updated: ${causeText(cause)}`, { cause })
  }
}

/**
 * Why a replica cannot follow its record. `isLocal`: it cannot be updated on this node; otherwise the database is the
 * reason.
 */
export interface FollowFault {
  readonly isLocal: boolean
  readonly reason: string
}

/** Minimum milliseconds between two reports of faults. The end of a fault is reported at once. */
const reportEveryMs = 5_000

/**
 * Reports when a fault begins, when the reason changes, and when the fault is over. Limits the rate of reports, so that
 * an intermittent fault does not fill the service log.
 */
export class Faults {
  readonly #elapsedMs: () => number
  readonly #onChange: (fault: FollowFault | undefined) => void
  #reported: FollowFault | undefined
  #reportedMs = Number.NEGATIVE_INFINITY
  current: FollowFault | undefined

  /** `onChange` is called with a fault when it begins or changes, and with undefined when the fault is over. */
  constructor(elapsedMs: () => number, onChange: (fault: FollowFault | undefined) => void) {
    this.#elapsedMs = elapsedMs
    this.#onChange = onChange
  }

  /** Called after each attempt to follow the record; without an error after success. */
  report(error: unknown): void {
    this.current =
      error === undefined ? undefined : { isLocal: error instanceof CopyFault, reason: causeText(error) }
    if (this.current?.reason === this.#reported?.reason) return
    const nowMs = this.#elapsedMs()
    if (this.current !== undefined) {
      if (nowMs - this.#reportedMs < reportEveryMs) return
      this.#reportedMs = nowMs
    }
    this.#reported = this.current
    this.#onChange(this.current)
  }
}
