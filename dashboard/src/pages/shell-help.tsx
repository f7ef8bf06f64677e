// Help for who writes queries: what can be completed, and what every function does.

import { useMemo, useState } from 'preact/hooks'
import { fqlFunctions } from '../../../src/v4/text/index.ts'
import type { Completion } from '../parts/code-editor.ts'
import { Field } from '../parts/fields.tsx'
import { useChoices } from '../parts/schema-list.tsx'
import { type Json, textAt } from '../wire/json.ts'

const functionCompletions: readonly Completion[] = fqlFunctions.map(
  ({ name, signature, summary, result }) => ({
    label: name,
    kind: 'function',
    detail: signature.slice(name.length),
    info: `${summary}\n→ ${result}`,
    text: name,
  }),
)

/** Functions, and the names of what the database holds. */
export function useCompletions(): readonly Completion[] {
  const collections = useChoices('collections')
  const indexes = useChoices('indexes')
  const functions = useChoices('functions')
  return useMemo(
    () => [
      ...functionCompletions,
      ...named(collections.data, 'Collection'),
      ...named(indexes.data, 'Index'),
      ...named(functions.data, 'Function'),
    ],
    [collections.data, indexes.data, functions.data],
  )
}

function named(documents: readonly Json[] | undefined, call: string): Completion[] {
  return (documents ?? []).map(document => {
    const label = textAt(document, 'name') ?? ''
    return { label, kind: 'class', detail: call, text: `${call}(${JSON.stringify(label)})` }
  })
}

const shownMax = 40

/** A searchable list of the functions. */
export function FunctionHelp() {
  const [filter, setFilter] = useState('')
  const wanted = filter.trim().toLowerCase()
  const found = fqlFunctions.filter(
    ({ name, summary }) => name.toLowerCase().includes(wanted) || summary.toLowerCase().includes(wanted),
  )
  return (
    <details class="function-help">
      <summary>Functions of the language</summary>
      <Field label="Find a function" type="search" value={filter} onInput={setFilter} />
      <dl>
        {found.slice(0, shownMax).map(({ name, signature, summary, result, effect }) => (
          <div key={name}>
            <dt>
              <code>{signature}</code> → {result}
              {effect !== 'pure' && <span class="role">{effect}s</span>}
            </dt>
            <dd>{summary}</dd>
          </div>
        ))}
      </dl>
      {found.length > shownMax && <p class="hint">{found.length - shownMax} more: type to find them.</p>}
    </details>
  )
}
