// Profiles: named services, each with an address, a secret and a database. Only the owner can read the file that stores
// them.

import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fromEnvironment, type RawSetting, UsageError } from '../app/config/read-config.ts'
import { reasonOf } from '../base/system-reasons.ts'
import { readIfPresent, replaceFile } from '../base/text-file.ts'
import { withFile } from './command.ts'

/** Fields have the names of the options that they replace. */
interface Profile {
  readonly url: string
  readonly secret: string
  readonly database?: string
}

const profileFields = ['url', 'secret', 'database'] as const

/** `TERRARIUM_PROFILES`, or a file in the user's configuration folder. */
export function profileFile(env: NodeJS.ProcessEnv = process.env): string {
  const folder = env.XDG_CONFIG_HOME || join(homedir(), '.config')
  return env.TERRARIUM_PROFILES || join(folder, 'terrarium', 'profiles.json')
}

/** Returns no profiles if the file does not exist. Throws {@link UsageError} for an unreadable file. */
export function readProfiles(file = profileFile()): ReadonlyMap<string, Profile> {
  try {
    const text = readIfPresent(file)
    return new Map(text === undefined ? [] : Object.entries(profilesIn(text, file)))
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw new UsageError(`the profiles in ${file} cannot be read: ${reasonOf(cause)}`)
  }
}

function profilesIn(text: string, file: string): Readonly<Record<string, Profile>> {
  try {
    const json: unknown = JSON.parse(text)
    const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
    if (isObject && Object.values(json).every(isProfile)) return json as Readonly<Record<string, Profile>>
  } catch {
    // The error below covers this case.
  }
  throw new UsageError(
    `${file} is not a file of profiles: it must be a JSON object of names, each with {"url", "secret", "database"}`,
  )
}

function isProfile(json: unknown): json is Profile {
  if (typeof json !== 'object' || json === null) return false
  const { database, secret, url } = json as Readonly<Record<string, unknown>>
  const isText = (value: unknown) => typeof value === 'string'
  return isText(url) && isText(secret) && (database === undefined || isText(database))
}

/** Throws {@link UsageError} when the file cannot be read, and a CommandError when it cannot be written. */
export function changeProfiles(change: (profiles: Map<string, Profile>) => void): void {
  const file = profileFile()
  const profiles = new Map(readProfiles(file))
  change(profiles)
  withFile(file, 'written', () => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    replaceFile(file, `${JSON.stringify(Object.fromEntries(profiles), null, 2)}\n`, { flush: true })
  })
}

/**
 * The options of the profile that the flag (`given`) or the environment variable `TERRARIUM_PROFILE` names; empty
 * without a name. Throws {@link UsageError} for an unknown profile.
 */
export function profileOptions(
  given: RawSetting | undefined,
  env: NodeJS.ProcessEnv,
): ReadonlyMap<string, RawSetting> {
  const found = given ?? fromEnvironment('profile', env)
  if (found === undefined) return new Map()
  const profiles = readProfiles(profileFile(env))
  const profile = profiles.get(String(found.value))
  if (profile === undefined) {
    const known =
      profiles.size === 0 ? 'there are no profiles' : `there are ${[...profiles.keys()].join(', ')}`
    throw new UsageError(`${found.where}: unknown profile "${found.value}"; ${known}`)
  }
  const where = `the profile ${found.value}`
  return new Map(
    profileFields.flatMap(name => {
      const value = profile[name]
      return value === undefined ? [] : [[name, { value, where }] as const]
    }),
  )
}
