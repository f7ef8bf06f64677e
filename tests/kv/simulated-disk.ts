// A disk that loses unflushed data, and that can report a full disk after it has stored a write. It follows the
// operations of the program on the files of a commit log, and creates the folder that a power failure would leave,
// which contains any subset of the unflushed writes and names. LMDB's file is copied as it is, because LMDB flushes a
// commit before other readers see it.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type FileOperation, type Interceptor, intercept } from '../support/file-operations.ts'
import type { RandomSource } from '../support/seeded.ts'

const folderName = 'commit-log'
/** The unit that a disk writes completely or not at all. */
const sectorBytes = 512
/** Bytes of LMDB's two pages that name its newest commits. */
const metaBytes = 8192

interface PendingWrite {
  readonly bytes: Buffer
  readonly position: number
}

interface File {
  durable: Buffer
  pending: readonly PendingWrite[]
}

/** A change of names: `file` gets the name `to`, and the name `from` disappears. */
interface NameChange {
  readonly file: File
  readonly from?: string
  readonly to?: string
}

/** The error that a full disk reports. */
export function fullDiskError(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
}

const disks = new Set<SimulatedDisk>()
const folderOf = ({ kind, path }: FileOperation) => (kind === 'flush names' ? path : dirname(path))
const diskOf = (operation: FileOperation) => {
  const folder = folderOf(operation)
  return disks.values().find(disk => disk.folder === folder)
}
intercept({
  before: operation => diskOf(operation)?.before(operation),
  after: operation => diskOf(operation)?.after(operation),
})

export class SimulatedDisk implements Interceptor {
  readonly folder: string
  readonly #path: string
  readonly #onOperation: (kind: FileOperation['kind']) => void
  readonly #isFull: () => boolean
  /** Files by their names: as the program sees them, and those that every power failure leaves. */
  readonly #names = new Map<string, File>()
  #durable = new Map<string, File>()
  #changes: readonly NameChange[] = []
  /** The changes that an operation makes durable if it succeeds. */
  readonly #flushed = new WeakMap<FileOperation, () => void>()

  /**
   * Follows the data directory `path`, all of whose content is durable now. `onOperation` is called while an operation is
   * under way, and right after it. `isFull` is called for each write and flush; if it returns true, the program gets
   * ENOSPC although the disk has done the operation.
   */
  constructor(
    path: string,
    onOperation: (kind: FileOperation['kind']) => void = () => undefined,
    isFull: () => boolean = () => false,
  ) {
    this.#isFull = isFull
    this.folder = join(path, folderName)
    this.#path = path
    this.#onOperation = onOperation
    mkdirSync(this.folder, { recursive: true })
    for (const name of readdirSync(this.folder))
      this.#names.set(name, { durable: readFileSync(join(this.folder, name)), pending: [] })
    this.#durable = new Map(this.#names)
    disks.add(this)
  }

  /** Makes the disk lack bytes of a file that the page cache contains, as after a failed write or flush. */
  forget(name: string, start: number, end: number): void {
    const file = this.#names.get(name)
    if (file) file.durable = Buffer.from(file.durable).fill(0, start, end)
  }

  /** Stops following. */
  end(): void {
    disks.delete(this)
  }

  before(operation: FileOperation): void {
    const name = basename(operation.path)
    const file = this.#names.get(name)
    switch (operation.kind) {
      case 'create': {
        const created: File = { durable: Buffer.alloc(0), pending: [] }
        this.#names.set(name, created)
        this.#changes = [...this.#changes, { file: created, to: name }]
        break
      }
      case 'write':
        if (file) this.#write(file, operation)
        break
      case 'flush':
        if (file) this.#flushed.set(operation, flushOf(file, file.pending))
        break
      case 'rename':
        if (file) this.#changes = [...this.#changes, { file, from: name, to: basename(operation.to) }]
        break
      case 'remove':
        if (file) this.#changes = [...this.#changes, { file, from: name }]
        break
      case 'flush names': {
        const changes = this.#changes
        this.#flushed.set(operation, () => {
          for (const change of changes) apply(change, this.#durable)
          this.#changes = this.#changes.slice(changes.length)
        })
        break
      }
      case 'read':
        return
    }
    this.#onOperation(operation.kind)
  }

  after(operation: FileOperation): void {
    if (operation.kind === 'read') return
    const name = basename(operation.path)
    const file = this.#names.get(name)
    if (operation.kind === 'remove') this.#names.delete(name)
    if (operation.kind === 'rename' && file) {
      this.#names.delete(name)
      this.#names.set(basename(operation.to), file)
    }
    this.#flushed.get(operation)?.()
    this.#onOperation(operation.kind)
    if ((operation.kind === 'write' || operation.kind === 'flush') && this.#isFull()) throw fullDiskError()
  }

  #write(file: File, operation: Extract<FileOperation, { kind: 'write' }>): void {
    const write = { bytes: Buffer.from(operation.bytes), position: operation.position }
    file.pending = [...file.pending, write]
    if (operation.isFlushed) this.#flushed.set(operation, flushOf(file, [write]))
  }

  /** Makes the data directory that a power failure would leave now, as `source` decides. */
  crash(to: string, source: RandomSource): void {
    const names = new Map(this.#durable)
    // A journal loses the last changes; other file systems lose any.
    const isOrdered = source.below(2) === 0
    const count = isOrdered ? source.below(this.#changes.length + 1) : this.#changes.length
    for (const change of this.#changes.slice(0, count))
      if (isOrdered || source.below(2) === 0) apply(change, names)
    mkdirSync(join(to, folderName), { recursive: true })
    for (const [name, { durable, pending }] of names) {
      let content = durable
      for (const write of pending)
        for (const sector of sectorsOf(write)) if (source.below(2) === 0) content = written(content, sector)
      writeFileSync(join(to, folderName, name), content)
    }
    writeFileSync(join(to, 'data.mdb'), imageIn(this.#path))
  }
}

function apply({ file, from, to }: NameChange, names: Map<string, File>): void {
  if (from !== undefined) names.delete(from)
  if (to !== undefined) names.set(to, file)
}

function flushOf(file: File, writes: readonly PendingWrite[]): () => void {
  return () => {
    for (const write of writes) file.durable = written(file.durable, write)
    file.pending = file.pending.filter(write => !writes.includes(write))
  }
}

function* sectorsOf({ bytes, position }: PendingWrite): Generator<PendingWrite> {
  const end = position + bytes.length
  for (let at = position; at < end; ) {
    const next = Math.min(end, (Math.floor(at / sectorBytes) + 1) * sectorBytes)
    yield { bytes: bytes.subarray(at - position, next - position), position: at }
    at = next
  }
}

/** Content after a write. */
function written(content: Buffer, { bytes, position }: PendingWrite): Buffer {
  const after = Buffer.alloc(Math.max(content.length, position + bytes.length))
  content.copy(after)
  bytes.copy(after, position)
  return after
}

/** LMDB's file while no commit came in between; pages of a commit under way are not part of its newest one. */
function imageIn(path: string): Buffer {
  const file = join(path, 'data.mdb')
  const metas = () => readFileSync(file).subarray(0, metaBytes)
  for (;;) {
    // A commit that enlarges the file during the read leaves its meta pages in an image that is too short.
    const before = metas()
    const image = readFileSync(file)
    if (before.equals(metas())) return image
  }
}
