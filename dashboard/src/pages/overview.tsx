// The page of a database: its collections, and the databases in it.

import { useState } from 'preact/hooks'
import { CreateButton } from '../parts/create-button.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Choice, Field, NameField } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { useIncrementalList } from '../parts/incremental-list.ts'
import { LoadedContent, useLoad } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { useSearch } from '../parts/schema-list.tsx'
import { Table } from '../parts/table.tsx'
import { Instant } from '../parts/time.tsx'
import { addressOf, databasePath, go, pastTime } from '../router.ts'
import { asPage, mapping, pageOf, read, variable, write } from '../service/data.ts'
import { ServiceError } from '../service/faults.ts'
import { canLimitSecret, rights, session } from '../session.ts'
import { at, type Json, type Query, textAt } from '../wire/json.ts'
import { Databases } from './databases.tsx'

const collectionsMax = 1000

export function Overview() {
  const own = session.value?.principal.database ?? []
  const name = databasePath.value.at(-1) ?? own.at(-1) ?? 'root'
  return (
    <>
      <Heading title={name} />
      <CollectionList />
      {canLimitSecret.value && <Databases />}
    </>
  )
}

function CollectionList() {
  const [filter, setFilter] = useState('')
  const list = useLoad(
    signal => read(mapping(pageOf({ collections: null }, collectionsMax), { get: variable() }), signal),
    [pastTime.value],
  )
  const isDenied = list.error instanceof ServiceError && list.error.status === 403
  return (
    <section aria-labelledby="collections">
      <header class="section-head">
        <h2 id="collections">Collections</h2>
        <CreateButton text="Create collection" isAllowed={rights.value.writes} form={NewCollection} />
      </header>
      {isDenied ? (
        <ByName />
      ) : (
        <LoadedContent of={list}>
          {found => {
            const page = asPage(found.value)
            return (
              <CollectionTable
                documents={page.data}
                isMore={page.after !== undefined}
                {...{ filter, setFilter }}
              />
            )
          }}
        </LoadedContent>
      )}
    </section>
  )
}

/** Opens a collection by its name, for secrets that may read documents but not list collections. */
function ByName() {
  const [name, setName] = useState('')
  const open = (event: Event) => {
    event.preventDefault()
    if (name !== '') go(addressOf(['collections', name]))
  }
  return (
    <form class="inline-form" onSubmit={open}>
      <p>
        Your secret may not list collections. If it may read the documents of a collection, open the
        collection by name.
      </p>
      <Field label="Collection" value={name} onInput={setName} isMono />
      <button type="submit">Open</button>
    </form>
  )
}

interface TableProps {
  readonly documents: readonly Json[]
  readonly isMore: boolean
  readonly filter: string
  readonly setFilter: (text: string) => void
}

function CollectionTable({ documents: first, isMore, filter, setFilter }: TableProps) {
  const wanted = filter.toLowerCase()
  // The page has only the first collections. If there are more, the service searches all of them.
  const search = useSearch('collections', isMore ? filter : '')
  const found = isMore && filter !== '' ? search.data?.data : undefined
  const documents = found ?? first
  const matching = documents.filter(document => textAt(document, 'name')?.toLowerCase().includes(wanted))
  const shown = useIncrementalList(matching, wanted)
  if (first.length === 0) {
    return (
      <p class="empty">
        There are no collections yet. Collections contain documents, such as users or orders. Create a
        collection, then add documents to it.
      </p>
    )
  }
  return (
    <>
      {first.length > 10 && (
        <Field label="Find a collection" type="search" value={filter} onInput={setFilter} />
      )}
      <Table label="Table of collections" columns={['Name', 'History', 'Documents expire', 'Changed']}>
        {shown.map(document => {
          const name = textAt(document, 'name') ?? ''
          return (
            <tr key={name}>
              <td>
                <a href={addressOf(['collections', name])}>{name}</a>
              </td>
              <td>{daysText(at(document, 'history_days'), 'forever')}</td>
              <td>{daysText(at(document, 'ttl_days'), 'never')}</td>
              <td>
                <Instant micros={at(document, 'ts')} />
              </td>
            </tr>
          )
        })}
      </Table>
      {isMore && (
        <p class="hint" role="status">
          {filter === ''
            ? `The first ${collectionsMax} are shown. Type a part of a name above to find other collections.`
            : search.isLoading
              ? 'Searching all collections…'
              : search.data?.isMore && 'There are more matches. Type more of the name.'}
        </p>
      )}
      {search.error && <Problem error={search.error} retry={search.reload} />}
    </>
  )
}

/** Describes a number of days in words; returns `absent` if `days` is not a number. */
function daysText(days: Json | undefined, absent: string): string {
  if (typeof days !== 'bigint') return absent
  return days === 1n ? '1 day' : `${days} days`
}

/** Throws an Error if the text is not a whole number. */
export function wholeDays(text: string): bigint {
  if (!/^\d+$/.test(text)) throw new Error('Enter the days as a whole number, such as 30.')
  return BigInt(text)
}

function NewCollection({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [history, setHistory] = useState('30')
  const [ttl, setTtl] = useState('')
  const [keeps, setKeeps] = useState<'days' | 'ever'>('days')
  const create = async (signal: AbortSignal) => {
    const fields: Record<string, Query> = { name }
    fields.history_days = keeps === 'ever' ? null : wholeDays(history)
    if (ttl !== '') fields.ttl_days = wholeDays(ttl)
    await write({ create_collection: { object: fields } }, signal)
    onClose()
    go(addressOf(['collections', name]))
  }
  return (
    <FormDialog
      title="Create collection"
      submit="Create"
      isReady={name !== ''}
      onClose={onClose}
      onSubmit={create}
    >
      <NameField value={name} onInput={setName} />
      <Choice
        label="Keep versions"
        value={keeps}
        onChange={setKeeps}
        options={[
          ['days', 'for some days'],
          ['ever', 'forever'],
        ]}
      />
      {keeps === 'days' && (
        <Field label="Days of history" type="number" value={history} onInput={setHistory} />
      )}
      <Field
        label="Days until documents expire"
        type="number"
        value={ttl}
        onInput={setTtl}
        hint="Documents are deleted this many days after their last change. Leave this empty for documents that do not expire."
      />
    </FormDialog>
  )
}
