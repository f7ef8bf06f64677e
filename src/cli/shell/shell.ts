// The interactive shell: reads lines until they form a query, runs the query, and shows the result.

import { createInterface, type Interface } from 'node:readline'
import type { QueryConnection, QueryScope } from '../client/connection.ts'
import { type ParsedQuery, type ShellLanguage, TextFault } from '../client/shell-language.ts'
import { shellLanguageOf } from '../client/shell-languages.ts'
import { CommandError } from '../command.ts'
import { type Output, styleFor } from '../terminal.ts'
import { completionsOf, ObjectNames } from './completion.ts'
import { dotCommandNames, runDotCommand, type ShellState } from './dot-commands.ts'

/** Tests pass their own streams. */
interface ShellOptions {
  readonly connection: QueryConnection
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream & Output
  /** Enables line editing and prompts. */
  readonly isTerminal: boolean
  readonly asJson: boolean
  /** The language at the start of the shell. */
  readonly language: ShellLanguage
  /** Entries of earlier shells, newest first. */
  readonly history: readonly string[]
  readonly onEntry: (entry: string) => void
  /** Throws {@link CommandError}. */
  readonly readFile: (file: string) => string
}

/**
 * Runs until the input ends or `.exit`. Resolves with the exit status: 1 if something has failed and there is no
 * terminal, else 0.
 */
export async function runShell(options: ShellOptions): Promise<number> {
  return new Shell(options).run()
}

class Shell implements ShellState {
  asJson: boolean
  readonly #options: ShellOptions
  readonly #lines: Interface
  readonly #names = new ObjectNames()
  #language: ShellLanguage
  /** Lines of a query that is not complete yet. */
  #pending = ''
  /** The history array of readline, newest first. It is changed in place, because readline continues to use it. */
  #history: string[] = []
  /**
   * Entries as they were typed, newest first, because readline stores each line of an entry separately or joins the
   * lines in reverse order.
   */
  readonly #entries: string[]
  /** The connection with which the shell was opened. */
  readonly #firstConnection: QueryConnection
  #connection: QueryConnection
  #running: AbortController | undefined
  #hasFailed = false
  #isLeaving = false

  constructor(options: ShellOptions) {
    this.#options = options
    this.asJson = options.asJson
    this.#language = options.language
    this.#firstConnection = options.connection
    this.#connection = options.connection
    this.#entries = [...options.history]
    const { input, output, isTerminal } = options
    this.#lines = createInterface({
      input,
      output,
      terminal: isTerminal,
      history: [...options.history],
      completer: (line: string, done: (error: null, result: [string[], string]) => void) => {
        void completionsOf(line, dotCommandNames, this.#names, this.#connection, this.#language.name).then(
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
    if (this.#options.isTerminal) this.say('Type .help for help, .exit or Ctrl-D to exit.')
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

  #prompt(): void {
    if (!this.#options.isTerminal) return
    const { database, as } = this.#connection.scope
    const prompt = [database ?? 'terrarium', ...(as === undefined ? [] : [`(${as})`])].join(' ')
    this.#lines.setPrompt(this.#pending === '' ? `${prompt}> ` : `${'.'.repeat(prompt.length)}. `)
    this.#lines.prompt()
  }

  async #take(line: string): Promise<void> {
    if (this.#pending === '' && line.trimStart().startsWith('.')) {
      this.#recall(line)
      await this.#guard(() => runDotCommand(line, this))
      return
    }
    // Readline separates the lines of a history entry by carriage returns.
    const typed = line.replaceAll('\r', '\n')
    const text = this.#pending === '' ? typed : `${this.#pending}\n${typed}`
    // An empty line ends an incomplete query.
    await this.#enter(text, this.#pending !== '' && line.trim() === '')
  }

  /** Runs a text if it is complete. `isLast`: an incomplete text is an error. */
  async #enter(text: string, isLast: boolean): Promise<void> {
    let queries: readonly ParsedQuery[]
    try {
      queries = this.#language.parse({ text, file: undefined })
    } catch (fault) {
      if (!(fault instanceof TextFault)) throw fault
      if (fault.isIncomplete && !isLast) {
        this.#pending = text
        return
      }
      this.#pending = ''
      this.#recall(text)
      this.#showFault(fault)
      return
    }
    this.#pending = ''
    this.#recall(text)
    if (queries.length === 0) return
    this.#options.onEntry(text)
    await this.#guard(() => this.#runAll(queries))
  }

  /** Adds a text to the history that the arrow keys show. */
  #recall(text: string): void {
    if (text.trim() !== '' && this.#entries[0] !== text) this.#entries.unshift(text)
    this.#history.splice(0, this.#history.length, ...this.#entries)
  }

  #interrupt(): void {
    if (this.#running) this.#running.abort()
    else if (this.#pending === '' && this.#lines.line === '') {
      this.#write('\n')
      this.say('Type .exit or Ctrl-D to exit.')
      this.#prompt()
    } else {
      this.#pending = ''
      this.#write('\n')
      // Ctrl-E and Ctrl-U make readline delete the typed text.
      this.#lines.write(null, { ctrl: true, name: 'e' })
      this.#lines.write(null, { ctrl: true, name: 'u' })
      this.#prompt()
    }
  }

  async #runAll(queries: readonly ParsedQuery[]): Promise<void> {
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
        this.say('cancelled: the writes of the query may have been committed')
        return
      } finally {
        this.#running = undefined
      }
    }
  }

  /** Shows a {@link CommandError}, so that the shell continues. */
  async #guard(run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (cause) {
      if (!(cause instanceof CommandError)) throw cause
      this.#hasFailed = true
      this.#write(`${styleFor(this.#options.output)(['red', 'bold'], 'failed')}: ${cause.message}\n`)
    }
  }

  #showFault(fault: TextFault): void {
    this.#hasFailed = true
    fault.show(this.#options.output)
  }

  #write(text: string): void {
    this.#options.output.write(text)
  }

  say(text: string): void {
    this.#write(`${text}\n`)
  }

  actAs(who: string | undefined): Promise<void> {
    return this.#switchTo(this.#connection.with({ scope: { ...this.#connection.scope, as: who } }))
  }

  useDatabase(path: string | undefined): Promise<void> {
    return this.#switchTo(this.#connection.with({ scope: { ...this.#connection.scope, database: path } }))
  }

  useSecret(secret: string | undefined): Promise<void> {
    const scope: QueryScope = { database: undefined, as: undefined }
    return this.#switchTo(
      secret === undefined ? this.#firstConnection : this.#firstConnection.with({ secret, scope }),
    )
  }

  /** Stays on the old connection if the service rejects the new credential. */
  async #switchTo(connection: QueryConnection): Promise<void> {
    await connection.check()
    this.#connection = connection
    this.#names.forget()
  }

  async runFile(file: string): Promise<void> {
    try {
      await this.#runAll(this.#language.parse({ text: this.#options.readFile(file), file }))
    } catch (fault) {
      if (!(fault instanceof TextFault)) throw fault
      this.#showFault(fault)
    }
  }

  async useLanguage(version: string | undefined): Promise<void> {
    if (version !== undefined) this.#language = await shellLanguageOf(version)
    this.say(`queries are read as version ${this.#language.name}`)
  }

  leave(): void {
    this.#isLeaving = true
    this.#lines.close()
  }
}
