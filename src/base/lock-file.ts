// Locks that are files with the id of the process that holds the lock. Several processes may find the lock of a process
// that has exited at the same time; only one of them takes the lock over. A lock therefore has a number: a process takes
// a lock over by creating the file with the next number, which the file system permits only once. A process that finds a
// higher number after it has created its own file withdraws its file.

import { linkSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemRandom } from './random.ts'
import { processExists } from './system-process.ts'
import { readIfPresent } from './text-file.ts'

/** The `name` must not contain a dot. */
interface LockName {
  readonly folder: string
  readonly name: string
}

/** The function that releases the lock, or the process that holds the lock. */
type LockOutcome = { readonly release: () => void } | { readonly holder: number; readonly file: string }

export function takeLock(lock: LockName, pid: number = process.pid): LockOutcome {
  for (;;) {
    const newest = numbersOf(lock).at(-1)
    if (newest !== undefined) {
      const file = fileOf(lock, newest)
      const text = readIfPresent(file)
      if (text === undefined) continue
      const holder = Number(text)
      if (isRunning(holder, pid)) return { holder, file }
    }
    const number = (newest ?? -1) + 1
    const file = fileOf(lock, number)
    if (!createFile(file, String(pid))) continue
    const numbers = numbersOf(lock)
    if (numbers.at(-1) !== number) {
      rmSync(file, { force: true })
      continue
    }
    for (const older of numbers) if (older !== number) rmSync(fileOf(lock, older), { force: true })
    return { release: () => rmSync(file, { force: true }) }
  }
}

const fileOf = ({ folder, name }: LockName, number: number) => join(folder, `${name}.${number}.lock`)

function numbersOf({ folder, name }: LockName): number[] {
  const numbers: number[] = []
  for (const file of readdirSync(folder)) {
    const [base, number, end, rest] = file.split('.')
    if (base === name && /^\d{1,9}$/.test(number ?? '') && end === 'lock' && rest === undefined)
      numbers.push(Number(number))
  }
  return numbers.sort((left, right) => left - right)
}

/** Returns false if the file exists. */
function createFile(file: string, text: string): boolean {
  const temporary = `${file}.${systemRandom.hex(4)}`
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' })
    linkSync(temporary, file)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw cause
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** A lock with the id of this process is stale: a process of a former container had the same id. */
function isRunning(holder: number, own: number): boolean {
  return holder > 0 && holder !== own && processExists(holder)
}
