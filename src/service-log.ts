// The service's own log: one line for each event on standard error. A terminal gets lines for people, everything else
// (files, journals, collectors) one JSON object a line.

import { createRequire } from 'node:module'
import { isatty } from 'node:tty'
import { type Level, type LevelWithSilent, type Logger, pino, stdSerializers } from 'pino'
import { sourceStack } from './base/source-stack.ts'

const standardError = 2

const load = createRequire(import.meta.url)

const serializers = {
  err(cause: Error) {
    const shown = stdSerializers.err(cause)
    return typeof shown?.stack === 'string' ? { ...shown, stack: sourceStack(shown.stack) } : shown
  },
}

/** Opens the log. `isTerminal` tells what standard error is; it is asked when absent. */
export function openServiceLog(
  level: LevelWithSilent | Level,
  isTerminal: boolean = isatty(standardError),
): Logger {
  // Written at once: what is said right before the process ends must not be lost.
  const destination = pino.destination({ fd: standardError, sync: true })
  if (!isTerminal) return pino({ level, serializers }, destination)
  // Loaded for terminals alone: it takes a while.
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
