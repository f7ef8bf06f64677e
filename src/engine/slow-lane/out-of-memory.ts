// The error of queries that exceed the memory of a slow-lane process, and the system's count of processes that it has
// killed for lack of memory.

import { readFileSync } from 'node:fs'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'

/** `maxMb`: the limit that the query exceeded, in megabytes. */
export function outOfMemory(maxMb: number): RequestError {
  return new RequestError('bad request', msg`Query takes too much memory. Max: ${maxMb} MB.`)
}

/**
 * Returns how many processes the system has killed so far for lack of memory; 0 if the system does not report this
 * number. Linux counts the kills of the whole machine, including kills at the memory limit of a container.
 */
export function systemMemoryKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
