// The descriptions of generated types and fields. Tools print them into committed schemas, so the texts are those of the
// hosted service.

export const descriptions = {
  id: "The document's ID.",
  ts: "The document's timestamp.",
  size: 'The number of items to return per page.',
  cursor: 'The pagination cursor.',
  after: 'A cursor for elements coming after the current page.',
  before: 'A cursor for elements coming before the current page.',
  long: 'The `Long` scalar type represents non-fractional signed whole numeric values. Long can represent values between -(2^63) and 2^63 - 1.',
} as const

export const described = {
  create: (type: string) => `Create a new document in the collection of '${type}'`,
  update: (type: string) => `Update an existing document in the collection of '${type}'`,
  delete: (type: string) => `Delete an existing document in the collection of '${type}'`,
  partialUpdate: (type: string) =>
    `Partially updates an existing document in the collection of '${type}'. It only modifies the values that are specified in the arguments. During execution, it verifies that required fields are not set to 'null'.`,
  find: (type: string) => `Find a document from the collection of '${type}' by its id.`,
  idArgument: (type: string) => `The '${type}' document's ID`,
  input: (type: string) => `'${type}' input values`,
  page: (type: string) => `The pagination object for elements of type '${type}'.`,
  pageData: (type: string) => `The elements of type '${type}' in this page.`,
} as const

/** Descriptions of the input of a relation whose field refers to one document of the type `target`. */
export const describedOne = {
  type: (owner: string, field: string, target: string) =>
    `Allow manipulating the relationship between the types '${owner}' and '${target}' using the field '${owner}.${field}'.`,
  create: (target: string) =>
    `Create a document of type '${target}' and associate it with the current document.`,
  connect: (target: string) =>
    `Connect a document of type '${target}' with the current document using its ID.`,
  disconnect: (target: string) => `If true, disconnects this document from '${target}'`,
} as const

/** Descriptions of the input of a relation whose field is a list of documents of the type `target`. */
export const describedMany = {
  type: (owner: string, target: string) =>
    `Allow manipulating the relationship between the types '${owner}' and '${target}'.`,
  create: (target: string) =>
    `Create one or more documents of type '${target}' and associate them with the current document.`,
  connect: (target: string) =>
    `Connect one or more documents of type '${target}' with the current document using their IDs.`,
  disconnect: (target: string) =>
    `Disconnect the given documents of type '${target}' from the current document using their IDs.`,
} as const
