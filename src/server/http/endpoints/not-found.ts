// Paths that are nothing. They need no credential, so that a probe learns nothing from the difference.

import { errorAnswer } from '../answer.ts'
import type { Endpoint, Services } from '../endpoint.ts'

export function notFoundEndpoint({ engine }: Services): Endpoint {
  return {
    path: '*',
    methods: {},
    otherMethods: () => errorAnswer('not found', 'Not Found', engine.now()),
  }
}
