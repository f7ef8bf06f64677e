// Identifies processes, lowers their priority, and reads their limits. A stored process id alone does not identify a
// process, because ids are reused, and because other containers and machines use the same ids.

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/**
 * Combines the boot of the machine, the pid namespace, and the start time of the process. Returns undefined when there
 * is no such process, and on systems other than Linux.
 */
export function processMark(pid: number): string | undefined {
  const here = bootAndNamespace()
  const status = statusOf(pid)
  return here && status && `${here} ${status.began}`
}

/**
 * Returns whether the process that had this id and {@link processMark} still runs. Returns undefined if this cannot be
 * determined, for example because `mark` is from another container.
 */
export function isAlive(pid: number, mark: string | undefined): boolean | undefined {
  const here = bootAndNamespace()
  if (here === undefined || !mark?.startsWith(`${here} `)) return undefined
  const status = statusOf(pid)
  if (status === undefined) return processExists(pid) ? undefined : false
  // A zombie keeps its process id until its parent has read its exit status.
  return mark === `${here} ${status.began}` && !'ZX'.includes(status.state)
}

/** Differs after each boot of the machine. Returns undefined where the system has no boot id. */
export function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return undefined
  }
}

function bootAndNamespace(): string | undefined {
  try {
    const boot = bootId()
    return boot && `${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return undefined
  }
}

/** `began`: in clock ticks since the boot of the machine. */
function statusOf(pid: number): { readonly state: string; readonly began: string } | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program, in parentheses, precedes the state. The name may contain `)`, so the last `)` ends it.
    const [state = '', ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ')
    // Field 22 of the line (proc(5)); `fields` begins with field 4.
    return { state, began: fields[18] ?? '' }
  } catch {
    return undefined
  }
}

/** Also finds processes of other users, which `/proc` may hide. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Sets the nice value of this process. On Linux, each thread has its own priority. The garbage collector's threads get
 * the same value, because they could use all cores. The libuv threads keep their priority: commits wait for the disk on
 * these threads, and a slow commit delays other writers. Must be called after the program is loaded, because loading at
 * low priority can take very long.
 */
export function lowerPriority(niceness: number): void {
  if (getPriority() >= niceness) return
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

/** A service needs at least this number of descriptors. */
export const descriptorsMin = 128

/** The minimum number of descriptors that are left free for files, pipes and processes. */
const reserveMin = 96

/**
 * The limit of open files, sockets and pipes (`ulimit -n`): without a free descriptor, the process cannot open a file or
 * start a process. Infinite on a system without such a limit. The first call takes some milliseconds.
 */
export function descriptorsMax(): number {
  max ??= readMax()
  return max
}

let max: number | undefined

function readMax(): number {
  // With this option, the report does not resolve host names. Node's types lack the option.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as {
    // Absent on Windows.
    readonly userLimits?: { readonly open_files: { readonly soft: number | 'unlimited' } }
  }
  const soft = userLimits?.open_files.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

/**
 * Clients can exhaust descriptors by opening connections, so connections may use only a part. At least a quarter of all
 * descriptors, and at least {@link reserveMin}, stay free.
 */
export function connectionsMax(descriptors = descriptorsMax()): number {
  return Math.min(descriptors - reserveMin, Math.floor(descriptors * 0.75))
}
