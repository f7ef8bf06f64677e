// Explains why a query was denied: evaluates the query as another caller and lists every permission check. Nothing is
// written.

import { useMemo, useState } from 'preact/hooks'
import { quoted } from '../../../src/fql10/text/quoted.ts'
import { type ParsedQuery, parseQuery, type Version } from '../language.ts'
import { Button } from '../parts/button.tsx'
import type { Mark } from '../parts/code-editor.ts'
import { Editor } from '../parts/editor.tsx'
import { Choice, Field } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { useAction } from '../parts/load.tsx'
import { errorMarks } from '../parts/notation-switch.tsx'
import { Problem } from '../parts/problem.tsx'
import { useChoices } from '../parts/schema-list.tsx'
import { Tree } from '../parts/values.tsx'
import { VersionHint, VersionSwitch } from '../parts/version-switch.tsx'
import { runText } from '../service/client.ts'
import { currentSecret } from '../session.ts'
import { at, isMap, type Json, listAt, parseJson, type Query, textAt, writeJson } from '../wire/json.ts'
import { documentRef } from '../wire/refs.ts'
import { DecisionTable, MembershipList } from './decisions.tsx'

interface AccessExplanation {
  readonly value: Json
  /**
   * Converts the position of a permission check to offsets in the query. Returns undefined for a check in the body of a
   * function.
   */
  readonly locate: (position: readonly string[]) => ReturnType<ParsedQuery['locate']> | undefined
}

export function Denied() {
  const [text, setText] = useState('')
  const [version, setVersion] = useState<Version>('4')
  const [caller, setCaller] = useState<QueryCaller>({ choice: 'builtin server', id: '' })
  const [explained, setExplained] = useState<AccessExplanation | undefined>(undefined)
  const action = useAction()
  const marks = useMemo(() => marksOf(action.error, explained), [action.error, explained])
  const explain = () =>
    action.start(async signal => {
      setExplained(undefined)
      const as = version === '10' ? callerInVersion10(caller) : callerInVersion4(caller)
      if (as === undefined)
        throw new Error('Enter the caller first: a document such as users/123, or the id of a key or token.')
      const { query, locate } =
        version === '10' ? { query: text, locate: locateIn(text) } : parseQuery(text, 'text')
      const response = await runText(writeJson({ query, as }), currentSecret.value, signal, '/api/v1/explain')
      setExplained({ value: at(parseJson(response.text), 'resource') ?? null, locate })
    })
  const chooseVersion = (chosen: Version) => {
    action.clear()
    setVersion(chosen)
    setExplained(undefined)
  }
  return (
    <div class="shell">
      <Heading title="Why denied" />
      <p class="hint">
        Enter the query that was denied, and choose the caller that ran it. The answer lists every permission
        check with the privilege or predicate that decided it. The query writes no data.
      </p>
      <div class="shell-head">
        <VersionSwitch version={version} onChange={chooseVersion} />
      </div>
      <CallerChoice {...caller} onChange={setCaller} />
      <Editor
        label="Query"
        value={text}
        notation={version === '10' ? 'version 10' : 'text'}
        marks={marks}
        onChange={setText}
        onSubmit={explain}
        placeholder={version === '10' ? 'Order.byId("1")!' : 'Get(Ref(Collection("orders"), "1"))'}
      />
      <div class="form-buttons">
        <Button class="primary" disabled={action.isRunning} onClick={explain}>
          {action.isRunning ? 'Explaining…' : 'Explain'}
        </Button>
      </div>
      {action.error && <Problem error={action.error} />}
      <VersionHint
        text={text}
        version={version}
        error={action.error}
        explanation={explained?.value}
        onChange={chooseVersion}
      />
      {explained && <Explanation value={explained.value} />}
    </div>
  )
}

/** The denied parts of a query, or its syntax errors. */
function marksOf(error: Error | undefined, explained: AccessExplanation | undefined): readonly Mark[] {
  if (error || !explained) return errorMarks(error)
  return listAt(explained.value, 'decisions')
    .filter(decision => at(decision, 'allowed') === false)
    .flatMap(decision => {
      const range = explained.locate(listAt(decision, 'position').map(String))
      return range === undefined ? [] : [{ ...range, message: `${textAt(decision, 'action')} is denied` }]
    })
}

