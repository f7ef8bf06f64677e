// The fields in which a document is written: its data in either notation, and when it expires.

import { useMemo, useState } from 'preact/hooks'
import type { Notation } from '../language.ts'
import { NotationError } from '../language.ts'
import type { Draft } from '../service/documents.ts'
import { heavy } from '../service/heavy.ts'
import type { Mark } from './code-editor.ts'
import { Editor } from './editor.tsx'
import { Field } from './fields.tsx'
import { useAction } from './load.tsx'
import { Problem } from './problem.tsx'

interface DraftEditorProps {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  readonly isReadOnly?: boolean
  readonly onSubmit?: () => void
  /** The fault that saving has met, if it is one of the text. */
  readonly error: Error | undefined
}

/** The editor of a document's draft. */
export function DraftEditor({ draft, onChange, isReadOnly, onSubmit, error }: DraftEditorProps) {
  const action = useAction()
  const [hasTtl, setHasTtl] = useState(draft.ttl !== '')
  const fault = error ?? action.error
  const marks = useMemo(() => marksOf(fault), [fault])
  const convert = (to: Notation) =>
    action.start(async () => {
      const { data, notation: from } = draft
      onChange({
        ...draft,
        notation: to,
        data: await heavy({ kind: 'convert', text: data, from, to }, data.length),
      })
    })
  return (
    <>
      <div class="editor-head">
        <NotationSwitch notation={draft.notation} onChange={convert} />
        {!isReadOnly && !hasTtl && draft.ttl === '' && (
          <button type="button" class="quiet" onClick={() => setHasTtl(true)}>
            Let it expire
          </button>
        )}
      </div>
      <Editor
        label="Data"
        value={draft.data}
        notation={draft.notation}
        isReadOnly={isReadOnly}
        marks={marks}
        onSubmit={onSubmit}
        onChange={data => onChange({ ...draft, data })}
      />
      {action.error && <Problem error={action.error} />}
      {(hasTtl || draft.ttl !== '') && (
        <Field
          label="Expires"
          value={draft.ttl}
          isMono
          placeholder="2030-01-31T00:00:00Z"
          hint="A time such as 2030-01-31T00:00:00Z, from which on the document is gone. Empty: never."
          onInput={ttl => onChange({ ...draft, ttl })}
        />
      )}
    </>
  )
}

/** The marks that an error puts under the text. */
export function marksOf(error: Error | undefined): readonly Mark[] {
  return error instanceof NotationError
    ? [{ from: error.from, to: error.to, message: error.message }]
    : noMarks
}

const noMarks: readonly Mark[] = []

interface SwitchProps {
  readonly notation: Notation
  readonly onChange: (notation: Notation) => void
}

/** Chooses between the two notations. */
export function NotationSwitch({ notation, onChange }: SwitchProps) {
  const choices = [
    ['text', 'Text'],
    ['json', 'JSON'],
  ] as const
  return (
    <fieldset class="switch" aria-label="Notation">
      {choices.map(([choice, name]) => (
        <button
          key={choice}
          type="button"
          aria-pressed={notation === choice}
          onClick={() => onChange(choice)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  )
}
