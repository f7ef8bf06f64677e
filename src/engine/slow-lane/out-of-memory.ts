// Queries that take more memory than a process of the slow lane has: how that is found out, and the response to them.

import { readFileSync } from 'node:fs'
import { RequestError } from '../../base/errors.ts'
import { msg } from '../../base/message.ts'

/** `maxMb`: what it had, in megabytes. */
export function outOfMemory(maxMb: number): RequestError {
  return new RequestError('bad request', msg`Query takes too much memory. Max: ${maxMb} MB.`)
}

/**
 * How many processes the system has killed so far because memory ran out; 0 where it does not tell. Linux counts those of
 * the whole machine, also when they had reached the bound of their container.
 */
export function systemMemoryKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
