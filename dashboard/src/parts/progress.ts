// A hook for the progress of a task, which updates counters in an object.

import { useState } from 'preact/hooks'

const progressEveryMs = 200

/**
 * Samples the counters of a task several times per second. The task updates the object that it passes to `begin`, which
 * returns the same object as `counters`. `stop` ends the sampling and shows the last values.
 */
export function useProgress<T extends object>() {
  const [progress, setProgress] = useState<T | undefined>(undefined)
  const begin = (counters: T) => {
    const sample = () => setProgress({ ...counters })
    sample()
    const timer = setInterval(sample, progressEveryMs)
    const stop = () => {
      clearInterval(timer)
      sample()
    }
    return { counters, stop }
  }
  const clear = () => setProgress(undefined)
  return { progress, begin, clear }
}
