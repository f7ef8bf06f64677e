// Encodes the cursors of pages as texts for clients. A text is the base64 of two bytes, the second for the direction,
// and the cursor in the JSON of version 4. Clients can send any text, so the JSON is read as plain data.

import { catchError } from '../../base/catch-error.ts'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import { renderResource } from '../../fql4/bodies.ts'
import { version4 } from '../../fql4/language.ts'
import { QueryError } from '../../fql4/query-errors.ts'
import { type Cursor, cursorValue } from '../../fql4/values/transient.ts'
import type { Session } from '../../model/session.ts'
import { decodeBase64, encodeBase64 } from '../../values/base64.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { OperationError } from '../errors.ts'

/** Every cursor begins with this byte. A byte for the direction follows. */
const firstByte = 0xd8
const directions = { after: 0x33, before: 0x32 } as const

/** Maximum number of characters of a cursor. */
const cursorCharsMax = 100_000

export function encodeCursor(
  direction: 'after' | 'before',
  cursor: Cursor | Value,
  session: Session,
): string {
  const value = isCursor(cursor) ? cursorValue(cursor) : cursor
  const json = Buffer.from(renderResource(value, session))
  return encodeBase64(Buffer.concat([Buffer.from([firstByte, directions[direction]]), json]))
}

function isCursor(cursor: Cursor | Value): cursor is Cursor {
  return typeof cursor === 'object' && cursor !== null && 'type' in cursor
}

/** Returns an object with the member `after` or `before`. Throws OperationError for an invalid text. */
export function decodeCursor(text: string, session: Session): ObjectValue {
  const bytes = text.length <= cursorCharsMax ? decodeBase64(text) : undefined
  const direction = bytes?.[0] === firstByte ? directionOf(bytes[1]) : undefined
  if (bytes === undefined || direction === undefined) throw invalid()
  const json = Buffer.from(bytes.subarray(2)).toString()
  if (!json.startsWith('{"resource":')) throw invalid()
  const read = () => version4.parse({ body: `{"quote":${json}}`, dialect: session.dialect }).value(session)
  const value = catchError(QueryError, () => catchError(RequestError, read, invalidError), invalidError)
  const cursor = value instanceof Map ? value.get('resource') : undefined
  if (cursor === undefined) throw invalid()
  return new Map([[direction, cursor as Value]])
}

function directionOf(byte: number | undefined): 'after' | 'before' | undefined {
  if (byte === directions.after) return 'after'
  return byte === directions.before ? 'before' : undefined
}

function invalidError(): never {
  throw invalid()
}

function invalid(): OperationError {
  return OperationError.failed('invalid argument', msg`Invalid cursor.`)
}
