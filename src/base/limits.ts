// Limits that several files use, with their units. A limit that only one file uses is in that file;
// docs/reference/limits.md lists all limits. A limit that is marked "own limit" is not part of the protocol. All other
// limits come from the protocol.

export const limits = {
  /** Bytes of a request body. */
  requestBodyBytesMax: 8_388_608,
  /** Bytes of an incomplete request body that are buffered before the credential has been checked; own limit. */
  strangerBodyBytesMax: 65_536,
  /** Bytes of a request line (16 KiB) and all request headers (8 KiB) together. */
  requestHeadBytesMax: 24_576,
  /** Bytes up to which a read from a connection is parsed at once, without pacing; own limit. */
  shortReadBytes: 8192,
  /** Lines up to which a read from an HTTP/1.1 connection is parsed at once, without pacing; own limit. */
  shortReadLines: 40,
  /** Streams of one HTTP/2 connection that a client may reset per second; own limit. */
  sessionResetsPerSecond: 50,
  /** Milliseconds that an idle connection stays open. */
  connectionIdleMs: 75_000,
  /** Levels of arrays and objects in a rendered value; own limit: protects the native stack. */
  valueDepthMax: 1200,
  /** Default time limit of a query in milliseconds. */
  queryTimeoutDefaultMs: 120_000,
  /** Default of `x-max-retries-on-contention`: five attempts in total. */
  contentionRetriesDefault: 4,
  /** Billed compute operations of one query; one operation is {@link computeUnitsPerOp} evaluated units. */
  computeOpsMax: 12_000,
  computeUnitsPerOp: 50,
  /**
   * Sibling expressions in one query (such as the elements of an array), and elements to which one lambda is applied.
   */
  queryWidthMax: 100_000,
  /** Errors in one response; own limit. */
  gatheredErrorsMax: 1000,
  /**
   * Elements of an array that `append` and `prepend` create; own limit: repeated doubling must not exhaust the memory.
   */
  arrayElementsMax: 1_000_000,
  /**
   * Asynchronous results, such as password checks, that one call requests at the same time; own limit: so that other
   * queries are not delayed.
   */
  awaitedResultsMax: 256,
  /** Maximum bytes of a response that is sent in one piece; own limit. */
  longBodyBytes: 65_536,
  /** Approximate bytes of the cache of decoded documents in a process; own limit. */
  knownDocumentsBytesMax: 33_554_432,
  /** Approximate bytes of the cache of decoded index entries in a process; own limit. */
  knownEntriesBytesMax: 16_777_216,
  /** Approximate bytes of the cache of schemas in a process; own limit. */
  knownSchemasBytesMax: 134_217_728,
  /** Bytes of one document version. */
  documentBytesMax: 8_388_608,
  /** Bytes of the key of one index entry: its terms and values together. */
  indexKeyBytesMax: 64_000,
  /** Values and characters, together, of a value that a query constructs; own limit. */
  valueUnitsMax: 67_108_864,
  /** Default number of elements of a page. */
  pageSizeDefault: 64,
  /** Bytes that count as one read operation. */
  readOpBytes: 4096,
  /** UTF-16 units of a text that a query of version 10 creates. */
  v10TextUnitsMax: 16_777_216,
  /** Elements of an array or a page that a query of version 10 creates at once. */
  v10ElementsMax: 16_000,
  /** Nested expressions and types in the text of a query of version 10; own limit: protects the native stack. */
  v10NestingMax: 500,
  /** UTF-16 units of the `summary` in a response of version 10; own limit. */
  v10SummaryUnitsMax: 1_048_576,
  /** Nested calls of lambdas and user functions in version 10. */
  v10CallDepthMax: 2048,
  /** UTF-16 units of one text that a function creates; own limit. */
  textUnitsMax: 8_388_608,
  /** Characters of the translation of a search pattern; own limit. */
  regexSourceCharsMax: 1_000_000,
  /** Compiled instructions of a search pattern; own limit. */
  regexInstructionsMax: 10_000,
  /** Milliseconds for all permission checks of the events of one transaction. */
  streamBatchMs: 60_000,
  /** Milliseconds of work for streams in one turn of the event loop; own limit. */
  streamTurnMs: 20,
  /** Milliseconds for evaluating all bindings (computed fields) of one document; own limit. */
  documentBindingsMs: 100,
  /** Lifetime of an account key in days; own limit. */
  accountKeyDaysMax: 36_500,
  /** Characters of an `authorization` header, and of a third-party token; own limit. */
  authorizationCharsMax: 16_384,
} as const
