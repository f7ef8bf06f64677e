// All settings of the service. Flags, environment variables, keys of the configuration file, `--help` and the
// documentation are derived from this table.

import { limits } from '../../base/limits.ts'
import { backupFault, hostFault, proxiesFault, secretFault, storeFault, urlFault } from './faults.ts'

/** Without a default, an absent setting is undefined. */
type Kind =
  | {
      readonly kind: 'string'
      readonly default?: string
      readonly check?: (text: string) => string | undefined
    }
  | { readonly kind: 'path'; readonly default?: string }
  /** A whole number of at least 0, unless `min` is given. */
  | { readonly kind: 'integer'; readonly default?: number; readonly min?: number; readonly max: number }
  /** A switch without `default` is off by default. */
  | { readonly kind: 'switch'; readonly default?: boolean }
  | { readonly kind: 'choice'; readonly default: string; readonly choices: readonly string[] }

export type Setting = Kind & {
  readonly doc: string
  /** Stands for the value in `--help`, such as `PORT`. By default, {@link placeholderOf} chooses the text. */
  readonly placeholder?: string
}

/** Returns the default as the table contains it; see also `resolvedDefaultOf` in read-config.ts. */
export function declaredDefaultOf(setting: Setting): string | number | boolean | undefined {
  return setting.default ?? (setting.kind === 'switch' ? false : undefined)
}

const usualPlaceholders = {
  string: 'NAME',
  path: 'FOLDER',
  integer: 'N',
  switch: undefined,
  choice: undefined,
}

/**
 * Returns the setting's own placeholder, the unit at the end of an integer setting's name, or a word for the setting's
 * kind.
 */
export function placeholderOf(name: string, { kind, placeholder }: Setting): string | undefined {
  const unit =
    kind === 'integer' ? /(?:Ms|Mb|Seconds|Minutes|Days)$/.exec(name)?.[0].toUpperCase() : undefined
  return placeholder ?? unit ?? usualPlaceholders[kind]
}

