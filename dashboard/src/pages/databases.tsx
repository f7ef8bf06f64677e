// The databases below the current database, as a tree with a search field. The user can create, rename and delete
// databases.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Confirm, FormDialog } from '../parts/dialog.tsx'
import { Field, NameField } from '../parts/fields.tsx'
import { useIncrementalList } from '../parts/incremental-list.ts'
import { NameLink } from '../parts/link.tsx'
import { LoadedContent, reloadIfChanged, useLoad } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { useSearch } from '../parts/schema-list.tsx'
import { addressIn, databaseParameter, databasePath, go, pastTime } from '../router.ts'
import { ChangedError } from '../service/checked-writes.ts'
import { run, runVersion10 } from '../service/client.ts'
import { asPage, atPastTime, mapping, pageOf, read, variable } from '../service/data.ts'
import { deleteSchema, readSchema, saveFields } from '../service/schema.ts'
import { currentSecret, rights } from '../session.ts'
import { at, type Json, type Query, textAt } from '../wire/json.ts'
import { refOf } from '../wire/refs.ts'

interface DatabaseNode {
  readonly name: string
  /** The path below the current database, outermost first. */
  readonly path: readonly string[]
  /** Undefined until the child databases have been read. */
  readonly children: DatabaseList | undefined
}

/** `isMore`: there are more databases than `nodes`. */
interface DatabaseList {
  readonly nodes: readonly DatabaseNode[]
  readonly isMore: boolean
}

/** Maximum number of databases shown at the top of the tree. */
const topMax = 1000
/** Maximum number of child databases shown below a database. */
const innerMax = 100

/** Reads the tree to a depth of three. Deeper levels are read when the user opens them. */
const threeLevels: Query = level('a', { databases: null }, topMax, [
  level('b', { databases: variable('a') }, innerMax, [pageOf({ databases: variable('b') }, innerMax)]),
])

function level(name: string, set: Query, size: number, below: readonly Query[]): Query {
  return mapping(pageOf(set, size), [variable(name), ...below], name)
}

function listOf(page: Json, path: readonly string[]): DatabaseList {
  const nodes = asPage(page).data.flatMap(element => {
    const isLeaf = !Array.isArray(element)
    const name = refOf(isLeaf ? element : at(element, 0))?.id
    if (name === undefined) return []
    const own = [...path, name]
    return [{ name, path: own, children: isLeaf ? undefined : listOf(at(element, 1) ?? null, own) }]
  })
  return { nodes, isMore: at(page, 'after') !== undefined }
}

export function Databases() {
  const [filter, setFilter] = useState('')
  const [dialog, setDialog] = useState<Dialog | undefined>(undefined)
  const tree = useLoad(async signal => listOf((await read(threeLevels, signal)).value, []), [pastTime.value])
  const search = useSearch('databases', tree.data?.isMore ? filter : '')
  const done = () => {
    setDialog(undefined)
    tree.reload()
  }
  const mayChange = rights.value.administers && pastTime.value === undefined
  return (
    <section aria-labelledby="databases">
      <header class="section-head">
        <h2 id="databases">Databases</h2>
        {mayChange && <Button onClick={() => setDialog({ kind: 'create' })}>Create database</Button>}
      </header>
      <LoadedContent of={tree}>
        {({ nodes, isMore }) =>
          nodes.length === 0 ? (
            <p class="empty">
              This database contains no child databases. Create one for each application, customer or test: a
              query in a child database cannot read the data of other child databases or of the parent.
            </p>
          ) : (
            <>
              <Field label="Find a database" type="search" value={filter} onInput={setFilter} />
              <Nodes
                nodes={isMore && filter !== '' ? withMatches(nodes, search.data?.data ?? []) : nodes}
                filter={filter.toLowerCase()}
                onDialog={mayChange ? setDialog : undefined}
              />
              {isMore && (
                <p class="hint" role="status">
                  {filter === ''
                    ? `The first ${topMax} are shown. Type a part of a name above to find other databases.`
                    : search.isLoading
                      ? 'Searching all databases…'
                      : search.data?.isMore && 'There are more matches. Type more of the name.'}
                </p>
              )}
              {search.error && <Problem error={search.error} retry={search.reload} />}
            </>
          )
        }
      </LoadedContent>
      {dialog && <DatabaseDialog dialog={dialog} onClose={() => setDialog(undefined)} onDone={done} />}
    </section>
  )
}

/** Adds the matches of a search to the first databases, without duplicates. */
function withMatches(nodes: readonly DatabaseNode[], found: readonly Json[]): readonly DatabaseNode[] {
  const known = new Set(nodes.map(({ name }) => name))
  const names = found.flatMap(document => textAt(document, 'name') ?? []).filter(name => !known.has(name))
  return [...nodes, ...names.map(name => ({ name, path: [name], children: undefined }))]
}

type Dialog =
  | { readonly kind: 'create' }
  | { readonly kind: 'rename' | 'delete'; readonly node: DatabaseNode }

interface NodesProps {
  readonly nodes: readonly DatabaseNode[]
  readonly filter: string
  readonly onDialog: ((dialog: Dialog) => void) | undefined
}

function Nodes({ nodes, filter, onDialog }: NodesProps) {
  const matching = filter === '' ? nodes : nodes.filter(node => containsMatch(node, filter))
  const shown = useIncrementalList(matching, filter)
  if (matching.length === 0) return <p class="empty">No database name contains this text.</p>
  return (
    <ul class="database-tree">
      {shown.map(node => (
        <NodeLine key={node.name} node={node} filter={filter} onDialog={onDialog} />
      ))}
    </ul>
  )
}

