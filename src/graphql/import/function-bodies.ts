// The bodies of the functions that an import creates.

import { Lambda, type Ref, type Value } from '../../values/value.ts'
import { call, type Fql, ifElse, letIn, map, objectOf, variable } from '../operation/fql.ts'

const apiVersion = '4'

function body(parameters: string | readonly string[], expression: Fql): Lambda {
  return new Lambda(apiVersion, parameters, expression)
}

export function stubBody(name: string): Lambda {
  return body(
    '_',
    call({
      abort: `Function ${name} was not implemented yet. Please access your database and provide an implementation for the ${name} function.`,
    }),
  )
}

/** The bodies for `@generateUDFResolvers`. `kind`: the beginning of the function's name. */
export function generatedBody(kind: string, collection: Ref): Lambda {
  const ref = call({ ref: collection, id: variable('id') })
  const params = objectOf([['data', variable('data')]])
  const ifExists = (then: Fql) => ifElse(call({ exists: ref }), then, null)
  switch (kind) {
    case 'create':
      return body(['data'], call({ create: collection, params }))
    case 'update':
      return body(['id', 'data'], ifExists(call({ update: ref, params })))
    case 'delete':
      return body(['id'], ifExists(call({ delete: ref })))
    case 'find':
      return body(['id'], ifExists(call({ get: ref })))
    default:
      return body(['size', 'after', 'before'], listing(collection))
  }
}

function listing(collection: Ref): Value {
  const isMissing = (name: string) => call({ equals: [variable(name), null] })
  const cursor = (name: string) => objectOf([[name, variable(name)]])
  const position = ifElse(
    isMissing('before'),
    ifElse(isMissing('after'), null, cursor('after')),
    cursor('before'),
  )
  return letIn(
    [
      ['setToPageOver', call({ documents: collection })],
      ['page', call({ paginate: variable('setToPageOver'), cursor: position, size: variable('size') })],
    ],
    map('ref', call({ get: variable('ref') }), variable('page')),
  )
}
