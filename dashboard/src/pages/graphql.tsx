// The page of GraphQL: runs operations, imports a schema, and shows the generated schema.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Editor } from '../parts/editor.tsx'
import { Choice } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { LoadedContent, useAction, useLoad } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { addressWith, pastTime } from '../router.ts'
import type { RequestSecret } from '../service/client.ts'
import {
  type GraphqlSchema,
  type ImportMode,
  importGraphqlSchema,
  type OperationResult,
  readGraphqlSchema,
  runOperation,
} from '../service/graphql.ts'
import { currentSecret, session } from '../session.ts'
import { ActAs } from './act-as.tsx'

export function Graphql() {
  const schema = useLoad(readGraphqlSchema, [])
  return (
    <>
      <Heading title="GraphQL" />
      {pastTime.value !== undefined ? (
        <p class="empty">
          GraphQL reads only the present. <a href={addressWith({ at: undefined })}>Back to now</a>
        </p>
      ) : (
        <>
          <Operation />
          <LoadedContent of={schema}>
            {loaded => <Schema key={loaded.imported} loaded={loaded} onImported={schema.reload} />}
          </LoadedContent>
        </>
      )}
    </>
  )
}

function Operation() {
  const [query, setQuery] = useState('{ __typename }')
  const [variables, setVariables] = useState('')
  const [asWhom, setAsWhom] = useState<RequestSecret | undefined>(undefined)
  const [result, setResult] = useState<OperationResult | undefined>(undefined)
  const action = useAction()
  const run = () =>
    action.start(async signal => {
      setResult(undefined)
      setResult(await runOperation(query, variables, asWhom ?? currentSecret.value, signal))
    })
  return (
    <section aria-labelledby="operation">
      <div class="section-head">
        <h2 id="operation">Operation</h2>
        <ActAs onChange={setAsWhom} />
      </div>
      <Editor label="Operation" value={query} notation="schema file" onChange={setQuery} onSubmit={run} />
      <h3>Variables</h3>
      <Editor
        label="Variables"
        value={variables}
        notation="json"
        placeholder='{"id": "1"}'
        onChange={setVariables}
        onSubmit={run}
      />
      <div class="form-buttons">
        <Button class="primary" disabled={action.isRunning} onClick={run}>
          {action.isRunning ? 'Running…' : 'Run'}
        </Button>
        <span class="hint">or press Ctrl-Enter</span>
      </div>
      {action.error && <Problem error={action.error} />}
      {result && (
        <section aria-label="Response">
          <p class="facts">{Math.round(result.elapsedMs)} ms</p>
          <Editor label="Response" value={result.text} notation="json" isReadOnly />
          <p>
            <CopyButton text={result.text} />
          </p>
        </section>
      )}
    </section>
  )
}

interface SchemaProps {
  readonly loaded: GraphqlSchema
  readonly onImported: () => void
}

function Schema({ loaded: { generated, imported }, onImported }: SchemaProps) {
  const role = session.value?.principal.role
  const mayImport = role === 'admin' || role === 'server'
  return (
    <>
      {imported !== undefined && (
        <section aria-labelledby="imported">
          <h2 id="imported">Schema</h2>
          {mayImport ? (
            <ImportForm imported={imported} onImported={onImported} />
          ) : (
            <Editor label="Schema" value={imported} notation="schema file" isReadOnly />
          )}
        </section>
      )}
      <section aria-labelledby="generated">
        <h2 id="generated">Generated schema</h2>
        <p class="hint">The schema that clients see, with all generated queries, mutations and types.</p>
        <pre class="drawn" tabIndex={0}>
          {generated}
        </pre>
        <p>
          <CopyButton text={generated} />
        </p>
      </section>
    </>
  )
}

const modes: readonly (readonly [ImportMode, string])[] = [
  ['merge', 'add to the schema'],
  ['replace', 'replace the schema, keep the documents'],
  ['override', 'delete the schema with all documents first'],
]

const overrideQuestion =
  'This import deletes the collections, indexes and functions of the GraphQL schema, with all documents. Import?'

interface ImportFormProps {
  readonly imported: string
  readonly onImported: () => void
}

function ImportForm({ imported, onImported }: ImportFormProps) {
  const [text, setText] = useState(imported)
  const [mode, setMode] = useState<ImportMode>('merge')
  const action = useAction()
  const choose = (file: File | undefined) => {
    if (file !== undefined) action.start(async () => setText(await file.text()))
  }
  const start = () => {
    if (mode === 'override' && !confirm(overrideQuestion)) return
    action.start(async signal => {
      await importGraphqlSchema(text, mode, signal)
      onImported()
    })
  }
  return (
    <>
      <div class="field">
        <label for="schema-file">File</label>
        <input
          id="schema-file"
          type="file"
          accept=".gql,.graphql,.graphqls"
          onChange={event => choose(event.currentTarget.files?.[0])}
        />
      </div>
      <Editor
        label="Schema"
        value={text}
        notation="schema file"
        placeholder="type Todo { title: String! } type Query { allTodos: [Todo!] }"
        onChange={setText}
      />
      <div class="inline-form">
        <Choice label="Mode" value={mode} options={modes} onChange={setMode} />
        <Button class="primary" disabled={action.isRunning || text.trim() === ''} onClick={start}>
          {action.isRunning ? 'Importing…' : 'Import'}
        </Button>
      </div>
      {action.error && <Problem error={action.error} />}
    </>
  )
}
