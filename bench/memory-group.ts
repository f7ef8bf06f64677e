// Memory control groups of Linux, of both versions, and the caches and the read-ahead of a disk.

import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** A control group limits the private memory and the page cache of its processes together. */
export interface MemoryGroup {
  readonly folder: string
  limit(bytes: number): void
  /** Call it after all processes of the group have exited. */
  remove(): void
}

/** Creates a control group. Throws with the reason if the system or the permissions do not allow it. */
export function createMemoryGroup(): MemoryGroup {
  const { file, mount } = memoryController()
  const folder = join(mount, `terrarium-bench-${process.pid}`)
  try {
    mkdirSync(folder)
    if (!existsSync(join(folder, file))) {
      rmdirSync(folder)
      throw new Error(`the kernel created no ${file}`)
    }
  } catch (cause) {
    throw new Error(`no control group below ${mount}: ${(cause as Error).message}`, { cause })
  }
  return {
    folder,
    limit: bytes => {
      try {
        writeFileSync(join(folder, file), String(Math.round(bytes)))
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'EBUSY') throw cause
        throw new Error('the processes have more private memory than the limit of the group', { cause })
      }
    },
    remove: () => rmdirSync(folder),
  }
}

/** Mount point of the memory controller, and the name of the file that has the limit. */
function memoryController(): { readonly mount: string; readonly file: string } {
  const mounts = (existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : '')
    .split('\n')
    .map(line => line.split(' '))
  const first = mounts.find(
    ([, , type, flags]) => type === 'cgroup' && flags?.split(',').includes('memory'),
  )?.[1]
  if (first !== undefined) return { mount: first, file: 'memory.limit_in_bytes' }
  const second = mounts.find(([, , type]) => type === 'cgroup2')?.[1]
  if (second === undefined) throw new Error('the system has no control groups')
  const words = (file: string) => readFileSync(join(second, file), 'utf8').trim().split(' ')
  if (!words('cgroup.controllers').includes('memory')) throw new Error(`${second} has no memory controller`)
  if (!words('cgroup.subtree_control').includes('memory')) {
    try {
      writeFileSync(join(second, 'cgroup.subtree_control'), '+memory')
    } catch (cause) {
      throw new Error(`the memory controller of ${second} cannot be enabled: ${(cause as Error).message}`, {
        cause,
      })
    }
  }
  return { mount: second, file: 'memory.max' }
}

/** The file with the read-ahead, in KiB, of the disk that has `path`; undefined if there is no such disk. */
export function readAheadFile(path: string): string | undefined {
  const { dev } = statSync(path)
  // Encoding of device numbers by `makedev` of glibc, below 2^32.
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)]
  const device = `/sys/dev/block/${major}:${minor}`
  if (!existsSync(device)) return undefined
  const folder = realpathSync(device)
  return [join(folder, 'queue'), join(folder, '../queue')]
    .map(queue => join(queue, 'read_ahead_kb'))
    .find(file => existsSync(file))
}

/** Writes a file to the disk and removes it from the page cache, unless a process has mapped it. */
export function dropFromCache(path: string): void {
  const synced = spawnSync('sync', [path])
  const dropped = spawnSync('dd', [`if=${path}`, 'iflag=nocache', 'count=0'])
  if (synced.status !== 0 || dropped.status !== 0) throw new Error(`${path} cannot be removed from the cache`)
}
