// How this program ends when it must not go on. Only the program decides that: libraries get one of these as `onFatal`.

/** The exit status of a process whose local copy of the store is invalid, and rebuilt at the next start. */
export const divergedExitCode = 75

/** Ends this process after its local copy of the store was discarded. */
export function exitDiverged(): never {
  process.exit(divergedExitCode)
}

/**
 * Kills this process. A clean exit could take forever: a thread of LMDB that holds the writer's lock waits for the main
 * thread, which would wait for it.
 */
export function killSelf(): void {
  process.kill(process.pid, 'SIGKILL')
}
