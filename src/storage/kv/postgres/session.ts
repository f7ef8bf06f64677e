// One connection to the database that holds the record. Statements are pipelined: sent as they are asked for, answered
// in their order. A session that has failed once is not used again: whatever was under way on it is open, and its
// owner opens another.

import type { Client, ClientConfig, QueryConfig } from 'pg'
import { wait } from '../../../base/timers.ts'
import { wordsOf } from '../errors.ts'
import { type DatabaseServer, endpointsOf } from './endpoints.ts'
import { isAboutTls, isRefusal, refusal, stateOf, unavailable } from './failures.ts'

/** Where the record is. */
export interface RecordLocation {
  /** Read by `parseDatabaseAddress`. Never logged. */
  readonly url: string
  /** The database schema that holds our tables. */
  readonly schema: string
  /** Milliseconds that a session may stand still while it holds the head, before the database ends it; 5 000 when absent. */
  readonly holdMs?: number
  /** Aborted when the process is about to end: sessions break off, and no more are opened. */
  readonly ending?: AbortSignal
}

const holdMsDefault = 5_000
/** Milliseconds for which a server is waited for that does not close a connection. */
const endTimeoutMs = 1_000
/**
 * Milliseconds that a statement of a commit may take before its connection counts as broken. More than it can wait for the
 * head: the database would not notice that the node has given up, and keep it in the line.
 */
export const commitTimeoutMs = 8_000
/** Milliseconds that a statement waits for the head at most, before it is refused and stands in line again. */
const lockTimeoutMaxMs = commitTimeoutMs - 1_000
/** Milliseconds beyond those for which others may hold the head. */
const lockMarginMs = 2_000
/** Milliseconds that a statement may take when nothing else is said, before its session counts as broken. */
const statementTimeoutMsDefault = 30_000

/**
 * What every session asks for. A node that stops in the middle of a commit must not hold the head for long, nor may one
 * that has gone away stand in line for it; what the database acknowledges must be on disk (and on its synchronous
 * standbys), whatever its own default says. There is no `statement_timeout`: one that ends the wait for a synchronous
 * standby makes PostgreSQL acknowledge a commit that the standby lacks.
 */
function sessionSettings(holdMs: number): readonly string[] {
  return [
    `SET idle_in_transaction_session_timeout = ${holdMs}`,
    `SET lock_timeout = ${Math.min(holdMs + lockMarginMs, lockTimeoutMaxMs)}`,
    'SET synchronous_commit = on',
    'SET client_min_messages = warning',
  ]
}

/**
 * The same for what the database waits for without a look at those limits: a process that does not take what it has asked
 * for, and a machine that has gone away in the middle of a statement.
 */
function networkSettings(holdMs: number): readonly string[] {
  const seconds = Math.ceil(holdMs / 1000)
  return [
    `SET tcp_user_timeout = ${holdMs}`,
    `SET tcp_keepalives_idle = ${seconds}`,
    'SET tcp_keepalives_interval = 1',
    'SET tcp_keepalives_count = 3',
  ]
}

/** What the driver takes; its types lack the limit of a single statement. */
type Statement = QueryConfig & { readonly query_timeout?: number }

/** A row as the driver returns it: 64-bit integers as text, bytes as buffers. */
export type ResultRow = Readonly<Record<string, unknown>>

/**
 * What became of a transaction: nothing is left of a refused one. A doubtful one is in the database, but came with a warning:
 * the wait for a synchronous standby was cancelled, so that may lack it. Like one that was found after its connection had
 * broken, it counts once a later commit is acknowledged.
 */
export type Committed = 'acknowledged' | 'doubtful' | 'refused'

export class PostgresSession {
  readonly #client: Client
  readonly #location: RecordLocation
  readonly #purpose: string
  #failure: Error | undefined
  #warnings = 0

  private constructor(client: Client, location: RecordLocation, purpose: string) {
    this.#client = client
    this.#location = location
    this.#purpose = purpose
  }

  /**
   * Connects to the first server of the address that takes writes. Throws {@link StoreUnavailableError} when none can be reached,
   * or all refuse or are standbys: those may lack what copies hold, and yet receive it, so nothing is judged by them. A
   * statement that takes longer than `statementTimeoutMs` counts as a broken connection; 0: it may take as long as it likes.
   */
  static async open(
    location: RecordLocation,
    purpose: string,
    statementTimeoutMs = statementTimeoutMsDefault,
  ): Promise<PostgresSession> {
    const reasons: string[] = []
    let last: unknown
    try {
      for (const { attempts, name } of endpointsOf(location.url, purpose)) {
        try {
          return await PostgresSession.#openAt(attempts, location, purpose, statementTimeoutMs)
        } catch (cause) {
          last = cause
          reasons.push(`${name}: ${wordsOf(cause)}`)
          // As libpq: a server that knows who asks and refuses him speaks for the others.
          if (location.ending?.aborted || stateOf(cause)?.startsWith('28')) break
        }
      }
    } catch (cause) {
      throw unavailable(cause)
    }
    throw unavailable(last, reasons.length > 1 ? reasons.join('; ') : undefined)
  }

