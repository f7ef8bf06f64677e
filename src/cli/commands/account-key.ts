// `terrarium account-key create|list|revoke`: the keys of log pipelines. Works on the data folder itself, beside a
// server that runs: whoever may read that folder may do everything anyway.

import { existsSync } from 'node:fs'
import { systemClock } from '../../base/clock.ts'
import { systemRandom } from '../../base/random.ts'
import { type Config, readConfig, type SettingName, UsageError } from '../../config.ts'
import { openControlStore } from '../../open-query-log.ts'
import { type AccountKey, AccountKeys, NameTaken } from '../../query-log/account-keys.ts'
import { isRegionGroup } from '../../query-log/region-groups.ts'
import { formatTime, timeFromMicros } from '../../values/time.ts'
import { type Command, StartError } from '../command.ts'
import { explained } from '../data-folder.ts'

const settings: readonly SettingName[] = ['data']
const ttlDaysMax = 36_500

export const accountKeyCommand: Command = {
  doc: 'Makes, lists and revokes account keys, with which log pipelines export the query log.',
  usage: ['create --name NAME [--ttl-days N] [--region-group NAME]…', 'list', 'revoke ID'],
  settings,
  run,
}

async function run(words: readonly string[]): Promise<number> {
  const [action, ...rest] = words
  switch (action) {
    case 'create':
      return create(rest)
    case 'list':
      return withKeys(rest, async keys => {
        for (const key of keys.list()) print(describe(key))
        return 0
      })
    case 'revoke': {
      const [id, ...flags] = rest
      if (id === undefined || id.startsWith('-')) throw new UsageError('revoke needs the id of a key')
      return withKeys(flags, async keys => {
        if (!(await keys.revoke(id))) throw new StartError(`there is no account key ${id}`)
        print(`revoked ${id}`)
        return 0
      })
    }
    default:
      throw new UsageError('account-key needs one of create, list, revoke')
  }
}

function create(words: readonly string[]): Promise<number> {
  const { own, rest } = takeFlags(words, ['name', 'ttl-days', 'region-group'])
  const [name] = own.get('name') ?? []
  if (name === undefined) throw new UsageError('create needs --name')
  const [ttl] = own.get('ttl-days') ?? []
  const ttlDays = ttl === undefined ? undefined : Number(ttl)
  if (ttlDays !== undefined && !(Number.isInteger(ttlDays) && ttlDays >= 1 && ttlDays <= ttlDaysMax)) {
    throw new UsageError(`--ttl-days has to be a whole number from 1 to ${ttlDaysMax}`)
  }
  const regionGroups = own.get('region-group')
  return withKeys(rest, async (keys, { regionGroup: own }) => {
    const unknown = regionGroups?.find(group => !isRegionGroup(group, own))
    if (unknown !== undefined) throw new UsageError(`there is no region group "${unknown}"`)
    try {
      const { key, secret } = await keys.create({
        name,
        ...(ttlDays !== undefined && { ttlDays }),
        ...(regionGroups && { regionGroups }),
      })
      process.stderr.write(`${describe(key)}\nThe secret is shown only now:\n`)
      print(secret)
      return 0
    } catch (cause) {
      if (cause instanceof NameTaken) throw new StartError(`there is an account key "${name}" already`)
      throw cause
    }
  })
}

async function withKeys(
  words: readonly string[],
  use: (keys: AccountKeys, config: Config) => Promise<number>,
): Promise<number> {
  const config = readConfig(words, process.env, settings)
  if (!existsSync(config.data)) throw new StartError(`there is no data folder ${config.data}`)
  const store = await explained(async () => openControlStore(config.data))
  try {
    return await use(new AccountKeys(store, systemRandom, systemClock.now), config)
  } finally {
    await store.close()
  }
}

/** Splits the flags of this command, each with its values, from those of the settings. */
function takeFlags(words: readonly string[], names: readonly string[]) {
  const own = new Map<string, string[]>()
  const rest: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string
    const equals = word.indexOf('=')
    const name = word.slice(2, equals < 0 ? undefined : equals)
    if (!word.startsWith('--') || !names.includes(name)) {
      rest.push(word)
      continue
    }
    const value = equals < 0 ? words[++at] : word.slice(equals + 1)
    if (value === undefined || value === '') throw new UsageError(`--${name} needs a value`)
    own.set(name, [...(own.get(name) ?? []), value])
  }
  return { own, rest }
}

function describe({ id, name, createdAt, expiresAt, regionGroups }: AccountKey): string {
  const expiry = expiresAt === undefined ? 'never expires' : `expires ${shortTime(expiresAt)}`
  const groups = regionGroups === undefined ? 'all region groups' : regionGroups.join(', ')
  return [id, name, `made ${shortTime(createdAt)}`, expiry, groups].join('  ')
}

function shortTime(micros: number): string {
  return formatTime(timeFromMicros(Math.floor(micros / 1e6) * 1e6))
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
