// A text editor for values and queries. Its code is loaded when the first editor is shown.
//
// The editor is in a shadow root, whose styles are constructed style sheets. The content security policy of the page
// allows these, but blocks `style` elements in the document.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { CodeEditor, EditorProps } from './code-editor.ts'

/** A text area replaces the editor if its code cannot be loaded. */
export function Editor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeEditor | undefined>(undefined)
  const latest = useRef(props)
  latest.current = {
    ...props,
    onChange: text => {
      props.onChange?.(text)
      // Dialogs detect unsaved input by the input events of their forms. The browser fires none for edits that CodeMirror
      // makes, such as pasting.
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
