// Converts failures of the data model to errors of version 4. The protocol defines the codes, texts and positions.

import { unreachable } from '../base/assert.ts'
import { type Message, msg, own } from '../base/message.ts'
import type {
  Failure,
  FailurePlace,
  Fault,
  FieldFailure,
  FieldFault,
  LanguageError,
  TypeFailure,
} from '../model/failure.ts'
import {
  destructiveTexts,
  failedCheckText,
  foreignValueText,
  pathText,
  shownPath,
  stagedSchemaText,
  typeFaultText,
} from '../model/schema/fault-texts.ts'
import type { Session } from '../model/session.ts'
import { native, Ref, UnresolvedRef, type Value } from '../values/value.ts'
import { type Call, supportsVersion, undefinedReference } from './definition.ts'
import {
  type ErrorEntry,
  errorEntry,
  type FieldError,
  QueryError,
  type QueryErrorCode,
} from './query-errors.ts'
import { typeName } from './values/tagged.ts'

export function queryErrorOf({ faults }: Failure, call: Call): QueryError {
  const errors = faults.flatMap(fault => errorOf(fault, call, placeOf(fault.place, call)).errors)
  return new QueryError(errors)
}

/** Positions are relative to the call, whose target is its first argument. */
function placeOf(place: FailurePlace, { expression }: Call): readonly string[] {
  return place === 'target' ? [expression.definition.name] : []
}

export function permissionDenied(call: Call, ...at: readonly string[]): QueryError {
  return call.error('permission denied', msg`Insufficient privileges to perform the action.`, ...at)
}

export function notFound(collection: number, call: Call, ...at: readonly string[]): QueryError {
  return call.error('instance not found', msg`${labelOf(collection, call.session)} not found.`, ...at)
}

function errorOf(fault: Fault, call: Call, at: readonly string[]): QueryError {
  const error = (code: QueryErrorCode, description: Message) => call.error(code, description, ...at)
  switch (fault.kind) {
    case 'permission denied':
      return permissionDenied(call, ...at)
    case 'not found':
      return notFound(fault.ref.collection, call, ...at)
    case 'collection gone': {
      const { collection } = fault
      const name = call.session.transaction.catalogue.nameOf(collection) ?? String(collection.id)
      return undefinedReference(new UnresolvedRef({ type: 'collection', name }), call, ...at)
    }
    case 'exists':
      return error(
        'instance already exists',
        msg`${labelOf(fault.ref.collection, call.session)} already exists.`,
      )
    case 'key exists':
      return error('instance already exists', msg`Key already exists.`)
    case 'not unique':
      return error('instance not unique', msg`document is not unique.`)
    case 'invalid fields':
      return new QueryError([validationFailed(fault.failures, call, at)])
    case 'mistyped': {
      const { failures } = fault
      const text = ({ path, fault }: TypeFailure) =>
        msg`${pathText(shownPath(path))}: ${typeFaultText(fault)}`
      return new QueryError(failures.flatMap(each => error('schema validation failed', text(each)).errors))
    }
    case 'failed checks':
      return new QueryError(
        fault.checks.flatMap(each => error('check constraint failure', failedCheckText(each)).errors),
      )
    case 'broken check':
      return error('transaction aborted', msg`${abortText(fault.error)}`)
    case 'failed default':
      return error('schema validation failed', msg`${fault.field}: ${fault.error.message}`)
    case 'other database':
      return error('invalid argument', msg`Cannot write a scoped ref.`)
    case 'negative id':
      return error('invalid argument', msg`The id provided is too small: '${fault.id}'`)
    case 'other time':
      return error('invalid write time', msg`Cannot write outside of snapshot time.`)
    case 'in container':
      return error('invalid object in container', msg`Object is not allowed in a container`)
    case 'built-in collection':
      return error('invalid argument', msg`Cannot ${own(fault.mode)} a schema meta collection.`)
    case 'new collection': {
      const text = msg`Cannot create a collection and a document in it in the same transaction.`
      return error('invalid argument', text)
    }
    case 'destructive': {
      const reason = msg`destructive change forbidden because database is in protected mode.`
      return error('schema validation failed', msg`${own(destructiveTexts[fault.change])}: ${reason}`)
    }
    case 'staged schema':
      return error('schema validation failed', stagedSchemaText)
    case 'no body':
      return error('schema validation failed', msg`Invalid type provided for field \`body\`.`)
    case 'fixed history':
      return error('invalid argument', msg`Cannot ${own(fault.action)} event for specified ref.`)
    case 'foreign value':
      return error('invalid argument', foreignValueText(fault))
    case 'moved into itself': {
      const reason = 'Cannot move database from ancestor to descendant.'
      const text = msg`Cannot move database '${fault.database}' into parent '${fault.parent}': ${reason}`
      return error('move database error', text)
    }
    default:
      return unreachable(fault)
  }
}

/** Returns the text of an error that code in another language threw: the value passed to `abort`, or the message. */
export function abortText({ aborted, foreignText }: LanguageError): string {
  return aborted === undefined ? foreignText : typeof aborted === 'string' ? aborted : String(aborted)
}

