// Converts rejected reads and writes to failures of version 10: each kind of failure (model/failure.ts) gets a code and
// a text.

import { unreachable } from '../../base/assert.ts'
import { type Message, msg, own } from '../../base/message.ts'
import type { Failure, Fault, FieldFault, LanguageError } from '../../model/failure.ts'
import {
  destructiveTexts,
  failedCheckText,
  foreignValueText,
  pathText,
  shownPath as shownTypePath,
  stagedSchemaText,
  typeFaultText,
} from '../../model/schema/fault-texts.ts'
import { native, type Ref } from '../../values/value.ts'
import { type Call, withOuterTrace } from '../call.ts'
import { type ConstraintFailure, type Diagnostic, QueryFailure } from '../failure/query-failure.ts'
import { renderInMessage } from '../failure/summary.ts'
import { nativeOf } from '../library/natives.ts'
import { hasNames } from './native-fields.ts'

/** The document that a call was about to write. */
export interface Target {
  readonly action: 'create' | 'update' | 'delete'
  readonly collection: string
  /** A new native document has the id -1. Undefined for a new document of a user collection. */
  readonly ref: Ref | undefined
  /** The previous name of a schema object. */
  readonly name: string | undefined
}

/** The message of a failed write, such as ``Failed to update document with id 5 in collection `Jar`.`` */
export function failedWriteText({ action, collection, name, ref }: Target): Message {
  const isNative = ref !== undefined && nativeOf(ref.collection) !== undefined
  if (!isNative) {
    const which = action === 'create' || ref === undefined ? msg`document` : msg`document with id ${ref.id}`
    return msg`Failed to ${own(action)} ${which} in collection \`${collection}\`.`
  }
  if (action === 'create') return msg`Failed to create ${collection}.`
  const which = name === undefined ? msg`with id ${ref.id}` : msg`\`${name}\``
  return msg`Failed to ${own(action)} ${collection} ${which}.`
}

/** The message lists each failure with its path. */
export function constraintError(
  message: Message,
  failures: readonly ConstraintFailure[],
  call: Call,
): QueryFailure {
  const parts = { constraintFailures: failures }
  const { diagnostics } = call.failure('constraint_failure', message, [], parts)
  const lines = failures.map(each => `\n  ${failureLine(each)}`)
  const text = failures.length === 0 ? message : msg`${message}\nconstraint failures:${lines.join('')}`
  const rendered = diagnostics.map(diagnostic => ({ ...diagnostic, message: text }))
  return new QueryFailure('constraint_failure', message, rendered, parts)
}

export function invalidSchema(faults: readonly Diagnostic[], call: Call): QueryFailure {
  const lines = renderInMessage(faults, '\n')
    .split('\n')
    .map(line => `\n    ${line}`)
  return call.failure('invalid_schema', msg`Invalid database schema update.${lines.join('')}`)
}

/** The paths and the message, whose second and later lines are indented. */
function failureLine({ label = '', message, paths }: ConstraintFailure): string {
  const prefix = paths.length === 0 ? label : paths.map(pathText).join(',')
  const text = message.replaceAll('\n', '\n      ')
  return prefix === '' ? text : `${prefix}: ${text}`
}

export function permissionDenied(call: Call): QueryFailure {
  return call.failure('permission_denied', msg`Insufficient privileges to perform the action.`)
}

/** A failure without faults means that the caller lacks permission. */
export function writeFailure({ faults }: Failure, target: Target, call: Call): QueryFailure {
  const [fault] = faults
  return fault === undefined ? permissionDenied(call) : errorOf(fault, target, call)
}

function errorOf(fault: Fault, target: Target, call: Call): QueryFailure {
  const failed = (message: string, path?: readonly string[]) =>
    constraintError(failedWriteText(target), [{ paths: path === undefined ? [] : [path], message }], call)
  switch (fault.kind) {
    case 'permission denied':
      return permissionDenied(call)
    case 'not found':
    case 'collection gone':
      return call.failure('document_not_found', notFoundText(target))
    case 'exists':
      return existsError(fault.ref, target, call)
    case 'key exists':
      return existsError(target.ref, target, call)
    case 'not unique':
      return notUniqueError(target, call)
    case 'invalid fields': {
      const duplicates = fault.failures.filter(each => each.fault.kind === 'not unique')
      if (duplicates.length > 0) {
        const paths = duplicates.map(({ path }) => shownPath(path, target))
        return uniqueFailure([paths], call)
      }
      const failures = fault.failures.map(({ path, fault: field }) => ({
        paths: [shownPath(path, target)],
        message: fieldText(field),
      }))
      return constraintError(failedWriteText(target), failures, call)
    }
    case 'mistyped': {
      const failures = fault.failures.map(({ fault: type, path }) => ({
        paths: [shownTypePath(path)],
        message: String(typeFaultText(type)),
      }))
      return constraintError(failedWriteText(target), failures, call)
    }
    case 'failed checks': {
      const failures = fault.checks.map(each => ({ paths: [], message: String(failedCheckText(each)) }))
      return constraintError(failedWriteText(target), failures, call)
    }
    case 'broken check':
      return fault.error instanceof QueryFailure
        ? withOuterTrace(fault.error, call)
        : call.failure('eval_error', msg`${fault.error.message}`)
    case 'failed default':
      return failed(`Default field evaluation failed.\n${renderError(fault.error)}`, [fault.field])
    case 'other database':
      return failed('Documents of other databases cannot be written.')
    case 'negative id':
      return failed('id must be nonnegative', ['id'])
    case 'other time':
      return pastWriteError(call)
    case 'in container':
      return failed('A container database can contain only databases, keys and roles.')
    case 'built-in collection':
      return failed('Built-in collections cannot be changed.')
    case 'new collection':
      return sameQueryError(call)
    case 'destructive':
      return failed(
        `${destructiveTexts[fault.change]}: destructive change forbidden because database is in protected mode.`,
      )
    case 'staged schema':
      return failed(String(stagedSchemaText))
    case 'no body':
      return failed('Invalid type provided for field `body`.', ['body'])
    case 'fixed history':
      return failed('The history of this document cannot be written.')
    case 'foreign value':
      return call.failure('invalid_argument', foreignValueText(fault))
    case 'moved into itself':
      return failed(`Cannot move database '${fault.database}' into '${fault.parent}', which is inside it.`)
    default:
      return unreachable(fault)
  }
}

