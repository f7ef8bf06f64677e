// The worker behind heavy.ts.

import { NotationError } from '../language.ts'
import type { HeavyReply } from './heavy.ts'
import { type HeavyTask, perform } from './heavy-tasks.ts'

addEventListener('message', ({ data }: MessageEvent<{ readonly id: number; readonly task: HeavyTask }>) => {
  const { id, task } = data
  let reply: HeavyReply
  try {
    reply = { id, result: perform(task) }
  } catch (cause) {
    const from = cause instanceof NotationError ? cause.from : undefined
    reply = { id, message: (cause as Error).message, from }
  }
  postMessage(reply)
})
