// Every setting of the service, once: what it means, its default and its bounds. Flags, environment variables,
// keys of the configuration file, `--help` and the documentation all derive from this one table.
//
// A setting called `rootSecret` is the flag `--root-secret`, the variable `TERRARIUM_ROOT_SECRET` and the key
// `rootSecret` of the file named by `--config`. Flags win over the environment, that over the file.

import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'

/** What a setting holds; decides how its text is read. */
type Kind =
  | {
      readonly kind: 'text'
      readonly default: string | undefined
      readonly check?: (text: string) => string | undefined
    }
  | { readonly kind: 'path'; readonly default: string | undefined }
  | {
      readonly kind: 'integer'
      readonly default: number | undefined
      readonly min: number
      readonly max: number
    }
  | { readonly kind: 'switch'; readonly default: boolean }
  | { readonly kind: 'choice'; readonly default: string; readonly choices: readonly string[] }

/** One row of the table. */
export type Setting = Kind & {
  /** One sentence for `--help` and the documentation. */
  readonly doc: string
  /** What the value stands for in `--help`, such as `PORT`. */
  readonly placeholder?: string
}

/** The log levels, from the most to the least talkative. */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** All settings. The order is that of `--help`. */
export const settings = {
  port: {
    kind: 'integer',
    default: 8443,
    min: 0,
    max: 65_535,
    placeholder: 'PORT',
    doc: 'TCP port to serve on; 0 picks a free one and prints it.',
  },
  host: {
    kind: 'text',
    default: '127.0.0.1',
    placeholder: 'ADDRESS',
    check: hostFault,
    doc: 'Address to serve on; 0.0.0.0 or :: for all of the machine. Use TLS when others can reach it.',
  },
  data: {
    kind: 'path',
    default: './data',
    placeholder: 'FOLDER',
    doc: 'Folder of the database; made when it does not exist, readable by its owner only.',
  },
  store: {
    kind: 'text',
    default: undefined,
    placeholder: 'URL',
    check: storeFault,
    doc: 'Database that several machines share, as postgres://user:password@host/name?options; the data folder then holds a disposable copy. Without it everything is in the data folder. Prefer the environment variable: other users of the machine can see flags.',
  },
  storeSchema: {
    kind: 'text',
    default: 'terrarium',
    placeholder: 'NAME',
    doc: 'Schema of that database that holds the tables; created if missing.',
  },
  storeStaleReadsMs: {
    kind: 'integer',
    default: 300_000,
    min: 0,
    max: 86_400_000,
    placeholder: 'MS',
    doc: 'Milliseconds for which reads go on from the local copy while that database is away.',
  },
  rootSecret: {
    kind: 'text',
    default: undefined,
    placeholder: 'SECRET',
    check: secretFault,
    doc: 'Secret with all rights on everything. Without it the first start makes one and keeps it in the data folder. At least 8 characters without white space; on a loopback address any will do, with a warning. Prefer the environment variable: other users of the machine can see flags.',
  },
  tlsCert: {
    kind: 'path',
    default: undefined,
    placeholder: 'FILE',
    doc: 'Certificate chain in PEM; together with the key it switches on TLS.',
  },
  tlsKey: {
    kind: 'path',
    default: undefined,
    placeholder: 'FILE',
    doc: 'Private key of the certificate, in PEM.',
  },
  logLevel: {
    kind: 'choice',
    default: 'info',
    choices: logLevels,
    placeholder: 'LEVEL',
    doc: 'Least severe kind of line to log, as JSON on standard error.',
  },
  workers: {
    kind: 'integer',
    default: 1,
    min: 1,
    max: 256,
    placeholder: 'N',
    doc: 'Processes that serve the data folder behind the one port; up to one per core is useful.',
  },
  queryMemoryMb: {
    kind: 'integer',
    default: 1024,
    min: 16,
    max: 1_000_000,
    placeholder: 'MB',
    doc: 'Megabytes that the queries under way in one process may hold together, by estimate; further ones are answered 429. What the slow lane takes comes on top.',
  },
  slowLaneProcesses: {
    kind: 'integer',
    default: 2,
    min: 0,
    max: 64,
    placeholder: 'N',
    doc: 'Processes beside the service, started when needed, for queries that take long; with several workers each has its share, one at least. 0 evaluates everything in the service itself.',
  },
  slowLaneAfterMs: {
    kind: 'integer',
    default: 20,
    min: 0,
    max: 600_000,
    placeholder: 'MS',
    doc: 'Milliseconds after which a query moves to such a process.',
  },
  slowLaneMemoryMb: {
    kind: 'integer',
    default: 512,
    min: 64,
    max: 1_000_000,
    placeholder: 'MB',
    doc: 'Megabytes that one query may take in such a process; it fails beyond.',
  },
  passwordCost: {
    kind: 'integer',
    default: 10,
    min: 4,
    max: 16,
    placeholder: 'N',
    doc: 'bcrypt cost of new password hashes; each step doubles the time of a login. Hashes of other costs keep working.',
  },
  pendingRequestsMax: {
    kind: 'integer',
    default: 4096,
    min: 1,
    max: 1_000_000,
    placeholder: 'N',
    doc: 'Requests under way at one time; further ones are answered 429.',
  },
  streamsMax: {
    kind: 'integer',
    default: 50_000,
    min: 0,
    max: 1_000_000,
    placeholder: 'N',
    doc: 'Event streams open at one time; further ones are told so by their first event and end.',
  },
  computeOpsPerSecond: {
    kind: 'integer',
    default: 0,
    min: 0,
    max: 1_000_000_000,
    placeholder: 'N',
    doc: 'Compute operations that the queries of one database may use per second, with bursts of two seconds; queries beyond are answered 429. 0 for no limit. Workers have equal shares.',
  },
  readOpsPerSecond: {
    kind: 'integer',
    default: 0,
    min: 0,
    max: 1_000_000_000,
    placeholder: 'N',
    doc: 'The same for read operations.',
  },
  writeOpsPerSecond: {
    kind: 'integer',
    default: 0,
    min: 0,
    max: 1_000_000_000,
    placeholder: 'N',
    doc: 'The same for write operations.',
  },
  shutdownGraceMs: {
    kind: 'integer',
    default: 20_000,
    min: 0,
    max: 3_600_000,
    placeholder: 'MS',
    doc: 'Milliseconds that requests in flight get to finish when the service is told to stop.',
  },
  audiencePrefix: {
    kind: 'text',
    default: 'https://db.fauna.com/db/',
    placeholder: 'URL',
    doc: "What the audience of third-party tokens begins with; the database's global id follows.",
  },
  regionGroup: {
    kind: 'text',
    default: 'us-std',
    placeholder: 'NAME',
    doc: 'Region group that answers and query logs name.',
  },
  publicUrl: {
    kind: 'text',
    default: undefined,
    placeholder: 'URL',
    check: urlFault,
    doc: 'Where clients reach the service, for download links; without it they name the host that the client asked.',
  },
  queryLog: {
    kind: 'switch',
    default: true,
    doc: 'Record every query request, for exports of the query log.',
  },
  logDays: {
    kind: 'integer',
    default: 90,
    min: 1,
    max: 36_500,
    placeholder: 'DAYS',
    doc: 'Days that records of the query log are kept.',
  },
  logMegabytes: {
    kind: 'integer',
    default: 10_000,
    min: 8,
    max: 1_000_000_000,
    placeholder: 'MB',
    doc: 'Megabytes that records of the query log may take; the oldest go first.',
  },
  logExportDays: {
    kind: 'integer',
    default: 30,
    min: 1,
    max: 36_500,
    placeholder: 'DAYS',
    doc: 'Days that exports of the query log and their files are kept.',
  },
  logExportTimeoutMs: {
    kind: 'integer',
    default: 3_600_000,
    min: 1,
    max: 604_800_000,
    placeholder: 'MS',
    doc: 'Milliseconds that making an export may take before it is given up.',
  },
  logUrlSeconds: {
    kind: 'integer',
    default: 3600,
    min: 1,
    max: 604_800,
    placeholder: 'SECONDS',
    doc: 'Seconds that the download URL of an export is valid.',
  },
  logS3Endpoint: {
    kind: 'text',
    default: undefined,
    placeholder: 'URL',
    check: urlFault,
    doc: 'S3-compatible service that takes the exported files instead of the local disk; needs bucket and keys too.',
  },
  logS3Bucket: {
    kind: 'text',
    default: undefined,
    placeholder: 'NAME',
    doc: 'Bucket for exported files.',
  },
  logS3Region: {
    kind: 'text',
    default: 'us-east-1',
    placeholder: 'NAME',
    doc: 'Region of the bucket.',
  },
  logS3AccessKey: {
    kind: 'text',
    default: undefined,
    placeholder: 'ID',
    doc: 'Id of the access key for the bucket.',
  },
  logS3SecretKey: {
    kind: 'text',
    default: undefined,
    placeholder: 'SECRET',
    doc: 'Secret of the access key for the bucket. Prefer the environment variable.',
  },
  metricsPort: {
    kind: 'integer',
    default: undefined,
    min: 0,
    max: 65_535,
    placeholder: 'PORT',
    doc: 'Port that answers GET /metrics in the format of Prometheus, without a credential; 0 picks a free one and logs it.',
  },
  metricsHost: {
    kind: 'text',
    default: '127.0.0.1',
    placeholder: 'ADDRESS',
    check: hostFault,
    doc: 'Address of the port for metrics.',
  },
  dashboard: {
    kind: 'switch',
    default: true,
    doc: 'Serve the dashboard under /dashboard/, and send browsers there that open the service.',
  },
  allowInsecureJwks: {
    kind: 'switch',
    default: false,
    doc: 'Fetch signing keys of access providers over plain http and from private addresses too. For development.',
  },
} as const satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof settings