const labels: ReadonlyMap<number, string> = new Map([
  [native.databases, 'Database'],
  [native.collections, 'Collection'],
  [native.indexes, 'Index'],
  [native.functions, 'Function'],
  [native.roles, 'Role'],
  // The hosted service had no word for access providers.
  [native.access_providers, 'other'],
  [native.keys, 'Key'],
  [native.tokens, 'Token'],
  [native.credentials, 'Credentials'],
])

/** In API versions before 2.7, collections are called classes and documents are called instances. */
const olderLabels: Readonly<Record<string, string>> = { Collection: 'Class', Document: 'Instance' }

function labelOf(collection: number, session: Session): Message {
  const label = labels.get(collection) ?? 'Document'
  return own(supportsVersion(session, '2.7') ? label : (olderLabels[label] ?? label))
}

/** Creates a single error with all failures of a written document. */
function validationFailed(failures: readonly FieldFailure[], call: Call, at: readonly string[]): ErrorEntry {
  const fields = failures.map(each => fieldError(each, call))
  const distinct = [...new Map(fields.map(each => [JSON.stringify(each), each])).values()]
  const noun = own(supportsVersion(call.session, '2.7') ? 'document' : 'instance')
  const description = msg`${noun} data is not valid.`
  return errorEntry('validation failed', description, call.position(...at), { failures: distinct })
}

function fieldError({ fault, isInArgument, path }: FieldFailure, call: Call): FieldError {
  const [code, description] = fieldText(fault)
  return { field: isInArgument ? [...call.position().map(String), ...path] : path, code, description }
}

function fieldText(fault: FieldFault): readonly [code: string, description: string] {
  switch (fault.kind) {
    case 'type': {
      const { expected, value } = fault
      return ['invalid type', `Invalid type ${storedTypeName(value)}, expected type ${expected}.`]
    }
    case 'one of required':
      return ['value required', `Must provide one of the following: ${fault.names.join(', ')}`]
    case 'reserved name':
      return ['reserved name', `Invalid name ${fault.name}. Reserved names: _.`]
    case 'name characters': {
      const valid = 'Valid characters must match: [;@+$\\-_.!~%\\w]+'
      return ['invalid characters', `The name ${fault.name} uses invalid characters. ${valid}`]
    }
    case 'out of range':
      return [
        'bounds error',
        `Value ${fault.value} is not in expected range ${fault.least} to ${fault.most}.`,
      ]
    case 'reference':
      return ['invalid reference', referenceTexts[fault.why]]
    case 'uri':
      return ['invalid uri', `\`${fault.uri}\` is a not valid URI`]
    case 'transform':
      return ['invalid value', `Invalid value \`${fault.name}\` at \`transform\``]
    case 'arity':
      return ['invalid arity', `Found lambda with arity ${fault.found} expected ${fault.expected}`]
    case 'built-in role':
      return ['validation failure', `Builtin role \`${fault.role}\` not allowed.`]
    case 'unknown role':
      return ['validation failure', `Role \`${fault.role}\` does not exist.`]
    case 'too many roles': {
      const text = 'Maximum number of roles per membership class exceeded.'
      return ['resources exceeded', `${text} Maximum allowed: ${fault.most}.`]
    }
    case 'filled container': {
      const held = 'collections, indexes, or user functions'
      const text = `cannot make database a container while it contains ${held}`
      return ['container candidate contains data', text]
    }
    case 'partitions changed': {
      const change = `${fault.before} -> ${fault.after}`
      return ['invalid index', `Index partition count may not be updated (${change}).`]
    }
    default:
      return fixedTexts[fault.kind]
  }
}

const fixedTexts = {
  required: ['value required', 'Required value not found.'],
  'admin role': ['validation failure', 'A server key cannot give a function the role `admin`.'],
  negative: ['non-negative value required', 'Value must be non-negative.'],
  'not unique': ['duplicate value', 'Value is not unique.'],
  'current password': ['invalid password', 'Invalid password at `current_password`.'],
  secret: ['invalid secret', 'Invalid secret at `List(secret)`'],
  'mixed wildcards': [
    'mixed wildcards',
    'Cannot mix collection refs and wildcards without providing bindings.',
  ],
  'several wildcards': ['multiple wildcards', 'Too many wildcards.'],
  'repeated source': ['multiple bindings', 'A collection ref may only match one binding.'],
  'impure binding': ['invalid binding', 'Field binding must be a pure unary function.'],
  'unused binding': ['unused binding', 'Source binding is not used as a term or value.'],
  // Tools such as fauna-gql-upload look for the older text of the service, which is in the parentheses.
  'index changed': [
    'invalid index',
    'Index sources, terms, and values may not be updated (Index sources, terms, values, and partition count may not be updated.)',
  ],
} as const

const referenceTexts = {
  unreadable: 'Cannot read reference.',
  missing: 'Reference was not found.',
  'other database': 'Reference cannot be scoped.',
} as const

/** The names of types in stored documents that differ from those in queries. */
const storedTypeNames: Readonly<Record<string, string>> = {
  Integer: 'Long',
  Object: 'Map',
  Set: 'Map',
  Action: 'Map',
  Page: 'Map',
  Lambda: 'Query',
  'Unresolved Transaction Time': 'TransactionTime',
}

function storedTypeName(value: Value): string {
  if (value instanceof Ref) return 'Ref'
  if (value instanceof UnresolvedRef) return 'Map'
  const name = typeName(value)
  return storedTypeNames[name] ?? name
}
