// The service log: one line on standard error for each event, formatted for people on a terminal, a JSON object
// elsewhere.
//
// Stack traces of the bundled program show positions in the sources. Node's own option for this reads all source maps
// at start, which takes as long as loading the program, so this file reads a source map only when an error is logged.

import { existsSync, readFileSync } from 'node:fs'
import { createRequire, SourceMap } from 'node:module'
import { relative } from 'node:path'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'
import { type DestinationStream, type LevelWithSilent, type Logger, pino, stdSerializers } from 'pino'
import { home, isBuilt } from '../base/program-files.ts'

const standardError = 2

const load = createRequire(import.meta.url)

const serializers = {
  err(cause: Error) {
    const shown = stdSerializers.err(cause)
    return typeof shown?.stack === 'string' ? { ...shown, stack: sourceStack(shown.stack) } : shown
  },
}

/** `isTerminal`: formats the lines for people. By default, the log is standard error. */
export function openServiceLog(
  level: LevelWithSilent,
  isTerminal: boolean = isatty(standardError),
  // Writes are synchronous, so that the last lines before the process exits are not lost.
  destination: DestinationStream = pino.destination({ fd: standardError, sync: true }),
): Logger {
  if (!isTerminal) return pino({ level, serializers }, destination)
  // Loaded only for terminals, because loading takes long.
  const pretty: typeof import('pino-pretty') = load('pino-pretty')
  const readable = pretty({
    destination,
    sync: true,
    colorize: process.env.NO_COLOR === undefined,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
  })
  return pino({ level, serializers }, readable)
}

const maps = new Map<string, SourceMap | undefined>()

function mapOf(file: string): SourceMap | undefined {
  if (maps.has(file)) return maps.get(file)
  const path = `${file}.map`
  const map = existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined
  maps.set(file, map)
  return map
}

/** Known positions refer to the sources, such as `src/fql4/parse-query.ts:10:5`. */
function sourceStack(stack: string): string {
  if (!isBuilt) return stack
  return stack.replace(/file:\/\/\/\S+?\.js(?=:\d+:\d+)[:\d]+/g, position => {
    const [, url = '', line, column] = /^(.*\.js):(\d+):(\d+)$/.exec(position) ?? []
    if (!url.startsWith(home.href)) return position
    const file = fileURLToPath(url)
    const origin = mapOf(file)?.findOrigin(Number(line), Number(column))
    if (origin === undefined || !('fileName' in origin)) return position
    const source = fileURLToPath(new URL(origin.fileName, url))
    return `${relative(fileURLToPath(home), source)}:${origin.lineNumber}:${origin.columnNumber}`
  })
}
