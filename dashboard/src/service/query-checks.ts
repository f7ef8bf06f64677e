// Checks queries of version 10 without running them: type errors while the user types, and members for completion.

import { currentSecret, session } from '../session.ts'
import { callApi } from './client.ts'

/** A field or method of a value, with its type. */
interface Member {
  readonly name: string
  readonly type: string
}

function check<T>(body: object, signal: AbortSignal): Promise<T> {
  return callApi<T>('POST', '/api/v1/check', currentSecret.value, body, signal)
}

/** True if the service checks queries for the user: with an admin or server key. */
export function mayCheck(): boolean {
  const role = session.value?.principal.role
  return role === 'admin' || role === 'server'
}

/** The errors of a query with their positions, as the service draws them; empty without errors. */
export async function checkQuery(query: string, signal: AbortSignal): Promise<string> {
  return (await check<{ summary: string }>({ query }, signal)).summary
}

/**
 * The members of the value before the name at `offset`, a UTF-16 offset. The result is empty if the type of the value
 * is unknown.
 */
export async function readValueMembers(
  query: string,
  offset: number,
  signal: AbortSignal,
): Promise<readonly Member[]> {
  return (await check<{ members: readonly Member[] }>({ query, members_at: offset }, signal)).members
}
