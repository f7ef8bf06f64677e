// The staged schema: how far it is, what it would change, and its end.

import { useState } from 'preact/hooks'
import { Confirm } from '../parts/dialog.tsx'
import { DrawnDiff } from '../parts/diff.tsx'
import { useEvery } from '../parts/live.ts'
import { reloading } from '../parts/load.tsx'
import { Drawn, Problem } from '../parts/problem.tsx'
import { endStaged, SchemaRefusal, type SchemaState } from '../service/schema-files.ts'

const rereadMs = 1500

const statusText = {
  pending: 'Its indexes are being built.',
  ready: 'It is ready to be committed.',
  failed: 'It has failed: abandon it, or push another one.',
}

interface StagedProps {
  readonly state: SchemaState
  readonly isReadOnly: boolean
  /** Whether there are changes that were not pushed. */
  readonly isHeld: boolean
  readonly onChanged: () => void
}

/** What is told of a staged schema. */
export function StagedSchema({ state, isReadOnly, isHeld, onChanged }: StagedProps) {
  const [ending, setEnding] = useState<'commit' | 'abandon' | undefined>(undefined)
  const [refusal, setRefusal] = useState<SchemaRefusal | undefined>(undefined)
  const { staged } = state
  useEvery(staged?.status === 'pending' ? rereadMs : undefined, onChanged)
  if (!staged) return null
  return (
    <section aria-labelledby="staged">
      <h2 id="staged">A schema is staged</h2>
      <p role="status">{statusText[staged.status]} The files below are the staged ones.</p>
      {staged.refusal !== undefined && <p>It does not fit what is stored any more:</p>}
      <Drawn summary={staged.refusal ?? staged.pending} />
      <DrawnDiff text={staged.diff} />
      {!isReadOnly && (
        <div class="form-buttons">
          <button
            type="button"
            class="primary"
            disabled={staged.status !== 'ready' || isHeld}
            onClick={() => setEnding('commit')}
          >
            Commit
          </button>
          <button type="button" class="danger-quiet" disabled={isHeld} onClick={() => setEnding('abandon')}>
            Abandon
          </button>
        </div>
      )}
      {refusal && <Problem error={refusal} />}
      {refusal && <Drawn summary={refusal.drawn} />}
      {!isReadOnly && isHeld && <p class="hint">Push or discard your changes first.</p>}
      {ending && (
        <Confirm
          title={ending === 'commit' ? 'Commit the staged schema?' : 'Abandon the staged schema?'}
          warning={
            ending === 'commit' ? (
              <>
                All programs see it from then on. Collections that it removes go with their documents.
                <DrawnDiff text={staged.diff} />
              </>
            ) : (
              'The staged files are lost. The schema in force stays as it is.'
            )
          }
          submit={ending === 'commit' ? 'Commit it' : 'Abandon it'}
          onClose={() => setEnding(undefined)}
          onConfirm={async signal => {
            setRefusal(undefined)
            try {
              await endStaged(ending, state, signal).catch(reloading(onChanged))
            } catch (cause) {
              if (!(cause instanceof SchemaRefusal)) throw cause
              setRefusal(cause)
            }
            setEnding(undefined)
            onChanged()
          }}
        />
      )}
    </section>
  )
}
