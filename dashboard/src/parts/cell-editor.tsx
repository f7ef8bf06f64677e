// One field of a document, edited in its cell. Enter or leaving the cell saves, Escape gives up.

import { useEffect, useRef, useState } from 'preact/hooks'
import { guard } from '../router.ts'
import { textOfValue, valueOfText } from '../service/typed-value.ts'
import { isMap, type Json, writeJson } from '../wire/json.ts'
import { typeNamed } from '../wire/type-names.ts'
import { useAction } from './load.tsx'

interface CellEditorProps {
  readonly label: string
  readonly value: Json | undefined
  /** Rejects where the value cannot be saved. */
  readonly onSave: (value: Json, signal: AbortSignal) => Promise<void>
  /** `keepsFocus`: the focus goes back to the cell. */
  readonly onClose: (keepsFocus: boolean) => void
}

/** Texts that rows hold whole; what is longer or has parts is edited on the document's page. */
const editedMax = 200

/** Whether a value as rows hold it is whole and small enough for a cell. */
export function isEditable(value: Json | undefined): boolean {
  if (typeof value === 'string') return value.length <= editedMax && !value.includes('\n')
  if (Array.isArray(value)) return false
  return !isMap(value) || ['time', 'date', 'uuid', 'reference'].includes(typeNamed(value))
}

/** The editor. What was a text stays one, whatever it looks like; everything else is read as the language writes it. */
export function CellEditor({ label, value = null, onSave, onClose }: CellEditorProps) {
  const isText = typeof value === 'string'
  const start = isText ? value : value === null ? '' : textOfValue(value)
  const [text, setText] = useState(start)
  const action = useAction()
  const input = useRef<HTMLInputElement>(null)
  const typed: Json = isText ? text : text.trim() === '' ? null : valueOfText(text)
  const isDirty = text !== start
  useEffect(() => input.current?.select(), [])
  useEffect(() => guard(() => isDirty), [isDirty])
  // A field that is taken away is left, too; that is no reason to save what was given up.
  const isClosed = useRef(false)
  const close = (keepsFocus: boolean) => {
    isClosed.current = true
    onClose(keepsFocus)
  }
  const save = (keepsFocus: boolean) => {
    if (action.isRunning || isClosed.current) return
    if (!isDirty || writeJson(typed) === writeJson(value)) return close(keepsFocus)
    action.start(async signal => {
      await onSave(typed, signal)
      close(keepsFocus)
    })
  }
  return (
    <form
      class="cell-editor"
      onSubmit={event => {
        event.preventDefault()
        save(true)
      }}
      onKeyDown={event => {
        event.stopPropagation()
        if (event.key === 'Escape') close(true)
      }}
    >
      <input
        ref={input}
        aria-label={label}
        value={text}
        class="mono"
        spellcheck={false}
        autoComplete="off"
        onInput={event => setText(event.currentTarget.value)}
        onBlur={() => {
          // What was refused stays to be mended.
          if (!action.error) save(false)
        }}
      />
      <span class="type-name" role={action.error ? 'alert' : undefined}>
        {action.error ? action.error.message : typed === null ? 'no value' : typeNamed(typed)}
      </span>
    </form>
  )
}