function containsMatch(node: DatabaseNode, filter: string): boolean {
  return (
    node.name.toLowerCase().includes(filter) ||
    (node.children?.nodes ?? []).some(child => containsMatch(child, filter))
  )
}

function NodeLine({ node, filter, onDialog }: Omit<NodesProps, 'nodes'> & { node: DatabaseNode }) {
  const [isOpened, setOpened] = useState(false)
  const isOpen =
    isOpened || (filter !== '' && (node.children?.nodes ?? []).some(child => containsMatch(child, filter)))
  const hasNone = node.children?.nodes.length === 0
  const db = databaseParameter([...databasePath.value, ...node.path])
  return (
    <li>
      <div class="database-line">
        <Button
          class="quiet twist"
          aria-expanded={isOpen}
          aria-label={`Databases in ${node.name}`}
          disabled={hasNone}
          onClick={() => setOpened(!isOpened)}
        >
          {hasNone ? '·' : isOpen ? '▾' : '▸'}
        </Button>
        <NameLink href={addressIn([], { db })} name={node.name} />
        {onDialog && node.path.length === 1 && (
          <span class="line-actions">
            <Button class="quiet" onClick={() => onDialog({ kind: 'rename', node })}>
              Rename<span class="unseen"> {node.name}</span>
            </Button>
            <Button class="quiet" onClick={() => onDialog({ kind: 'delete', node })}>
              Delete<span class="unseen"> {node.name}</span>
            </Button>
          </span>
        )}
      </div>
      {isOpen &&
        (node.children ? (
          <Children list={node.children} of={node} filter={filter} />
        ) : (
          <DeeperNodes node={node} filter={filter} />
        ))}
    </li>
  )
}

function DeeperNodes({ node, filter }: { node: DatabaseNode; filter: string }) {
  const below = useLoad(
    async signal => {
      const { secret } = currentSecret.value
      // In a child database, the current secret ends with the scope of this database. Another scope replaces it.
      const [key] = secret.split(':')
      const inside = { secret: `${key}:${[...databasePath.value, ...node.path].join('/')}:admin` }
      return listOf((await run(atPastTime(threeLevels), inside, signal)).value, node.path)
    },
    [node.path.join('/'), pastTime.value],
  )
  return (
    <LoadedContent of={below}>{list => <Children list={list} of={node} filter={filter} />}</LoadedContent>
  )
}

function Children({ list, of, filter }: { list: DatabaseList; of: DatabaseNode; filter: string }) {
  const { isMore, nodes } = list
  if (nodes.length === 0) return <p class="empty">This database contains no child databases.</p>
  return (
    <>
      <Nodes nodes={nodes} filter={filter} onDialog={undefined} />
      {isMore && (
        <p class="hint">
          The first {nodes.length} are shown. Open {of.name} to find other databases.
        </p>
      )}
    </>
  )
}

interface DatabaseDialogProps {
  readonly dialog: Dialog
  readonly onClose: () => void
  readonly onDone: () => void
}

function DatabaseDialog({ dialog, onClose, onDone }: DatabaseDialogProps) {
  const [rereads, setRereads] = useState(0)
  // The nodes of the tree contain only names. Renaming and deleting need the current version of the database, so the
  // dialog reads it when it opens.
  const current = useLoad(
    async signal => (dialog.kind === 'create' ? null : readSchema('databases', dialog.node.name, signal)),
    [dialog, rereads],
  )
  const rereadOnConflict = reloadIfChanged(() => setRereads(rereads + 1))
  const [name, setName] = useState(dialog.kind === 'rename' ? dialog.node.name : '')
  if (dialog.kind === 'delete') {
    const { node } = dialog
    return (
      <Confirm
        title={`Delete the database ${node.name}?`}
        warning={
          <>
            This deletes everything in the database: collections, documents, users, and the databases below
            it. Its keys stop working. This cannot be undone.
            {current.error && <Problem error={current.error} retry={current.reload} />}
          </>
        }
        isReady={current.data !== undefined}
        submit="Delete database"
        typed={node.name}
        onClose={onClose}
        onConfirm={async signal => {
          await deleteSchema('databases', node.name, at(current.data, 'ts'), signal).catch(rereadOnConflict)
          onDone()
        }}
      />
    )
  }
  const submit = async (signal: AbortSignal) => {
    if (dialog.kind === 'create') {
      // Version 10 creates a database whose queries and schema are checked by default.
      await runVersion10('Database.create({ name: name }) { name }', currentSecret.value, signal, { name })
      onClose()
      return go(addressIn([], { db: databaseParameter([...databasePath.value, name]) }))
    }
    const saved = await saveFields('databases', dialog.node.name, current.data ?? null, { name }, signal)
    if (saved.kind === 'gone')
      throw new Error(
        'This database was deleted or renamed in the meantime. Close this dialog and reload the page.',
      )
    if (saved.kind === 'conflict') rereadOnConflict(new ChangedError())
    onDone()
  }
  const isNew = dialog.kind === 'create'
  return (
    <FormDialog
      title={isNew ? 'Create database' : `Rename ${dialog.node.name}`}
      submit={isNew ? 'Create' : 'Rename'}
      isReady={name !== '' && current.data !== undefined}
      onClose={onClose}
      onSubmit={submit}
    >
      <NameField value={name} onInput={setName} />
      {current.error && <Problem error={current.error} retry={current.reload} />}
    </FormDialog>
  )
}
