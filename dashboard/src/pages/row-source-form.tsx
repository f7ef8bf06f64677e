// Chooses the source of the rows of a collection: all documents or an index, the terms to look up, and the direction.
// The address of the page stores the source.

import { useEffect, useState } from 'preact/hooks'
import { Choice, Field } from '../parts/fields.tsx'
import { cut } from '../parts/values.tsx'
import { addressWith, fromStart, go } from '../router.ts'
import type { IndexShape, RowSource } from '../service/row-source.ts'
import { textOfValue, valueOfText } from '../service/typed-value.ts'
import { type Json, writeJson } from '../wire/json.ts'

interface SourceFormProps {
  readonly source: RowSource
  readonly indexes: readonly IndexShape[]
}

export function SourceForm({ source, indexes }: SourceFormProps) {
  const active = indexes.filter(index => index.isActive)
  return (
    <div class="source-form">
      <Choice
        label="Source"
        value={source.index?.name ?? ''}
        options={[
          ['', 'All documents'],
          ...active.map(({ name, terms }) => [name, labelOf(name, terms)] as const),
        ]}
        onChange={name => go(addressWith({ ...fromStart, index: name || undefined, terms: undefined }))}
      />
      {source.index !== undefined && source.index.terms.length > 0 && (
        <TermFields key={source.index.name} index={source.index} terms={source.terms} />
      )}
      <Choice
        label="Order"
        value={source.isReversed ? 'descending' : 'ascending'}
        options={[
          ['ascending', 'forward'],
          ['descending', 'reverse'],
        ]}
        onChange={order =>
          go(addressWith({ ...fromStart, order: order === 'ascending' ? undefined : order }))
        }
      />
    </div>
  )
}

const labelChars = 60

function labelOf(name: string, terms: readonly string[]): string {
  return terms.length === 0 ? name : `${name} (by ${cut(terms.join(', '), labelChars)})`
}

function TermFields({ index, terms }: { index: IndexShape; terms: readonly Json[] }) {
  const shown = () => index.terms.map((_, at) => (terms[at] === undefined ? '' : textOfValue(terms[at])))
  const [texts, setTexts] = useState(shown)
  useEffect(() => setTexts(shown()), [writeJson(terms)])
  const apply = (event: Event) => {
    event.preventDefault()
    go(addressWith({ ...fromStart, terms: writeJson(texts.map(valueOfText)) }))
  }
  return (
    <form class="inline-form" onSubmit={apply}>
      {index.terms.map((term, at) => (
        <Field
          key={term}
          label={cut(term, labelChars)}
          value={texts[at] ?? ''}
          isMono
          onInput={text => setTexts(texts.map((before, beforeAt) => (beforeAt === at ? text : before)))}
        />
      ))}
      <button type="submit">Look up</button>
    </form>
  )
}
