// The fields that choose the period of the log. Valid input takes effect immediately.

import { useEffect, useState } from 'preact/hooks'
import { Check, Choice, Field } from '../parts/fields.tsx'
import { fieldTime, instantOf, zone, zoneName } from '../parts/time.tsx'
import type { Span } from '../service/logs.ts'
import {
  includesDashboardRequests,
  showDashboardRequests,
  showLast,
  showSpan,
  spanFault,
  spanName,
  spans,
} from './log-state.ts'

export function LogSpan({ span }: { span: Span }) {
  const last = spanName()
  return (
    <div class="toolbar">
      <Choice
        label="Period"
        value={last ?? 'custom'}
        onChange={name => (name === 'custom' ? showSpan(span.from, span.to) : showLast(name))}
        options={[...spans.map(([name, text]) => [name, text] as const), ['custom', 'custom'] as const]}
      />
      <Ends key={`${span.from} ${span.to} ${zone.value}`} span={span} />
      <Check
        label="Include the dashboard's own requests"
        isOn={includesDashboardRequests()}
        onChange={showDashboardRequests}
      />
    </div>
  )
}

const fieldText = (iso: string) => (Number.isNaN(Date.parse(iso)) ? '' : fieldTime(Date.parse(iso), 'minute'))

/** The fields of the start and the end. A new span needs a new `key`, which resets the fields. */
function Ends({ span }: { span: Span }) {
  const [from, setFrom] = useState(fieldText(span.from))
  const [to, setTo] = useState(fieldText(span.to))
  const isChanged = from !== fieldText(span.from) || to !== fieldText(span.to)
  const fault = isChanged ? faultOf(from, to) : undefined
  const show = () => {
    if (isChanged && fault === undefined) showSpan(instantOf(from), instantOf(to))
  }
  // Lets the user finish typing: a year is entered digit by digit.
  useEffect(() => {
    const timer = setTimeout(show, pauseMs)
    return () => clearTimeout(timer)
  }, [from, to])
  return (
    <form
      class="inline-form"
      onSubmit={event => {
        event.preventDefault()
        show()
      }}
    >
      <Field label={`From (${zoneName()})`} type="datetime-local" value={from} onInput={setFrom} />
      <Field label={`To (${zoneName()})`} type="datetime-local" value={to} onInput={setTo} />
      {isChanged && (
        <p class="hint" role="status">
          {fault ?? 'Loading…'}
        </p>
      )}
    </form>
  )
}

const pauseMs = 700

function faultOf(from: string, to: string): string | undefined {
  try {
    return spanFault(instantOf(from), instantOf(to))
  } catch (cause) {
    return (cause as Error).message
  }
}
