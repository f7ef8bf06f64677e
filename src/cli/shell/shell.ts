// The interactive shell: reads lines until they are a query, sends it, shows what came back, and begins again.

import { createInterface, type Interface } from 'node:readline'
import type { QueryConnection, QueryScope } from '../client/connection.ts'
import { type Dialect, TextFault, type TextQuery } from '../client/dialect.ts'
import { dialectOf } from '../client/dialects.ts'
import { StartError } from '../command.ts'
import { type Output, styleFor } from '../terminal.ts'
import { ObjectNames, propose } from './completion.ts'
import { dotCommandNames, runDotCommand, type ShellState } from './dot-commands.ts'

/** What a shell works with; tests hand in streams of their own. */
interface ShellOptions {
  readonly connection: QueryConnection
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream & Output
  /** Lines are edited, and prompts shown. */
  readonly isTerminal: boolean
  readonly asJson: boolean
  /** The version of the language to begin with. */
  readonly dialect: Dialect
  /** Entries of earlier shells, newest first. */
  readonly history: readonly string[]
  /** Told of each entry, as one line. */
  readonly onEntry: (entry: string) => void
  /** The text of a file of queries; throws {@link StartError}. */
  readonly readFile: (file: string) => string
}

/** Runs a shell until its input ends; resolves with the exit status: that of the last query where no person watches. */
export async function runShell(options: ShellOptions): Promise<number> {
  return new Shell(options).run()
}

class Shell implements ShellState {
  asJson: boolean
  readonly #options: ShellOptions
  readonly #lines: Interface
  readonly #names = new ObjectNames()
  #dialect: Dialect
  /** The queries that are not complete yet, as typed. */
  #pending = ''
  /** The entries of readline, newest first: it keeps them in this very array. */
  #history: string[] = []
  /** What was typed, newest first, as it was typed: readline has each line by itself, or their order turned. */
  readonly #entries: string[]
  readonly #own: QueryConnection
  #connection: QueryConnection
  #running: AbortController | undefined
  #hasFailed = false
  #isLeaving = false

