// The live events of an event source: a query of version 10 returns the source, and each event is a row.

import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { keyText, quoted } from '../../../src/fql10/text/quoted.ts'
import { Button } from '../parts/button.tsx'
import { Editor } from '../parts/editor.tsx'
import { Choice, optionsOf } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { handleError, useLoad } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { Table } from '../parts/table.tsx'
import { Instant } from '../parts/time.tsx'
import { previewOf, Tree } from '../parts/values.tsx'
import { followSource, type SourceEvent, sourceIn } from '../service/events.ts'
import { isAborted } from '../service/faults.ts'
import { allNames } from '../service/schema.ts'
import { currentSecret, forgetOnSignOut } from '../session.ts'
import { shownValue } from '../wire/tagged.ts'
import { MarkedError, marksOf, queryOf10, withMarkedErrors } from './shell-queries.ts'

/** Older events are removed from the table. */
const eventsMax = 500

/** The query that returns the event source. The text remains when the user opens another page. */
const sourceText = signal('')
forgetOnSignOut(() => {
  sourceText.value = ''
})

type State = 'stopped' | 'watching' | 'paused' | 'away'

const stateTexts: Readonly<Record<State, string>> = {
  stopped: 'Not watching. Choose a collection or enter an event source, then choose Watch.',
  watching: 'Watching: new events appear below.',
  paused: 'Paused: new events appear when you choose Resume.',
  away: 'The service cannot be reached. Reconnecting: no events are lost.',
}

export function Events() {
  const text = sourceText.value
  const setText = (entered: string) => {
    sourceText.value = entered
  }
  const watching = useWatch()
  const { error, events, heldBack, state } = watching
  const shown = error instanceof MarkedError ? error.cause : error
  const isOn = state !== 'stopped'
  const start = () => watching.start(text)
  return (
    <>
      <Heading title="Events" />
      <p class="hint">
        Each change of a collection or of an index is an event, whichever language made it. An event source is
        a query that selects events and their fields, for example:{' '}
        <code>{'items.where(.price < 10).eventSource() { name, price }'}</code>
      </p>
      <CollectionChoice onChosen={setText} />
      <div class="editor-small">
        <Editor
          label="Source"
          value={text}
          notation="version 10"
          marks={marksOf(error)}
          placeholder="items.all().eventSource()"
          onChange={setText}
          onSubmit={start}
        />
      </div>
      <div class="form-buttons">
        <Button class="primary" disabled={text.trim() === ''} onClick={start}>
          {isOn ? 'Switch to this source' : 'Watch'}
        </Button>
        {isOn && (
          <Button onClick={watching.togglePause}>
            {state === 'paused' ? `Resume (${heldBack} new)` : 'Pause'}
          </Button>
        )}
        {isOn && <Button onClick={watching.stop}>Stop</Button>}
        {events.length > 0 && <Button onClick={watching.clear}>Clear</Button>}
      </div>
      <p role="status">{stateTexts[state]}</p>
      {shown && <Problem error={shown} showsPosition />}
      {events.length > 0 && <EventTable events={events} />}
    </>
  )
}

function CollectionChoice({ onChosen }: { onChosen: (text: string) => void }) {
  const names = useLoad(signal => allNames('collections', signal), [])
  const [name, setName] = useState('')
  const choose = (chosen: string) => {
    setName(chosen)
    const collection = keyText(chosen) === chosen ? chosen : `Collection(${quoted(chosen)})`
    if (chosen !== '') onChosen(`${collection}.all().eventSource()`)
  }
  // Callers who may not list collections type the name of the collection in the editor.
  if (!names.data || names.data.length === 0) return null
  const options = optionsOf(names.data)
  return (
    <Choice
      label="All events of a collection"
      value={name}
      onChange={choose}
      options={[['', 'choose…'], ...options]}
    />
  )
}

function useWatch() {
  const [state, setState] = useState<State>('stopped')
  const [events, setEvents] = useState<readonly SourceEvent[]>([])
  const [pausedEvents, setPausedEvents] = useState<readonly SourceEvent[]>([])
  const [error, setError] = useState<Error | undefined>(undefined)
  const controller = useRef<AbortController | undefined>(undefined)
  const isPaused = useRef(false)
  useEffect(() => () => controller.current?.abort(), [])
  const newestFirst = (event: SourceEvent) => (before: readonly SourceEvent[]) =>
    [event, ...before].slice(0, eventsMax)
  const begin = async (text: string, { signal }: AbortController) => {
    const as = currentSecret.value
    const { text: body } = await withMarkedErrors(queryOf10(text), as, query => query.run(as, signal))
    const token = sourceIn(body)
    setState('watching')
    const on = {
      event: (event: SourceEvent) => (isPaused.current ? setPausedEvents : setEvents)(newestFirst(event)),
      away: (isAway: boolean) => {
        if (!isPaused.current) setState(isAway ? 'away' : 'watching')
      },
    }
    await followSource(token, as, on, signal)
  }
  const stop = () => {
    controller.current?.abort()
    isPaused.current = false
    setPausedEvents([])
    setState('stopped')
  }
  const start = (text: string) => {
    stop()
    setError(undefined)
    const own = new AbortController()
    controller.current = own
    begin(text, own).catch(cause => {
      if (own.signal.aborted || isAborted(cause)) return
      stop()
      setError(handleError(cause))
    })
  }
  const togglePause = () => {
    isPaused.current = !isPaused.current
    setState(isPaused.current ? 'paused' : 'watching')
    if (isPaused.current) return
    setEvents(before => [...pausedEvents, ...before].slice(0, eventsMax))
    setPausedEvents([])
  }
  return {
    state,
    events,
    heldBack: pausedEvents.length,
    error,
    start,
    stop,
    togglePause,
    clear: () => setEvents([]),
  }
}

const kindTexts = { add: 'added', update: 'changed', remove: 'removed' } as const

function EventTable({ events }: { events: readonly SourceEvent[] }) {
  return (
    <>
      <Table label="Table of events" columns={['Time', 'Event', 'Data']}>
        {events.map(event => (
          <EventRow key={event.cursor} event={event} />
        ))}
      </Table>
      <p class="hint">
        Newest first{events.length === eventsMax && `; only the last ${eventsMax} are shown`}. For removed
        documents, the table shows their last data.
      </p>
    </>
  )
}

function EventRow({ event: { data, kind, time } }: { event: SourceEvent }) {
  const [isOpen, setOpen] = useState(false)
  const value = shownValue(data)
  return (
    <tr>
      <td>
        <Instant micros={time} />
      </td>
      <td>{kindTexts[kind]}</td>
      <td>
        <details open={isOpen} onToggle={toggled => setOpen(toggled.currentTarget.open)}>
          <summary>
            <bdi>{previewOf(value, 120)}</bdi>
          </summary>
          {isOpen && <Tree value={value} />}
        </details>
      </td>
    </tr>
  )
}
