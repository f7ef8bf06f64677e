// Edits one field of a document in its cell. Enter saves the value, and so does leaving the cell. Escape cancels.

import { useEffect, useRef, useState } from 'preact/hooks'
import { guard } from '../router.ts'
import { textOfValue, typeMismatch, valueLike } from '../service/typed-value.ts'
import { isMap, type Json, writeJson } from '../wire/json.ts'
import { typeNameOf } from '../wire/type-names.ts'
import { Button } from './button.tsx'
import { useAction } from './load.tsx'

interface CellEditorProps {
  readonly label: string
  readonly value: Json | undefined
  /** Rejects if the value cannot be saved. */
  readonly onSave: (value: Json, signal: AbortSignal) => Promise<void>
  /** `keepsFocus`: the focus returns to the cell. */
  readonly onClose: (keepsFocus: boolean) => void
}

/**
 * Rows contain texts up to this length completely. Longer texts, lists and objects are edited on the page of the
 * document.
 */
const editedCharsMax = 200

/** Returns true for a value that is complete and small enough for a cell. */
export function isEditable(value: Json | undefined): boolean {
  if (typeof value === 'string') return value.length <= editedCharsMax && !value.includes('\n')
  if (Array.isArray(value)) return false
  return !isMap(value) || ['time', 'date', 'uuid', 'reference'].includes(typeNameOf(value))
}

/**
 * A text remains a text, even if the new content looks like a number. Other values are parsed in driver notation, and
 * keep their type unless the user chooses the type of the new content.
 */
export function CellEditor({ label, value = null, onSave, onClose }: CellEditorProps) {
  const isText = typeof value === 'string'
  const start = isText ? value : value === null ? '' : textOfValue(value)
  const [text, setText] = useState(start)
  const action = useAction()
  const input = useRef<HTMLInputElement>(null)
  const typed: Json = isText ? text : text.trim() === '' ? null : valueLike(value, text)
  const isDirty = text !== start
  const mismatch = isDirty ? typeMismatch(value, typed) : undefined
  const [isRejected, setRejected] = useState(false)
  useEffect(() => input.current?.select(), [])
  useEffect(() => guard(() => isDirty), [isDirty])
  // Removing the input fires a blur event, which must not save a cancelled edit.
  const isClosed = useRef(false)
  const close = (keepsFocus: boolean) => {
    isClosed.current = true
    onClose(keepsFocus)
  }
  const save = (keepsFocus: boolean, changesType = false) => {
    if (action.isRunning || isClosed.current) return
    if (!isDirty || writeJson(typed) === writeJson(value)) return close(keepsFocus)
    if (mismatch && !changesType) return setRejected(true)
    action.start(async signal => {
      await onSave(typed, signal)
      close(keepsFocus)
    })
  }
  const rejection =
    isRejected && mismatch ? `Not saved: this is no ${mismatch.type}, such as ${mismatch.form}.` : undefined
  const fault = action.error?.message ?? rejection
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
        onBlur={event => {
          // A rejected value stays in the field, so that the user can correct it or change its type.
          const isInside = event.currentTarget.form?.contains(event.relatedTarget as Node | null)
          if (!action.error && !isInside) save(false)
        }}
      />
      <span class="type-name" role={fault ? 'alert' : undefined}>
        {fault ?? (typed === null ? 'no value' : typeNameOf(typed))}
      </span>
      {isRejected && mismatch && typeNameOf(typed) !== mismatch.type && (
        <Button onClick={() => save(true, true)}>Change the type to {typeNameOf(typed)}</Button>
      )}
    </form>
  )
}
