// Reads the settings from flags, the environment and the configuration file, in this order of precedence.
//
// For example, `rootSecret` is the flag `--root-secret`, the variable `TERRARIUM_ROOT_SECRET`, and the key `rootSecret`
// in the configuration file, whose path is `--config`.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseBackupAddress } from '../../base/addresses.ts'
import { isLoopback, isShortSecret, secretCharsMin } from './faults.ts'
import { type Config, declaredDefaultOf, type Setting, type SettingName, settings } from './settings.ts'

/** The message is one line for the user. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** `where`: the source, named in error messages. */
export interface RawSetting {
  readonly value: unknown
  readonly where: string
}

export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}

export function variableOf(name: string): string {
  return `TERRARIUM_${flagOf(name).replaceAll('-', '_').toUpperCase()}`
}

const names = Object.keys(settings) as SettingName[]
const table: Readonly<Record<string, Setting>> = settings

/**
 * The keys of `flags` are names of settings, or `config` for the path of the configuration file. Throws {@link
 * UsageError}.
 */
export function readConfig(flags: ReadonlyMap<string, RawSetting>, env: NodeJS.ProcessEnv): Config {
  const configFile = (flags.get('config') ?? fromEnvironment('config', env))?.value as string | undefined
  const fileValues = configFile === undefined ? {} : readConfigFile(configFile)
  const config: Record<string, unknown> = {}
  for (const name of names) {
    const setting = table[name] as Setting
    const where = `"${name}" in ${configFile}`
    const inFile = Object.hasOwn(fileValues, name) ? { value: fileValues[name], where } : undefined
    const found = flags.get(name) ?? fromEnvironment(name, env) ?? inFile
    config[name] = found === undefined ? resolvedDefaultOf(setting) : readSetting(setting, found)
  }
  // Each value has been checked against the type of its setting.
  const read = config as unknown as Config
  if ((read.tlsCert === undefined) !== (read.tlsKey === undefined)) {
    throw new UsageError('--tls-cert and --tls-key are needed together')
  }
  if (isShortSecret(read.rootSecret) && !isLoopback(read.host)) {
    const text = `the root secret must have at least ${secretCharsMin} characters, unless --host is a loopback address`
    throw new UsageError(text)
  }
  checkBackup(read)
  const bucket = [
    read.queryLogS3Endpoint,
    read.queryLogS3Bucket,
    read.queryLogS3AccessKey,
    read.queryLogS3SecretKey,
  ]
  if (new Set(bucket.map(value => value === undefined)).size > 1) {
    throw new UsageError('--query-log-s3-endpoint, -bucket, -access-key and -secret-key are needed together')
  }
  return read
}

/** Throws {@link UsageError} when the other settings exclude a continuous backup. */
function checkBackup({ backupTo, data, store }: Config): void {
  if (backupTo === undefined) return
  if (store !== undefined)
    throw new UsageError(
      "--backup-to backs up one data directory: back up a shared store with PostgreSQL's own tools, pg_basebackup with archived WAL, or pg_dump",
    )
  const address = parseBackupAddress(backupTo)
  if (address?.kind === 'folder' && `${address.folder}/`.startsWith(`${data}/`))
    throw new UsageError('--backup-to must name a folder outside of the data directory')
}

/** Treats an empty variable as absent. */
export function fromEnvironment(name: string, env: NodeJS.ProcessEnv): RawSetting | undefined {
  const value = env[variableOf(name)]
  return value === undefined || value === '' ? undefined : { value, where: variableOf(name) }
}

function readConfigFile(path: string): Readonly<Record<string, unknown>> {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? 'it is not JSON' : (cause as NodeJS.ErrnoException).code
    throw new UsageError(`cannot read the configuration file ${path}: ${reason}`)
  }
  if (content === null || typeof content !== 'object' || Array.isArray(content)) {
    throw new UsageError(`the configuration file ${path} must contain a JSON object`)
  }
  const unknown = Object.keys(content).find(key => !Object.hasOwn(table, key))
  if (unknown !== undefined) throw new UsageError(`unknown setting "${unknown}" in ${path}`)
  return content as Record<string, unknown>
}

/** Returns the default as the service uses it: paths are absolute. */
export function resolvedDefaultOf(setting: Setting): string | number | boolean | undefined {
  const value = declaredDefaultOf(setting)
  return setting.kind === 'path' && typeof value === 'string' ? resolve(value) : value
}

/** Checks and converts a value; makes paths absolute. Throws {@link UsageError}. */
export function readSetting(setting: Setting, found: RawSetting): string | number | boolean {
  switch (setting.kind) {
    case 'integer':
      return parseInteger(setting.min ?? 0, setting.max, found)
    case 'switch':
      if (found.value === true || found.value === 'true' || found.value === '1') return true
      if (found.value === false || found.value === 'false' || found.value === '0') return false
      throw new UsageError(`${found.where} must be true or false`)
    case 'choice':
      if (typeof found.value === 'string' && setting.choices.includes(found.value)) return found.value
      throw new UsageError(`${found.where} must be one of ${setting.choices.join(', ')}`)
    default: {
      if (typeof found.value !== 'string' || found.value === '') {
        throw new UsageError(`${found.where} must be a non-empty string`)
      }
      const fault = setting.kind === 'string' ? setting.check?.(found.value) : undefined
      if (fault !== undefined) throw new UsageError(`${found.where} ${fault}`)
      return setting.kind === 'path' ? resolve(found.value) : found.value
    }
  }
}

function parseInteger(min: number, max: number, { value, where }: RawSetting): number {
  const number = typeof value === 'string' && /^[+-]?\d+$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min || number > max) {
    throw new UsageError(`${where} must be an integer from ${min} to ${max}`)
  }
  return number
}
