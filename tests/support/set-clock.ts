// Preloaded into a service by `--import`: shifts its time of day by some milliseconds, forward or back.

const aheadMs = Number(process.env.CLOCK_AHEAD_MS)
const systemNow = Date.now
Date.now = () => systemNow() + aheadMs
if (typeof Temporal !== 'undefined') {
  const instant = Temporal.Now.instant
  Temporal.Now.instant = () => instant.call(Temporal.Now).add({ milliseconds: aheadMs })
}
