// Filters rows by any field. A list shows the active conditions, each with a button that removes the condition. A form
// adds a condition.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Choice, Field } from '../parts/fields.tsx'
import { previewOf } from '../parts/values.tsx'
import { addressWith, fromStart, go } from '../router.ts'
import {
  type Condition,
  comparesWithValue,
  conditionsText,
  type Operator,
  operators,
  operatorText,
  pathOf,
} from '../service/conditions.ts'
import { valueOfText } from '../service/typed-value.ts'
import type { Json } from '../wire/json.ts'
import type { FieldPaths, Row } from '../wire/rows.ts'

interface ConditionFormProps {
  readonly conditions: readonly Condition[]
  /** Fields that the form suggests. */
  readonly fields: FieldPaths
  /** Rows that were read. Their values determine the type of a typed value; see {@link parseFieldValue}. */
  readonly rows: readonly Row[]
}

/** The address of the page stores the conditions. */
export function ConditionForm({ conditions, fields, rows }: ConditionFormProps) {
  const [field, setField] = useState('')
  const [operator, setOperator] = useState<Operator>('is')
  const [text, setText] = useState('')
  const apply = (chosen: readonly Condition[]) =>
    go(addressWith({ ...fromStart, filter: conditionsText(chosen) }))
  const add = (event: Event) => {
    event.preventDefault()
    if (field.trim() === '') return
    const path = pathOf(field.trim(), fields)
    const value = comparesWithValue(operator) ? parseFieldValue(text, path, rows) : null
    setField('')
    setText('')
    apply([...conditions, { path, operator, value }])
  }
  return (
    <>
      <form class="inline-form" onSubmit={add} aria-label="Filter">
        <Field
          label="Filter by"
          value={field}
          onInput={setField}
          isMono
          suggestions={[...fields.keys()]}
          placeholder="field"
        />
        <Choice label="Compare" value={operator} onChange={setOperator} options={operators} />
        {comparesWithValue(operator) && <Field label="Value" value={text} onInput={setText} isMono />}
        <button type="submit" disabled={field.trim() === ''}>
          Filter
        </button>
      </form>
      {conditions.length > 0 && (
        <ul class="conditions" aria-label="Filters">
          {conditions.map((condition, at) => {
            const shown = conditionText(condition)
            return (
              <li key={at}>
                <bdi>{shown}</bdi>
                <Button
                  class="quiet"
                  aria-label={`Remove filter: ${shown}`}
                  onClick={() => apply(conditions.filter(other => other !== condition))}
                >
                  ✕
                </Button>
              </li>
            )
          })}
        </ul>
      )}
    </>
  )
}

const shownChars = 60

/** Describes a condition in words. Long fields and values are truncated. */
export function conditionText({ path, operator, value }: Condition): string {
  const field = previewOf(path.join('.'), shownChars)
  if (!comparesWithValue(operator)) return `${field} ${operatorText(operator)}`
  const shown = typeof value === 'string' ? `“${previewOf(value, shownChars)}”` : previewOf(value, shownChars)
  return `${field} ${operatorText(operator)} ${shown}`
}

/** Parses a value. The input for a top-level field is a text if all loaded values of the field are texts. */
function parseFieldValue(text: string, path: readonly string[], rows: readonly Row[]): Json {
  const seen = rows.flatMap(({ cells }) => {
    const value = path.length === 1 ? cells.get(path[0] ?? '') : undefined
    return value === undefined || value === null ? [] : [value]
  })
  const isText = seen.length > 0 && seen.every(value => typeof value === 'string')
  // `valueOfText` removes the quotes of a quoted text.
  return isText && !/^\s*".*"\s*$/s.test(text) ? text : valueOfText(text)
}
