// Declares the parts of the library's types that are not in the entries of the library: aliases, operators, calls,
// accesses, and the members of missing documents.

/** The parts of a type, as texts. */
export interface ShapeText {
  readonly parameters?: readonly string[]
  /** The type's `self` in the response of `GET /environment/1`, if it differs from the name of the type. */
  readonly self?: string
  /** The type that the name stands for. */
  readonly alias?: string
  readonly fields?: Readonly<Record<string, string>>
  readonly operators?: Readonly<Record<string, string>>
  readonly apply?: string
  readonly access?: string
}

const logical = '(other: Boolean) => Boolean'
const numeric = '(other: Number) => Number'

/** The operators of all types of numbers. */
const numberText: ShapeText = {
  operators: {
    '%': numeric,
    '&': numeric,
    '*': numeric,
    '**': '(exponent: Number) => Number',
    '-': '((other: Number) => Number) & (() => Number)',
    '/': numeric,
    '^': numeric,
    '|': numeric,
    '~': '() => Number',
  },
}

/** The members of a missing document, by the kind of its key. */
export const absentMembers = {
  id: { id: 'ID', coll: 'DocCollection', exists: '() => false', toString: '() => String' },
  name: { name: 'String', coll: 'DocCollection', exists: '() => false', toString: '() => String' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

/** Texts by the names of the types. */
export const shapeTexts: Readonly<Record<string, ShapeText>> = {
  Array: { parameters: ['A'], access: '<A> Number => A' },
  Boolean: { operators: { '!': '() => Boolean', '&&': logical, '||': logical } },
  Double: { ...numberText, self: 'Number' },
  EmptyNamedRef: {
    parameters: ['A'],
    alias: 'Null',
    fields: { name: 'String', coll: 'Any', exists: '() => false' },
  },
  EmptyRef: { parameters: ['A'], alias: 'Null', fields: { id: 'ID', coll: 'Any', exists: '() => false' } },
  EventSource: { parameters: ['A'] },
  Float: { ...numberText, self: 'Number' },
  Int: { ...numberText, self: 'Number' },
  Long: { ...numberText, self: 'Number' },
  NamedRef: { parameters: ['A'], alias: '<A> A | EmptyNamedRef<A>' },
  Null: { access: 'Any => Never' },
  Number: numberText,
  Ref: { parameters: ['A'], alias: '<A> A | EmptyRef<A>' },
  Set: { parameters: ['A'] },
  Stream: { parameters: ['A'], alias: '<A> EventSource<A>' },
  String: { access: 'Number => String' },
  UserFunction: { parameters: ['A'], apply: '<A> A' },
  object: { self: '{ *: Any }', access: 'String => Any' },
  AccessProvider: {
    alias:
      '{ name: String, ts: Time, coll: AccessProviderCollection, issuer: String, jwks_uri: String, roles: Array<{ role: String, predicate: String }>, audience: String, data: { *: Any } | Null }',
  },
  CollectionDef: {
    alias:
      '{ name: String, alias: String | Null, computed_fields: { *: { body: String, signature: String | Null } }, fields: { *: { signature: String, default: String | Null } }, migrations: Array<{}> | Null, wildcard: String, ts: Time, coll: CollectionCollection, history_days: Number | Null, ttl_days: Number | Null, document_ttls: Boolean | Null, indexes: { *: { terms: Array<{ field: String, mva: Boolean | Null }>, values: Array<{ field: String, mva: Boolean | Null, order: "asc" | "desc" | Null }>, queryable: Boolean, status: "pending" | "active" | "failed" } }, constraints: Array<{ *: Any }>, data: { *: Any } | Null }',
  },
  Credential: {
    alias:
      '{ id: ID, ts: Time, coll: CredentialCollection, document: Ref<{ *: Any }>, data: { *: Any } | Null }',
  },
  DatabaseDef: {
    alias:
      '{ name: String, ts: Time, coll: DatabaseCollection, global_id: String, priority: Number | Null, typechecked: Boolean | Null, protected: Boolean | Null, data: { *: Any } | Null }',
  },
  FunctionDef: {
    alias:
      '{ name: String, alias: String | Null, signature: String | Null, ts: Time, coll: FunctionCollection, role: String | Null, body: String, data: { *: Any } | Null }',
  },
  Key: {
    alias:
      '{ id: ID, ts: Time, coll: KeyCollection, role: String, database: String | Null, ttl: Time | Null, secret: String | Null, data: { *: Any } | Null }',
  },
  Role: {
    alias:
      '{ name: String, ts: Time, coll: RoleCollection, privileges: Any, membership: Any, data: { *: Any } | Null }',
  },
  Token: {
    alias:
      '{ id: ID, ts: Time, coll: TokenCollection, document: { *: Any }, secret: String | Null, ttl: Time | Null, data: { *: Any } | Null }',
  },
}
