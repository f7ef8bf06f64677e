// Measures the entries and bytes of an index on request, because the service reads all rows of the index.

import { useState } from 'preact/hooks'
import { pastTime } from '../router.ts'
import { callApi } from '../service/client.ts'
import type { IndexPart } from '../service/collection-indexes.ts'
import { currentSecret } from '../session.ts'
import { Button } from './button.tsx'
import { useAction } from './load.tsx'
import { Problem } from './problem.tsx'
import { bytesText } from './quantities.ts'

interface Size {
  readonly entries: number
  readonly bytes: number
  readonly after: string | null
}

const nothing: Size = { entries: 0, bytes: 0, after: null }

/** Hidden at a past time, because only current sizes are known. */
export function IndexSize({ part, name }: { readonly part: IndexPart; readonly name: string }) {
  const [size, setSize] = useState<Size | undefined>(undefined)
  const action = useAction()
  if (pastTime.value !== undefined) return null
  const measure = () =>
    action.start(async signal => {
      let sum = nothing
      do {
        const body = { ...part, ...(sum.after !== null && { after: sum.after }) }
        const page = await callApi<Size>('POST', '/api/v1/indexes/_size', currentSecret.value, body, signal)
        sum = { entries: sum.entries + page.entries, bytes: sum.bytes + page.bytes, after: page.after }
        setSize(sum)
      } while (sum.after !== null)
    })
  const isPartial = size !== undefined && size.after !== null
  return (
    <span class="index-size">
      {size && (
        <span role="status">
          {size.entries} {size.entries === 1 ? 'entry' : 'entries'}, {bytesText(size.bytes)}
          {isPartial && ' so far'}
        </span>
      )}{' '}
      {action.isRunning ? (
        <Button class="quiet" aria-label={`Stop measuring ${name}`} onClick={action.cancel}>
          Stop
        </Button>
      ) : (
        (size === undefined || isPartial) && (
          <Button class="quiet" aria-label={`Measure ${name}`} onClick={measure}>
            Measure
          </Button>
        )
      )}
      {action.error && <Problem error={action.error} />}
    </span>
  )
}
