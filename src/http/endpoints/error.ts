// `GET /error` always fails: operators use it to see that a failure is answered and logged as it should be.

import type { Endpoint } from '../endpoint.ts'

export function errorEndpoint(): Endpoint {
  return {
    path: '/error',
    authenticated: false,
    methods: {
      GET: () => {
        throw new Error('asked to fail by GET /error')
      },
    },
  }
}
