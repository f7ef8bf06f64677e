// A diagram of the collections and the references between their documents, followed by the same references as a table.

import { useMemo } from 'preact/hooks'
import { Heading } from '../parts/heading.tsx'
import { NameLink } from '../parts/link.tsx'
import { LoadedContent, useLoad } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { addressOf, pastTime } from '../router.ts'
import { ServiceError } from '../service/faults.ts'
import { type Reference, readGraph, type SchemaGraph } from '../service/references.ts'
import { type Box, layOut, measures } from '../wire/graph-layout.ts'

export function Diagram() {
  const graph = useLoad(readGraph, [pastTime.value])
  const isDenied = graph.error instanceof ServiceError && graph.error.status === 403
  return (
    <>
      <Heading title="Diagram" />
      {isDenied ? (
        <p class="empty">
          Your secret may not list collections. Sign in with a key that has the role server or admin.
        </p>
      ) : (
        <LoadedContent of={graph}>{loaded => <Graph graph={loaded} />}</LoadedContent>
      )}
    </>
  )
}

function Graph({ graph }: { readonly graph: SchemaGraph }) {
  const { collections, isMore, references } = graph
  if (collections.length === 0) {
    return (
      <p class="empty">
        There are no collections yet. Create one on the <a href={addressOf([])}>overview</a>.
      </p>
    )
  }
  return (
    <>
      <p class="hint">
        Each line leads from a field to the collection that the field refers to. Solid lines come from
        declared field types. Dashed lines come from references in the first documents of a collection.
        {isMore && ` The first ${collections.length} collections are shown.`}
      </p>
      <Picture graph={graph} />
      <section aria-labelledby="references">
        <h2 id="references">References</h2>
        <ReferenceTable references={references} />
      </section>
    </>
  )
}

function ReferenceTable({ references }: { readonly references: readonly Reference[] }) {
  if (references.length === 0) {
    return (
      <p class="empty">
        No field refers to another collection. To connect collections, declare a field with a type such as
        Ref&lt;users&gt;, or store a reference in a document.
      </p>
    )
  }
  return (
    <Table label="Table of references" columns={['Collection', 'Field', 'Refers to', 'Source']}>
      {references.map(({ from, field, isDeclared, to }) => (
        <tr key={`${from} ${field} ${to}`}>
          <td>
            <NameLink href={addressOf(['collections', from])} name={from} />
          </td>
          <td>
            <bdi>{field}</bdi>
          </td>
          <td>
            <NameLink href={addressOf(['collections', to])} name={to} />
          </td>
          <td>{isDeclared ? 'field type' : 'documents'}</td>
        </tr>
      ))}
    </Table>
  )
}

function Picture({ graph: { collections, references } }: { readonly graph: SchemaGraph }) {
  const { boxes, height, lines, width } = useMemo(
    () => layOut(collections, references),
    [collections, references],
  )
  const isDeclared = (line: (typeof lines)[number]) =>
    references.some(
      ({ from, field, to, isDeclared: is }) =>
        is && from === line.from && field === line.field && to === line.to,
    )
  return (
    <section class="table-scroll diagram" tabIndex={0} aria-label="Diagram of collections">
      <svg
        aria-label={descriptionOf(collections, references)}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
      >
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            orient="auto"
          >
            <path d="M 0 0 L 8 4 L 0 8 z" />
          </marker>
        </defs>
        {lines.map(line => (
          <path
            key={`${line.from} ${line.field} ${line.to}`}
            class="diagram-line"
            d={line.path}
            marker-end="url(#arrow)"
            stroke-dasharray={isDeclared(line) ? undefined : '5 4'}
          />
        ))}
        {boxes.map(box => (
          <CollectionBox key={box.name} box={box} />
        ))}
      </svg>
    </section>
  )
}

/** Describes the picture for screen readers. The table below the picture lists each reference. */
function descriptionOf(collections: readonly string[], references: readonly Reference[]): string {
  const counted = (count: number, name: string) => `${count} ${name}${count === 1 ? '' : 's'}`
  return `${counted(collections.length, 'collection')} with ${counted(references.length, 'reference')}`
}

/** The number of characters of a name that fit into a box. */
const nameChars = 24

const shortened = (text: string) => (text.length > nameChars ? `${text.slice(0, nameChars - 1)}…` : text)

function CollectionBox({ box: { fields, height, name, x, y } }: { readonly box: Box }) {
  const { row, title, width } = measures
  return (
    <g transform={`translate(${x} ${y})`}>
      <a class="diagram-box" href={addressOf(['collections', name])}>
        <title>{name}</title>
        <rect width={width} height={height} rx="6" />
        <text class="diagram-name" x="10" y={title / 2} dominant-baseline="central">
          {shortened(name)}
        </text>
        {fields.map((field, at) => (
          <text key={field} x="10" y={title + (at + 0.5) * row} dominant-baseline="central">
            {shortened(field)}
          </text>
        ))}
      </a>
    </g>
  )
}
