// The static types of the library as text. `library.ts` derives the rest: modules without members, collections and
// documents of the schema, and the kinds of numbers.

/** The types, each with a line `type NAME` and lines for its members. */
export const libraryTypes: string = `
type AccessProvider
alias { name: String, ts: Time, coll: AccessProviderCollection, issuer: String, jwks_uri: String, roles: Array<{ role: String, predicate: String }>, audience: String, data: { *: Any } | Null }
type AccessProviderCollection
field create (data: { name: String, issuer: String, jwks_uri: String, roles: String | { role: String, predicate: String } | Array<String | { role: String, predicate: String }> | Null, data: { *: Any } | Null }) => AccessProvider
type Array <A> Array<A>
access <A> Number => A
field aggregate <A> (seed: A, combiner: (A, A) => A) => A
field any <A> (predicate: (A => Boolean | Null)) => Boolean
field append <A> (element: A) => Array<A>
field at <A> (index: Number) => A
field concat <A, B> (other: Array<B>) => Array<A | B>
field distinct <A> () => Array<A>
field drop <A> (amount: Number) => Array<A>
field entries <A> () => Array<[Number, A]>
field every <A> (predicate: (A => Boolean | Null)) => Boolean
field filter <A> (predicate: (A => Boolean | Null)) => Array<A>
field first <A> () => A | Null
field firstWhere <A> (predicate: (A => Boolean | Null)) => A | Null
field flatMap <A, B> (mapper: (A => Array<B>)) => Array<B>
field flatten () => Array<Any>
field fold <A, B> (seed: B, reducer: (B, A) => B) => B
field foldRight <A, B> (seed: B, reducer: (B, A) => B) => B
field forEach <A> (callback: (A => Any)) => Null
field includes <A> (element: A) => Boolean
field indexOf <A> ((element: A) => Number | Null) & ((element: A, start: Number) => Number | Null)
field indexWhere <A> ((predicate: (A => Boolean | Null)) => Number | Null) & ((predicate: A => Boolean | Null, start: Number) => Number | Null)
field isEmpty () => Boolean
field last <A> () => A | Null
field lastIndexOf <A> ((element: A) => Number | Null) & ((element: A, end: Number) => Number | Null)
field lastIndexWhere <A> ((predicate: (A => Boolean | Null)) => Number | Null) & ((predicate: A => Boolean | Null, end: Number) => Number | Null)
field lastWhere <A> (predicate: (A => Boolean | Null)) => A | Null
field length Number
field map <A, B> (mapper: (A => B)) => Array<B>
field nonEmpty () => Boolean
field order <A> (ordering: ...(A => Any) | { asc: A => Any } | { desc: A => Any }) => Array<A>
field prepend <A> (element: A) => Array<A>
field reduce <A> (reducer: ((A, A) => A)) => A | Null
field reduceRight <A> (reducer: ((A, A) => A)) => A | Null
field reverse <A> () => Array<A>
field slice <A> ((from: Number) => Array<A>) & ((from: Number, until: Number) => Array<A>)
field take <A> (limit: Number) => Array<A>
field toSet <A> () => Set<A>
field toString () => String
field where <A> (predicate: (A => Boolean | Null)) => Array<A>
type ArrayModule
field sequence (from: Number, until: Number) => Array<Number>
type Boolean
field toString () => String
op ! () => Boolean
op && (other: Boolean) => Boolean
op || (other: Boolean) => Boolean
type Bytes
field toBase64 () => String
field toString () => String
type BytesModule
apply (encoded: String) => Bytes
field fromBase64 (encoded: String) => Bytes
type CollectionCollection
apply (collection: String) => Any
field Deleted DeletedCollection
field create (data: { name: String, alias: String | Null, computed_fields: { *: { body: String, signature: String | Null } } | Null, fields: { *: { signature: String, default: String | Null } } | Null, migrations: Array<{ backfill: { field: String, value: String } } | { drop: { field: String } } | { split: { field: String, to: Array<String> } } | { move: { field: String, to: String } } | { add: { field: String } } | { move_conflicts: { into: String } } | { move_wildcard: { into: String } } | { add_wildcard: {} }> | Null, wildcard: String | Null, history_days: Number | Null, ttl_days: Number | Null, document_ttls: Boolean | Null, indexes: { *: { terms: Array<{ field: String, mva: Boolean | Null }> | Null, values: Array<{ field: String, mva: Boolean | Null, order: "asc" | "desc" | Null }> | Null, queryable: Boolean | Null } } | Null, constraints: Array<{ unique: Array<String> | Array<{ field: String, mva: Boolean | Null }> } | { check: { name: String, body: String } }> | Null, data: { *: Any } | Null }) => CollectionDef
type CollectionDef
alias { name: String, alias: String | Null, computed_fields: { *: { body: String, signature: String | Null } }, fields: { *: { signature: String, default: String | Null } }, migrations: Array<{}> | Null, wildcard: String, ts: Time, coll: CollectionCollection, history_days: Number | Null, ttl_days: Number | Null, document_ttls: Boolean | Null, indexes: { *: { terms: Array<{ field: String, mva: Boolean | Null }>, values: Array<{ field: String, mva: Boolean | Null, order: "asc" | "desc" | Null }>, queryable: Boolean, status: "pending" | "active" | "failed" } }, constraints: Array<{ *: Any }>, data: { *: Any } | Null }
type Credential
alias { id: ID, ts: Time, coll: CredentialCollection, document: Ref<{ *: Any }>, data: { *: Any } | Null }
field login ((secret: String) => Token) & ((secret: String, ttl: Time) => Token)
field verify (secret: String) => Boolean
type CredentialCollection
field byDocument (document: { *: Any } | Null) => Ref<Credential>
field create (data: { id: ID | Null, document: Ref<{ *: Any }>, password: String | Null, data: { *: Any } | Null }) => Credential
type DatabaseCollection
field create (data: { name: String, priority: Number | Null, typechecked: Boolean | Null, protected: Boolean | Null, data: { *: Any } | Null }) => DatabaseDef
type DatabaseDef
alias { name: String, ts: Time, coll: DatabaseCollection, global_id: String, priority: Number | Null, typechecked: Boolean | Null, protected: Boolean | Null, data: { *: Any } | Null }
type Date
field add (amount: Number, unit: String) => Date
field dayOfMonth Number
field dayOfWeek Number
field dayOfYear Number
field difference (start: Date) => Number
field month Number
field subtract (amount: Number, unit: String) => Date
field toString () => String
field year Number
type DateModule
apply (date: String) => Date
field fromString (date: String) => Date
field today () => Date
type EmptyNamedRef <A> EmptyNamedRef<A>
alias Null
field coll Any
field exists () => false
field name String
type EmptyRef <A> EmptyRef<A>
alias Null
field coll Any
field exists () => false
field id ID
type EventSource <A> EventSource<A>
field map <A, B> (mapper: (A => B)) => EventSource<B>
field toString () => String
field where <A> (predicate: (A => Boolean | Null)) => EventSource<A>
type FQL.SchemaModule
field defForIdentifier (ident: String) => Any
type FunctionCollection
apply (function: String) => Any
field create (data: { name: String, alias: String | Null, signature: String | Null, role: String | Null, body: String, data: { *: Any } | Null }) => FunctionDef
type FunctionDef
alias { name: String, alias: String | Null, signature: String | Null, ts: Time, coll: FunctionCollection, role: String | Null, body: String, data: { *: Any } | Null }
type ID
field toString () => String
type IDModule
apply ((id: String) => ID) & ((id: Number) => ID)
type Key
alias { id: ID, ts: Time, coll: KeyCollection, role: String, database: String | Null, ttl: Time | Null, secret: String | Null, data: { *: Any } | Null }
type KeyCollection
field create (data: { role: String, database: String | Null, ttl: Time | Null, data: { *: Any } | Null }) => Key
type MathModule
field E Number
field Infinity Number
field NaN Number
field PI Number
field abs (x: Number) => Number
field acos (x: Number) => Number
field asin (x: Number) => Number
field atan (x: Number) => Number
field ceil (x: Number) => Number
field cos (x: Number) => Number
field cosh (x: Number) => Number
field degrees (x: Number) => Number
field exp (x: Number) => Number
field floor (x: Number) => Number
field hypot (x: Number, y: Number) => Number
field log (x: Number) => Number
field log10 (x: Number) => Number
field max (x: Number, y: Number) => Number
field mean ((numbers: Array<Number>) => Number) & ((numbers: Set<Number>) => Number)
field min (x: Number, y: Number) => Number
field pow (x: Number, power: Number) => Number
field radians (x: Number) => Number
field round (x: Number, precision: Number) => Number
field sign (x: Number) => Number
field sin (x: Number) => Number
field sinh (x: Number) => Number
field sqrt (x: Number) => Number
field sum ((numbers: Array<Number>) => Number) & ((numbers: Set<Number>) => Number)
field tan (x: Number) => Number
field tanh (x: Number) => Number
field trunc (x: Number, precision: Number) => Number
type NamedRef <A> NamedRef<A>
alias <A> A | EmptyNamedRef<A>
type Null
access Any => Never
field toString () => String
type Number
field toString () => String
op % (other: Number) => Number
op & (other: Number) => Number
op * (other: Number) => Number
op ** (exponent: Number) => Number
op - ((other: Number) => Number) & (() => Number)
op / (other: Number) => Number
op ^ (other: Number) => Number
op | (other: Number) => Number
op ~ () => Number
type ObjectModule
field assign <A, B> (destination: { *: A }, source: { *: B }) => { *: A | B }
field entries <A> (object: { *: A }) => Array<[String, A]>
field fromEntries <A> (entries: Array<[String, A]>) => { *: A }
field hasPath (object: { *: Any }, path: Array<String>) => Boolean
field keys (object: Any) => Array<String>
field select (object: { *: Any }, path: Array<String>) => Any
field toString (object: Any) => String
field values <A> (object: { *: A }) => Array<A>
type QueryModule
field identity () => { *: Any } | Null
field isEnvProtected () => Boolean
field isEnvTypechecked () => Boolean
field token () => { *: Any } | Null
type Ref <A> Ref<A>
alias <A> A | EmptyRef<A>
type Role
alias { name: String, ts: Time, coll: RoleCollection, privileges: Any, membership: Any, data: { *: Any } | Null }
type RoleCollection
field create (data: { name: String, privileges: Any | Null, membership: Any | Null, data: { *: Any } | Null }) => Role
type Set <A> Set<A>
field aggregate <A> (seed: A, combiner: (A, A) => A) => A
field any <A> (predicate: (A => Boolean | Null)) => Boolean
field changesOn <A> (fields: ...A => Any) => EventSource<A>
field concat <A, B> (other: Set<B>) => Set<A | B>
field count () => Number
field distinct <A> () => Set<A>
field drop <A> (amount: Number) => Set<A>
field eventSource <A> () => EventSource<A>
field eventsOn <A> (fields: ...A => Any) => EventSource<A>
field every <A> (predicate: (A => Boolean | Null)) => Boolean
field first <A> () => A | Null
field firstWhere <A> (predicate: (A => Boolean | Null)) => A | Null
field flatMap <A, B> (mapper: (A => Set<B>)) => Set<B>
field fold <A, B> (seed: B, reducer: (B, A) => B) => B
field foldRight <A, B> (seed: B, reducer: (B, A) => B) => B
field forEach <A> (callback: (A => Any)) => Null
field includes <A> (element: A) => Boolean
field isEmpty () => Boolean
field last <A> () => A | Null
field lastWhere <A> (predicate: (A => Boolean | Null)) => A | Null
field map <A, B> (mapper: (A => B)) => Set<B>
field nonEmpty () => Boolean
field order <A> (ordering: ...(A => Any) | { asc: A => Any } | { desc: A => Any }) => Set<A>
field pageSize <A> (size: Number) => Set<A>
field paginate <A> (() => { data: Array<A>, after: String | Null }) & ((size: Number) => { data: Array<A>, after: String | Null })
field reduce <A> (reducer: ((A, A) => A)) => A | Null
field reduceRight <A> (reducer: ((A, A) => A)) => A | Null
field reverse <A> () => Set<A>
field take <A> (limit: Number) => Set<A>
field toArray <A> () => Array<A>
field toSet <A> () => Set<A>
field toStream <A> () => EventSource<A>
field toString () => String
field where <A> (predicate: (A => Boolean | Null)) => Set<A>
type SetCursor
field toString () => String
type SetModule
field paginate ((cursor: String | SetCursor) => { data: Array<Any>, after: String | Null }) & ((cursor: String | SetCursor, size: Number) => { data: Array<Any>, after: String | Null })
field sequence (from: Number, until: Number) => Set<Number>
field single <A> (element: A) => Set<A>
type Stream <A> Stream<A>
alias <A> EventSource<A>
type String
access Number => String
field at (index: Number) => String
field casefold (() => String) & ((format: String) => String)
field concat (other: String) => String
field endsWith (suffix: String) => Boolean
field includes (pattern: String) => Boolean
field includesRegex (regex: String) => Boolean
field indexOf ((pattern: String) => Number | Null) & ((pattern: String, start: Number) => Number | Null)
field indexOfRegex ((regex: String) => Number | Null) & ((regex: String, start: Number) => Number | Null)
field insert (index: Number, other: String) => String
field lastIndexOf ((pattern: String) => Number | Null) & ((pattern: String, end: Number) => Number | Null)
field length Number
field matchIndexes (regex: String) => Array<[Number, String]>
field matches (regex: String) => Array<String>
field parseDouble () => Number | Null
field parseInt (() => Number | Null) & ((radix: Number) => Number | Null)
field parseLong (() => Number | Null) & ((radix: Number) => Number | Null)
field parseNumber () => Number | Null
field replace ((pattern: String, replacement: String) => String) & ((pattern: String, replacement: String, amount: Number) => String)
field replaceAll (pattern: String, replacement: String) => String
field replaceAllRegex (pattern: String, replacement: String) => String
field replaceRegex ((regex: String, replacement: String) => String) & ((regex: String, replacement: String, amount: Number) => String)
field slice ((start: Number) => String) & ((start: Number, end: Number) => String)
field split (separator: String) => Array<String>
field splitAt (index: Number) => [String, String]
field splitRegex (regex: String) => Array<String>
field startsWith (prefix: String) => Boolean
field toLowerCase () => String
field toString () => String
field toUpperCase () => String
type Time
field add (amount: Number, unit: String) => Time
field dayOfMonth Number
field dayOfWeek Number
field dayOfYear Number
field difference (start: Time, unit: String) => Number
field hour Number
field minute Number
field month Number
field second Number
field subtract (amount: Number, unit: String) => Time
field toMicros () => Number
field toMillis () => Number
field toSeconds () => Number
field toString () => String
field year Number
type TimeModule
apply (time: String) => Time
field epoch (offset: Number, unit: String) => Time
field fromString (time: String) => Time
field now () => Time
type Token
alias { id: ID, ts: Time, coll: TokenCollection, document: { *: Any }, secret: String | Null, ttl: Time | Null, data: { *: Any } | Null }
type TokenCollection
field byDocument (document: { *: Any }) => Set<Token>
field create (data: { id: ID | Null, document: { *: Any } | Null, ttl: Time | Null, data: { *: Any } | Null }) => Token
type TransactionTime
field toString () => String
type TransactionTimeModule
apply () => TransactionTime
type UUID
field toString () => String
type UserFunction <A> UserFunction<A>
apply <A> A
field definition FunctionDef
field toString () => String
type object { *: Any }
access String => Any
`

/** The global names whose types do not follow from the name. */
export const libraryGlobals: string = `
AccessProvider AccessProviderCollection
Collection CollectionCollection
Credential CredentialCollection
Credentials CredentialCollection
Database DatabaseCollection
Function FunctionCollection
Key KeyCollection
Role RoleCollection
Token TokenCollection
abort (return: Any) => Never
asc <A> (accessor: (A => Any)) => { asc: A => Any }
dbg <A> (value: A) => A
desc <A> (accessor: (A => Any)) => { desc: A => Any }
log (args: ...Any) => Null
newId () => ID
`

/** The modules whose types have the name of the module and `Module`. */
export const libraryModules: readonly string[] =
  'Array Boolean Bytes Date Doc Double EventSource FQL Float ID Int Long Math Null Number Object Query Set SetCursor String Struct Time TransactionTime UUID'.split(
    ' ',
  )
