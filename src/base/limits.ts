// Limits that several files use; docs/reference/limits.md lists all limits. An "own limit" is not part of the protocol.

export const limits = {
  /** Maximum number of bytes of a request body. */
  requestBodyBytesMax: 8_388_608,
  /**
   * Maximum number of bytes of an incomplete request body that are buffered before the credential has been checked; own
   * limit.
   */
  unauthenticatedBodyBytesMax: 65_536,
  /** Maximum number of bytes of a request line (16 KiB) and all request headers (8 KiB) together. */
  requestHeadBytesMax: 24_576,
  /**
   * Maximum number of bytes that are parsed immediately when they arrive together on a connection. The parsing of more
   * bytes may wait for a later turn of the event loop; own limit.
   */
  shortReadBytes: 8192,
  /**
   * Maximum number of lines that are parsed immediately when they arrive together on an HTTP/1.1 connection. The
   * parsing of more lines may wait for a later turn of the event loop; own limit.
   */
  shortReadLines: 40,
  /** Maximum number of streams of one HTTP/2 connection that a client may reset per second; own limit. */
  sessionResetsPerSecond: 50,
  /** Milliseconds after which an idle HTTP/1.1 connection is closed by default. */
  connectionIdleMs: 75_000,
  /** Maximum number of nested arrays and objects in a rendered value; own limit: protects the native stack. */
  valueDepthMax: 1200,
  /** Default time limit of a query in milliseconds. */
  queryTimeoutDefaultMs: 120_000,
  /** Default of `x-max-retries-on-contention`: five attempts in total. */
  contentionRetriesDefault: 4,
  /**
   * Maximum number of billed compute operations of one query. An operation is {@link computeUnitsPerOp} compute units;
   * most calls of functions cost at least one unit.
   */
  computeOpsMax: 12_000,
  computeUnitsPerOp: 50,
  /**
   * Maximum number of sibling expressions in one query (such as the elements of an array), of elements to which one
   * lambda is applied, and of entries of one document in an index.
   */
  queryWidthMax: 100_000,
  /** Maximum number of errors in one response; own limit. */
  gatheredErrorsMax: 1000,
  /**
   * Maximum number of elements of an array that `append` or `prepend` creates; own limit: repeated doubling must not
   * exhaust the memory.
   */
  arrayElementsMax: 1_000_000,
  /**
   * Maximum number of asynchronous results, such as password checks, that one call requests at the same time; own
   * limit: more requests would delay other queries.
   */
  awaitedResultsMax: 256,
  /** Maximum number of bytes of a response that is sent in one piece; own limit. */
  longBodyBytes: 65_536,
  /** Approximate maximum number of bytes of the cache of decoded documents in a process; own limit. */
  knownDocumentsBytesMax: 33_554_432,
  /** Approximate maximum number of bytes of the cache of decoded index entries in a process; own limit. */
  knownEntriesBytesMax: 16_777_216,
  /** Approximate maximum number of bytes of the cache of schemas in a process; own limit. */
  knownSchemasBytesMax: 134_217_728,
  /** Maximum number of bytes of one document version. */
  documentBytesMax: 8_388_608,
  /** Maximum number of bytes of the key of one index entry: the terms and values together. */
  indexKeyBytesMax: 64_000,
  /** Maximum total number of values and characters in a value that a query constructs; own limit. */
  valueUnitsMax: 67_108_864,
  /** Default number of elements of a page. */
  pageSizeDefault: 64,
  /** Bytes that count as one read operation. */
  readOpBytes: 4096,
  /** Maximum number of UTF-16 units of a text that a query of version 10 creates. */
  v10TextUnitsMax: 16_777_216,
  /** Maximum number of elements of an array or a page that a query of version 10 creates at once. */
  v10ElementsMax: 16_000,
  /**
   * Maximum number of nested expressions and types in the text of a query of version 10; own limit: protects the native
   * stack.
   */
  v10NestingMax: 500,
  /** Maximum number of UTF-16 units of the `summary` in a response of version 10; own limit. */
  v10SummaryUnitsMax: 1_048_576,
  /** Maximum number of nested calls of lambdas and user functions in version 10. */
  v10CallDepthMax: 2048,
  /** Maximum number of UTF-16 units of one text that a function creates; own limit. */
  textUnitsMax: 8_388_608,
  /** Maximum number of characters of a search pattern after its translation; own limit. */
  regexSourceCharsMax: 1_000_000,
  /** Maximum number of instructions of a compiled search pattern; own limit. */
  regexInstructionsMax: 10_000,
  /** Maximum number of milliseconds for all permission checks of the events of one transaction. */
  streamBatchMs: 60_000,
  /** Maximum number of milliseconds of work for streams in one turn of the event loop; own limit. */
  streamTurnMs: 20,
  /**
   * Milliseconds after which the evaluation of all bindings (computed index fields) of one document fails; own limit.
   */
  documentBindingsMs: 100,
  /** Maximum lifetime of an account key in days; own limit. */
  accountKeyDaysMax: 36_500,
  /** Maximum number of characters of an `authorization` header, or of a third-party token; own limit. */
  authorizationCharsMax: 16_384,
} as const
