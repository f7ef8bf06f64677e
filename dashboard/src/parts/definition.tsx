// The page of a schema object of any kind. The definition is edited as text. Saving checks that no other client has
// changed the object in the meantime.

import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Notation } from '../language.ts'
import { addressOf, go, pastTime } from '../router.ts'
import { definitionText, saveDefinition } from '../service/definitions.ts'
import { deleteSchema, isNamed, readSchema } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, type Json, textAt } from '../wire/json.ts'
import { type Native, sectionOf, titleOf } from '../wire/refs.ts'
import { Button } from './button.tsx'
import { Confirm } from './dialog.tsx'
import { FormFooter, useEditForm } from './edit-form.tsx'
import { Editor } from './editor.tsx'
import { Heading } from './heading.tsx'
import { LoadedContent, reloadIfChanged, useLoad } from './load.tsx'
import { errorMarks, NotationSwitch, useConversion } from './notation-switch.tsx'
import { otherDraftHint, useOtherDraft } from './other-draft.ts'
import { Problem } from './problem.tsx'
import { Instant } from './time.tsx'

interface SchemaPageProps {
  readonly native: Native
  readonly singular: string
  readonly id: string
  readonly deleteWarning: string
  /** Content above the definition. */
  readonly children?: (document: Json, reload: () => void) => ComponentChildren
  /** The definition cannot be edited, but the object can be deleted. */
  readonly isReadOnly?: boolean
}

/** Address of the list of a kind of objects. */
const listOf = (native: Native) => addressOf([sectionOf(native)])

/** The user must type the name of a named object before deleting it. */
export function SchemaPage(props: SchemaPageProps) {
  const { native, singular, id, deleteWarning, children } = props
  const [isDeleting, setDeleting] = useState(false)
  const object = useLoad(signal => readSchema(native, id, signal), [native, id, pastTime.value])
  const mayChange = pastTime.value === undefined && rights.value.writes
  return (
    <>
      <Heading trail={[[titleOf(native), listOf(native)]]} title={textAt(object.data, 'name') ?? id}>
        {mayChange && object.data !== undefined && (
          <Button class="danger-quiet" onClick={() => setDeleting(true)}>
            Delete
          </Button>
        )}
      </Heading>
      <LoadedContent of={object}>
        {document => (
          <>
            <p class="facts">
              Changed <Instant micros={at(document, 'ts')} />
            </p>
            {children?.(document, object.reload)}
            <Definition
              {...props}
              document={document}
              onSaved={object.reload}
              isReadOnly={!mayChange || props.isReadOnly === true}
            />
          </>
        )}
      </LoadedContent>
      {isDeleting && (
        <Confirm
          title={`Delete the ${singular} ${id}?`}
          warning={deleteWarning}
          submit={`Delete ${singular}`}
          typed={isNamed(native) ? id : undefined}
          onClose={() => setDeleting(false)}
          onConfirm={async signal => {
            await deleteSchema(native, id, at(object.data, 'ts'), signal).catch(
              reloadIfChanged(object.reload),
            )
            go(listOf(native))
          }}
        />
      )}
    </>
  )
}

interface DefinitionProps extends SchemaPageProps {
  readonly document: Json
  readonly isReadOnly: boolean
  readonly onSaved: () => void
}

interface DefinitionDraft {
  readonly text: string
  readonly notation: Notation
}

function Definition({ native, singular, id, document, isReadOnly, onSaved }: DefinitionProps) {
  const [notation, setNotation] = useState<Notation>('text')
  const form = useEditForm<Json, DefinitionDraft>({
    loaded: document,
    identityOf: version => at(version, 'ts'),
    draftOf: version => ({ text: definitionText(version, notation), notation }),
    isSame: (draft, version) => draft.text === definitionText(version, draft.notation),
    save: (draft, base, signal) => saveDefinition(native, id, base, draft.text, draft.notation, signal),
    onSaved: version => {
      const name = textAt(version, 'name')
      if (isNamed(native) && name !== undefined && name !== id)
        go(addressOf([sectionOf(native), name]), 'replace')
      else onSaved()
    },
  })
  const conversion = useConversion('value')
  const { draft, action, isDirty } = form
  const error = action.error ?? conversion.error
  const marks = useMemo(() => errorMarks(error), [error])
  const hasOtherDraft = useOtherDraft('definition', isDirty)
  return (
    <section aria-labelledby="definition" class="document">
      <h2 id="definition">Definition</h2>
      {hasOtherDraft && <p class="hint">{otherDraftHint}</p>}
      <div class="editor-head">
        <NotationSwitch
          notation={draft.notation}
          onChange={to =>
            conversion.start(draft.text, draft.notation, to, text => {
              setNotation(to)
              form.present({ text, notation: to })
            })
          }
        />
      </div>
      <Editor
        label="Definition"
        value={draft.text}
        notation={draft.notation}
        isReadOnly={isReadOnly || hasOtherDraft}
        marks={marks}
        onChange={text => {
          conversion.clear()
          form.change({ ...draft, text })
        }}
        onSubmit={() => !isReadOnly && isDirty && form.save()}
      />
      {conversion.error && <Problem error={conversion.error} />}
      <FormFooter
        of={form}
        what={`this ${singular}`}
        textOf={version => definitionText(version, draft.notation)}
        draftText={({ text }) => text}
        isReadOnly={isReadOnly}
      />
    </section>
  )
}
