// Reads the body of an HTTP response within limits, because the service at an address can be any program.

import { joinBytes } from './bytes.ts'
import { systemTimers } from './timers.ts'

/** The largest responses of a service have a few times the size of a document. */
const bodyBytesMax = 134_217_728
/** Milliseconds for a body, in addition to the time for its bytes (see {@link bytesPerMs}). */
const bodyMs = 30_000
/** For this many bytes, a body gets one additional millisecond. */
const bytesPerMs = 8
const checkEveryMs = 1_000

/** The response is too long or too slow. The message is a clause that begins with `its response`. */
export class ResponseLimitError extends Error {
  override name = 'ResponseLimitError'
}

/** Throws {@link ResponseLimitError}, and the errors of `fetch`. */
export async function responseText(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  let waitedMs = 0
  let limit: ResponseLimitError | undefined
  const stop = (reason: string) => {
    limit = new ResponseLimitError(reason)
    // The connection may already be closed.
    reader.cancel().catch(() => undefined)
  }
  const cancelChecks = systemTimers.every(checkEveryMs, () => {
    waitedMs += checkEveryMs
    if (waitedMs > bodyMs + bytes / bytesPerMs) stop('its response is too slow')
  })
  try {
    for (let read = await reader.read(); !read.done && limit === undefined; read = await reader.read()) {
      chunks.push(read.value)
      bytes += read.value.length
      if (bytes > bodyBytesMax) stop(`its response is longer than ${bodyBytesMax} bytes`)
    }
  } finally {
    cancelChecks()
  }
  if (limit !== undefined) throw limit
  return new TextDecoder().decode(joinBytes(chunks))
}
