// The program of the process that writes the continuous backup of a service. It receives the records of the commit log on its
// standard input. When the input ends, the service has ended, in order or not: the process writes what it has and exits.

import { Socket } from 'node:net'
import type { BackupStatus } from '../backup/backup-status.ts'
import { BackupError } from '../backup/errors.ts'
import type { BackupSetup, ToBackup } from '../backup/messages.ts'
import { openTarget } from '../backup/open-target.ts'
import { Shipper } from '../backup/shipper.ts'
import { writeStatus } from '../backup/status.ts'
import { systemClock } from '../base/clock.ts'
import { receiveFrames } from '../base/frames.ts'
import { lowerPriority } from '../base/low-priority.ts'
import { stayAlive, systemTimers } from '../base/timers.ts'
import { openServiceLog } from '../server/service-log.ts'

// The service decides when to stop; a signal from the terminal is for the service.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

/** Steps of priority below that of the service. */
const niceness = 5
/** Milliseconds for which the process goes on writing when the service has ended. */
const graceMs = 5_000
/** How often the state is written to the data directory at most, in milliseconds. */
const statusEveryMs = 500

const input = new Socket({ fd: 0 })
let shipper: Promise<Shipper> | undefined

receiveFrames(input, ({ body, head }) => {
  const message = head as ToBackup
  if (message.kind === 'setup') {
    shipper = start(message.setup)
    return
  }
  const records = Buffer.concat(body)
  void shipper?.then(opened => opened.add(records, message.before, message.place))
})

const release = stayAlive()
input.on('error', () => {})
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
  const opened = new Shipper({ ...setup, target, clock: systemClock, timers: systemTimers, logger, onStatus })
  void opened.run()
  lowerPriority(niceness)
  return opened
}

/** Writes the newest state, at most every half second but for the last one. */
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
