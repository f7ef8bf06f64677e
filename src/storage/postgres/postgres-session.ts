// A connection to the PostgreSQL database of a store. Statements are pipelined: sent immediately, and executed in
// order. A session that has failed is not used again: the outcome of its running statements is unknown, and its owner
// opens another session. If an address names several servers, they are tried in order.

import type { Client, ClientConfig, QueryConfig } from 'pg'
import { wait } from '../../base/timers.ts'
import { causeText } from '../kv/store-errors.ts'
import { type DatabaseServer, isSilent, markSilent, serversOf } from './database-servers.ts'
import { isAboutTls, isRejection, rejection, sqlStateOf, unavailable } from './failures.ts'
import { connectToFirst } from './first-server.ts'
import { networkSettings, sessionSettings } from './session-settings.ts'

/** The location of the record (the store's tables in PostgreSQL). */
export interface RecordLocation {
  /** The address of the database, in the syntax of `parseDatabaseAddress`. Must never be logged. */
  readonly url: string
  /** The database schema of the tables. */
  readonly schema: string
  /**
   * How long a session may be idle while it holds the lock on the head (the newest batch of the log; see record.ts)
   * before the database closes it. The default is 5 000.
   */
  readonly holdMs?: number
  /** Aborted when the process is about to exit: sessions are closed, and no new sessions are opened. */
  readonly ending?: AbortSignal
}

const holdMsDefault = 5_000
/** Maximum milliseconds to wait until the server closes a connection. */
const endTimeoutMs = 1_000
/** A session is treated as broken when a statement takes longer. */
const statementTimeoutMsDefault = 30_000

/** Commits do not wait for a synchronous standby. */
const localCommit = 'synchronous_commit = local'

/** The driver's types lack the time limit of a single statement. */
type Statement = QueryConfig & { readonly query_timeout?: number }

/** A row from the driver, with 64-bit integers as text and bytes as buffers. */
export type ResultRow = Readonly<Record<string, unknown>>

/**
 * `rejected`: the database has rolled back the transaction. `unknown`: the database has committed the transaction, but
 * the wait for a synchronous standby was cancelled, so the standby may lack the transaction. Such a transaction is
 * treated as committed once a later commit is acknowledged.
 */
export type CommitOutcome = 'acknowledged' | 'unknown' | 'rejected'

export class PostgresSession {
  readonly #client: Client
  readonly #location: RecordLocation
  readonly #purpose: string
  #failure: Error | undefined
  /** The database reports only by a warning that the wait for a synchronous standby was cancelled. */
  #warnings = 0

  private constructor(client: Client, location: RecordLocation, purpose: string) {
    this.#client = client
    this.#location = location
    this.#purpose = purpose
  }

  /**
   * Connects to the first server of the address that accepts writes. If a server does not respond within a second, the
   * next server is tried at the same time, and for a while, the silent server is tried last. Throws
   * `StoreUnavailableError` when no server can be reached, or when all servers reject the connection or are
   * standbys: a standby may lack commits that a replica already contains. `purpose`: shown by the database as a part
   * of the connection's `application_name`. If a statement takes longer than `statementTimeoutMs`, the connection is
   * treated as broken; 0: no limit.
   */
  static async open(
    location: RecordLocation,
    purpose: string,
    statementTimeoutMs = statementTimeoutMsDefault,
  ): Promise<PostgresSession> {
    let servers: readonly DatabaseServer[]
    try {
      servers = serversOf(location.url, purpose)
    } catch (cause) {
      throw unavailable(cause)
    }
    const { ending } = location
    const outcome = await connectToFirst({
      servers: [...servers.filter(server => !isSilent(server)), ...servers.filter(isSilent)],
      connect: ({ configs }, signal) => {
        const signals = ending === undefined ? [signal] : [signal, ending]
        const ends = servers.length === 1 ? ending : AbortSignal.any(signals)
        return PostgresSession.#openAt(configs, location, purpose, statementTimeoutMs, ends)
      },
      close: session => session.close(),
      // As in libpq: if a server rejects the login, the other servers are not tried.
      isFinal: cause => ending?.aborted === true || sqlStateOf(cause)?.startsWith('28') === true,
    })
    if ('connection' in outcome) {
      for (const server of outcome.silent) markSilent(server)
      return outcome.connection
    }
    const { failures } = outcome
    const reasons = failures.map(({ cause, server }) => `${server.name}: ${causeText(cause)}`)
    throw unavailable(failures.at(-1)?.cause, reasons.length > 1 ? reasons.join('; ') : undefined)
  }

