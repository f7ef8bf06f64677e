// The endpoints that compare schemas without writing.

import { isStaged } from '../../../model/schema/schema-files.ts'
import type { Session } from '../../../model/session.ts'
import { changesOf } from '../fsl/diff/schema-diff.ts'
import { itemsIn } from '../fsl/patch.ts'
import { pushOf } from './file-routes.ts'
import { type Push, type PushPlan, planOf, resultOf } from './push-plan.ts'
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

/**
 * Compares a push with the staged schema. The result must still be a valid change of the active schema, which it will
 * replace.
 */
function planFromStaged(push: Push, session: Session): PushPlan {
  const before = stagedFiles(session)
  const { after, fieldLines } = planOf({ files: resultOf(push, before), isWhole: true }, session)
  const changes = changesOf(itemsIn(before), itemsIn(after), { fieldLines })
  return { before, after, changes, fieldLines }
}

/** The endpoints for comparison, which are two names for one function. */
export const diffRoutes: readonly Route[] = ['diff', 'validate'].map(name => ({
  method: 'POST',
  path: [name],
  answer,
}))
