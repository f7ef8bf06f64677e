// Preloaded into a service by `--import`: its time of day is some milliseconds ahead of everybody else's, or behind.

const aheadMs = Number(process.env.CLOCK_AHEAD_MS)
const systemNow = Date.now
Date.now = () => systemNow() + aheadMs
if (typeof Temporal !== 'undefined') {
  const instant = Temporal.Now.instant
  Temporal.Now.instant = () => instant.call(Temporal.Now).add({ milliseconds: aheadMs })
}
