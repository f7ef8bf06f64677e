// Creates, lists and revokes account keys directly in the data directory, even while a server uses it. No credential is
// needed: a user who can read the directory has all rights anyway. If several nodes share a store, the data directory
// must contain the replica of one node.

import { existsSync } from 'node:fs'
import { UsageError } from '../../app/config/read-config.ts'
import type { Config } from '../../app/config/settings.ts'
import { checkData } from '../../app/data-folder.ts'
import { openControlStore } from '../../app/open-query-log.ts'
import { systemClock } from '../../base/clock.ts'
import { systemRandom } from '../../base/random.ts'
import { type AccountKey, AccountKeys, isRegionGroup, NameConflict } from '../../query-log/account-keys.ts'
import type { KeyValueStore } from '../../storage/kv/kv-contract.ts'
import { formatMicros } from '../../values/time.ts'
import { CommandError } from '../command.ts'
import { isShared, withControlRows } from '../shared-store.ts'
import { escapeHidden, printLine } from '../terminal.ts'

interface KeyRequest {
  readonly name: string | undefined
  readonly ttlDays: number | undefined
  readonly regionGroup: readonly string[]
}

/** Prints the secret of the new key; resolves with the exit status. */
export async function createKey({ name, ttlDays, regionGroup }: KeyRequest, config: Config): Promise<number> {
  if (name === undefined) throw new UsageError('account-key create needs --name')
  const unknown = regionGroup.find(group => !isRegionGroup(group, config.regionGroup))
  if (unknown !== undefined) throw new UsageError(`there is no region group "${unknown}"`)
  const regionGroups = regionGroup.length > 0 ? { regionGroups: regionGroup } : {}
  return withKeys(config, keys =>
    create(keys, { name, ...(ttlDays !== undefined && { ttlDays }), ...regionGroups }),
  )
}

/** Prints a line for each key, or JSON; resolves with the exit status. */
export function listKeys({ json }: { readonly json: boolean }, config: Config): Promise<number> {
  return withKeys(config, async keys => {
    if (json) printLine(JSON.stringify([...keys.list()].map(asJson)))
    else for (const key of keys.list()) printLine(describe(key))
    return 0
  })
}

/** Resolves with the exit status. */
export function revokeKey(id: string, config: Config): Promise<number> {
  return withKeys(config, async keys => {
    if (!(await keys.revoke(id))) throw new CommandError(`there is no account key ${id}`)
    printLine(`revoked ${id}`)
    return 0
  })
}

async function create(keys: AccountKeys, request: Parameters<AccountKeys['create']>[0]): Promise<number> {
  try {
    const { key, secret } = await keys.create(request)
    process.stderr.write(`${escapeHidden(describe(key))}\nThe secret is shown only now:\n`)
    printLine(secret)
    return 0
  } catch (cause) {
    if (cause instanceof NameConflict)
      throw new CommandError(`there is already an account key "${request.name}"`)
    throw cause
  }
}

async function withKeys(config: Config, use: (keys: AccountKeys) => Promise<number>): Promise<number> {
  if (!existsSync(config.data)) throw new CommandError(`there is no data directory ${config.data}`)
  checkData(config)
  if (isShared(config)) return withControlRows(config, kv => use(keysIn(kv)))
  const store = openControlStore(config.data)
  try {
    return await use(keysIn(store))
  } finally {
    await store.close()
  }
}

const keysIn = (kv: KeyValueStore) => new AccountKeys(kv, systemRandom, systemClock.now)

function describe({ id, name, createdAt, expiresAt, regionGroups }: AccountKey): string {
  const expiry = expiresAt === undefined ? 'never expires' : `expires ${shortTime(expiresAt)}`
  const groups = regionGroups === undefined ? 'all region groups' : regionGroups.join(', ')
  return [id, name, `created ${shortTime(createdAt)}`, expiry, groups].join('  ')
}

function asJson({ id, name, createdAt, expiresAt, regionGroups }: AccountKey): object {
  return {
    id,
    name,
    created_at: shortTime(createdAt),
    expires_at: expiresAt === undefined ? null : shortTime(expiresAt),
    region_groups: regionGroups ?? null,
  }
}

function shortTime(micros: number): string {
  return formatMicros(Math.floor(micros / 1e6) * 1e6)
}
