// The thread that applies segments of the commit log to LMDB.

import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { causeText } from '../kv/store-errors.ts'
import { closeFolder, openFolder } from '../lmdb/folder.ts'
import { type ApplyRequest, applySegment } from './apply.ts'

/** `failure`: the reason why the request failed. */
export interface ApplyReply {
  readonly failure?: string
}

if (!isMainThread && parentPort) {
  const port = parentPort
  const folder = openFolder(workerData as string, { use: 'existing' })
  port.on('message', (request: ApplyRequest | 'close') => {
    if (request === 'close') {
      void closeFolder(folder).then(() => port.close())
      return
    }
    port.postMessage(replyTo(() => applySegment(folder, request)))
  })
}

function replyTo(apply: () => void): ApplyReply {
  try {
    apply()
    return {}
  } catch (error) {
    return { failure: causeText(error) }
  }
}