/** What a setting of this type is read as. */
export type ValueOf<S> = S extends { readonly kind: 'integer'; readonly default: infer D }
  ? number | (D extends undefined ? undefined : never)
  : S extends { readonly kind: 'switch' }
    ? boolean
    : S extends { readonly choices: readonly (infer C)[] }
      ? C
      : S extends { readonly default: string }
        ? string
        : string | undefined

/** The settings with their values; paths are absolute. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> }

/** A mistake in how the program was called; its message is one line for the person who called it. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** A value as found, and where, in the words of an error message. */
export interface Found {
  readonly value: unknown
  readonly where: string
}

/** The settings that a command line names. */
export interface GivenSettings {
  readonly flags: ReadonlyMap<string, Found>
  /** The value of `--config`. */
  readonly file: string | undefined
}

/** `rootSecret` as flags spell it: `root-secret`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}

/** `rootSecret` as the environment spells it: `TERRARIUM_ROOT_SECRET`. */
export function variableOf(name: string): string {
  return `TERRARIUM_${flagOf(name).replaceAll('-', '_').toUpperCase()}`
}

const names = Object.keys(settings) as SettingName[]
const table: Readonly<Record<string, Setting>> = settings

/** Completes what the command line says with the environment, the file and the defaults. Throws {@link UsageError}. */
export function readConfig({ flags, file }: GivenSettings, env: NodeJS.ProcessEnv): Config {
  const configFile = file ?? (env.TERRARIUM_CONFIG === '' ? undefined : env.TERRARIUM_CONFIG)
  const fileValues = configFile === undefined ? {} : readConfigFile(configFile)
  const config: Record<string, unknown> = {}
  for (const name of names) {
    const found = flags.get(name) ?? fromEnvironment(name, env) ?? fromFile(name, fileValues, configFile)
    const setting = table[name] as Setting
    config[name] = found === undefined ? defaultOf(setting) : readSetting(setting, found)
  }
  const read = config as unknown as Config
  if ((read.tlsCert === undefined) !== (read.tlsKey === undefined)) {
    throw new UsageError('--tls-cert and --tls-key are needed together')
  }
  if (isShortSecret(read.rootSecret) && !isLoopback(read.host)) {
    const text = `the root secret has to have at least ${secretCharsMin} characters, unless --host is a loopback address`
    throw new UsageError(text)
  }
  const bucket = [read.logS3Endpoint, read.logS3Bucket, read.logS3AccessKey, read.logS3SecretKey]
  if (new Set(bucket.map(value => value === undefined)).size > 1) {
    throw new UsageError('--log-s3-endpoint, -bucket, -access-key and -secret-key are needed together')
  }
  return read
}

