// The names that a client has for values of version 10. Declarations are written for one of two clients: that of this
// repository, and the driver `fauna`, which many apps have.

import { assert } from '../../base/assert.ts'

/** A client that declarations can be written for. */
export interface ValueClasses {
  /** What the declarations import them from. */
  readonly package: string
  /** Any value: what the schema says nothing about. */
  readonly any: string
  /** Whether it takes arrays that may not be changed. */
  readonly takesReadonlyArrays: boolean
  readonly document: string
  readonly namedDocument: string
  readonly nullDocument: string
  readonly page: string
  readonly module: string
  readonly eventSource: string
  /** A reference to a document; `hasParameter`: of a type of document. */
  readonly reference: { readonly name: string; readonly hasParameter: boolean }
  readonly time: string
  readonly date: string
  /** Undefined where a number is read. */
  readonly long: string | undefined
  readonly uuid: string | undefined
  /** What a whole number has to be wrapped in to be sent as a Double. */
  readonly double: string | undefined
}

const classes: readonly ValueClasses[] = [
  {
    package: 'terrarium-client',
    any: 'unknown',
    takesReadonlyArrays: true,
    document: 'Document',
    namedDocument: 'NamedDocument',
    nullDocument: 'NullDocument',
    page: 'Page',
    module: 'Module',
    eventSource: 'EventSourceToken',
    reference: { name: 'DocumentRef', hasParameter: true },
    time: 'Time',
    date: 'LocalDate',
    long: 'Long',
    uuid: 'Uuid',
    double: 'Double',
  },
  {
    package: 'fauna',
    any: 'QueryValue',
    takesReadonlyArrays: false,
    document: 'Document',
    namedDocument: 'NamedDocument',
    nullDocument: 'NullDocument',
    page: 'Page',
    module: 'Module',
    eventSource: 'StreamToken',
    reference: { name: 'DocumentReference', hasParameter: false },
    time: 'TimeStub',
    date: 'DateStub',
    long: undefined,
    uuid: undefined,
    double: undefined,
  },
]

/** The packages that declarations can be written for. */
export const clientPackages: readonly string[] = classes.map(each => each.package)

/** The names of a package of {@link clientPackages}. */
export function valueClassesOf(name: string): ValueClasses {
  const found = classes.find(each => each.package === name)
  assert(found !== undefined, `no client is called ${name}`)
  return found
}
