// What the driver and the database say when something fails, and what is made of it: one line that names no password.

import { AddressFault } from '../../../base/database-address.ts'
import { StoreUnavailableError, wordsOf } from '../errors.ts'

/** SQLSTATEs after which the session itself is over: connection exceptions, shutdowns, time limits of the session. */
const fatalStates = /^(08|57P0|25P03)/

/** Whether the database has answered a statement with an error, so that the session goes on. */
export function isRefusal(error: unknown): boolean {
  const state = stateOf(error)
  return state !== undefined && !fatalStates.test(state)
}

/** What the database calls an error; undefined when it is not the database that speaks. */
export function stateOf(error: unknown): string | undefined {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  return typeof severity === 'string' && typeof code === 'string' ? code : undefined
}

/** Whether a server refused a connection because of its TLS, or for want of it (SQLSTATE of a missing line in `pg_hba.conf`). */
export function isAboutTls(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return (
    stateOf(error) === '28000' || code === 'EPROTO' || /\b(SSL|TLS)\b|^ERR_(SSL|TLS)/.test(`${code} ${error}`)
  )
}

/** What the database has refused, as a failure of the store. */
export function refusal(cause: unknown): StoreUnavailableError {
  if (cause instanceof StoreUnavailableError) return cause
  return new StoreUnavailableError(`the database of the store refuses: ${wordsOf(cause)}`, { cause })
}

/** The failure in words that name no password. */
export function unavailable(cause: unknown, reason = wordsOf(cause)): StoreUnavailableError {
  if (cause instanceof StoreUnavailableError) return cause
  if (cause instanceof AddressFault)
    return new StoreUnavailableError(`the address of the store ${cause.message}`)
  return new StoreUnavailableError(`the database of the store cannot be reached: ${reason}`, { cause })
}
