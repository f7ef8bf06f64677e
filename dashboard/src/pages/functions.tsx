// The pages of user-defined functions: a list, and for each function its definition and a form that calls it.

import { useMemo, useState } from 'preact/hooks'
import { parseLiteral, parseQuery, printValue } from '../language.ts'
import { Button } from '../parts/button.tsx'
import { CreateButton } from '../parts/create-button.tsx'
import { SchemaPage } from '../parts/definition.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Editor } from '../parts/editor.tsx'
import { Choice, NameField, optionsOf } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { useAction } from '../parts/load.tsx'
import { errorMarks } from '../parts/notation-switch.tsx'
import { Problem } from '../parts/problem.tsx'
import { type Column, nameColumn, SchemaList, useChoices } from '../parts/schema-list.tsx'
import { Instant } from '../parts/time.tsx'
import { Tree } from '../parts/values.tsx'
import { addressOf, go, pastTime } from '../router.ts'
import type { QueryResult } from '../service/client.ts'
import { read, write } from '../service/data.ts'
import { createSchema } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, type Json, type Query } from '../wire/json.ts'
import { refOf } from '../wire/refs.ts'

export function roleText(role: Json | undefined): string {
  if (role === undefined) return '–'
  const roles = Array.isArray(role) ? role : [role]
  return roles.map(each => refOf(each)?.id ?? String(each)).join(', ')
}

const columns: readonly Column[] = [
  nameColumn('functions'),
  ['Runs as', each => (at(each, 'role') === undefined ? 'its caller' : roleText(at(each, 'role')))],
  ['Changed', each => <Instant micros={at(each, 'ts')} />],
]

export function Functions({ path: [name] }: { readonly path: readonly string[] }) {
  if (name === undefined) return <FunctionList />
  return (
    <SchemaPage
      native="functions"
      singular="function"
      id={name}
      deleteWarning="Queries that call this function then fail."
    >
      {() => <CallForm name={name} />}
    </SchemaPage>
  )
}

function FunctionList() {
  return (
    <>
      <Heading title="Functions">
        <CreateButton text="Create function" isAllowed={rights.value.writes} form={NewFunction} />
      </Heading>
      <SchemaList
        native="functions"
        label="Functions"
        columns={columns}
        whenEmpty="There are no functions. Create one to store a query under a name that programs can call. A function can run with its own role and then has rights that its callers do not have."
      />
    </>
  )
}

const firstBody = printValue(
  new Map<string, Json>([
    [
      '@query',
      new Map<string, Json>([
        ['lambda', 'name'],
        ['expr', new Map<string, Json>([['concat', ['Hello ', new Map([['var', 'name']])]]])],
      ]),
    ],
  ]),
  'text',
)

function NewFunction({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [body, setBody] = useState(firstBody)
  const [role, setRole] = useState('')
  const [error, setError] = useState<Error | undefined>(undefined)
  const roles = useChoices('roles')
  const marks = useMemo(() => errorMarks(error), [error])
  const names = roles.data ?? []
  const create = async (signal: AbortSignal) => {
    try {
      const fields: Record<string, Query> = { name, body: parseLiteral(body, 'text') }
      if (role !== '') fields.role = names.includes(role) ? { role } : role
      await createSchema('functions', { object: fields }, signal)
    } catch (cause) {
      setError(cause as Error)
      throw cause
    }
    onClose()
    go(addressOf(['functions', name]))
  }
  return (
    <FormDialog
      title="Create function"
      submit="Create"
      isWide
      isReady={name !== ''}
      onClose={onClose}
      onSubmit={create}
    >
      <NameField value={name} onInput={setName} />
      <Editor label="Body" value={body} onChange={setBody} notation="text" marks={marks} />
      <Choice
        label="Runs with the rights of"
        value={role}
        onChange={setRole}
        options={[
          ['', 'its caller'],
          ['server', 'server'],
          ['server-readonly', 'server-readonly'],
          ['admin', 'admin'],
          ...optionsOf(names),
        ]}
      />
    </FormDialog>
  )
}

function CallForm({ name }: { name: string }) {
  const [text, setText] = useState('')
  const [result, setResult] = useState<QueryResult | undefined>(undefined)
  const action = useAction()
  // `call` adds brackets before it parses the text, so marks move one character to the left.
  const marks = useMemo(
    () =>
      errorMarks(action.error).map(mark => ({ ...mark, from: Math.max(0, mark.from - 1), to: mark.to - 1 })),
    [action.error],
  )
  const call = () =>
    action.start(async signal => {
      setResult(undefined)
      // The line break ends a comment at the end of the text.
      const given = parseQuery(`[${text}\n]`, 'text').query
      const list = Array.isArray(given) ? given : []
      // As in drivers, a single argument is not wrapped in a list.
      const query: Query = {
        call: { function: name },
        arguments: list.length === 1 ? (list[0] ?? null) : list,
      }
      setResult(await (pastTime.value === undefined ? write(query, signal) : read(query, signal)))
    })
  return (
    <section aria-labelledby="call">
      <h2 id="call">Call this function</h2>
      <div class="editor-small">
        <Editor
          label="Arguments"
          value={text}
          onChange={setText}
          onSubmit={call}
          notation="text"
          marks={marks}
          placeholder='Arguments, separated by commas: "Ann", 3'
        />
      </div>
      <div class="form-buttons">
        <Button disabled={action.isRunning} onClick={call}>
          {action.isRunning ? 'Calling…' : 'Call'}
        </Button>
      </div>
      {action.error && <Problem error={action.error} />}
      {result && (
        <div class="result">
          <Tree value={result.value} />
        </div>
      )}
    </section>
  )
}
