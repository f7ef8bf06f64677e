// Finds out whether a recorded process is still alive. A process id is not sufficient: ids are reused, and mean another
// process in another container or on another machine.

import { readFileSync, readlinkSync } from 'node:fs'

/**
 * Identifies the process `pid` beyond its number: by the boot of the machine, the pid namespace, and the start time of
 * the process. Undefined when there is no such process, and on systems other than Linux.
 */
export function processMark(pid: number): string | undefined {
  const here = surroundings()
  const status = statusOf(pid)
  return here && status && `${here} ${status.began}`
}

/** Returns whether the process `pid` with this mark is alive; undefined when that cannot be determined from here. */
export function isAlive(pid: number, mark: string | undefined): boolean | undefined {
  const here = surroundings()
  if (here === undefined || !mark?.startsWith(`${here} `)) return undefined
  const status = statusOf(pid)
  if (status === undefined) return isHidden(pid) ? undefined : false
  // A zombie keeps its number until its parent has read its exit status.
  return mark === `${here} ${status.began}` && !'ZX'.includes(status.state)
}

/** Identifies the current boot of the machine; undefined where the system has no boot id. */
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

/** `began`: clock ticks since the boot of the machine. */
function statusOf(pid: number): { readonly state: string; readonly began: string } | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program's name comes first, and may contain any character.
    const [state = '', ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ')
    return { state, began: fields[18] ?? '' }
  } catch {
    return undefined
  }
}

/** Returns whether the process exists although `/proc` hides it, as it may hide processes of other users. */
function isHidden(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
}
