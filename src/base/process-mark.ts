// Tells whether a process that was noted somewhere still lives. Its number alone does not: numbers are given again, and mean
// another process in another container or on another machine.

import { readFileSync, readlinkSync } from 'node:fs'

/**
 * What tells the process `pid` apart from all others: the start of the machine, the processes among which its number counts, and
 * when it began. Undefined when there is none, and on systems other than Linux.
 */
export function processMark(pid: number): string | undefined {
  const here = surroundings()
  const status = statusOf(pid)
  return here && status && `${here} ${status.began}`
}

/** Whether the process `pid` that had this mark lives; undefined where that cannot be told from here. */
export function isAlive(pid: number, mark: string | undefined): boolean | undefined {
  const here = surroundings()
  if (here === undefined || !mark?.startsWith(`${here} `)) return undefined
  const status = statusOf(pid)
  if (status === undefined) return isHidden(pid) ? undefined : false
  // One that has ended keeps its number until its parent has asked what came of it.
  return mark === `${here} ${status.began}` && !'ZX'.includes(status.state)
}

/** Names the present start of the machine's system; undefined where systems do not tell. */
export function machineStart(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return undefined
  }
}

function surroundings(): string | undefined {
  try {
    const start = machineStart()
    return start && `${start} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return undefined
  }
}

/** `began`: ticks since the machine's start. */
function statusOf(pid: number): { readonly state: string; readonly began: string } | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program's name comes first, and may hold anything.
    const [state = '', ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ')
    return { state, began: fields[18] ?? '' }
  } catch {
    return undefined
  }
}

/** Processes of others may be kept out of `/proc`. */
function isHidden(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
}
