// The versions of a document on a timeline, and the differences between versions. Earlier versions can be restored.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { DiffTable } from '../parts/diff.tsx'
import { Heading } from '../parts/heading.tsx'
import { LoadedContent, useLoad } from '../parts/load.tsx'
import { exactTime, Instant } from '../parts/time.tsx'
import { addressOf, pastTime } from '../router.ts'
import { ChangedError } from '../service/checked-writes.ts'
import { runText } from '../service/client.ts'
import { asPage, pageOf, read, write } from '../service/data.ts'
import type { DocumentName } from '../service/documents.ts'
import { runTextTask } from '../service/text-task-runner.ts'
import { currentSecret, rights } from '../session.ts'
import { at, type Json, type Query, textAt, writeJson } from '../wire/json.ts'
import { documentRef } from '../wire/refs.ts'
import { documentTabs, documentTrail } from './document.tsx'
import { Rewind } from './rewind.tsx'
import { useWriters, VersionWriter } from './version-writer.tsx'

interface Version {
  readonly ts: bigint
  readonly action: string
}

const pageSize = 100

function versionOf(event: Json): Version {
  const ts = at(event, 'ts')
  return {
    ts: typeof ts === 'bigint' ? ts : 0n,
    action: textAt(event, 'action') ?? '',
  }
}

export function DocumentHistory(name: DocumentName) {
  const { collection, id } = name
  const [older, setOlder] = useState<Json | undefined>(undefined)
  const events = useLoad(
    async signal => {
      const set: Query = { events: documentRef(collection, id) }
      // The page shows the newest versions first, so the query reads backwards from the end, or from the oldest version
      // shown.
      const page = asPage((await read(pageOf(set, pageSize, { before: older ?? null }), signal)).value)
      return { versions: page.data.map(versionOf).reverse(), before: page.before }
    },
    [collection, id, older, pastTime.value],
  )
  return (
    <>
      <Heading trail={documentTrail(collection)} title={id} />
      {documentTabs(name, 'history')}
      <LoadedContent of={events}>
        {({ versions, before }) => (
          <>
            <TimeLine name={name} versions={versions} onRestored={events.reload} />
            {before !== undefined && (
              <p class="pager">
                <Button onClick={() => setOlder(before)}>Show older versions</Button>
              </p>
            )}
          </>
        )}
      </LoadedContent>
    </>
  )
}

interface TimeLineProps {
  readonly name: DocumentName
  readonly versions: readonly Version[]
  readonly onRestored: () => void
}

function TimeLine({ name, versions, onRestored }: TimeLineProps) {
  const [chosen, setChosen] = useState<bigint | undefined>(versions[0]?.ts)
  const writers = useWriters(versions.map(({ ts }) => ts))
  if (versions.length === 0) {
    return (
      <p class="empty">
        No versions are kept. To keep versions for longer, raise Days of history in the settings of the
        collection.
      </p>
    )
  }
  const found = versions.findIndex(version => version.ts === chosen)
  const index = found < 0 ? 0 : found
  const version = versions[index] as Version
  return (
    <div class="history">
      <ol class="time-line" aria-label="Versions, newest first">
        {versions.map((each, at) => (
          <li key={String(each.ts)}>
            <Button
              aria-pressed={at === index}
              class={`event-${each.action}`}
              onClick={() => setChosen(each.ts)}
            >
              <span class="event-name">{each.action}</span> <Instant micros={each.ts} />
            </Button>
          </li>
        ))}
      </ol>
      <VersionView
        name={name}
        version={version}
        previous={versions[index + 1]}
        newest={versions[0] as Version}
        onRestored={onRestored}
      >
        <VersionWriter ts={version.ts} writers={writers} />
      </VersionView>
    </div>
  )
}

interface VersionViewProps {
  readonly name: DocumentName
  readonly version: Version
  readonly previous: Version | undefined
  readonly newest: Version
  readonly onRestored: () => void
  /** Further information about the version, such as its author. */
  readonly children: ComponentChildren
}

/** A query for the data of a version, which returns null if the document did not exist. */
function dataFrom(ref: Query, version: Version | undefined): Query {
  if (version === undefined || version.action === 'delete') return null
  const data: Query = { select: ['data'], from: { get: ref }, default: { object: {} } }
  return {
    at: { epoch: version.ts, unit: 'microseconds' },
    expr: { if: { exists: ref }, then: data, else: null },
  }
}

/** A query that returns true if the version is still the newest of its document. */
function isStillNewest(ref: Query, { ts, action }: Version): Query {
  if (action === 'delete') return { not: { exists: ref } }
  return { if: { exists: ref }, then: { equals: [{ select: 'ts', from: { get: ref } }, ts] }, else: false }
}

function VersionView({ name, version, previous, newest, onRestored, children }: VersionViewProps) {
  const [isRestoring, setRestoring] = useState(false)
  const { collection, id } = name
  const ref = documentRef(collection, id)
  const versions = useLoad(
    async signal => {
      const query = [dataFrom(ref, previous), dataFrom(ref, version), dataFrom(ref, newest)]
      const { text } = await runText(writeJson(query), currentSecret.value, signal)
      return runTextTask({ kind: 'versions', text }, text.length)
    },
    [collection, id, version.ts, newest.ts],
  )
  const isNewest = version.ts === newest.ts
  const hasData = versions.data?.hasData === true
  const mayRestore = rights.value.writes && pastTime.value === undefined && !isNewest && hasData
  const restore = async (signal: AbortSignal) => {
    const data: Query = { var: 'data' }
    // Only the data is restored. Without its current expiry, the replaced document would never expire.
    const ttl: Query = { select: 'ttl', from: { get: ref }, default: null }
    const replaced: Query = { replace: ref, params: { object: { data, ttl } } }
    const query: Query = {
      if: isStillNewest(ref, newest),
      then: { if: { exists: ref }, then: replaced, else: { create: ref, params: { object: { data } } } },
      else: null,
    }
    const { value } = await write({ let: [{ data: dataFrom(ref, version) }], in: query }, signal)
    if (value === null) {
      onRestored()
      throw new ChangedError()
    }
    setRestoring(false)
    onRestored()
  }
  return (
    <section class="version" aria-label="Version">
      <header class="section-head">
        <h2>
          {version.action} <Instant micros={version.ts} />
        </h2>
        <div class="heading-actions">
          <a class="button" href={addressOf(['collections', collection, id], { at: exactTime(version.ts) })}>
            View at this time
          </a>
          {mayRestore && (
            <Button class="primary" onClick={() => setRestoring(true)}>
              Restore this version
            </Button>
          )}
        </div>
      </header>
      {children}
      <LoadedContent of={versions}>
        {loaded => (
          <>
            <h3>Changes in this version</h3>
            <DiffTable comparison={loaded.fromBefore} leftName="Before" rightName="This version" />
            {!isNewest && (
              <>
                <h3>Changes since this version</h3>
                <DiffTable comparison={loaded.toNewest} leftName="This version" rightName="Newest version" />
              </>
            )}
          </>
        )}
      </LoadedContent>
      {pastTime.value === undefined && rights.value.imports && (
        <Rewind collection={collection} time={version.ts} onChanged={onRestored} />
      )}
      {isRestoring && (
        <Confirm
          title="Restore this version?"
          warning="The data of this version becomes the newest version of the document. Later versions stay in the history."
          submit="Restore"
          onClose={() => setRestoring(false)}
          onConfirm={restore}
        />
      )}
    </section>
  )
}
