// Events of a source, as they come: a query of version 10 names the source, and each change in it is a line.

import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { keyText, quoted } from '../../../src/fql10/text/quoted.ts'
import { Editor } from '../parts/editor.tsx'
import { Choice } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { failureOf, useLoad } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { Table } from '../parts/table.tsx'
import { Instant } from '../parts/time.tsx'
import { previewOf, Tree } from '../parts/values.tsx'
import { databasePath } from '../router.ts'
import { followSource, type SourceEvent, sourceIn } from '../service/events.ts'
import { isAborted } from '../service/faults.ts'
import { allNames } from '../service/schema.ts'
import { forgetOnSignOut, scope } from '../session.ts'
import { shownValue } from '../wire/tagged.ts'
import { marksOf, QueryFailure, queryOf10, runAs } from './shell-queries.ts'

/** Older events are left out. */
const eventsMax = 500

/** The source as it was last written, while other pages are looked at. */
const written = signal('')
forgetOnSignOut(() => {
  written.value = ''
})

type State = 'stopped' | 'watching' | 'paused' | 'away'

const stateTexts: Readonly<Record<State, string>> = {
  stopped: 'Not watching.',
  watching: 'Watching: what happens from now on appears below.',
  paused: 'Paused: events are kept aside until you go on.',
  away: 'The service cannot be reached. It is tried again, and no event is lost meanwhile.',
}

/** The page. */
export function Events() {
  const text = written.value
  const setText = (entered: string) => {
    written.value = entered
  }
  const watching = useWatch()
  const { error, events, keptAside, state } = watching
  const shown = error instanceof QueryFailure ? error.cause : error
  const isOn = state !== 'stopped'
  const start = () => watching.start(text)
  return (
    <>
      <Heading title="Events" />
      <p class="hint">
        Every write to a collection or index is an event, whichever language it comes in. A source says which
        events are wanted, and in which form:{' '}
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
        <button type="button" class="primary" disabled={text.trim() === ''} onClick={start}>
          {isOn ? 'Watch this instead' : 'Watch'}
        </button>
        {isOn && (
          <button type="button" onClick={watching.pause}>
            {state === 'paused' ? `Go on (${keptAside} new)` : 'Pause'}
          </button>
        )}
        {isOn && (
          <button type="button" onClick={watching.stop}>
            Stop
          </button>
        )}
        {events.length > 0 && (
          <button type="button" onClick={watching.clear}>
            Clear
          </button>
        )}
      </div>
      <p role="status">{stateTexts[state]}</p>
      {shown && <Problem error={shown} showsPlace />}
      {events.length > 0 && <EventTable events={events} />}
    </>
  )
}

function CollectionChoice({ onChosen }: { onChosen: (text: string) => void }) {
  const names = useLoad(signal => allNames('collections', signal), [databasePath.value.join('/')])
  const [name, setName] = useState('')
  const choose = (chosen: string) => {
    setName(chosen)
    const collection = keyText(chosen) === chosen ? chosen : `Collection(${quoted(chosen)})`
    if (chosen !== '') onChosen(`${collection}.all().eventSource()`)
  }
  // Who may not see the list writes the name.
  if (!names.data || names.data.length === 0) return null
  const options = names.data.map(each => [each, each] as const)
  return (
    <Choice
      label="All events of the collection"
      value={name}
      onChange={choose}
      options={[['', 'choose…'], ...options]}
    />
  )
}

function useWatch() {
  const [state, setState] = useState<State>('stopped')
  const [events, setEvents] = useState<readonly SourceEvent[]>([])
  const [aside, setAside] = useState<readonly SourceEvent[]>([])
  const [error, setError] = useState<Error | undefined>(undefined)
  const controller = useRef<AbortController | undefined>(undefined)
  const isPaused = useRef(false)
  useEffect(() => () => controller.current?.abort(), [])
  const newestFirst = (event: SourceEvent) => (before: readonly SourceEvent[]) =>
    [event, ...before].slice(0, eventsMax)
  const begin = async (text: string, { signal }: AbortController) => {
    const as = scope.value
    const token = sourceIn((await runAs(queryOf10(text), as, signal)).text)
    setState('watching')
    const on = {
      event: (event: SourceEvent) => (isPaused.current ? setAside : setEvents)(newestFirst(event)),
      away: (isAway: boolean) => {
        if (!isPaused.current) setState(isAway ? 'away' : 'watching')
      },
    }
    await followSource(token, as, on, signal)
  }
  const stop = () => {
    controller.current?.abort()
    isPaused.current = false
    setAside([])
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
      setError(failureOf(cause))
    })
  }
  const pause = () => {
    isPaused.current = !isPaused.current
    setState(isPaused.current ? 'paused' : 'watching')
    if (isPaused.current) return
    setEvents(before => [...aside, ...before].slice(0, eventsMax))
    setAside([])
  }
  return { state, events, keptAside: aside.length, error, start, stop, pause, clear: () => setEvents([]) }
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
        The newest first{events.length === eventsMax && `; the last ${eventsMax}`}. What was removed is shown
        as it was before.
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
