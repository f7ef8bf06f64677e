// Immediate exits of a process of the service. Code that detects a fatal error, such as the storage, gets these
// functions as callbacks.

/** The replica of the store is invalid and will be rebuilt at the next start. */
export const divergedExitCode = 75

/** The process cannot determine the outcome of a commit, for example after a failed flush. */
const lostFlushExitCode = 74

/** The next start continues with the data that is on the disk. */
export function exitLostFlush(): never {
  process.exit(lostFlushExitCode)
}

/** Exits after the replica of the store was discarded. */
export function exitDiverged(): never {
  process.exit(divergedExitCode)
}

/**
 * A clean exit could hang: it waits for LMDB's thread, which holds the write lock of LMDB and waits for the main
 * thread.
 */
export function killSelf(): void {
  process.kill(process.pid, 'SIGKILL')
}
