// Error messages and notices. An error message says what happened, where, and what to do.

import { adviceFor, type Fault, ServiceError } from '../service/faults.ts'
import { Button } from './button.tsx'

interface ProblemProps {
  readonly error: Error
  readonly retry?: () => void
  /** True for queries that the user has written. */
  readonly showsPosition?: boolean
}

/** An alert; with `retry`, a button to try again. */
export function Problem({ error, retry, showsPosition = false }: ProblemProps) {
  const isService = error instanceof ServiceError
  const advice = isService ? adviceFor(error) : undefined
  return (
    <div class="problem" role="alert">
      <p class="problem-title">{error.message}</p>
      {isService &&
        error.faults.map((fault, at) => (
          <FaultLines key={at} fault={fault} isFirst={at === 0} showsPosition={showsPosition} />
        ))}
      {isService && showsPosition && <Summary summary={error.summary} />}
      {advice && <p>{advice}</p>}
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  )
}

/** Shows the text that version 10 returns with a result or an error. */
export function Summary({ summary }: { summary: string }) {
  return summary === '' ? null : <pre class="drawn">{summary}</pre>
}

interface FaultProps {
  readonly fault: Fault
  readonly isFirst: boolean
  readonly showsPosition: boolean
}

function FaultLines({ fault, isFirst, showsPosition }: FaultProps) {
  return (
    <>
      <p class="problem-code">
        <code>{fault.code}</code>
        {showsPosition && fault.position.length > 0 && (
          <>
            {' at '}
            <code>{fault.position.join(' › ')}</code>
          </>
        )}
        {!isFirst && `: ${fault.description}`}
      </p>
      {fault.failures.length > 0 && (
        <ul>
          {fault.failures.map((failure, at) => (
            <li key={at}>
              <code>{failure.field || 'document'}</code>: {failure.description}
            </li>
          ))}
        </ul>
      )}
      {fault.causes.map((cause, at) => (
        <FaultLines key={at} fault={cause} isFirst={false} showsPosition={showsPosition} />
      ))}
    </>
  )
}

/** Screen readers announce a success without moving the focus. */
export function Notice({ text }: { text: string | undefined }) {
  return (
    <p class={text ? 'notice' : 'notice-empty'} role="status">
      {text}
    </p>
  )
}