/** Converts the line and column of a decision to offsets in a text of version 10. */
function locateIn(text: string): AccessExplanation['locate'] {
  const lines = text.split('\n')
  return ([source, line, column]) => {
    if (source !== '*query*') return undefined
    const before = lines.slice(0, Number(line) - 1).reduce((sum, each) => sum + each.length + 1, 0)
    const from = before + Number(column) - 1
    return { from, to: Math.min(from + 1, text.length) }
  }
}

const builtin = ['server', 'server-readonly', 'client', 'admin'] as const

/** `choice`: `builtin` or `role` with a name, `document`, `keys` or `tokens`. `id`: typed for the last three. */
interface QueryCaller {
  readonly choice: string
  readonly id: string
}

function CallerChoice({ choice, id, onChange }: QueryCaller & { onChange: (as: QueryCaller) => void }) {
  const roles = useChoices('roles')
  const names = roles.data ?? []
  const change = (chosen: string, typed: string) => onChange({ choice: chosen, id: typed })
  return (
    <div class="toolbar">
      <Choice
        label="Caller"
        value={choice}
        onChange={chosen => change(chosen, id)}
        options={[
          ...builtin.map(role => [`builtin ${role}`, `the role ${role}`] as const),
          ...names.map(name => [`role ${name}`, `the role ${name}`] as const),
          ['document', 'a user (document)…'] as const,
          ['keys', 'a key…'] as const,
          ['tokens', 'a token…'] as const,
        ]}
      />
      {choice === 'document' && (
        <Field
          label="Document"
          value={id}
          onInput={typed => change(choice, typed)}
          isMono
          placeholder="users/123"
        />
      )}
      {(choice === 'keys' || choice === 'tokens') && (
        <Field label="Id" value={id} onInput={typed => change(choice, typed)} isMono />
      )}
    </div>
  )
}

function callerInVersion10({ choice, id: typed }: QueryCaller): string | undefined {
  const id = typed.trim()
  if (choice.startsWith('builtin ')) return choice.slice('builtin '.length)
  if (choice.startsWith('role ')) return `Role.byName(${quoted(choice.slice('role '.length))})`
  if (id === '') return undefined
  if (choice === 'keys') return `Key.byId(${quoted(id)})`
  if (choice === 'tokens') return `Token.byId(${quoted(id)})`
  const slash = id.lastIndexOf('/')
  if (slash < 1) return undefined
  return `Collection(${quoted(id.slice(0, slash))}).byId(${quoted(id.slice(slash + 1))})`
}

function callerInVersion4({ choice, id: typed }: QueryCaller): Query | undefined {
  const id = typed.trim()
  if (choice.startsWith('builtin ')) return choice.slice('builtin '.length)
  if (choice.startsWith('role ')) return { role: choice.slice('role '.length) }
  if (choice === 'document') {
    const slash = id.lastIndexOf('/')
    return slash < 1 ? undefined : documentRef(id.slice(0, slash), id.slice(slash + 1))
  }
  return id === '' ? undefined : { ref: { [choice]: null }, id }
}

function Explanation({ value }: { value: Json }) {
  const errors = listAt(value, 'errors')
  const decisions = listAt(value, 'decisions')
  const denied = decisions.filter(decision => at(decision, 'allowed') === false).length
  return (
    <section aria-label="Explanation">
      <p class={denied === 0 && errors.length === 0 ? 'notice' : 'problem'} role="status">
        {errors.length === 0
          ? denied === 0
            ? 'The query is allowed.'
            : `The query succeeds. ${denied} of ${decisions.length} permission checks denied access.`
          : `The query fails: ${errors.map(error => textAt(error, 'description') ?? textAt(error, 'code')).join(' ')}`}
      </p>
      <DecisionTable decisions={decisions} />
      {listAt(value, 'memberships').length > 0 && (
        <MembershipList memberships={listAt(value, 'memberships')} />
      )}
      {isMap(value) && value.has('result') && (
        <>
          <h3>Result</h3>
          <div class="result">
            <Tree value={value.get('result') ?? null} />
          </div>
        </>
      )}
    </section>
  )
}
