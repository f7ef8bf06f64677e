// Checks queries of version 10 without running them: type errors while the user types, and members for completion.

import { currentSecret, session } from '../session.ts'
import { callApi } from './client.ts'

/** A field or method of a value, with its type. */
interface Member {
  readonly name: string
  readonly type: string
}

const checkPath = '/api/v1/check'

/** True if the service checks queries for the user: with an admin or server key. */
export function mayCheck(): boolean {
  const role = session.value?.principal.role
  return role === 'admin' || role === 'server'
}

/** The errors of a query with their positions, as the service draws them; empty without errors. */
export async function checkQuery(query: string, signal: AbortSignal): Promise<string> {
  const { summary } = await callApi<{ summary: string }>(
    'POST',
    checkPath,
    currentSecret.value,
    { query },
    signal,
  )
  return summary
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
  const body = { query, members_at: offset }
  const { members } = await callApi<{ members: readonly Member[] }>(
    'POST',
    checkPath,
    currentSecret.value,
    body,
    signal,
  )
  return members
}
