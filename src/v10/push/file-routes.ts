// Reading and pushing schema files.

import type { SchemaRequest } from '../wire/schema-request.ts'
import { applyPlan } from './apply.ts'
import { keepFiles } from './current-files.ts'
import { type Push, planOf } from './plan.ts'
import { always, commitTime, type Route } from './route.ts'
import { notFound } from './schema-failure.ts'

const never = () => false

/** The files that a request brings, and whether they are all there shall be. */
function pushOf({ files, parameters }: SchemaRequest): Push {
  return { files, isWhole: parameters.override !== 'false' }
}

/** The paths of files and pushes. */
export const fileRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: ['files'],
    writes: never,
    checksVersion: always,
    answer: ({ session, version }) => ({
      version,
      files: keepFiles(session).map(({ name }) => ({ filename: name })),
    }),
  },
  {
    method: 'GET',
    path: ['files', '*'],
    writes: never,
    checksVersion: always,
    answer({ request, session, version }) {
      const found = keepFiles(session).find(({ name }) => name === request.path[1])
      if (found === undefined) throw notFound()
      return { version, content: found.text }
    },
  },
  {
    method: 'POST',
    path: ['update'],
    writes: always,
    checksVersion: always,
    answer({ request, session, version }) {
      const plan = planOf(pushOf(request), session)
      applyPlan(plan, session)
      return { version: plan.changes.length > 0 ? commitTime : version }
    },
  },
]