  constructor(options: ShellOptions) {
    this.#options = options
    this.asJson = options.asJson
    this.#dialect = options.dialect
    this.#own = options.connection
    this.#connection = options.connection
    this.#entries = [...options.history]
    const { input, output, isTerminal } = options
    this.#lines = createInterface({
      input,
      output,
      terminal: isTerminal,
      history: [...options.history],
      completer: (line: string, done: (error: null, result: [string[], string]) => void) => {
        void propose(line, dotCommandNames, this.#names, this.#connection, this.#dialect.name).then(
          ([proposals, replaced]) => done(null, [[...proposals], replaced]),
        )
      },
    })
    this.#lines.on('history', history => {
      this.#history = history
    })
  }

  async run(): Promise<number> {
    this.#lines.on('SIGINT', () => this.#interrupt())
    if (this.#options.isTerminal) this.say('Type .help for help, .exit or Ctrl-D to leave.')
    this.#prompt()
    for await (const line of this.#lines) {
      await this.#take(line)
      if (this.#isLeaving) break
      this.#prompt()
    }
    if (this.#pending !== '' && !this.#isLeaving) await this.#enter(this.#pending, true)
    if (this.#options.isTerminal && !this.#isLeaving) this.#write('\n')
    return this.#hasFailed && !this.#options.isTerminal ? 1 : 0
  }

  // ---------------------------------------------------------------------------------------------- lines

  #prompt(): void {
    if (!this.#options.isTerminal) return
    const { database, as } = this.#connection.scope
    const place = [database ?? 'terrarium', ...(as === undefined ? [] : [`(${as})`])].join(' ')
    this.#lines.setPrompt(this.#pending === '' ? `${place}> ` : `${'.'.repeat(place.length)}. `)
    this.#lines.prompt()
  }

  async #take(line: string): Promise<void> {
    if (this.#pending === '' && line.trimStart().startsWith('.')) {
      this.#recall(line)
      await this.#guard(() => runDotCommand(line, this))
      return
    }
    // Readline separates the lines of an entry that is recalled by carriage returns.
    const typed = line.replaceAll('\r', '\n')
    const text = this.#pending === '' ? typed : `${this.#pending}\n${typed}`
    // An empty line ends what would go on forever.
    await this.#enter(text, this.#pending !== '' && line.trim() === '')
  }

  /** Runs a text if it is complete, or has to be. */
  async #enter(text: string, isLast: boolean): Promise<void> {
    let queries: readonly TextQuery[]
    try {
      queries = this.#dialect.read({ text, file: undefined })
    } catch (fault) {
      if (!(fault instanceof TextFault)) throw fault
      if (fault.isIncomplete && !isLast) {
        this.#pending = text
        return
      }
      this.#pending = ''
      this.#recall(text)
      this.#tell(fault)
      return
    }
    this.#pending = ''
    this.#recall(text)
    if (queries.length === 0) return
    this.#options.onEntry(text)
    await this.#guard(() => this.#runAll(queries))
  }

  /** Lets the keys for it bring a text back. */
  #recall(text: string): void {
    if (text.trim() !== '' && this.#entries[0] !== text) this.#entries.unshift(text)
    this.#history.splice(0, this.#history.length, ...this.#entries)
  }

  #interrupt(): void {
    if (this.#running) this.#running.abort()
    else if (this.#pending === '' && this.#lines.line === '') {
      this.#write('\n')
      this.say('Type .exit or Ctrl-D to leave.')
      this.#prompt()
    } else {
      this.#pending = ''
      this.#write('\n')
      // Readline keeps what is typed; these keys delete it.
      this.#lines.write(null, { ctrl: true, name: 'e' })
      this.#lines.write(null, { ctrl: true, name: 'u' })
      this.#prompt()
    }
  }

  // --------------------------------------------------------------------------------------------- queries

  async #runAll(queries: readonly TextQuery[]): Promise<void> {
    const { output } = this.#options
    const shown = { asJson: this.asJson, showsResult: true, stdout: output, stderr: output }
    for (const query of queries) {
      const running = new AbortController()
      this.#running = running
      try {
        const hasSucceeded = await query.run(this.#connection, shown, running.signal)
        this.#names.forget()
        if (!hasSucceeded) {
          this.#hasFailed = true
          return
        }
      } catch (cause) {
        if (!running.signal.aborted) throw cause
        this.#hasFailed = true
        this.#write('\n')
        this.say('cancelled: what the query wrote may be there or not')
        return
      } finally {
        this.#running = undefined
      }
    }
  }

  /** Failures that have a line to explain them end what was asked for, not the shell. */
  async #guard(run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (cause) {
      if (!(cause instanceof StartError)) throw cause
      this.#hasFailed = true
      this.#write(`${styleFor(this.#options.output)(['red', 'bold'], 'failed')}: ${cause.message}\n`)
    }
  }

  #tell(fault: TextFault): void {
    this.#hasFailed = true
    fault.show(this.#options.output)
  }

  #write(text: string): void {
    this.#options.output.write(text)
  }

  // ------------------------------------------------------------------------------------------- dot commands

  say(text: string): void {
    this.#write(`${text}\n`)
  }

  actAs(who: string | undefined): Promise<void> {
    return this.#turnTo(this.#connection.with({ scope: { ...this.#connection.scope, as: who } }))
  }

  useDatabase(path: string | undefined): Promise<void> {
    return this.#turnTo(this.#connection.with({ scope: { ...this.#connection.scope, database: path } }))
  }

  useSecret(secret: string | undefined): Promise<void> {
    const scope: QueryScope = { database: undefined, as: undefined }
    return this.#turnTo(secret === undefined ? this.#own : this.#own.with({ secret, scope }))
  }

  /** Sends the queries elsewhere from now on, if they are accepted there. */
  async #turnTo(connection: QueryConnection): Promise<void> {
    await connection.check()
    this.#connection = connection
    this.#names.forget()
  }

  async runFile(file: string): Promise<void> {
    try {
      await this.#runAll(this.#dialect.read({ text: this.#options.readFile(file), file }))
    } catch (fault) {
      if (!(fault instanceof TextFault)) throw fault
      this.#tell(fault)
    }
  }

  async useLanguage(version: string | undefined): Promise<void> {
    if (version !== undefined) this.#dialect = await dialectOf(version)
    this.say(`queries are read as version ${this.#dialect.name}`)
  }

  leave(): void {
    this.#isLeaving = true
    this.#lines.close()
  }
}
