// The script of a thread that runs bcrypt with a low priority, so logins can use idle cores without slowing down other
// work.

import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import bcrypt from 'bcrypt'
import { assert } from '../../base/assert.ts'
import { type Candidate, firstBytes, withPrefix } from './bcrypt.ts'

export type BcryptTask =
  | { readonly kind: 'hash'; readonly bytes: Uint8Array; readonly cost: number }
  | { readonly kind: 'first match'; readonly candidates: readonly Candidate[] }

/** If this thread and the main thread compete for a core, this thread gets a third of the main thread's CPU time. */
const niceness = 5

/** On other systems than Linux, the call would lower the priority of the whole process. */
function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, niceness)
  } catch {
    // The thread keeps the normal priority without /proc, or without the permission to change priorities.
  }
}

function run(task: BcryptTask): string | number | undefined {
  if (task.kind === 'hash') return withPrefix('a', bcrypt.hashSync(firstBytes(task.bytes), task.cost))
  for (const [at, { bytes, hash }] of task.candidates.entries())
    if (bcrypt.compareSync(firstBytes(bytes), withPrefix('b', hash))) return at
  return undefined
}

assert(parentPort !== null, 'this file is the body of a thread')
const parent = parentPort
lowerThreadPriority()
parent.on('message', (task: BcryptTask) => parent.postMessage(run(task)))
