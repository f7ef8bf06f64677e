// The reads of a query: its indexes and collections, the numbers of entries and documents, and a suggested index.

import { CopyButton } from '../parts/copy.tsx'
import { NameLink } from '../parts/link.tsx'
import { numbers, Table } from '../parts/table.tsx'
import { addressOf } from '../router.ts'
import { at, type Json, listAt, textAt } from '../wire/json.ts'

const numberAt = (value: Json, name: string) => Number(at(value, name) ?? 0)

function countText(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

export function Explanation({ explanation }: { readonly explanation: Json }) {
  const errors = listAt(explanation, 'errors')
  const suggestions = listAt(explanation, 'suggestions')
  const entries = countText(numberAt(explanation, 'entries_read'), 'entry', 'entries')
  const documents = countText(numberAt(explanation, 'documents_read'), 'document', 'documents')
  const returned = countText(numberAt(explanation, 'returned'), 'result', 'results')
  return (
    <section aria-label="Explanation">
      <p role="status">
        The query reads {entries} and {documents}, and returns {returned}. No data was written.
      </p>
      {errors.map((error, index) => (
        <p key={index} class="status-bad">
          The query fails with <code>{textAt(error, 'code')}</code>: {textAt(error, 'description')}
        </p>
      ))}
      <Reads sets={listAt(explanation, 'sets')} documents={listAt(explanation, 'documents')} />
      {suggestions.map((suggestion, index) => (
        <Suggestion key={index} suggestion={suggestion} />
      ))}
    </section>
  )
}

interface ReadsProps {
  readonly sets: readonly Json[]
  readonly documents: readonly Json[]
}

function Reads({ sets, documents }: ReadsProps) {
  if (sets.length === 0 && documents.length === 0) return <p class="empty">The query reads no documents.</p>
  return (
    <Table
      label="Reads"
      columns={['Read', 'Kind', numbers('Times read'), numbers('Entries'), numbers('Documents')]}
    >
      {sets.map((set, index) => (
        <tr key={`set ${index}`}>
          <td>
            <SetName set={set} />
          </td>
          <td>{textAt(set, 'kind') === 'index' ? 'index' : 'scan of all documents'}</td>
          <td class="number">{numberAt(set, 'scans').toLocaleString('en')}</td>
          <td class="number">{numberAt(set, 'entries').toLocaleString('en')}</td>
          <td />
        </tr>
      ))}
      {documents.map((each, index) => (
        <tr key={`documents ${index}`}>
          <td>
            <bdi>{textAt(each, 'collection')}</bdi>
          </td>
          <td>single documents</td>
          <td />
          <td />
          <td class="number">{numberAt(each, 'documents').toLocaleString('en')}</td>
        </tr>
      ))}
    </Table>
  )
}

/** The name of an index is a link to its page. */
function SetName({ set }: { readonly set: Json }) {
  const collection = textAt(set, 'collection')
  const index = textAt(set, 'index')
  if (index === undefined) return <bdi>{collection}</bdi>
  const path = collection === undefined ? ['indexes', index] : ['collections', collection, 'indexes', index]
  return (
    <NameLink href={addressOf(path)} name={collection === undefined ? index : `${collection}.${index}`} />
  )
}

function Suggestion({ suggestion }: { readonly suggestion: Json }) {
  const collection = textAt(suggestion, 'collection') ?? ''
  const existing = textAt(suggestion, 'existing')
  const definition = textAt(suggestion, 'definition') ?? ''
  if (existing !== undefined) {
    return (
      <p>
        The query reads all documents of <bdi>{collection}</bdi>. Use the index{' '}
        <b>
          <bdi>{existing}</bdi>
        </b>{' '}
        instead.
      </p>
    )
  }
  return (
    <>
      <h2>Suggested index</h2>
      <p>
        The query reads all documents of <bdi>{collection}</bdi>. With this index, the query reads only the
        documents that it returns.{' '}
        {definition.startsWith('index ') ? (
          <>
            Add this index to the collection in <a href={addressOf(['schema-files'])}>Schema files</a>:
          </>
        ) : (
          'Run this query to create the index:'
        )}
      </p>
      <pre class="drawn wrapped">{definition}</pre>
      <CopyButton text={definition} label="Copy index" />
    </>
  )
}