  /**
   * Calls {@link open}, then `check`. If `check` throws, closes the session and throws `StoreUnavailableError`.
   */
  static async openChecked(
    location: RecordLocation,
    purpose: string,
    check: (session: PostgresSession) => Promise<void>,
    statementTimeoutMs?: number,
  ): Promise<PostgresSession> {
    const session = await PostgresSession.open(location, purpose, statementTimeoutMs)
    try {
      await check(session)
      return session
    } catch (cause) {
      session.close()
      throw rejection(cause)
    }
  }

  /** Connects to one server, with the first settings that the server accepts. `ends`: closes the session. */
  static async #openAt(
    configs: DatabaseServer['configs'],
    location: RecordLocation,
    purpose: string,
    statementTimeoutMs: number,
    ends: AbortSignal | undefined,
  ): Promise<PostgresSession> {
    for (const [at, each] of configs.entries()) {
      try {
        const config = { ...each, query_timeout: statementTimeoutMs }
        return await PostgresSession.#connect(config, location, purpose, ends)
      } catch (cause) {
        if (at === configs.length - 1 || !isAboutTls(cause)) throw cause
      }
    }
    throw new Error('no address is given')
  }

  static async #connect(
    config: ClientConfig,
    location: RecordLocation,
    purpose: string,
    ends: AbortSignal | undefined,
  ): Promise<PostgresSession> {
    // The driver is loaded on demand, because loading takes long and only some processes need the driver.
    const pg = await import('pg')
    const client = new pg.Client({
      ...config,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      pipeline: true,
    } as ClientConfig)
    const session = new PostgresSession(client, location, purpose)
    const ended = session.#endWith(ends)
    client.on('notice', () => {
      session.#warnings++
    })
    client.on('error', error => session.#fail(error))
    client.on('end', () => session.#fail(new Error('the connection has ended')))
    try {
      await Promise.race([client.connect(), ended])
      const holdMs = location.holdMs ?? holdMsDefault
      await Promise.all([
        ...sessionSettings(holdMs).map(setting => client.query(setting)),
        // Some databases lack these settings, so errors of these statements are ignored.
        ...networkSettings(holdMs).map(setting =>
          client.query(setting).catch(error => isRejection(error) || Promise.reject(error)),
        ),
      ])
      const { rows } = await client.query('SHOW transaction_read_only')
      if ((rows[0] as ResultRow | undefined)?.transaction_read_only === 'on')
        throw new Error('it is a read-only standby, or default_transaction_read_only is set')
      return session
    } catch (cause) {
      session.close()
      throw cause
    }
  }

  /** Runs `use` on a new session. Errors of the database are thrown as a `StoreUnavailableError`. */
  static async use<T>(
    location: RecordLocation,
    purpose: string,
    use: (session: PostgresSession) => Promise<T>,
  ): Promise<T> {
    const session = await PostgresSession.open(location, purpose)
    try {
      return await use(session)
    } catch (cause) {
      throw sqlStateOf(cause) === undefined ? cause : rejection(cause)
    } finally {
      session.close()
    }
  }

  /** The process id of the server process that serves this session. */
  get processId(): number | undefined {
    // The driver's types lack the field.
    return (this.#client as unknown as { readonly processID?: number }).processID
  }

  /** Another session to the same database, for statements without a time limit. */
  openUntimed(): Promise<PostgresSession> {
    return PostgresSession.open(this.#location, this.#purpose, 0)
  }

  /** False after any failure of the connection. */
  get isSound(): boolean {
    return this.#failure === undefined
  }

  /** The qualified name of one of the store's tables, quoted. */
  table(name: string): string {
    return `${this.schemaName}."${name}"`
  }

  /** The quoted name of the schema. */
  get schemaName(): string {
    return `"${this.#location.schema.replaceAll('"', '""')}"`
  }

  /** Runs one statement. An error of the database is thrown unchanged, with its `code` (SQLSTATE). */
  async query(text: string, values?: readonly unknown[]): Promise<readonly ResultRow[]> {
    return (await this.#send({ text, ...(values && { values: [...values] }) })).rows
  }

  /** Like {@link query}; the database parses and plans a statement once for each session, by its `name`. */
  async prepared(name: string, text: string, values: readonly unknown[]): Promise<readonly ResultRow[]> {
    return (await this.#send({ name, text, values: [...values] })).rows
  }

  /** Like {@link query}, for statements with large results. */
  async queryLong(
    text: string,
    values: readonly unknown[],
    timeoutMs: number,
  ): Promise<readonly ResultRow[]> {
    return (await this.#send({ text, values: [...values], query_timeout: timeoutMs })).rows
  }

  /**
   * Runs `statement` in a separate transaction whose commit does not wait for a synchronous standby. `statement` must
   * send a single statement at once, so the call takes one round trip. Must not be called within a transaction.
   */
  async locally<T>(statement: () => Promise<T>): Promise<T> {
    const [, result] = await Promise.all([this.beginLocally(), statement(), this.query('COMMIT')])
    return result
  }

  /** The transaction's commit does not wait for a synchronous standby. */
  async beginLocally(): Promise<void> {
    await Promise.all([this.query('BEGIN'), this.query(`SET LOCAL ${localCommit}`)])
  }

  /** Commits of this session do not wait for a synchronous standby from now on. */
  async commitLocally(): Promise<void> {
    await this.query(`SET ${localCommit}`)
  }

  async commit(): Promise<CommitOutcome> {
    const warnings = this.#warnings
    const { command } = await this.#send({ text: 'COMMIT' })
    if (command !== 'COMMIT') return 'rejected'
    return this.#warnings === warnings ? 'acknowledged' : 'unknown'
  }

  async #send(statement: Statement) {
    if (this.#failure) throw unavailable(this.#failure)
    try {
      return await this.#client.query(statement)
    } catch (cause) {
      if (!isRejection(cause)) {
        this.#fail(cause as Error)
        throw unavailable(cause)
      }
      throw cause
    }
  }

  /** Resolves when the server has closed the connection, or after {@link endTimeoutMs}. */
  async end(): Promise<void> {
    if (this.isSound) await Promise.race([this.#client.end().catch(() => undefined), wait(endTimeoutMs)])
    this.close()
  }

  /** Does not wait: the database rolls back a running transaction. */
  close(): void {
    this.#fail(new Error('the session is closed'))
  }

  /**
   * The promise rejects, and the session is closed, when the process is about to exit, or when another server has
   * accepted a connection. Needed because the driver does not close a connection that it is still opening.
   */
  #endWith(ending: AbortSignal | undefined): Promise<never> {
    const ended = new Promise<never>((_resolve, reject) => {
      const end = () => {
        const failure = new Error('the service ends')
        this.#fail(failure)
        reject(failure)
      }
      if (ending?.aborted) end()
      ending?.addEventListener('abort', end, { once: true })
      this.#client.once('end', () => ending?.removeEventListener('abort', end))
    })
    // Once the connection is open, no code waits for this promise.
    ended.catch(() => undefined)
    return ended
  }

  #fail(failure: Error): void {
    if (this.#failure) return
    this.#failure = failure
    this.#client.end().catch(() => undefined)
    // A connection that hangs would never close. The driver's types do not declare the socket.
    const { connection } = this.#client as unknown as { connection?: { stream?: { destroy(): void } } }
    connection?.stream?.destroy()
  }
}
