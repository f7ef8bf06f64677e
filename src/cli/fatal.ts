// Immediate exits of the program. Other modules do not exit the process themselves: they get these functions as
// `onFatal`.

/** Exit status of a process whose replica of the store is invalid and will be rebuilt at the next start. */
export const divergedExitCode = 75

/** The exit status of a process whose disk has failed a flush of the commit log. */
const lostFlushExitCode = 74

/** Exits after the disk has failed a flush. The next start continues with the data that is on the disk. */
export function exitLostFlush(): never {
  process.exit(lostFlushExitCode)
}

/** Exits after the replica of the store was discarded. */
export function exitDiverged(): never {
  process.exit(divergedExitCode)
}

/**
 * Kills this process. A clean exit could hang, because the exit waits for LMDB's thread. This thread holds the write
 * lock of LMDB and waits for the main thread.
 */
export function killSelf(): void {
  process.kill(process.pid, 'SIGKILL')
}