/** Renders an error of user code with its position and source lines. */
export function renderError(error: LanguageError): string {
  const hasExcerpt = error instanceof QueryFailure && error.diagnostics.length > 0
  return hasExcerpt ? renderInMessage(error.diagnostics, '\n\n') : error.message
}

/** Omits the prefix `data`, and replaces `instance` by `document` in native documents. */
function shownPath(path: readonly string[], { ref }: Target): readonly string[] {
  const isNative = ref !== undefined && nativeOf(ref.collection) !== undefined
  if (isNative) return path[0] === 'instance' ? ['document', ...path.slice(1)] : path
  return path[0] === 'data' && path.length > 1 ? path.slice(1) : path
}

export function pastWriteError(call: Call): QueryFailure {
  return call.failure('invalid_write', msg`Cannot write at a snapshot time in the past.`)
}

/** The error of a query that writes a collection definition and documents of this collection. */
export function sameQueryError(call: Call): QueryFailure {
  return call.failure('invalid_write', msg`Cannot modify a document and its collection in the same query.`)
}

/** The message for a missing document, such as ``Collection `Jar` does not contain document with id 7.`` */
export function notFoundText({
  collection,
  name,
  ref,
}: Pick<Target, 'collection' | 'name' | 'ref'>): Message {
  if (name !== undefined) return msg`${collection} \`${name}\` not found.`
  return msg`Collection \`${collection}\` does not contain document with id ${ref?.id ?? -1n}.`
}

function existsError(ref: Ref | undefined, target: Target, call: Call): QueryFailure {
  if (ref !== undefined && hasNames(ref.collection)) return uniqueFailure([[['name']]], call)
  const message = msg`Collection \`${target.collection}\` already contains document with id ${ref?.id ?? -1n}.`
  return call.failure('document_id_exists', message)
}

/** The unique field of native documents, by the number of their collection. */
const uniqueFields: ReadonlyMap<number, string> = new Map([
  [native.credentials, 'document'],
  [native.databases, 'name'],
])

function notUniqueError({ ref }: Target, call: Call): QueryFailure {
  const field = ref && uniqueFields.get(ref.collection)
  return uniqueFailure([field === undefined ? [] : [[field]]], call)
}

/**
 * `all` contains one element for each unique constraint: the fields of the constraint, or the name of the unique index
 * of version 4.
 */
export function uniqueFailure(
  all: readonly (ConstraintFailure['paths'] | string)[],
  call: Call,
): QueryFailure {
  const message = 'Failed unique constraint'
  const failures = all.map(each =>
    typeof each === 'string' ? { paths: [], label: each, message } : { paths: each, message },
  )
  return constraintError(msg`Failed unique constraint.`, failures, call)
}

/** Texts for faults that the model detects, and the checks of version 10 do not. */
function fieldText(fault: FieldFault): string {
  switch (fault.kind) {
    case 'required':
      return 'Missing required field'
    case 'type':
      return `Expected ${fault.expected}`
    case 'one of required':
      return `Union requires fields ${fault.names.map(name => `[${name}]`).join(' or ')}`
    case 'reserved name':
      return `The identifier \`${fault.name}\` is reserved.`
    case 'name characters':
      return 'Invalid identifier.'
    case 'negative':
      return 'Non-negative value required.'
    case 'out of range':
      return `Value must be between ${fault.least} and ${fault.most}.`
    case 'not unique':
      return 'Failed unique constraint'
    case 'reference':
      return 'Field refers to a document that does not exist or cannot be read.'
    case 'current password':
      return 'The current password is required and must be correct.'
    case 'secret':
      return 'Invalid secret.'
    case 'uri':
      return `\`${fault.uri}\` must be a valid https URI.`
    case 'transform':
      return 'Invalid transformation.'
    case 'arity':
      return arityText(fault)
    case 'built-in role':
      return `Builtin role \`${fault.role}\` not allowed.`
    case 'unknown role':
      return `Field refers to an unknown role name \`${fault.role}\`.`
    case 'admin role':
      return fault.isNew
        ? 'Cannot create a function with admin permissions using the server role.'
        : 'Cannot grant a function admin permissions using the server role.'
    case 'too many roles':
      return `The maximum number of roles per resource (${fault.most}) have been exceeded.`
    case 'filled container':
      return 'A database that contains collections or functions cannot become a container.'
    case 'mixed wildcards':
    case 'several wildcards':
    case 'repeated source':
    case 'impure binding':
    case 'unused binding':
    case 'partitions changed':
    case 'index changed':
      return 'Invalid index.'
    default:
      return unreachable(fault)
  }
}

function arityText({ expected, found }: Extract<FieldFault, { kind: 'arity' }>): string {
  const count = (of: number) => `${of} argument${of === 1 ? '' : 's'}`
  return `Invalid function arity. Expected exactly ${count(expected)}, but the function was defined with ${count(found)}`
}
