// The only place where something is put off until later. A `Timers` is passed in where waiting is needed, so
// tests advance time by hand.

/** Takes back a call that was put off; harmless when it has already happened. */
export type Cancel = () => void

export interface Timers {
  /** Calls `callback` once, `ms` milliseconds from now. */
  after(ms: number, callback: () => void): Cancel
  /** Calls `callback` every `ms` milliseconds. */
  every(ms: number, callback: () => void): Cancel
}

/** The longest delay the runtime can hold, in milliseconds; longer ones would fire at once. */
const delayMaxMs = 2_147_483_647

/** The runtime's timers. They do not keep the process alive. */
export const systemTimers: Timers = {
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, delayMaxMs)).unref()
    return () => clearTimeout(timer)
  },
  every(ms, callback) {
    const timer = setInterval(callback, Math.min(ms, delayMaxMs)).unref()
    return () => clearInterval(timer)
  },
}

/** Keeps the process alive until it is taken back, even when it waits for nothing but timers. */
export function stayAlive(): Cancel {
  const timer = setInterval(() => undefined, delayMaxMs)
  return () => clearInterval(timer)
}

/** Settles as `promise` does; rejects with what `late` makes when that takes longer than `ms` milliseconds. */
export async function within<T>(
  promise: Promise<T>,
  ms: number,
  timers: Timers,
  late: () => unknown,
): Promise<T> {
  let cancel: Cancel | undefined
  const end = new Promise<never>((_, reject) => {
    cancel = timers.after(ms, () => reject(late()))
  })
  try {
    return await Promise.race([promise, end])
  } finally {
    cancel?.()
  }
}

/** Resolves `ms` milliseconds from now. */
export function wait(ms: number, timers: Timers = systemTimers): Promise<void> {
  return new Promise(resolve => {
    timers.after(ms, resolve)
  })
}