/** Levels from the most to the least verbose. */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** Settings in the order of `--help`. */
export const settings = {
  port: {
    kind: 'integer',
    default: 8443,
    max: 65_535,
    placeholder: 'PORT',
    doc: 'TCP port to listen on; 0 picks a free one and prints it.',
  },
  host: {
    kind: 'string',
    default: '127.0.0.1',
    placeholder: 'ADDRESS',
    check: hostFault,
    doc: 'Address to listen on; 0.0.0.0 or :: for all interfaces. Use TLS when other machines can reach it.',
  },
  data: {
    kind: 'path',
    default: './data',
    doc: 'Data directory. Created if missing, readable only by its owner.',
  },
  store: {
    kind: 'string',
    placeholder: 'URL',
    check: storeFault,
    doc: 'Database that several machines share, as postgres://user:password@host/name?options. The data directory then contains a disposable replica; without this setting, it contains all data. Prefer the environment variable: other users of the machine can see flags.',
  },
  acceptData: {
    kind: 'switch',
    doc: 'Serve a data directory that does not fit the setting `store`. Without `store`, this is the replica of a node, or a directory whose data was moved to a shared store. With `store`, this is a directory with data of its own, which the service ignores.',
  },
  storeSchema: {
    kind: 'string',
    default: 'terrarium',
    doc: 'Schema of the shared database for the tables; created if missing.',
  },
  storeStaleReadsMs: {
    kind: 'integer',
    default: 300_000,
    max: 86_400_000,
    doc: 'Maximum age of the replica, in milliseconds, for reads while the shared database is unreachable.',
  },
  storeWriteWaitMs: {
    kind: 'integer',
    default: 10_000,
    max: 600_000,
    doc: 'Milliseconds that a write waits for the shared database while it is unreachable, before the write fails with 503.',
  },
  storeHoldMs: {
    kind: 'integer',
    default: 5_000,
    min: 100,
    max: 600_000,
    doc: 'Milliseconds after which the shared database closes the connection of a process that has stopped in the middle of a commit. Until then no other process can commit.',
  },
  storeLogMinutes: {
    kind: 'integer',
    default: 10,
    min: 1,
    max: 10_080,
    doc: 'Minimum time for which the shared database keeps its log of commits. A node that was off for longer copies all data at its start. Set the same value on all nodes.',
  },
  rootSecret: {
    kind: 'string',
    placeholder: 'SECRET',
    check: secretFault,
    doc: 'Secret with all rights on all databases. Without this setting the first start generates a secret and stores it in the data directory. At least 8 characters without white space; on a loopback address a shorter secret is accepted, with a warning. Prefer the environment variable: other users of the machine can see flags.',
  },
  tlsCert: {
    kind: 'path',
    placeholder: 'FILE',
    doc: 'Certificate chain in PEM. Together with the key, it enables TLS.',
  },
  tlsKey: {
    kind: 'path',
    placeholder: 'FILE',
    doc: 'Private key of the certificate, in PEM.',
  },
  logLevel: {
    kind: 'choice',
    default: 'info',
    choices: logLevels,
    placeholder: 'LEVEL',
    doc: 'Minimum level of the service log on standard error: readable on a terminal, JSON elsewhere.',
  },
  workers: {
    kind: 'integer',
    default: 1,
    min: 1,
    max: 256,
    doc: 'Number of worker processes behind the port; up to one per core is useful.',
  },
  queryMemoryMb: {
    kind: 'integer',
    default: 1024,
    min: 16,
    max: 1_000_000,
    doc: 'Maximum memory of all queries that wait in one process, in megabytes, estimated. One database may use half. At the limit, the largest waiting query of the database with the greatest use gets a 429. The processes of the slow lane use additional memory.',
  },
  slowLaneProcesses: {
    kind: 'integer',
    default: 2,
    max: 64,
    doc: 'Number of additional processes for slow queries (the slow lane), divided among the workers, at least one for each. 0 runs every query in the service itself.',
  },
  slowLaneAfterMs: {
    kind: 'integer',
    default: 20,
    max: 600_000,
    doc: 'Milliseconds after which a query counts as slow and moves to the slow lane.',
  },
  slowLaneMemoryMb: {
    kind: 'integer',
    default: 512,
    min: 64,
    max: 1_000_000,
    doc: 'Maximum memory of one query in the slow lane, in megabytes; a query that needs more fails.',
  },
  passwordCost: {
    kind: 'integer',
    default: 10,
    min: 4,
    max: 16,
    doc: 'bcrypt cost of new password hashes; each step doubles the time of a login. Hashes of other costs keep working.',
  },
  trustedProxies: {
    kind: 'string',
    check: proxiesFault,
    placeholder: 'LIST',
    doc: 'Proxies whose X-Forwarded-For header is trusted, as addresses and networks such as 10.0.0.0/8,::1. Without this setting the header is ignored.',
  },
  pendingRequestsMax: {
    kind: 'integer',
    default: 4096,
    min: 1,
    max: 1_000_000,
    doc: 'Maximum concurrent requests; further requests get a 429, except those of databases and addresses with fewer requests than their fair part.',
  },
  streamsMax: {
    kind: 'integer',
    default: 50_000,
    max: 1_000_000,
    doc: 'Maximum open event streams; further streams get an error event and end. If their database has fewer streams than its fair part, the oldest streams of the database with the most streams end instead.',
  },
  keepAliveSeconds: {
    kind: 'integer',
    default: limits.connectionIdleMs / 1000,
    min: 1,
    max: 86_400,
    doc: 'Seconds for which an idle HTTP/1.1 connection stays open. Set it longer than the idle timeout of your load balancer.',
  },
  computeOpsPerSecond: {
    kind: 'integer',
    default: 0,
    max: 1_000_000_000,
    doc: 'Maximum compute operations per second of one database, over all workers and nodes (see docs/scaling.md), with bursts of two seconds; further queries get a 429. 0 means no limit.',
  },
  readOpsPerSecond: {
    kind: 'integer',
    default: 0,
    max: 1_000_000_000,
    doc: 'Maximum read operations per second of one database, with the same rules as for compute operations.',
  },
  writeOpsPerSecond: {
    kind: 'integer',
    default: 0,
    max: 1_000_000_000,
    doc: 'Maximum write operations per second of one database, with the same rules as for compute operations.',
  },
  shutdownNoticeMs: {
    kind: 'integer',
    default: 0,
    max: 3_600_000,
    doc: 'Milliseconds at shutdown for which /ping fails while all other requests are still served, so that a load balancer switches to other nodes first.',
  },
  shutdownGraceMs: {
    kind: 'integer',
    default: 20_000,
    max: 3_600_000,
    doc: 'Milliseconds for requests in flight to finish at shutdown.',
  },
  audiencePrefix: {
    kind: 'string',
    default: 'https://db.fauna.com/db/',
    placeholder: 'URL',
    doc: "Prefix of the audience of third-party tokens, before the database's global id.",
  },
  regionGroup: {
    kind: 'string',
    default: 'us-std',
    doc: 'Region group in responses and query logs.',
  },
  publicUrl: {
    kind: 'string',
    placeholder: 'URL',
    check: urlFault,
    doc: 'Public URL of the service, for download links. Default: the host of the request.',
  },
  queryLog: {
    kind: 'switch',
    default: true,
    doc: 'Record every query request, for exports of the query log.',
  },
  queryLogDays: {
    kind: 'integer',
    default: 90,
    min: 1,
    max: 36_500,
    doc: 'Retention of the query log in days.',
  },
  queryLogMegabytes: {
    kind: 'integer',
    default: 10_000,
    min: 8,
    max: 1_000_000_000,
    placeholder: 'MB',
    doc: 'Maximum size of the query log in megabytes; the oldest records are removed first.',
  },
  queryLogExportDays: {
    kind: 'integer',
    default: 30,
    min: 1,
    max: 36_500,
    doc: 'Retention of query-log exports and their files in days.',
  },
  queryLogExportTimeoutMs: {
    kind: 'integer',
    default: 3_600_000,
    min: 1,
    max: 604_800_000,
    doc: 'Timeout of a query-log export in milliseconds.',
  },
  queryLogUrlSeconds: {
    kind: 'integer',
    default: 3600,
    min: 1,
    max: 604_800,
    doc: 'Lifetime of the download URL of an export in seconds.',
  },
  queryLogS3Endpoint: {
    kind: 'string',
    placeholder: 'URL',
    check: urlFault,
    doc: 'S3-compatible service for the exported files, instead of the local disk; needs a bucket and keys, too.',
  },
  queryLogS3Bucket: {
    kind: 'string',
    doc: 'Bucket for exported files.',
  },
  queryLogS3Region: {
    kind: 'string',
    default: 'us-east-1',
    doc: 'Region of the bucket.',
  },
  queryLogS3AccessKey: {
    kind: 'string',
    placeholder: 'ID',
    doc: 'Id of the access key for the bucket.',
  },
  queryLogS3SecretKey: {
    kind: 'string',
    placeholder: 'SECRET',
    doc: 'Secret of the access key for the bucket. Prefer the environment variable.',
  },
  graphqlPort: {
    kind: 'integer',
    max: 65_535,
    placeholder: 'PORT',
    doc: 'Additional port with the same endpoints, for GraphQL apps that connect to port 8084 of the old local image; 0 picks a free one and logs it.',
  },
  metricsPort: {
    kind: 'integer',
    max: 65_535,
    placeholder: 'PORT',
    doc: 'Port that serves GET /metrics in Prometheus format, without authentication; 0 picks a free one and logs it.',
  },
  metricsHost: {
    kind: 'string',
    default: '127.0.0.1',
    placeholder: 'ADDRESS',
    check: hostFault,
    doc: 'Address that the metrics port listens on.',
  },
  backups: {
    kind: 'path',
    doc: 'Folder for backups that the operator starts in the dashboard; each backup gets a new folder in it. Without this setting the dashboard cannot start backups.',
  },
  backupTo: {
    kind: 'string',
    placeholder: 'TARGET',
    check: backupFault,
    doc: 'Folder or s3://BUCKET/PREFIX for a continuous backup of the data directory, from which `terrarium restore --from` restores any moment. Credentials, region and endpoint of a bucket come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL_S3.',
  },
  backupDays: {
    kind: 'integer',
    default: 7,
    min: 1,
    max: 3650,
    doc: 'Retention of the continuous backup in days: how far back a restore can go.',
  },
  dashboard: {
    kind: 'switch',
    default: true,
    doc: 'Serve the dashboard under /dashboard/, and redirect browsers that open the service to it.',
  },
  allowInsecureJwks: {
    kind: 'switch',
    doc: 'Also fetch signing keys of access providers over plain http and from private addresses. For development.',
  },
} as const satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof settings

export type ValueOf<S> = S extends { readonly kind: 'switch' }
  ? boolean
  : TextOrNumber<S> | (S extends { readonly default: string | number } ? never : undefined)

type TextOrNumber<S> = S extends { readonly kind: 'integer' }
  ? number
  : S extends { readonly choices: readonly (infer C)[] }
    ? C
    : string

/** The values of all settings. Paths are absolute. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> }
