// The endpoints for the status, commit and abandonment of a staged schema.

import { commitTime, type Route } from './route.ts'
import { diffFormOf, diffText } from './schema-comparison.ts'
import { abandonStaged, commitStaged, stagedPlan, stagedState } from './staged-schema.ts'

const status: Route['answer'] = ({ request, session, version }) => {
  const { pendingSummary, status } = stagedState(session)
  const form = diffFormOf(request)
  if (form === undefined) return { version, status }
  if (status === 'none') return { version, status, pending_summary: '', diff: '' }
  const diff = diffText(stagedPlan(session), form, request)
  return { version, status, pending_summary: pendingSummary, diff }
}

const commit: Route['answer'] = ({ session }) => {
  commitStaged(session)
  return { version: commitTime }
}

const abandon: Route['answer'] = ({ session }) => {
  abandonStaged(session)
  return { version: commitTime }
}

/** Creates the two paths of an endpoint for staged schemas. */
function routes(name: string, route: Omit<Route, 'path'>): readonly Route[] {
  return [[name], ['staged', name]].map(path => ({ ...route, path }))
}

/** The endpoints for staged schemas. */
export const stagedRoutes: readonly Route[] = [
  ...routes('status', { method: 'GET', answer: status }),
  ...routes('commit', { method: 'POST', writes: 'always', answer: commit }),
  ...routes('abandon', { method: 'POST', writes: 'always', answer: abandon }),
]
