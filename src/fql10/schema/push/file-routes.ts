// The endpoints for reading and pushing schema files.

import { isStaged } from '../../../model/schema/schema-files.ts'
import type { Session } from '../../../model/session.ts'
import type { SchemaRequest } from '../../wire/schema-request.ts'
import type { FileText } from '../fsl/patch.ts'
import { applyPlan } from './apply.ts'
import { keepFiles } from './current-files.ts'
import { type Push, planOf } from './push-plan.ts'
import { commitTime, type Route } from './route.ts'
import { notFound } from './schema-failure.ts'
import { stagedFiles, stagePush } from './staged-schema.ts'

/** The files of a request, and whether they are the whole schema. */
export function pushOf({ files, parameters }: SchemaRequest): Push {
  return { files, isWhole: parameters.override !== 'false' }
}

/** The requested files. Without a staged schema, both schemas are the same. */
function filesOf({ parameters }: SchemaRequest, session: Session): readonly FileText[] {
  return parameters.staged === 'true' ? stagedFiles(session) : keepFiles(session)
}

/** The endpoints for files and pushes. */
export const fileRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: ['files'],
    answer: ({ request, session, version }) => ({
      version,
      files: filesOf(request, session).map(({ name }) => ({ filename: name })),
    }),
  },
  {
    method: 'GET',
    path: ['files', '*'],
    answer({ request, session, version }) {
      const found = filesOf(request, session).find(({ name }) => name === request.path[1])
      if (found === undefined) throw notFound()
      return { version, content: found.text }
    },
  },
  {
    method: 'POST',
    path: ['update'],
    writes: 'always',
    answer({ request, session, version }) {
      if (request.parameters.staged === 'true' || isStaged(session)) {
        stagePush(pushOf(request), session)
        return { version: commitTime }
      }
      const plan = planOf(pushOf(request), session)
      applyPlan(plan, session)
      return { version: plan.changes.length > 0 ? commitTime : version }
    },
  },
]
