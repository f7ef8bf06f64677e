// The names of a client's classes for values of version 10. TypeScript declarations can be written for two clients: the
// client of this repository, and the driver `fauna`.

import { assert } from '../../base/assert.ts'

/** The class names of a client. */
export interface ValueClasses {
  /** The package that the declarations import. */
  readonly package: string
  readonly any: string
  /** True if the client accepts readonly arrays. */
  readonly takesReadonlyArrays: boolean
  readonly document: string
  readonly namedDocument: string
  readonly nullDocument: string
  readonly page: string
  readonly module: string
  readonly eventSource: string
  /** The class of references to documents. `hasParameter`: the class has a type parameter for the document's type. */
  readonly reference: { readonly name: string; readonly hasParameter: boolean }
  readonly time: string
  readonly date: string
  /** The class of Long values. Undefined if the client returns Longs as numbers. */
  readonly long: string | undefined
  readonly uuid: string | undefined
  /** The class that sends an integer as a Double. Undefined if the client has no such class. */
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

/** The packages for which declarations can be written. */
export const clientPackages: readonly string[] = classes.map(each => each.package)

/** The class names of a package in {@link clientPackages}. */
export function valueClassesOf(name: string): ValueClasses {
  const found = classes.find(each => each.package === name)
  assert(found !== undefined, `no client is called ${name}`)
  return found
}
