// The section of the staged schema: its status, its changes, and the buttons that commit or abandon it.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { AnsiDiff } from '../parts/diff.tsx'
import { useEvery } from '../parts/live.ts'
import { reloadIfChanged } from '../parts/load.tsx'
import { Problem, Summary } from '../parts/problem.tsx'
import { endStaged, SchemaRejection, type SchemaState } from '../service/schema-files.ts'

const rereadMs = 1500

const statusText = {
  pending: 'The indexes of the staged schema are being built.',
  ready: 'The staged schema is ready to be committed.',
  failed: 'The staged schema cannot be committed. Abandon it, or push a corrected schema.',
}

interface StagedProps {
  readonly state: SchemaState
  readonly isReadOnly: boolean
  /** The page has changes that are not pushed, which disable the buttons. */
  readonly isDirty: boolean
  readonly onChanged: () => void
}

/** Renders nothing while no schema is staged. */
export function StagedSchema({ state, isReadOnly, isDirty, onChanged }: StagedProps) {
  const [ending, setEnding] = useState<'commit' | 'abandon' | undefined>(undefined)
  const [refusal, setRefusal] = useState<SchemaRejection | undefined>(undefined)
  const { staged } = state
  useEvery(staged?.status === 'pending' ? rereadMs : undefined, onChanged)
  if (!staged) return null
  return (
    <section aria-labelledby="staged">
      <h2 id="staged">A schema is staged</h2>
      <p role="status">{statusText[staged.status]} The files below are the staged files.</p>
      {staged.refusal !== undefined && <p>The staged schema no longer fits the stored data:</p>}
      <Summary summary={staged.refusal ?? staged.pending} />
      <AnsiDiff text={staged.diff} />
      {!isReadOnly && (
        <div class="form-buttons">
          <Button
            class="primary"
            disabled={staged.status !== 'ready' || isDirty}
            onClick={() => setEnding('commit')}
          >
            Commit
          </Button>
          <Button class="danger-quiet" disabled={isDirty} onClick={() => setEnding('abandon')}>
            Abandon
          </Button>
        </div>
      )}
      {refusal && <Problem error={refusal} />}
      {refusal && <Summary summary={refusal.drawn} />}
      {!isReadOnly && isDirty && (
        <p class="hint">To commit or abandon the staged schema, push or discard your changes first.</p>
      )}
      {ending && (
        <Confirm
          title={ending === 'commit' ? 'Commit the staged schema?' : 'Abandon the staged schema?'}
          warning={
            ending === 'commit' ? (
              <>
                All programs then use this schema. Collections that this schema does not contain are deleted
                with their documents.
                <AnsiDiff text={staged.diff} />
              </>
            ) : (
              'The staged files are deleted. The current schema does not change.'
            )
          }
          submit={ending === 'commit' ? 'Commit schema' : 'Abandon schema'}
          onClose={() => setEnding(undefined)}
          onConfirm={async signal => {
            setRefusal(undefined)
            try {
              await endStaged(ending, state, signal).catch(reloadIfChanged(onChanged))
            } catch (cause) {
              if (!(cause instanceof SchemaRejection)) throw cause
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
