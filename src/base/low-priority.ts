// Lowers the priority of a process, so that other processes run first when all cores are busy.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lowers the priority of this process by `niceness`. Linux has a priority per thread, so all threads are lowered,
 * including the threads of the garbage collector, which would otherwise take all cores from other processes. The libuv
 * threads keep their priority, because commits wait for the disk on these threads and delay other writers. Call it
 * after the program is loaded: loading at low priority can take very long.
 */
export function lowerPriority(niceness: number): void {
  setPriority(niceness)
  const threads = '/proc/self/task'
  if (!existsSync(threads)) return
  for (const thread of readdirSync(threads)) {
    try {
      const name = readFileSync(`${threads}/${thread}/comm`, 'utf8')
      if (!name.startsWith('libuv')) setPriority(Number(thread), niceness)
    } catch {
      // The thread has exited since the listing.
    }
  }
}
