// Shows the progress of a task that updates counters in an object.

import { useState } from 'preact/hooks'

const progressEveryMs = 200

/** Samples counters several times per second. `begin` returns the object in which the task updates its counters. */
export function useProgress<T extends object>() {
  const [progress, setProgress] = useState<T | undefined>(undefined)
  const begin = (current: T) => {
    const sample = () => setProgress({ ...current })
    sample()
    const timer = setInterval(sample, progressEveryMs)
    const stop = () => {
      clearInterval(timer)
      sample()
    }
    return { current, stop }
  }
  return { progress, begin }
}
