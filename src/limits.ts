// Every limit of the service with its unit. Sources: the protocol's published limits unless a line says otherwise.

export const limits = {
  /** Bytes of a request body. */
  requestBodyBytesMax: 8_388_608,
  /** Levels of JSON nesting in a request body. */
  jsonDepthMax: 1000,
  /** Milliseconds a query may take when the request does not say. */
  queryTimeoutDefaultMs: 120_000,
  queryTimeoutMaxMs: 600_000,
  /** Attempts of a contended transaction when the request does not say. */
  contentionAttemptsDefault: 5,
  contentionRetriesMax: 7,
  /** Nested applications of lambdas and user functions. */
  callDepthMax: 200,
  /** Nested expressions under evaluation, all lambdas together; ours: keeps the native stack safe. */
  evaluationDepthMax: 3000,
  /** Billed compute operations of one query; one is {@link computeUnitsPerOp} evaluated units. */
  computeOpsMax: 12_000,
  computeUnitsPerOp: 50,
  /** Elements side by side in one query. */
  queryWidthMax: 100_000,
  /** Bytes written by one transaction. */
  transactionBytesMax: 16_777_216,
  /** Bytes of one document version. */
  documentBytesMax: 8_388_608,
  /** Bytes of the terms of one index entry. */
  indexTermsBytesMax: 64_000,
  /** Bytes of one value of an index entry; longer ones are not indexed. */
  indexValueBytesMax: 32_767,
  pageSizeDefault: 64,
  pageSizeMax: 100_000,
  readOpBytes: 4096,
  writeOpBytes: 1024,
  /** Existing documents and versions up to which an index is built in the transaction that creates it. */
  synchronousIndexBuildMax: 128,
  rolesPerMembershipMax: 64,
  userCollectionIdMax: 32_767,
  firstIndexId: 32_768,
  /** Days of history of a collection created without `history_days`. */
  historyDaysDefault: 30,
  /** Microseconds of history kept beyond `history_days`. */
  historyGraceMicros: 15 * 60 * 1_000_000,
  regexResultsMax: 1024,
  stringRepeatMax: 1024,
  /** Characters of the `x-fauna-tags` header, pairs in it, characters of a key and of a value. */
  tagsHeaderCharsMax: 3000,
  tagPairsMax: 25,
  tagKeyCharsMax: 40,
  tagValueCharsMax: 80,
} as const
