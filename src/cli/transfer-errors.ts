// Reports failures of imports, exports and schema files. Not part of transfer-target.ts, because commands that only
// send requests to a service must not load the engine.

import { reasonOf } from '../base/system-reasons.ts'
import { TransferError } from '../transfer/record.ts'
import { CommandError } from './command.ts'

/** Turns failures of imports and exports into one-line errors for the user. */
export async function withTransferErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof TransferError) throw new CommandError(cause.message)
    // Errors of the system: a folder without read permission, a full disk.
    if (cause instanceof Error && 'syscall' in cause) {
      const { path = 'the files' } = cause as NodeJS.ErrnoException
      throw new CommandError(`${path}: ${reasonOf(cause)}`)
    }
    throw cause
  }
}
