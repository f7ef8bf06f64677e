// Preloaded into a node by `--import`: the notice of a shutdown, a timer of NOTICE_MS milliseconds, ends when the file in
// NOTICE_END_MARK exists. So the test sends all its requests during the notice, however slow the machine is.

import { existsSync } from 'node:fs'

const noticeMs = Number(process.env.NOTICE_MS)
const mark = process.env.NOTICE_END_MARK as string
const { clearInterval, setInterval, setTimeout } = globalThis

globalThis.setTimeout = ((callback: () => void, ms?: number, ...words: []) => {
  if (ms !== noticeMs) return setTimeout(callback, ms, ...words)
  const timer = setInterval(() => {
    if (!existsSync(mark)) return
    clearInterval(timer)
    callback()
  }, 20)
  return timer
}) as typeof setTimeout
