// Intercepts the operations of a process on the files of its commit logs, to kill the process at a chosen operation or
// to simulate a disk. It replaces functions of Node, so the program needs no hooks. Import this file before the
// program.

import fs from 'node:fs'
import promises, { type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname } from 'node:path'

/** An operation on a file or a directory entry of a commit log. */
export type FileOperation =
  | { readonly kind: 'create' | 'read' | 'flush' | 'remove' | 'flush names'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | {
      readonly kind: 'write'
      readonly path: string
      readonly bytes: Uint8Array
      readonly position: number
      /** The bytes are on the disk when the operation ends. */
      readonly isFlushed: boolean
      readonly descriptor: number
    }

export interface Interceptor {
  /** Called before the system call. */
  before?(operation: FileOperation): void
  /**
   * Called after a successful operation, before the program gets the result. If this function throws, the program gets
   * the error, as from a disk that reports an error although it has done the operation.
   */
  after?(operation: FileOperation): void
}

const folderName = 'commit-log'
const isLogFile = (path: unknown): path is string =>
  typeof path === 'string' && basename(dirname(path)) === folderName
const isLogFolder = (path: unknown): path is string =>
  typeof path === 'string' && basename(path) === folderName

interface OpenFile {
  readonly path: string
  readonly isFlushed: boolean
}

type Callback = (error: Error | null, ...results: unknown[]) => void

/** Calls `interceptor` for each operation of this thread from now on. */
export function intercept(interceptor: Interceptor): void {
  const open = new Map<number, OpenFile>()
  const run = <T>(operation: FileOperation, call: () => T): T => {
    interceptor.before?.(operation)
    const result = call()
    interceptor.after?.(operation)
    return result
  }
  const runAsync = async <T>(operation: FileOperation, call: () => Promise<T>): Promise<T> => {
    interceptor.before?.(operation)
    const result = await call()
    interceptor.after?.(operation)
    return result
  }
  const observed = (operation: FileOperation, callback: Callback): Callback => {
    interceptor.before?.(operation)
    return (error, ...results) => {
      try {
        if (error === null) interceptor.after?.(operation)
      } catch (fault) {
        callback(fault as Error)
        return
      }
      callback(error, ...results)
    }
  }
  interceptDescriptors(open, { run, observed })
  interceptNames({ run, runAsync })
  interceptHandles(runAsync)
  syncBuiltinESMExports()
}

function interceptDescriptors(
  open: Map<number, OpenFile>,
  {
    observed,
    run,
  }: {
    readonly run: <T>(operation: FileOperation, call: () => T) => T
    readonly observed: (operation: FileOperation, callback: Callback) => Callback
  },
): void {
  const { close, closeSync, fdatasync, fdatasyncSync, openSync, readSync, write, writeSync } = fs
  const replaced = {
    openSync(path: string, flags: string | number = 'r', mode?: number) {
      const descriptor = openSync(path, flags, mode)
      const isFlushed = typeof flags === 'number' && (flags & (fs.constants.O_DSYNC ?? 0)) !== 0
      if (isLogFile(path)) open.set(descriptor, { path, isFlushed })
      else open.delete(descriptor)
      return descriptor
    },
    close(descriptor: number, callback: Callback) {
      open.delete(descriptor)
      close(descriptor, callback)
    },
    closeSync(descriptor: number) {
      open.delete(descriptor)
      closeSync(descriptor)
    },
    readSync(descriptor: number, ...words: unknown[]) {
      const call = () => (readSync as (...words: unknown[]) => number)(descriptor, ...words)
      const file = open.get(descriptor)
      return file ? run({ kind: 'read', path: file.path }, call) : call()
    },
    writeSync(descriptor: number, ...words: unknown[]) {
      const call = () => (writeSync as (...words: unknown[]) => number)(descriptor, ...words)
      const file = open.get(descriptor)
      const [bytes, start, length, position] = words as [Uint8Array, number, number, number]
      if (!file) return call()
      return run(
        { kind: 'write', ...file, descriptor, bytes: bytes.subarray(start, start + length), position },
        call,
      )
    },
    write(descriptor: number, ...words: unknown[]) {
      const file = open.get(descriptor)
      const callback = words.at(-1) as Callback
      const [bytes, start, length, position] = words as [Uint8Array, number, number, number]
      if (file) {
        const piece = bytes.subarray(start, start + length)
        const operation: FileOperation = { kind: 'write', ...file, descriptor, bytes: piece, position }
        words[words.length - 1] = observed(operation, callback)
      }
      ;(write as (...words: unknown[]) => void)(descriptor, ...words)
    },
    fdatasync(descriptor: number, callback: Callback) {
      const file = open.get(descriptor)
      fdatasync(descriptor, file ? observed({ kind: 'flush', path: file.path }, callback) : callback)
    },
    fdatasyncSync(descriptor: number) {
      const file = open.get(descriptor)
      if (file) run({ kind: 'flush', path: file.path }, () => fdatasyncSync(descriptor))
      else fdatasyncSync(descriptor)
    },
  }
  Object.assign(fs, replaced)
}

function interceptNames({
  run,
  runAsync,
}: {
  readonly run: <T>(operation: FileOperation, call: () => T) => T
  readonly runAsync: <T>(operation: FileOperation, call: () => Promise<T>) => Promise<T>
}): void {
  const { unlinkSync } = fs
  const { rename } = promises
  Object.assign(fs, {
    unlinkSync(path: string) {
      if (isLogFile(path)) run({ kind: 'remove', path }, () => unlinkSync(path))
      else unlinkSync(path)
    },
  })
  Object.assign(promises, {
    rename(from: string, to: string) {
      if (!isLogFile(to)) return rename(from, to)
      return runAsync({ kind: 'rename', path: from, to }, () => rename(from, to))
    },
  })
}

function interceptHandles(
  runAsync: <T>(operation: FileOperation, call: () => Promise<T>) => Promise<T>,
): void {
  const { open } = promises
  Object.assign(promises, {
    async open(path: string, flags?: string, mode?: number) {
      if (isLogFolder(path)) {
        const folder = await open(path, flags, mode)
        const sync = folder.sync.bind(folder)
        folder.sync = () => runAsync({ kind: 'flush names', path }, sync)
        return folder
      }
      if (!isLogFile(path)) return open(path, flags, mode)
      const file: FileHandle = await runAsync({ kind: 'create', path }, () => open(path, flags, mode))
      const sync = file.sync.bind(file)
      const write = file.write.bind(file) as (...words: unknown[]) => Promise<unknown>
      file.sync = () => runAsync({ kind: 'flush', path }, sync)
      Object.assign(file, {
        write(bytes: Uint8Array, start: number, length: number, position: number) {
          const piece = bytes.subarray(start, start + length)
          const { fd: descriptor } = file
          return runAsync({ kind: 'write', path, bytes: piece, position, isFlushed: false, descriptor }, () =>
            write(bytes, start, length, position),
          )
        },
      })
      return file
    },
  })
}
