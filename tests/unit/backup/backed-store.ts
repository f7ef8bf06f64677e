// A store with a commit log whose records a shipper in the same process writes to a target. Each transaction writes one
// numbered row and the row of the newest commit.

import { join } from 'node:path'
import { pino } from 'pino'
import type { BackupStatus } from '../../../src/backup/backup-status.ts'
import { planRestore } from '../../../src/backup/catalogue.ts'
import { restoreInto } from '../../../src/backup/restore.ts'
import { Shipper } from '../../../src/backup/shipper.ts'
import type { BackupTarget } from '../../../src/backup/target.ts'
import { type Clock, systemClock } from '../../../src/base/clock.ts'
import { epoch, type Micros } from '../../../src/base/micros.ts'
import { type Announcement, localTimeline, type Timeline } from '../../../src/base/timeline.ts'
import { systemTimers, type Timers } from '../../../src/base/timers.ts'
import { everyKey, type KeyValueStore } from '../../../src/storage/kv/kv-contract.ts'
import { openFollower } from '../../../src/storage/log/follower.ts'
import { openLogged, type RecordSink } from '../../../src/storage/log/logged-store.ts'
import type { ChainPlace } from '../../../src/storage/log/segment.ts'
import type { LogDisk } from '../../../src/storage/log/segment-files.ts'
import { commitWrite } from '../../../src/storage/store/last-commit.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/program.ts'

interface Options {
  readonly data: string
  readonly target: BackupTarget
  readonly waitingBytesMax?: number
  readonly baseEveryMicros?: number
  readonly maintainEveryMs?: number
  readonly retentionDays?: number
  readonly disk?: LogDisk
  readonly clock?: Clock
}

/** Short waits, such as the second until the last commits are sealed, pass fifty times as fast. */
const timers: Timers = {
  after: (ms, callback) => systemTimers.after(ms <= 1000 ? ms / 50 : ms, callback),
  every: systemTimers.every,
}

/** Begins the keys of numbered rows. */
const rowTag = 0x7a

const keyOf = (number: number) => Buffer.from([rowTag, ...Buffer.from(String(number).padStart(8, '0'))])

/** An open store and its shipper. */
export class BackedStore {
  readonly kv: KeyValueStore
  readonly shipper: Shipper
  readonly #running: Promise<void>
  readonly #timeline: Timeline
  /** Sends a watermark to the shipper. */
  readonly sendWatermark: () => void
  #newestTime = epoch
  status: BackupStatus | undefined

  constructor({ clock = systemClock, data, disk, ...options }: Options) {
    this.#timeline = localTimeline(() => clock.now())
    let begun: { readonly log: Uint8Array; readonly place: ChainPlace } | undefined
    let before: ChainPlace
    const early: [Buffer, ChainPlace, ChainPlace][] = []
    let shipper: Shipper | undefined
    const records: RecordSink = {
      begin: (log, place) => {
        begun = { log: Uint8Array.from(log), place }
        before = place
      },
      add: (bytes, place) => {
        const added = [Buffer.from(bytes), before, place] as [Buffer, ChainPlace, ChainPlace]
        before = place
        if (shipper) shipper.add(...added)
        else early.push(added)
      },
      end: async () => undefined,
    }
    this.kv = openLogged({ path: data, records, ...(disk && { disk }) })
    const { log, place } = begun as unknown as { readonly log: Uint8Array; readonly place: ChainPlace }
    shipper = new Shipper({
      retentionDays: 7,
      ...options,
      ...{ data, log, place, clock, timers, logger: pino({ level: 'silent' }) },
      onStatus: status => {
        this.status = status
      },
    })
    for (const added of early) shipper.add(...added)
    this.shipper = shipper
    this.sendWatermark = () => this.shipper.addWatermark(before, this.#timeline.reach().upTo ?? epoch)
    this.#running = shipper.run()
  }

  /** Announces a commit. */
  announce(): Announcement {
    return this.#timeline.announce(epoch)
  }

  /** Commits transactions at once; resolves with the time of each. */
  commit(numbers: readonly number[]): Promise<Micros[]> {
    return Promise.all(numbers.map(number => this.commitAt(this.announce(), number)))
  }

  /** Commits an announced transaction; resolves with its time. */
  async commitAt(announcement: Announcement, number: number): Promise<Micros> {
    const { time } = announcement
    this.#newestTime = Math.max(this.#newestTime, time)
    const row = { key: keyOf(number), value: Buffer.from(`row ${number}`) }
    const commit = commitWrite({ time, schemaTime: time, chosenIdsMs: 0 })
    try {
      return await this.kv.transact(() => ({ result: time, writes: [row, commit] }))
    } finally {
      announcement.end()
    }
  }

  /** Resolves when the target has a base copy and everything that was committed. */
  async settled(): Promise<void> {
    await eventually('the backup has everything', () => {
      const { newest_restorable: newest = null, state, waiting_bytes: waiting } = this.status ?? {}
      return state === 'running' && waiting === 0 && newest !== null && newest >= this.#newestTime
    })
  }

  /** Commits transactions, and waits until the backup has them. */
  async commitSettled(numbers: readonly number[]): Promise<Micros[]> {
    const times = await this.commit(numbers)
    await this.settled()
    return times
  }

  async close(): Promise<void> {
    await this.kv.close()
    await this.shipper.stop(5_000)
    await this.#running
  }
}

/** A target with some methods replaced. */
export function withMethods(target: BackupTarget, methods: Partial<BackupTarget>): BackupTarget {
  return {
    name: target.name,
    put: (name, bytes) => target.put(name, bytes),
    get: name => target.get(name),
    getTagged: name => target.getTagged(name),
    putTagged: (name, bytes, tag) => target.putTagged(name, bytes, tag),
    list: (prefix, after) => target.list(prefix, after),
    remove: name => target.remove(name),
    ...methods,
  }
}

/** The numbers of the rows in a store that was restored as of `at`. */
export async function restoredNumbers(target: BackupTarget, at?: Micros): Promise<number[]> {
  const folder = await temporaryFolder()
  await restoreInto(target, await planRestore(target, at), folder)
  return numbersIn(folder)
}

/** The numbers of the rows of a data directory. */
async function numbersIn(folder: string): Promise<number[]> {
  const kv = openFollower({ path: join(folder) })
  try {
    const keys = kv.read(view => Array.from(view.range(everyKey), ({ key }) => Buffer.from(key)))
    return keys.filter(([tag]) => tag === rowTag).map(key => Number(key.subarray(1).toString()))
  } finally {
    await kv.close()
  }
}
