// A text editor for values and queries. Its code is loaded when the first editor is shown.
//
// The editor is in a shadow root. There its styles are constructed style sheets, which the content security policy of
// the page allows. A `style` element in the document would be blocked.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { CodeEditor, EditorProps } from './code-editor.ts'

/** The editor. It shows `value`, and reports input by `onChange`. */
export function Editor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeEditor | undefined>(undefined)
  const latest = useRef(props)
  latest.current = {
    ...props,
    onChange: text => {
      props.onChange?.(text)
      // Some edits, such as pasting, fire no input event, which the form around the editor needs.
      host.current?.dispatchEvent(new Event('input', { bubbles: true }))
    },
  }
  const [isFailed, setFailed] = useState(false)
  useEffect(() => {
    let isGone = false
    import('./code-editor.ts').then(
      ({ openEditor }) => {
        if (isGone || !host.current) return
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
        editor.current = openEditor(root, latest)
      },
      () => setFailed(true),
    )
    return () => {
      isGone = true
      editor.current?.close()
    }
  }, [])
  const { value, notation, isReadOnly, marks, label } = props
  useEffect(() => editor.current?.setText(value), [value])
  useEffect(() => editor.current?.configure(), [notation, isReadOnly])
  useEffect(() => editor.current?.mark(marks ?? []), [marks])
  if (isFailed) {
    // A text area replaces the editor when its code cannot be loaded.
    return (
      <textarea
        class="editor plain"
        aria-label={label}
        readOnly={isReadOnly}
        value={value}
        onInput={event => props.onChange?.(event.currentTarget.value)}
      />
    )
  }
  return <div class="editor" ref={host} />
}
