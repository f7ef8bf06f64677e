// What a push would change: told, and nothing is written.

import { isStaged } from '../../../model/schema/schema-files.ts'
import type { Session } from '../../../model/session.ts'
import { changesOf } from '../fsl/diff/schema-diff.ts'
import { itemsIn } from '../fsl/patch.ts'
import { pushOf } from './file-routes.ts'
import { type Push, type PushPlan, planOf, resultOf } from './plan.ts'
import type { Route } from './route.ts'
import { diffFormOf, diffText } from './schema-comparison.ts'
import { stagedFiles } from './staged-schema.ts'

const answer: Route['answer'] = ({ request, session, version }) => {
  const push = pushOf(request)
  const form = diffFormOf(request) ?? 'semantic'
  const isOfStaged = request.parameters.staged === 'true' && isStaged(session)
  const plan = isOfStaged ? planFromStaged(push, session) : planOf(push, session)
  return { version, diff: diffText(plan, form, request) }
}

/** What a push changes in the staged schema. It has to fit what is in force, whose place it is to take. */
function planFromStaged(push: Push, session: Session): PushPlan {
  const before = stagedFiles(session)
  const { after, fieldLines } = planOf({ files: resultOf(push, before), isWhole: true }, session)
  const changes = changesOf(itemsIn(before), itemsIn(after), { fieldLines })
  return { before, after, changes, fieldLines }
}

/** The paths that compare: two names of one. */
export const diffRoutes: readonly Route[] = ['diff', 'validate'].map(name => ({
  method: 'POST',
  path: [name],
  answer,
}))
