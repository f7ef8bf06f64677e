// A text editor for values and queries. The editor's code is loaded when the first one is shown.
//
// It lives in a shadow root: there its styles are constructed style sheets, which the page's content security policy
// allows, while a `style` element in the document would be refused.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { CodeEditor, EditorProps } from './code-editor.ts'

/** The editor. Its text follows `value`; what a person types is reported by `onChange`. */
export function Editor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeEditor | undefined>(undefined)
  const latest = useRef(props)
  latest.current = {
    ...props,
    onChange: text => {
      props.onChange?.(text)
      // What the editor does itself, such as pasting, is no input to the browser; the form around it has to know of it.
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
    // Without the editor's code the text can still be read and changed.
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
