// Class names for values of version 10, in the two clients for which TypeScript declarations can be written: the client
// of this repository, and the driver `fauna`.

import { assert } from '../../base/assert.ts'

export interface ValueClasses {
  /** The package that the declarations import. */
  readonly package: string
  /** Type of values that the schema does not describe: a name of the package, or `unknown`. */
  readonly any: string
  /** The client accepts readonly arrays. */
  readonly takesReadonlyArrays: boolean
  readonly document: string
  readonly namedDocument: string
  readonly nullDocument: string
  readonly page: string
  readonly module: string
  readonly eventSource: string
  /** `hasParameter`: the class has a type parameter for the document's type. */
  readonly reference: { readonly name: string; readonly hasParameter: boolean }
  readonly time: string
  readonly date: string
  /** Undefined if the client returns Longs as numbers. */
  readonly long: string | undefined
  readonly uuid: string | undefined
  /** Sends an integer as a Double. Undefined if the client has no such class. */
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

export const clientPackages: readonly string[] = classes.map(each => each.package)

/** `name`: one of {@link clientPackages}. */
export function valueClassesOf(name: string): ValueClasses {
  const found = classes.find(each => each.package === name)
  assert(found !== undefined, `no client is called ${name}`)
  return found
}
