// The endpoints for reading, adding, replacing and deleting a single schema item, which may be in any file.

import { msg } from '../../../base/message.ts'
import type { Session } from '../../../model/session.ts'
import { renderResult } from '../../formats/result.ts'
import { nativeModule } from '../../library/natives.ts'
import { Source } from '../../syntax/source.ts'
import type { SchemaRequest } from '../../wire/schema-request.ts'
import { itemKinds, nativeOfItem } from '../fsl/definition-of-item.ts'
import { cut } from '../fsl/edit.ts'
import type { SourceRange } from '../fsl/outline.ts'
import { parseFsl } from '../fsl/parse-file.ts'
import { type FileText, itemKey, itemsIn, mainFile, rangeWithComment, readFile } from '../fsl/patch.ts'
import type { SchemaItem } from '../fsl/schema-items.ts'
import { currentFiles, refreshFiles } from './current-files.ts'
import { applyPlan, diffFormOf, diffText, type Push, planOf, serviceCall } from './push-plan.ts'
import {
  documentTimePlaceholder,
  invalidFiles,
  isRehearsal,
  JsonText,
  notFound,
  type ResponseMembers,
  type Route,
  type SchemaCall,
  SchemaFailure,
  versionPlaceholder,
} from './route.ts'

const brokenText = msg`An unexpected error occurred during schema generation resulting in invalid schema
files. Please check your FSL files using the Fauna CLI tool.

Contact support via https://support.fauna.com if you need assistance.`

function kindOf({ path }: SchemaRequest): SchemaItem['kind'] {
  const kind = itemKinds.find(each => `${each.replace(' ', '_')}s` === path[1])
  if (kind === undefined) throw notFound()
  return kind
}

/** The path of the request contains the kind and the name. Throws a SchemaFailure if no valid file has the item. */
function namedItem({ request, session }: SchemaCall, files: readonly FileText[]): SchemaItem {
  const kind = kindOf(request)
  const name = request.path[2] ?? ''
  const { database, transaction } = session
  if (transaction.catalogue.resolve(database, nativeOfItem[kind], name) === undefined) throw notFound()
  const found = itemsIn(files).find(item => item.kind === kind && item.name.text === name)
  if (found !== undefined) return found
  if (files.some(file => readFile(file).faults.length > 0)) throw new SchemaFailure(400, brokenText)
  throw notFound()
}

/** Throws a SchemaFailure for an invalid item. */
function snippetOf(request: SchemaRequest): SchemaItem {
  const { text } = request
  const kind = kindOf(request)
  if (text.trim() === '') throw new SchemaFailure(400, msg`No FSL snippet provided`)
  const { faults, items } = parseFsl(new Source('*fsl*', text))
  if (faults.length > 0) throw invalidFiles(faults)
  const [only, ...others] = items
  if (only === undefined || others.length > 0) {
    throw new SchemaFailure(400, msg`Expected a single schema item, got: ${items.length}`)
  }
  if (only.kind !== kind) {
    const article = kind === 'access provider' ? 'an' : 'a'
    throw new SchemaFailure(400, msg`Wrong FSL snippet. Expected ${article} ${kind}`)
  }
  return only
}

/** Responds with the position, the text and the definition of an item. */
function itemMembers(
  item: Pick<SchemaItem, 'kind' | 'source'>,
  range: SourceRange,
  content: string,
  definition: JsonText,
) {
  const { end, start } = range
  return { filename: item.source.name, span: { start, end }, content, definition }
}

/** Renders a definition in the simple format. */
function definitionText(kind: SchemaItem['kind'], name: string, session: Session): JsonText {
  const { call, world } = serviceCall(session)
  const doc = world.documents.byName(nativeModule(nativeOfItem[kind]), name)
  return new JsonText(renderResult(doc, 'simple', documentTimePlaceholder, call))
}

function contentOf(item: SchemaItem): string {
  return item.source.text.slice(item.commentStart, item.end)
}

/** A rehearsal (`validate=true`) only describes the effects. `respond` creates the response to an executed push. */
function executePush(
  { request, session, version }: SchemaCall,
  push: Push,
  respond: () => Omit<ResponseMembers, 'version'>,
): ResponseMembers {
  const plan = planOf(push, session)
  if (isRehearsal(request)) {
    return { version, diff: diffText(plan, diffFormOf(request) ?? 'semantic', request) }
  }
  applyPlan(plan, session)
  return { version: plan.changes.length > 0 ? versionPlaceholder : version, ...respond() }
}

function add(call: SchemaCall): ResponseMembers {
  const { request, session } = call
  const item = snippetOf(request)
  const main = currentFiles(session).find(({ name }) => name === mainFile)
  const text = `${main?.text ?? ''}\n\n${request.text}`
  const files = [{ name: mainFile, text }]
  return executePush(call, { files, isWhole: false }, () => {
    const { items } = readFile({ name: mainFile, text })
    const added = items.find(each => itemKey(each) === itemKey(item)) ?? item
    const definition = definitionText(item.kind, item.name.text, session)
    return itemMembers(added, rangeWithComment(added), request.text, definition)
  })
}

function replace(call: SchemaCall): ResponseMembers {
  const { request, session } = call
  const snippet = snippetOf(request)
  const item = namedItem(call, currentFiles(session))
  const { source } = item
  const range = rangeWithComment(item)
  const text = source.text.slice(0, range.start) + request.text + source.text.slice(range.end)
  const renamed = new Map([[itemKey(item), itemKey(snippet)]])
  const files = [{ name: source.name, text }]
  return executePush(call, { files, isWhole: false, renamed }, () =>
    itemMembers(item, range, request.text, definitionText(item.kind, snippet.name.text, session)),
  )
}

function remove(call: SchemaCall): ResponseMembers {
  const { session } = call
  const item = namedItem(call, currentFiles(session))
  const { source } = item
  const range = rangeWithComment(item)
  const definition = definitionText(item.kind, item.name.text, session)
  const files = [{ name: source.name, text: cut(source.text, range) }]
  return executePush(call, { files, isWhole: false }, () =>
    itemMembers(item, range, contentOf(item), definition),
  )
}

export const itemRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: ['items', '*', '*'],
    handle(call) {
      const { session, version } = call
      const item = namedItem(call, refreshFiles(session))
      const definition = definitionText(item.kind, item.name.text, session)
      return { version, ...itemMembers(item, rangeWithComment(item), contentOf(item), definition) }
    },
  },
  { method: 'POST', path: ['items', '*'], writes: 'unless rehearsed', handle: add },
  { method: 'POST', path: ['items', '*', '*'], writes: 'unless rehearsed', handle: replace },
  { method: 'DELETE', path: ['items', '*', '*'], writes: 'unless rehearsed', handle: remove },
]
