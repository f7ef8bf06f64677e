// The worker that runs the tasks of `text-task-runner.ts`.

import { NotationError } from '../language.ts'
import type { TextTaskReply } from './text-task-runner.ts'
import { perform, type TextTask } from './text-tasks.ts'

addEventListener('message', ({ data }: MessageEvent<{ readonly id: number; readonly task: TextTask }>) => {
  const { id, task } = data
  let reply: TextTaskReply
  try {
    reply = { id, result: perform(task) }
  } catch (cause) {
    // An error loses its own fields in `postMessage`.
    const range = cause instanceof NotationError ? { from: cause.from, to: cause.to } : undefined
    reply = { id, message: (cause as Error).message, range }
  }
  postMessage(reply)
})
