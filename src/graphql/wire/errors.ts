// The texts and bodies of errors that concern the whole request. The HTTP layer uses them, too.

import type { RequestErrorCode } from '../../base/request-errors.ts'

/** The errors about credentials. Applications compare these texts. */
export const credentialTexts = {
  missing: 'Missing authorization header.',
  malformed: 'Invalid authorization header.',
  rejected: 'Invalid database secret.',
} as const

export function requestErrorText(code: RequestErrorCode, description: string): string {
  return code === 'unauthorized' ? credentialTexts.rejected : description
}

/**
 * Returns the body of an error about a request that executes an operation. Other GraphQL requests get only the text.
 */
export function requestErrorBody(code: RequestErrorCode, description: string): string {
  const message = requestErrorText(code, description)
  const extensions = code === 'unauthorized' ? undefined : { code }
  return JSON.stringify({ errors: [{ message, extensions }] })
}
