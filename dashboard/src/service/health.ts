// Reads the health report of the service, and starts backups and integrity checks.

import type { ServiceHealth, TaskKind } from '../../../src/server/operation/health.ts'
import { session } from '../session.ts'
import { callApi } from './client.ts'

/** Not limited to the current database, because the report is about the whole service. */
const unlimitedSecret = () => ({ secret: session.value?.secret ?? '' })

/** Throws `ServiceError`, with status 403 if the secret is not the root secret. */
export function readHealth(signal: AbortSignal): Promise<ServiceHealth> {
  return callApi<ServiceHealth>('GET', '/api/v1/health', unlimitedSecret(), undefined, signal)
}

/** Throws `ServiceError`. */
export async function startTask(kind: TaskKind, signal: AbortSignal): Promise<void> {
  await callApi('POST', `/api/v1/health/${kind}s`, unlimitedSecret(), {}, signal)
}
