// The table of endpoints below `/schema/1`.

import { msg } from '../../../base/message.ts'
import { isStaged } from '../../../model/schema/schema-files.ts'
import type { SchemaRequest } from '../../wire/schema-request.ts'
import { diffRoutes } from './diff-routes.ts'
import { fileRoutes } from './file-routes.ts'
import { itemRoutes } from './item-routes.ts'
import { doesWrite, type Route } from './route.ts'
import { notFound, SchemaFailure } from './schema-failure.ts'
import { stagedRoutes } from './staged-routes.ts'
import { stagedSession, stageRehearsal } from './staged-schema.ts'

const routes: readonly Route[] = [
  ...fileRoutes,
  ...itemRoutes.map(inStagedSchema),
  ...diffRoutes,
  ...stagedRoutes,
]

/** Wraps an endpoint so that it reads and writes the staged schema, if there is one. */
function inStagedSchema(route: Route): Route {
  const answer: Route['answer'] = call => {
    const { request, session } = call
    if (!isStaged(session)) return route.answer(call)
    const rehearsal = stagedSession(session)
    const told = route.answer({ ...call, session: rehearsal })
    if (doesWrite(route, request)) stageRehearsal(rehearsal, session)
    return told
  }
  return { ...route, answer }
}

/** Finds the endpoint of a request. Throws a SchemaFailure if there is none. */
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
