// Writes the continuous backup of a service, in a process of its own. Standard input carries the records of the commit
// log; standard output reports written records. When the service exits or crashes, its end of the pipe closes: the
// process then writes its pending records and exits.

import { Socket } from 'node:net'
import type { BackupStatus } from '../backup/backup-status.ts'
import type { BackupSetup, ToBackup, WrittenRecords } from '../backup/messages.ts'
import { openTarget } from '../backup/open-target.ts'
import { Shipper } from '../backup/shipper.ts'
import { writeStatus } from '../backup/status-file.ts'
import { BackupError } from '../backup/target.ts'
import { systemClock } from '../base/clock.ts'
import { receiveFrames, sendFrame } from '../base/frames.ts'
import { lowerPriority } from '../base/system-process.ts'
import { stayAlive, systemTimers } from '../base/timers.ts'
import { openServiceLog } from '../server/service-log.ts'

// The service decides when this process stops, so a signal from the terminal is ignored.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

/** Lower priority than the service. */
const niceness = 5
/** Milliseconds after the exit of the service when the process drops the records that are still pending. */
const graceMs = 5_000
/** Minimum milliseconds between two writes of the backup's state to the data directory. */
const statusEveryMs = 500

const input = new Socket({ fd: 0 })
let shipper: Promise<Shipper> | undefined

receiveFrames(input, ({ body, head }) => {
  const message = head as ToBackup
  if (message.kind === 'setup') {
    shipper = start(message.setup)
    return
  }
  if (message.kind === 'watermark') {
    void shipper?.then(opened => opened.addWatermark(message.place, message.time))
    return
  }
  const records = Buffer.concat(body)
  void shipper?.then(opened => opened.add(records, message.before, message.place))
})

const release = stayAlive()
input.on('error', () => {})
// After a crash of the service, no process reads the reports.
process.stdout.on('error', () => {})
input.once('close', async () => {
  release()
  await (await shipper)?.stop(graceMs)
  process.exit(0)
})

async function start({ logLevel, target: address, ...setup }: BackupSetup): Promise<Shipper> {
  const logger = openServiceLog(logLevel)
  const target = await openTarget(address).catch(cause => {
    if (!(cause instanceof BackupError)) throw cause
    logger.fatal({ reason: cause.message }, 'the continuous backup cannot start')
    process.exit(1)
  })
  const onStatus = statusWriter(setup.data)
  const onWritten = (sequence: number) => sendFrame(process.stdout, { sequence } satisfies WrittenRecords)
  const system = { clock: systemClock, timers: systemTimers }
  const opened = new Shipper({ ...setup, ...system, target, logger, onStatus, onWritten })
  void opened.run()
  lowerPriority(niceness)
  return opened
}

/** Writes only the newest of several states that arrive within {@link statusEveryMs} milliseconds. */
function statusWriter(data: string): (status: BackupStatus) => void {
  let newest: BackupStatus | undefined
  let writtenMs = Number.NEGATIVE_INFINITY
  const write = () => {
    if (newest === undefined) return
    writeStatus(data, newest)
    newest = undefined
    writtenMs = systemClock.elapsedMs()
  }
  return status => {
    const isScheduled = newest !== undefined
    newest = status
    const ageMs = systemClock.elapsedMs() - writtenMs
    if (status.state === 'stopped' || ageMs >= statusEveryMs) write()
    else if (!isScheduled) systemTimers.after(statusEveryMs - ageMs, write)
  }
}
