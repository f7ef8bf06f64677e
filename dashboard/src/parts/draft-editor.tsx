// The fields of a document: its data in either notation, and its expiry.

import { useMemo, useState } from 'preact/hooks'
import type { Notation } from '../language.ts'
import type { Draft } from '../service/documents.ts'
import { Button } from './button.tsx'
import { Editor } from './editor.tsx'
import { Field } from './fields.tsx'
import { errorMarks, NotationSwitch, useConversion } from './notation-switch.tsx'
import { Problem } from './problem.tsx'

interface DraftEditorProps {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  /** Called with the same draft in another notation. */
  readonly onPresent: (draft: Draft) => void
  readonly isReadOnly?: boolean
  readonly onSubmit?: () => void
  /** The error of the last save, possibly with a position in the text. */
  readonly error: Error | undefined
}

export function DraftEditor({ draft, onChange, onPresent, isReadOnly, onSubmit, error }: DraftEditorProps) {
  const conversion = useConversion('value')
  const [hasTtl, setHasTtl] = useState(draft.ttl !== '')
  const fault = error ?? conversion.error
  const marks = useMemo(() => errorMarks(fault), [fault])
  const convert = (to: Notation) =>
    conversion.start(draft.data, draft.notation, to, data => onPresent({ ...draft, notation: to, data }))
  return (
    <>
      <div class="editor-head">
        <NotationSwitch notation={draft.notation} onChange={convert} />
        {!isReadOnly && !hasTtl && draft.ttl === '' && (
          <Button class="quiet" onClick={() => setHasTtl(true)}>
            Set expiry
          </Button>
        )}
      </div>
      <Editor
        label="Data"
        value={draft.data}
        notation={draft.notation}
        isReadOnly={isReadOnly}
        marks={marks}
        onSubmit={onSubmit}
        onChange={data => {
          conversion.clear()
          onChange({ ...draft, data })
        }}
      />
      {conversion.error && <Problem error={conversion.error} />}
      {(hasTtl || draft.ttl !== '') && (
        <Field
          label="Expires"
          value={draft.ttl}
          isMono
          placeholder="2030-01-31T00:00:00Z"
          hint="The document is deleted at this time, such as 2030-01-31T00:00:00Z. Leave this empty for a document that does not expire."
          onInput={ttl => onChange({ ...draft, ttl })}
        />
      )}
    </>
  )
}
