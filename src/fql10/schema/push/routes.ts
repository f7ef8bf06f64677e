// The endpoints below `/schema/1`: files, pushes, comparison and staged schemas. The endpoints for single items are in
// item-routes.ts.

import { msg } from '../../../base/message.ts'
import { isStaged } from '../../../model/schema/schema-files.ts'
import type { Session } from '../../../model/session.ts'
import type { SchemaRequest } from '../../wire/schema-request.ts'
import { changesOf } from '../fsl/diff/schema-diff.ts'
import { type FileText, itemsIn } from '../fsl/patch.ts'
import type { SchemaItem } from '../fsl/schema-items.ts'
import { refreshFiles } from './current-files.ts'
import { itemRoutes } from './item-routes.ts'
import { applyPlan, diffFormOf, diffText, type Push, type PushPlan, planOf, resultOf } from './push-plan.ts'
import { doesWrite, notFound, type Route, SchemaFailure, versionPlaceholder } from './route.ts'
import {
  abandonStaged,
  commitStaged,
  stagedFiles,
  stagedPlan,
  stagedSession,
  stagedState,
  stagePush,
  stageRehearsal,
} from './staged-schema.ts'

function pushOf({ files, parameters }: SchemaRequest): Push {
  return { files, isWhole: parameters.override !== 'false' }
}

/** Returns the staged files if the request has `staged=true` and a schema is staged, else the active files. */
function filesOf({ parameters }: SchemaRequest, session: Session): readonly FileText[] {
  return parameters.staged === 'true' ? stagedFiles(session) : refreshFiles(session)
}

const fileRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: ['files'],
    handle: ({ request, session, version }) => ({
      version,
      files: filesOf(request, session).map(({ name }) => ({ filename: name })),
    }),
  },
  {
    method: 'GET',
    path: ['files', '*'],
    handle({ request, session, version }) {
      const found = filesOf(request, session).find(({ name }) => name === request.path[1])
      if (found === undefined) throw notFound()
      return { version, content: found.text }
    },
  },
  {
    method: 'POST',
    path: ['update'],
    writes: 'always',
    handle({ request, session, version }) {
      if (request.parameters.staged === 'true' || isStaged(session)) {
        stagePush(pushOf(request), session)
        return { version: versionPlaceholder }
      }
      const plan = planOf(pushOf(request), session)
      applyPlan(plan, session)
      return { version: plan.changes.length > 0 ? versionPlaceholder : version }
    },
  },
]

/** Compares with the staged schema if a schema is staged and the request has `staged=true`, else with the active schema. */
const compare: Route['handle'] = ({ request, session, version }) => {
  const push = pushOf(request)
  const form = diffFormOf(request) ?? 'semantic'
  const isOfStaged = request.parameters.staged === 'true' && isStaged(session)
  const plan = isOfStaged ? planFromStaged(push, session) : planOf(push, session)
  return { version, diff: diffText(plan, form, request) }
}

/**
 * Plans a push on top of the staged schema. Throws a SchemaFailure if the resulting files are not a valid change of the
 * active schema, which the commit of the staged schema would replace with these files.
 */
function planFromStaged(push: Push, session: Session): PushPlan {
  const before = stagedFiles(session)
  const { after, fieldLines, removed, warningsOf } = planOf(
    { files: resultOf(push, before), isWhole: true },
    session,
  )
  const [itemsBefore, itemsAfter] = [itemsIn(before), itemsIn(after)]
  // The lines describe the migration from the active schema, so only items that this push changes have lines.
  const changed = new Set(changesOf(itemsBefore, itemsAfter).map(change => change.after))
  const linesOf = (item: SchemaItem) => (changed.has(item) ? fieldLines(item) : undefined)
  const changes = changesOf(itemsBefore, itemsAfter, { fieldLines: linesOf })
  return { before, after, changes, fieldLines, removed, warningsOf }
}

/** `diff` and `validate` are two names of one endpoint. */
const diffRoutes: readonly Route[] = ['diff', 'validate'].map(name => ({
  method: 'POST',
  path: [name],
  handle: compare,
}))

const status: Route['handle'] = ({ request, session, version }) => {
  const { pendingSummary, status } = stagedState(session)
  const form = diffFormOf(request)
  if (form === undefined) return { version, status }
  if (status === 'none') return { version, status, pending_summary: '', diff: '' }
  const diff = diffText(stagedPlan(session), form, request)
  return { version, status, pending_summary: pendingSummary, diff }
}

const commit: Route['handle'] = ({ session }) => {
  commitStaged(session)
  return { version: versionPlaceholder }
}

const abandon: Route['handle'] = ({ session }) => {
  abandonStaged(session)
  return { version: versionPlaceholder }
}

/** Returns the routes of an endpoint with two paths, such as `status` and `staged/status`. */
function stagedPaths(name: string, route: Omit<Route, 'path'>): readonly Route[] {
  return [[name], ['staged', name]].map(path => ({ ...route, path }))
}

const stagedRoutes: readonly Route[] = [
  ...stagedPaths('status', { method: 'GET', handle: status }),
  ...stagedPaths('commit', { method: 'POST', writes: 'always', handle: commit }),
  ...stagedPaths('abandon', { method: 'POST', writes: 'always', handle: abandon }),
]

const routes: readonly Route[] = [
  ...fileRoutes,
  ...itemRoutes.map(inStagedSchema),
  ...diffRoutes,
  ...stagedRoutes,
]

/** If a schema is staged, the wrapped endpoint reads and writes the staged schema. */
function inStagedSchema(route: Route): Route {
  const handle: Route['handle'] = call => {
    const { request, session } = call
    if (!isStaged(session)) return route.handle(call)
    const rehearsal = stagedSession(session)
    const members = route.handle({ ...call, session: rehearsal })
    if (doesWrite(route, request)) stageRehearsal(rehearsal, session)
    return members
  }
  return { ...route, handle }
}

/** Throws a SchemaFailure if there is no such endpoint. */
export function routeOf({ method, path }: SchemaRequest): Route {
  const here = routes.filter(
    route =>
      route.path.length === path.length &&
      route.path.every((part, index) => part === '*' || part === path[index]),
  )
  if (here.length === 0) throw notFound()
  const found = here.find(route => route.method === method)
  if (found === undefined) throw new SchemaFailure(405, msg`Method not allowed`)
  return found
}
