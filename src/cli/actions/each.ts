// `terrarium each`: applies a function to every element of a set, one page per transaction.

import { rmSync } from 'node:fs'
import type { Config } from '../../app/config/settings.ts'
import { readIfPresent, replaceFile } from '../../base/text-file.ts'
import { memberOf } from '../../transfer/references.ts'
import { parseJson, tryJson } from '../../values/json.ts'
import { withConnection } from '../client/connect.ts'
import type { QueryConnection } from '../client/connection.ts'
import type { ClientChoice } from '../client/options.ts'
import { CommandError, withFile } from '../command.ts'
import { withCount } from '../progress.ts'
import { escapeHidden, quantity } from '../terminal.ts'

interface Choice extends ClientChoice {
  readonly batch: number
  readonly cursor: string | undefined
  readonly dryRun: boolean
}

/** The content of a cursor file. */
interface Progress {
  readonly set: string
  readonly each: string
  /** Cursor of the next page; undefined at the beginning. */
  readonly cursor: string | undefined
  readonly documents: number
}

/** Result of the query that changes a page of elements. */
interface Page {
  readonly documents: number
  /** Cursor of the next page; undefined after the last page. */
  readonly after: string | undefined
}

/** Version 10's errors that a smaller page may avoid. */
const tooMuch: ReadonlySet<string> = new Set([
  'limit_exceeded',
  'time_out',
  'contended_transaction',
  'value_too_large',
])

/** `set` and `each` are expressions. Resolves with the exit status. */
export async function changeEach(set: string, each: string, choice: Choice, config: Config): Promise<number> {
  const { cursor: file, dryRun } = choice
  const begun = file === undefined ? undefined : readProgress(file, set, each)
  const seen = { documents: begun?.documents ?? 0 }
  const changeAll = async (connection: QueryConnection) => {
    await connection.check()
    let progress: Progress | undefined = begun ?? { set, each, cursor: undefined, documents: 0 }
    await withCount('each', seen, async () => {
      let size = choice.batch
      while (progress !== undefined) {
        const { page, sizeNow } = await changePage(progress, size, dryRun, connection)
        size = sizeNow
        seen.documents += page.documents
        progress =
          page.after === undefined ? undefined : { set, each, cursor: page.after, documents: seen.documents }
        if (file !== undefined && !dryRun) writeProgress(file, progress)
      }
    })
    process.stdout.write(`${dryRun ? 'would change' : 'changed'} ${quantity(seen.documents, 'document')}\n`)
    return 0
  }
  const explain = (cause: unknown) => {
    if (cause instanceof CommandError && seen.documents > 0 && !dryRun)
      throw new CommandError(interrupted(cause, seen.documents, file))
    throw cause
  }
  return withConnection(choice, config, connection => changeAll(connection).catch(explain))
}

function interrupted({ message }: CommandError, documents: number, file: string | undefined): string {
  const next =
    file === undefined
      ? 'The progress was not stored. With --cursor FILE, the next run could continue.'
      : 'Run the same command again to continue.'
  return `${message}\n${quantity(documents, 'document was', 'documents were')} changed. ${next}`
}

async function changePage(
  progress: Progress,
  size: number,
  isDryRun: boolean,
  connection: QueryConnection,
): Promise<{ readonly page: Page; readonly sizeNow: number }> {
  for (let sizeNow = size; ; sizeNow = Math.ceil(sizeNow / 4)) {
    const query = pageQuery(progress, sizeNow, isDryRun)
    const { data, error, summary } = await connection.ownQuery(query)
    if (error === undefined) return { page: readPage(data), sizeNow }
    if (!tooMuch.has(error.code) || sizeNow === 1)
      throw new CommandError(escapeHidden(`${error.code}: ${errorText(error.message, summary)}`))
  }
}

/** The summary has an excerpt of the query and may already contain the message. */
function errorText(message: string, summary: string): string {
  return summary.includes(message) ? summary : `${message}\n${summary}`.trimEnd()
}

/** A line break follows each expression, in case it ends with a comment. */
function pageQuery({ cursor, each, set }: Progress, size: number, isDryRun: boolean): string {
  const page =
    cursor === undefined ? `(${set}\n).paginate(${size})` : `Set.paginate(${JSON.stringify(cursor)}, ${size})`
  const change = isDryRun ? '' : `page.data.forEach(${each}\n)\n`
  return `let page = ${page}\n${change}({ documents: page.data.length, after: page.after })`
}

function readPage(data: string): Page {
  const page = parseJson(data)
  const after = memberOf(page, 'after')
  return {
    documents: Number(memberOf(page, 'documents') ?? 0),
    after: typeof after === 'string' ? after : undefined,
  }
}

/**
 * Returns undefined if the file does not exist. Throws {@link CommandError} if the file cannot be read, or is not a
 * cursor file of this set and this function.
 */
function readProgress(file: string, set: string, each: string): Progress | undefined {
  const text = withFile(file, 'read', () => readIfPresent(file))
  if (text === undefined) return undefined
  const json = tryJson(text)
  const cursor = memberOf(json, 'cursor')
  if (memberOf(json, 'set') !== set || memberOf(json, 'each') !== each || typeof cursor !== 'string')
    throw new CommandError(`${file} is not a cursor of this change: use another file, or remove it`)
  return { set, each, cursor, documents: Number(memberOf(json, 'documents') ?? 0) }
}

/** Removes the file if `progress` is undefined. */
function writeProgress(file: string, progress: Progress | undefined): void {
  withFile(file, 'written', () => {
    if (progress === undefined) rmSync(file, { force: true })
    else replaceFile(file, `${JSON.stringify(progress)}\n`, { flush: true })
  })
}
