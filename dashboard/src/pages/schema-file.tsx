// Parts of the page of schema files: the list of files, the editor of one file, and the dialog that names a file.

import { useMemo, useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import type { Mark } from '../parts/code-editor.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Editor } from '../parts/editor.tsx'
import { NameField } from '../parts/fields.tsx'
import type { SchemaError, SchemaFile } from '../service/schema-files.ts'

/** Converts the position of an error to UTF-16 offsets. */
function markOf(text: string, { line, column, length, message }: SchemaError): Mark {
  const lines = text.split('\n').slice(0, line)
  const inLine = lines[line - 1] ?? ''
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0)
  // An error at the end of a line is shown under the last character of the line.
  const from = start + Math.max(0, Math.min(column - 1, inLine.length - 1))
  return { from, to: Math.min(start + inLine.length, from + Math.max(1, length)), message }
}

interface NamesProps {
  readonly files: readonly SchemaFile[]
  readonly base: readonly SchemaFile[]
  readonly errors: readonly SchemaError[]
  readonly shown: string
  readonly onShow: (name: string) => void
}

/** Marks changed files and files with errors. */
export function FileNames({ files, base, errors, shown, onShow }: NamesProps) {
  const texts = new Map(base.map(({ name, text }) => [name, text]))
  const faulty = new Set(errors.map(({ file }) => file))
  return (
    <ul class="file-names" aria-label="Files">
      {files.map(({ name, text }) => (
        <li key={name}>
          <Button
            class={name === shown ? undefined : 'quiet'}
            aria-current={name === shown}
            onClick={() => onShow(name)}
          >
            <bdi>{name}</bdi>
            {texts.get(name) !== text && ' (changed)'}
            {faulty.has(name) && ' (errors)'}
          </Button>
        </li>
      ))}
    </ul>
  )
}

interface FileEditorProps {
  readonly file: SchemaFile
  readonly errors: readonly SchemaError[]
  readonly isReadOnly: boolean
  readonly onChange: (text: string) => void
}

/** Underlines errors. */
export function FileEditor({ file: { name, text }, errors, isReadOnly, onChange }: FileEditorProps) {
  // `text` is not a dependency: errors refer to the text that was compared or pushed.
  const marks = useMemo(
    () => errors.filter(({ file }) => file === name).map(error => markOf(text, error)),
    [errors, name],
  )
  return (
    <div class="file">
      <Editor
        label="Text of the file"
        value={text}
        notation="schema file"
        isReadOnly={isReadOnly}
        marks={marks}
        onChange={onChange}
      />
    </div>
  )
}

interface NameProps {
  /** Undefined for a new file. */
  readonly current: string | undefined
  readonly taken: readonly string[]
  readonly onClose: () => void
  readonly onNamed: (name: string) => void
}

export function FileNameDialog({ current, taken, onClose, onNamed }: NameProps) {
  const [name, setName] = useState(current ?? (taken.length === 0 ? 'main.fsl' : ''))
  const submit = async () => {
    if (!name.endsWith('.fsl') || name.startsWith('*'))
      throw new Error('The name of a schema file ends in .fsl and does not begin with *.')
    if (name !== current && taken.includes(name))
      throw new Error('A file with this name already exists. Choose another name.')
    onNamed(name)
  }
  return (
    <FormDialog
      title={current === undefined ? 'Add file' : 'Rename file'}
      submit={current === undefined ? 'Add' : 'Rename'}
      isReady={name !== ''}
      onClose={onClose}
      onSubmit={submit}
    >
      <NameField
        value={name}
        onInput={setName}
        placeholder="main.fsl"
        hint="Files are stored when you push them. Empty files are removed."
      />
    </FormDialog>
  )
}
