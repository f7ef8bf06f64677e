// Limits that several files use, with their units. Limits of one file are in that file; docs/reference/limits.md lists
// all. The values are the protocol's published limits. "Ours" marks limits that only Terrarium has.

export const limits = {
  /** Bytes of a request body. */
  requestBodyBytesMax: 8_388_608,
  /** Bytes of an incomplete request body that are kept before the credential has been checked; ours. */
  strangerBodyBytesMax: 65_536,
  /** Bytes of a request line (16 KiB) and all request headers (8 KiB) together. */
  requestHeadBytesMax: 24_576,
  /** Maximum bytes of one read that are parsed without a cost; ours. */
  shortReadBytes: 8192,
  /** Maximum lines of one read of HTTP/1.1 that are parsed without a cost; ours. */
  shortReadLines: 40,
  /** Streams of one HTTP/2 connection that a client may reset per second; ours. */
  sessionResetsPerSecond: 50,
  /** Milliseconds that an idle connection stays open. */
  connectionIdleMs: 75_000,
  /** Levels of arrays and objects in a rendered value; ours: protects the native stack. */
  valueDepthMax: 1200,
  /** Default time limit of a query in milliseconds. */
  queryTimeoutDefaultMs: 120_000,
  /** Default of `x-max-retries-on-contention`: five attempts in total. */
  contentionRetriesDefault: 4,
  /** Billed compute operations of one query; each is {@link computeUnitsPerOp} evaluated units. */
  computeOpsMax: 12_000,
  computeUnitsPerOp: 50,
  /** Expressions side by side in one query (such as the elements of an array), and elements that one lambda is applied to. */
  queryWidthMax: 100_000,
  /** Errors in one response; ours. */
  gatheredErrorsMax: 1000,
  /** Elements of an array that `append` and `prepend` create; ours: repeated doubling must not exhaust the memory. */
  arrayElementsMax: 1_000_000,
  /**
   * Asynchronous results, such as password checks, that one call requests at the same time; ours: so that other
   * queries are not delayed.
   */
  awaitedResultsMax: 256,
  /** Maximum bytes of a response that is sent in one piece; ours. */
  longBodyBytes: 65_536,
  /** Approximate bytes of the cache of decoded documents in a process; ours. */
  knownDocumentsBytesMax: 33_554_432,
  /** Approximate bytes of the cache of decoded index entries in a process; ours. */
  knownEntriesBytesMax: 16_777_216,
  /** Approximate bytes of the cache of schemas in a process; ours. */
  knownSchemasBytesMax: 134_217_728,
  /** Bytes of one document version. */
  documentBytesMax: 8_388_608,
  /** Bytes of the key of one index entry: its terms and values together. */
  indexKeyBytesMax: 64_000,
  /** Values and characters, together, of a value that a query constructs; ours. */
  valueUnitsMax: 67_108_864,
  /** Default number of elements of a page. */
  pageSizeDefault: 64,
  /** Bytes that count as one read operation. */
  readOpBytes: 4096,
  /** UTF-16 units of a text that a query of version 10 creates. */
  v10TextUnitsMax: 16_777_216,
  /** Elements of an array or a page that a query of version 10 creates at once. */
  v10ElementsMax: 16_000,
  /** Nested expressions and types in the text of a query of version 10; ours: protects the native stack. */
  v10NestingMax: 500,
  /** UTF-16 units of the summary in a response of version 10; ours. */
  v10SummaryUnitsMax: 1_048_576,
  /** Nested calls of lambdas and user functions in version 10. */
  v10CallDepthMax: 2048,
  /** UTF-16 units of one text that a function creates; ours. */
  textUnitsMax: 8_388_608,
  /** Characters of the translation of a search pattern; ours. */
  regexSourceCharsMax: 1_000_000,
  /** Compiled instructions of a search pattern; ours. */
  regexInstructionsMax: 10_000,
  /** Milliseconds for all permission checks of the events of one transaction. */
  streamBatchMs: 60_000,
  /** Milliseconds of work for streams in one turn of the event loop; ours. */
  streamTurnMs: 20,
  /** Milliseconds of all bindings of one document; ours. */
  documentBindingsMs: 100,
  /** Lifetime of an account key in days; ours. */
  accountKeyDaysMax: 36_500,
  /** Characters of an `authorization` header, and of a third-party token; ours. */
  authorizationCharsMax: 16_384,
} as const
