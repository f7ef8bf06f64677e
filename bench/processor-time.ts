// CPU time of a server: of all its processes, including those that exit during the measurement.

import { readdirSync, readFileSync } from 'node:fs'

/** Ticks of `/proc` per second, on every Linux. */
const ticksPerSecond = 100

interface ProcessStat {
  readonly parent: number
  readonly ticks: number
}

/**
 * CPU seconds so far of these processes and all their descendants. Contains exited processes, because the kernel adds
 * their time to the parent that waited for them. 0 if the system does not report it.
 */
export function processorSeconds(roots: readonly number[]): number {
  const found = new Map<number, ProcessStat>()
  for (const name of processNames()) {
    const stat = statOf(name)
    if (stat !== undefined) found.set(Number(name), stat)
  }
  let ticks = 0
  for (const [pid, stat] of found) if (descends(pid, roots, found)) ticks += stat.ticks
  return ticks / ticksPerSecond
}

function processNames(): readonly string[] {
  try {
    return readdirSync('/proc').filter(name => /^\d+$/.test(name))
  } catch {
    return []
  }
}

function statOf(pid: string): ProcessStat | undefined {
  try {
    // The name of the program, in parentheses, may contain blanks. The words after it begin with the third field.
    const words = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? []
    const number = (field: number) => Number(words[field - 3])
    // Fields 14 to 17 of proc_pid_stat(5): user and system time of the process, and of its exited children.
    return { parent: number(4), ticks: number(14) + number(15) + number(16) + number(17) }
  } catch {
    // The process has exited.
    return undefined
  }
}

function descends(pid: number, roots: readonly number[], found: ReadonlyMap<number, ProcessStat>): boolean {
  for (let each: number | undefined = pid; each !== undefined; each = found.get(each)?.parent) {
    if (roots.includes(each)) return true
  }
  return false
}
