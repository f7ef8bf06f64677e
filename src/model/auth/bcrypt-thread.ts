// The script of a thread that runs bcrypt. The thread has a low priority, so logins can use idle cores without slowing
// down other work.

import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import bcrypt from 'bcrypt'
import { assert } from '../../base/assert.ts'
import { type Candidate, firstBytes, inDialect } from './bcrypt.ts'

/** A message to the thread. */
export type BcryptTask =
  | { readonly kind: 'hash'; readonly bytes: Uint8Array; readonly cost: number }
  | { readonly kind: 'first match'; readonly candidates: readonly Candidate[] }

/**
 * The increment of the thread's nice value. If this thread and the main thread compete for a core, this thread gets a
 * third of the main thread's CPU time.
 */
const niceness = 5

/**
 * Lowers the priority of this thread on Linux. On other systems, the call would lower the priority of the whole
 * process.
 */
function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, niceness)
  } catch {
    // Without /proc, or without the permission to change priorities, this thread has the normal priority.
  }
}

function run(task: BcryptTask): string | number | undefined {
  if (task.kind === 'hash') return inDialect('a', bcrypt.hashSync(firstBytes(task.bytes), task.cost))
  for (const [at, { bytes, hash }] of task.candidates.entries())
    if (bcrypt.compareSync(firstBytes(bytes), inDialect('b', hash))) return at
  return undefined
}

assert(parentPort !== null, 'this file is the body of a thread')
const parent = parentPort
lowerThreadPriority()
parent.on('message', (task: BcryptTask) => parent.postMessage(run(task)))
