// Processes as the operating system sees them: whether a recorded process is still alive, the priority of this
// process, and its limit of open files. A process id does not identify a recorded process: ids are reused, and mean
// another process in another container or on another machine.

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Identifies the process `pid` by the boot of the machine, the pid namespace, and the start time of the process.
 * Undefined when there is no such process, and on systems other than Linux.
 */
export function processMark(pid: number): string | undefined {
  const here = surroundings()
  const status = statusOf(pid)
  return here && status && `${here} ${status.began}`
}

/** Returns whether the process `pid` with this mark is alive; undefined when this process cannot determine it. */
export function isAlive(pid: number, mark: string | undefined): boolean | undefined {
  const here = surroundings()
  if (here === undefined || !mark?.startsWith(`${here} `)) return undefined
  const status = statusOf(pid)
  if (status === undefined) return isHidden(pid) ? undefined : false
  // A zombie keeps its process id until its parent has read its exit status.
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

/**
 * Lowers the priority of this process by `niceness`. Linux has a priority per thread, so all threads are lowered,
 * including the threads of the garbage collector, which would otherwise take all cores from other processes. The libuv
 * threads keep their priority, because commits wait for the disk on these threads, and a slow commit delays other
 * writers. Call this function after the program is loaded: loading at low priority can take very long.
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

// The limit of open files, sockets and pipes of this process (`ulimit -n`). Without a free descriptor the process can
// open no file and start no process. Clients can exhaust descriptors by opening connections, so connections get only a
// part of them.

/** The smallest limit with which a service works. */
export const descriptorsMin = 128

/** The smallest number of descriptors kept free for files, pipes and processes. */
const reserveMin = 96

/** The limit of this process; infinite on a system without such a limit. The first call takes some milliseconds. */
export function descriptorsMax(): number {
  max ??= readMax()
  return max
}

let max: number | undefined

function readMax(): number {
  // A report resolves host names unless the network is excluded. Node's types lack the option.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as {
    // Absent on Windows.
    readonly userLimits?: { readonly open_files: { readonly soft: number | 'unlimited' } }
  }
  const soft = userLimits?.open_files.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

/** The limit for connections: a quarter of all descriptors, and at least {@link reserveMin}, stays free. */
export function connectionsMax(): number {
  const all = descriptorsMax()
  return all - Math.max(reserveMin, Math.ceil(all / 4))
}
