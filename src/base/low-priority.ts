// Lets others go first where all cores are wanted.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lowers the priority of this process by so many steps. Linux has a priority for each thread: without the threads that collect
 * garbage, those would take all cores from others. The threads on which a commit waits for the disk hold up others who write,
 * and keep theirs. Called once a process has loaded its program, which may take very long otherwise.
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
      // It has ended meanwhile.
    }
  }
}
