// Converts failures of the driver and errors of the database to failures of the store: one line without a password.

import { AddressFault } from '../../../base/addresses.ts'
import { StoreUnavailableError, wordsOf } from '../errors.ts'

/** SQLSTATEs after which the session is closed: connection exceptions, shutdowns, time limits of the session. */
const fatalStates = /^(08|57P0|25P03)/

/** Returns whether the database has responded to a statement with an error, so that the session continues. */
export function isRejection(error: unknown): boolean {
  const state = stateOf(error)
  return state !== undefined && !fatalStates.test(state)
}

/** The SQLSTATE of an error; undefined when the error is not from the database. */
export function stateOf(error: unknown): string | undefined {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  return typeof severity === 'string' && typeof code === 'string' ? code : undefined
}

/**
 * Returns whether a server rejected a connection because of its TLS, or because it lacks TLS (SQLSTATE of a missing
 * line in `pg_hba.conf`).
 */
export function isAboutTls(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return (
    stateOf(error) === '28000' || code === 'EPROTO' || /\b(SSL|TLS)\b|^ERR_(SSL|TLS)/.test(`${code} ${error}`)
  )
}

/** An error of the database as a failure of the store. */
export function rejection(cause: unknown): StoreUnavailableError {
  if (cause instanceof StoreUnavailableError) return cause
  return new StoreUnavailableError(`the database of the store rejects this: ${wordsOf(cause)}`, { cause })
}

/** A failure to connect, in words without a password. */
export function unavailable(cause: unknown, reason = wordsOf(cause)): StoreUnavailableError {
  if (cause instanceof StoreUnavailableError) return cause
  if (cause instanceof AddressFault)
    return new StoreUnavailableError(`the address of the store ${cause.message}`)
  return new StoreUnavailableError(`the database of the store cannot be reached: ${reason}`, { cause })
}