/** The variable of a setting, if it is set; an empty one counts as not set. */
export function fromEnvironment(name: string, env: NodeJS.ProcessEnv): Found | undefined {
  const value = env[variableOf(name)]
  return value === undefined || value === '' ? undefined : { value, where: variableOf(name) }
}

function fromFile(
  name: string,
  values: Readonly<Record<string, unknown>>,
  file: string | undefined,
): Found | undefined {
  return Object.hasOwn(values, name) ? { value: values[name], where: `"${name}" in ${file}` } : undefined
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
    throw new UsageError(`the configuration file ${path} has to hold a JSON object`)
  }
  const unknown = Object.keys(content).find(key => !Object.hasOwn(settings, key))
  if (unknown !== undefined) throw new UsageError(`unknown setting "${unknown}" in ${path}`)
  return content as Record<string, unknown>
}

/** The value of a setting that nothing was found for. */
export function defaultOf(setting: Setting): string | number | boolean | undefined {
  const { default: value } = setting
  return setting.kind === 'path' && typeof value === 'string' ? resolve(value) : value
}

/** Checks and converts what was found for a setting; paths become absolute. Throws {@link UsageError}. */
export function readSetting(setting: Setting, found: Found): string | number | boolean {
  switch (setting.kind) {
    case 'integer':
      return parseInteger(setting.min, setting.max, found)
    case 'switch':
      if (found.value === true || found.value === 'true' || found.value === '1') return true
      if (found.value === false || found.value === 'false' || found.value === '0') return false
      throw new UsageError(`${found.where} has to be true or false`)
    case 'choice':
      if (typeof found.value === 'string' && setting.choices.includes(found.value)) return found.value
      throw new UsageError(`${found.where} has to be one of ${setting.choices.join(', ')}`)
    default: {
      if (typeof found.value !== 'string' || found.value === '') {
        throw new UsageError(`${found.where} has to be a text that is not empty`)
      }
      const fault = setting.kind === 'text' ? setting.check?.(found.value) : undefined
      if (fault !== undefined) throw new UsageError(`${found.where} ${fault}`)
      return setting.kind === 'path' ? resolve(found.value) : found.value
    }
  }
}