  /**
   * {@link open}, then `check`: what that throws closes the session, and is thrown as a {@link StoreUnavailableError}.
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
      throw refusal(cause)
    }
  }

  /** Connects to one server, in the first way that it takes. */
  static async #openAt(
    attempts: DatabaseServer['attempts'],
    location: RecordLocation,
    purpose: string,
    statementTimeoutMs: number,
  ): Promise<PostgresSession> {
    for (const [at, attempt] of attempts.entries()) {
      try {
        const config = { ...attempt, query_timeout: statementTimeoutMs }
        return await PostgresSession.#connect(config, location, purpose)
      } catch (cause) {
        if (at === attempts.length - 1 || !isAboutTls(cause)) throw cause
      }
    }
    throw new Error('there is no way to connect')
  }

  static async #connect(
    config: ClientConfig,
    location: RecordLocation,
    purpose: string,
  ): Promise<PostgresSession> {
    // Loaded by processes that use it alone: it takes a while.
    const pg = await import('pg')
    const client = new pg.Client({
      ...config,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      pipeline: true,
    } as ClientConfig)
    const session = new PostgresSession(client, location, purpose)
    const ended = session.#endWith(location.ending)
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
        // Not every database has them.
        ...networkSettings(holdMs).map(setting =>
          client.query(setting).catch(error => isRefusal(error) || Promise.reject(error)),
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

  /**
   * Runs `use` on a session of its own. What the database refuses is thrown as a {@link StoreUnavailableError} that says so.
   */
  static async use<T>(
    location: RecordLocation,
    purpose: string,
    use: (session: PostgresSession) => Promise<T>,
  ): Promise<T> {
    const session = await PostgresSession.open(location, purpose)
    try {
      return await use(session)
    } catch (cause) {
      throw stateOf(cause) === undefined ? cause : refusal(cause)
    } finally {
      session.close()
    }
  }

  /** What the server calls the process that serves this session. */
  get processId(): number | undefined {
    // The driver's types lack it.
    return (this.#client as unknown as { readonly processID?: number }).processID
  }

  /** Another session with the same record, for a statement that may take as long as it likes. */
  beside(): Promise<PostgresSession> {
    return PostgresSession.open(this.#location, this.#purpose, 0)
  }

  /** False once anything has gone wrong with the connection. */
  get isSound(): boolean {
    return this.#failure === undefined
  }

  /** The qualified name of one of our tables, quoted. */
  table(name: string): string {
    return `${this.schemaName}."${name}"`
  }

  /** The name of our schema, quoted. */
  get schemaName(): string {
    return `"${this.#location.schema.replaceAll('"', '""')}"`
  }

  /** Runs one statement. What the database refuses is thrown as it comes, with its `code` (SQLSTATE). */
  async query(text: string, values?: readonly unknown[]): Promise<readonly ResultRow[]> {
    return (await this.#send({ text, ...(values && { values: [...values] }) })).rows
  }

  /**
   * {@link query} for what is asked again and again: the database parses and plans it once for each session. `name` tells
   * the statements of a session apart.
   */
  async prepared(name: string, text: string, values: readonly unknown[]): Promise<readonly ResultRow[]> {
    return (await this.#send({ name, text, values: [...values] })).rows
  }

  /** {@link query} for what returns much: it may take `timeoutMs` milliseconds, whatever holds for the session. */
  async queryLong(
    text: string,
    values: readonly unknown[],
    timeoutMs: number,
  ): Promise<readonly ResultRow[]> {
    return (await this.#send({ text, values: [...values], query_timeout: timeoutMs })).rows
  }

  /** Ends a transaction that was begun; what the database made of it, see {@link Committed}. */
  async commit(): Promise<Committed> {
    const warnings = this.#warnings
    const { command } = await this.#send({ text: 'COMMIT' })
    if (command !== 'COMMIT') return 'refused'
    return this.#warnings === warnings ? 'acknowledged' : 'doubtful'
  }

  async #send(statement: Statement) {
    if (this.#failure) throw unavailable(this.#failure)
    try {
      return await this.#client.query(statement)
    } catch (cause) {
      if (!isRefusal(cause)) {
        this.#fail(cause as Error)
        throw unavailable(cause)
      }
      throw cause
    }
  }

  /** Closes; resolves when the server has noticed, or does not answer. */
  async end(): Promise<void> {
    if (this.isSound) await Promise.race([this.#client.end().catch(() => undefined), wait(endTimeoutMs)])
    this.close()
  }

  /** Closes without waiting: a transaction under way is taken back by the database. */
  close(): void {
    this.#fail(new Error('the session is closed'))
  }

  /** Rejects when the process is about to end; then the session does, too. The driver leaves a connection that it opens. */
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
    // Mostly nothing waits for it.
    ended.catch(() => undefined)
    return ended
  }

  #fail(failure: Error): void {
    if (this.#failure) return
    this.#failure = failure
    this.#client.end().catch(() => undefined)
    // A connection that hangs would never end by itself; its socket is none of the driver's declared members.
    const { stream } = (this.#client as unknown as { connection?: { stream?: { destroy(): void } } })
      .connection ?? { stream: undefined }
    stream?.destroy()
  }
}
