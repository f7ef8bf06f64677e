// Immediate exits of the program. Other modules do not exit the process themselves: they get these functions as
// `onFatal`.

/** Exit status of a process whose replica of the store is invalid and will be rebuilt at the next start. */
export const divergedExitCode = 75

/** The exit status of a process that cannot determine the outcome of a commit, for example after a failed flush. */
const lostFlushExitCode = 74

/** Exits when the outcome of a commit is unknown. The next start continues with the data that is on the disk. */
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