function parseInteger(min: number, max: number, { value, where }: Found): number {
  const number = typeof value === 'string' && /^[+-]?\d+$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min || number > max) {
    throw new UsageError(`${where} has to be a whole number from ${min} to ${max}`)
  }
  return number
}

/** Names are resolved by the system; here only what can never be one is refused. */
function hostFault(host: string): string | undefined {
  return isIP(host) !== 0 || /^[\w.-]+$/.test(host) ? undefined : 'has to be a host name or an IP address'
}

function storeFault(text: string): string | undefined {
  const isUrl = /^postgres(ql)?:\/\//.test(text) && URL.canParse(text)
  return isUrl ? undefined : 'has to be a URL that begins with postgres://'
}

function urlFault(text: string): string | undefined {
  const isUrl = /^https?:\/\//.test(text) && URL.canParse(text)
  return isUrl ? undefined : 'has to be an http or https URL'
}

/** What a root secret has to have where others than this machine can reach the service. */
const secretCharsMin = 8

/** White space would end the credential in an `Authorization` header. */
function secretFault(secret: string): string | undefined {
  return /\s/.test(secret) ? 'must not hold white space' : undefined
}

/** Whether a root secret could be guessed; the service then serves its own machine only. */
export function isShortSecret(secret: string | undefined): boolean {
  return secret !== undefined && secret.length < secretCharsMin
}

/** Whether only this machine reaches an address. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
