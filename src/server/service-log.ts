// The service's own log: one line for each event on standard error. A terminal gets lines for people, everything else
// (files, journals, collectors) one JSON object a line.

import { createRequire } from 'node:module'
import { isatty } from 'node:tty'
import {
  type DestinationStream,
  type Level,
  type LevelWithSilent,
  type Logger,
  pino,
  stdSerializers,
} from 'pino'
import { sourceStack } from '../base/source-stack.ts'

const standardError = 2

const load = createRequire(import.meta.url)

const serializers = {
  err(cause: Error) {
    const shown = stdSerializers.err(cause)
    return typeof shown?.stack === 'string' ? { ...shown, stack: sourceStack(shown.stack) } : shown
  },
}

/**
 * Opens the log. `isTerminal`: lines are for people; by default, whether standard error is a terminal. JSON lines go to
 * `destination`, which is standard error by default.
 */
export function openServiceLog(
  level: LevelWithSilent | Level,
  isTerminal: boolean = isatty(standardError),
  // Synchronous, so that lines written right before the process exits are not lost.
  destination: DestinationStream = pino.destination({ fd: standardError, sync: true }),
): Logger {
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
