// The page of a schema object: what kinds have in common. Its definition is text, changed with a check that nobody else
// has changed it meanwhile.

import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Notation } from '../language.ts'
import { addressOf, databasePath, go, guard, pastTime } from '../router.ts'
import { definitionText, deleteSchema, readSchema, saveDefinition } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, type Json, textAt } from '../wire/json.ts'
import type { Native } from '../wire/refs.ts'
import { Confirm } from './dialog.tsx'
import { Diff } from './diff.tsx'
import { marksOf, NotationSwitch } from './draft-editor.tsx'
import { Editor } from './editor.tsx'
import { Heading } from './heading.tsx'
import { Loaded, useAction, useLoad } from './load.tsx'
import { Notice, Problem } from './problem.tsx'
import { Instant } from './time.tsx'

interface SchemaPageProps {
  readonly native: Native
  /** The first step of the addresses of its kind. */
  readonly section: string
  readonly plural: string
  readonly singular: string
  readonly id: string
  readonly deleteWarning: string
  /** Ask for the name before deleting. */
  readonly isTyped?: boolean
  /** What is known of it apart from its definition. */
  readonly children?: (document: Json, reload: () => void) => ComponentChildren
  /** Only looked at, as text. */
  readonly isReadOnly?: boolean
}

/** The page of one schema object. */
export function SchemaPage(props: SchemaPageProps) {
  const { native, section, plural, singular, id, isTyped, deleteWarning, children } = props
  const [isDeleting, setDeleting] = useState(false)
  const object = useLoad(
    signal => readSchema(native, id, signal),
    [native, id, pastTime.value, databasePath.value.join('/')],
  )
  const isFixed = pastTime.value !== undefined || !rights.value.writes
  return (
    <>
      <Heading trail={[[plural, addressOf([section])]]} title={textAt(object.data, 'name') ?? id}>
        {!isFixed && object.data !== undefined && (
          <button type="button" class="danger-quiet" onClick={() => setDeleting(true)}>
            Delete
          </button>
        )}
      </Heading>
      <Loaded of={object}>
        {document => (
          <>
            <p class="facts">
              Changed <Instant micros={at(document, 'ts')} />
            </p>
            {children?.(document, object.reload)}
            <Definition
              {...props}
              key={String(at(document, 'ts'))}
              document={document}
              isFixed={isFixed || props.isReadOnly === true}
            />
          </>
        )}
      </Loaded>
      {isDeleting && (
        <Confirm
          title={`Delete the ${singular} ${id}?`}
          warning={deleteWarning}
          submit={`Delete ${singular}`}
          typed={isTyped ? id : undefined}
          onClose={() => setDeleting(false)}
          onConfirm={async signal => {
            await deleteSchema(native, id, signal)
            go(addressOf([section]))
          }}
        />
      )}
    </>
  )
}

interface DefinitionProps extends SchemaPageProps {
  readonly document: Json
  readonly isFixed: boolean
}

function Definition({ native, section, id, document, isFixed }: DefinitionProps) {
  const [base, setBase] = useState(document)
  const [notation, setNotation] = useState<Notation>('text')
  const [text, setText] = useState(() => definitionText(document, 'text'))
  const [theirs, setTheirs] = useState<Json | undefined>(undefined)
  const [notice, setNotice] = useState<string | undefined>(undefined)
  const action = useAction()
  const isDirty = text !== definitionText(base, notation)
  useEffect(() => guard(() => isDirty), [isDirty])
  const take = (newest: Json, into: Notation = notation) => {
    setBase(newest)
    setText(definitionText(newest, into))
    setTheirs(undefined)
  }
  const save = (readAs: Json) =>
    action.start(async signal => {
      setNotice(undefined)
      const saved = await saveDefinition(native, id, readAs, text, notation, signal)
      if (saved.kind === 'conflict') setTheirs(saved.theirs)
      else {
        take(saved.document)
        setNotice('Saved.')
        const name = textAt(saved.document, 'name')
        if (native !== 'keys' && name !== undefined && name !== id) go(addressOf([section, name]), 'replace')
      }
    })
  const marks = useMemo(() => marksOf(action.error), [action.error])
  return (
    <section aria-labelledby="definition" class="document">
      <h2 id="definition">Definition</h2>
      <div class="editor-head">
        <NotationSwitch
          notation={notation}
          onChange={into => {
            setNotation(into)
            take(base, into)
          }}
        />
      </div>
      <Editor
        label="Definition"
        value={text}
        notation={notation}
        isReadOnly={isFixed}
        marks={marks}
        onChange={setText}
        onSubmit={() => !isFixed && isDirty && save(base)}
      />
      {action.error && <Problem error={action.error} />}
      {theirs !== undefined && (
        <Fragment>
          <p class="problem" role="alert">
            Somebody else has changed this meanwhile. Nothing of theirs was overwritten: compare, then choose.
          </p>
          <Diff left={definitionText(theirs, notation)} right={text} leftName="Theirs" rightName="Yours" />
          <div class="form-buttons">
            <button type="button" onClick={() => take(theirs)}>
              Take theirs
            </button>
            <button type="button" class="danger" onClick={() => save(theirs)}>
              Overwrite with mine
            </button>
          </div>
        </Fragment>
      )}
      {!isFixed && theirs === undefined && (
        <div class="form-buttons">
          <button
            type="button"
            class="primary"
            disabled={!isDirty || action.isRunning}
            onClick={() => save(base)}
          >
            {action.isRunning ? 'Saving…' : 'Save'}
          </button>
          {isDirty && (
            <button type="button" onClick={() => take(base)}>
              Discard changes
            </button>
          )}
        </div>
      )}
      <Notice text={notice} />
    </section>
  )
}
