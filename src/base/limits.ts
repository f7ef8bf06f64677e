// Every limit of the service with its unit. The values are the protocol's published limits. "Ours" marks limits that
// only Terrarium has.

export const limits = {
  /** Bytes of a request body. */
  requestBodyBytesMax: 8_388_608,
  /** Schema files in one request, including `main.fsl`. */
  schemaFilesMax: 1024,
  /** Bytes of all incomplete request bodies together; ours: limits the memory that slow senders take. */
  bufferedBodyBytesMax: 268_435_456,
  /** Bytes of an incomplete request body that are kept before the credential has been checked; ours. */
  strangerBodyBytesMax: 65_536,
  /** Characters of a header in a record of the query log; ours: longer headers are truncated. */
  loggedHeaderCharsMax: 512,
  /**
   * Divisor of the maximum size of the query log. Records of requests with rejected credentials may take this part at
   * once, and as much again over the retention period; ours.
   */
  strangersLogShare: 16,
  /** Bytes of a request body at the endpoints of the query log; ours. */
  logBodyBytesMax: 65_536,
  /** Minimum speed of a request body: bytes in each window, and milliseconds of a window; ours. */
  bodyPaceBytes: 32_768,
  bodyPaceMs: 20_000,
  /**
   * Unread bytes of all responses together; minimum speed of each client: bytes in each window, and milliseconds of
   * a window; ours.
   */
  unreadResponseBytesMax: 268_435_456,
  unreadPaceBytes: 32_768,
  unreadPaceMs: 60_000,
  /** Bytes of a request line (16 KiB) and all request headers (8 KiB) together. */
  requestHeadBytesMax: 24_576,
  /** Connections without a request in flight, and open HTTP/2 streams of one connection; ours. */
  waitingConnectionsMax: 8192,
  sessionStreamsMax: 1000,
  /** Requests of one connection that start in one turn of the event loop; ours: other connections get their turn. */
  requestsPerTurn: 16,
  /** Waiting requests of one connection, after which the service stops reading from it; ours. */
  requestsWaitingMax: 64,
  /** Bytes whose parsing costs as much as one request; ours. */
  readBytesPerRequest: 256,
  /** Maximum bytes of one read that are parsed without a cost; ours. */
  shortReadBytes: 8192,
  /** Lines of HTTP/1.1 whose parsing costs as much as one request; ours. */
  linesPerRequest: 16,
  /** Bytes of HTTP/1.1 whose parsing costs as much as one request; ours. */
  bodyBytesPerRequest: 2048,
  /** Maximum lines of one read of HTTP/1.1 that are parsed without a cost; ours. */
  shortReadLines: 40,
  /** Lines of a slice, the part of a read of HTTP/1.1 that is parsed at once; ours. */
  linesPerSlice: 128,
  /** Lines in one read of HTTP/1.1 from which on all new connections are parsed in slices; ours. */
  linesOfFlood: 512,
  /**
   * Lines above `shortReadLines`, summed over all connections in one turn, above which all connections are parsed in
   * slices; ours.
   */
  excessLinesPerTurn: 2048,
  /** Milliseconds for which new connections are then parsed in slices as well; ours. */
  slicesAllMs: 10_000,
  /**
   * Requests of all connections in one turn, beyond the first of each connection; target duration of a turn in
   * milliseconds; ours.
   */
  extraRequestsPerTurn: 256,
  turnMs: 10,
  /** Streams of one HTTP/2 connection that a client may reset at once; ours. */
  sessionResetBurst: 100,
  /** Streams of one HTTP/2 connection that a client may reset per second; ours. */
  sessionResetsPerSecond: 50,
  /** Bytes of an HTTP/2 connection that belong to no request and no body: at once, and per second; ours. */
  sessionEmptyBytesBurst: 524_288,
  sessionEmptyBytesPerSecond: 65_536,
  /** Milliseconds between two checks of the bytes that HTTP/2 connections have sent without a request; ours. */
  sessionCheckMs: 50,
  /**
   * Milliseconds for which the next limits apply to a client after the service has closed its session because of
   * useless frames; ours.
   */
  offenderMs: 10_000,
  /** Milliseconds between new sessions of such a client; ours. */
  offenderSpacingMs: 100,
  /** Streams that a session of such a client may reset at once; ours. */
  offenderResetBurst: 10,
  /** Divisor of the allowed useless bytes for a session of such a client; ours. */
  offenderEmptyBytesPart: 16,
  /** Maximum delay of a new session of such a client in milliseconds, above which the session is rejected; ours. */
  offenderWaitMs: 5_000,
  /** Approximate maximum number of clients in memory whose sessions were closed because of useless frames; ours. */
  offendersMax: 10_000,
  /** Milliseconds that idle connections stay open at shutdown, for requests that are already on their way; ours. */
  lingerMs: 250,
  /** Milliseconds that an idle connection stays open. */
  connectionIdleMs: 75_000,
  /** Milliseconds that a client may take to send one request. */
  requestReceiveMs: 60_000,
  /** Levels of JSON nesting in a request body. */
  jsonDepthMax: 1000,
  /** Characters of an object's key, and of a number, in a request body. */
  jsonNameCharsMax: 50_000,
  jsonNumberCharsMax: 1000,
  /** Levels of arrays and objects in a rendered value; ours: protects the native stack. */
  valueDepthMax: 1200,
  /** Default time limit of a query in milliseconds. */
  queryTimeoutDefaultMs: 120_000,
  /** Maximum time limit of a query in milliseconds. */
  queryTimeoutMaxMs: 600_000,
  /** Maximum of `x-max-retries-on-contention`. */
  contentionRetriesMax: 7,
  /** Default of `x-max-retries-on-contention`: five attempts in total. */
  contentionRetriesDefault: 4,
  /** Nested calls of lambdas and user functions. */
  callDepthMax: 200,
  /** Nested expressions during evaluation, over all lambdas; ours: protects the native stack. */
  evaluationDepthMax: 3000,
  /** Billed compute operations of one query; each is {@link computeUnitsPerOp} evaluated units. */
  computeOpsMax: 12_000,
  computeUnitsPerOp: 50,
  /** Expressions side by side in one query (such as the elements of an array), and elements that one lambda is applied to. */
  queryWidthMax: 100_000,
  /** Elements that all sets of one query read from storage; ours: reading sets costs no compute operations. */
  setElementsMax: 1_000_000,
  /** Errors in one response; ours. */
  gatheredErrorsMax: 1000,
  /** Characters and path elements of the positions of all errors in one response; ours. */
  gatheredErrorUnitsMax: 262_144,
  /** Elements of an array that `append` and `prepend` create; ours: repeated doubling must not exhaust the memory. */
  arrayElementsMax: 1_000_000,
  /**
   * Asynchronous results, such as password checks, that one call requests at the same time; ours: so that other
   * queries are not delayed.
   */
  awaitedResultsMax: 256,
  /** Maximum bytes of a query that the service parses itself and not in the slow lane; ours. */
  shortBodyBytes: 262_144,
  /** Maximum bytes of a response that is sent in one piece; ours. */
  longBodyBytes: 65_536,
  /** Milliseconds that evaluations of one database may block the process at once; ours. */
  blockingMsFree: 80,
  /** Milliseconds per second that evaluations of one database may block the process; ours. */
  blockingMsPerSecond: 20,
  /** Milliseconds after which a query of a database above these limits moves to the slow lane; ours. */
  impatientMs: 3,
  /**
   * Milliseconds that a stream's expression may block the process, because a stream cannot move to the slow lane; ours.
   */
  unmovableMs: 50,
  /** Queries that wait for the slow lane: in total, and of one database; ours. */
  laneWaitingMax: 1000,
  laneWaitingPerDatabaseMax: 100,
  /** Approximate bytes of the cache of decoded documents in a process; ours. */
  knownDocumentsBytesMax: 33_554_432,
  /** Approximate bytes of the cache of decoded index entries in a process; ours. */
  knownEntriesBytesMax: 16_777_216,
  /** Approximate bytes of the cache of schemas in a process; ours. */
  knownSchemasBytesMax: 134_217_728,
  /** Milliseconds that a service waits at shutdown for commits of its slow lane; ours. */
  laneEndGraceMs: 8_000,
  /**
   * Milliseconds after a query's deadline until its slow-lane process is killed; milliseconds until an idle process
   * exits; ours.
   */
  laneGraceMs: 250,
  laneIdleMs: 60_000,
  /** Milliseconds from the start of a service until the first slow-lane process is started; ours. */
  laneReadyMs: 1000,
  /** Milliseconds until the start of a slow-lane process is tried again after a failure; ours. */
  laneRestartMs: 1000,
  /** Bytes written by one transaction. */
  transactionBytesMax: 16_777_216,
  /** Bytes of one document version. */
  documentBytesMax: 8_388_608,
  /** Bytes of the key of one index entry: its terms and values together. */
  indexKeyBytesMax: 64_000,
  /** Bytes of one value of an index entry; longer values are not indexed. */
  indexValueBytesMax: 32_767,
  /** Values and characters of a response, together; ours. */
  answerUnitsMax: 67_108_864,
  /** Values and characters, together, of a value that a query constructs; ours. */
  valueUnitsMax: 67_108_864,
  /** Values and characters, together, of a value that a lambda captures; ours. */
  capturedUnitsMax: 8_388_608,
  /** Default number of elements of a page. */
  pageSizeDefault: 64,
  /** Maximum number of elements of a page. */
  pageSizeMax: 100_000,
  /** Bytes that count as one read operation. */
  readOpBytes: 4096,
  /** Bytes that count as one write operation. */
  writeOpBytes: 1024,
  /** Maximum number of existing documents and versions for building an index in the transaction that creates it. */
  synchronousIndexBuildMax: 128,
  /** Roles whose membership names the same collection. */
  rolesPerMembershipMax: 64,
  /** The highest id of a collection, and the first id of an index; ids are never reused. */
  userCollectionIdMax: 32_767,
  firstIndexId: 32_768,
  /** Partitions of an index. */
  indexPartitionsMax: 8,
  /** Days of history of a collection created without `history_days`. */
  historyDaysDefault: 30,
  /** Microseconds of history kept in addition to `history_days`. */
  historyGraceMicros: 15 * 60 * 1_000_000,
  /** Results of `FindStrRegex`. */
  regexResultsMax: 1024,
  /** Repetitions of `Repeat`. */
  stringRepeatMax: 1024,
  /** UTF-16 units of a text that a query of version 10 creates. */
  v10TextUnitsMax: 16_777_216,
  /** Elements of an array or a page that a query of version 10 creates at once. */
  v10ElementsMax: 16_000,
  /** Nested expressions and types in the text of a query of version 10; ours: protects the native stack. */
  v10NestingMax: 500,
  /** Nested expressions of version 10 during evaluation, over all lambdas; ours: protects the native stack. */
  v10EvaluationDepthMax: 16_000,
  /** Reported syntax errors of one text of version 10; ours: parsing stops after the last. */
  v10FaultsMax: 1000,
  /** UTF-16 units of the summary in a response of version 10; ours. */
  v10SummaryUnitsMax: 1_048_576,
  /** UTF-16 units of an excerpt within an error message of version 10; ours. */
  v10DrawnUnitsMax: 16_384,
  /** Performance hints in a response of version 10; ours: further hints are omitted. */
  v10HintsMax: 64,
  /** Nested calls of lambdas and user functions in version 10. */
  v10CallDepthMax: 2048,
  /** UTF-16 units of one text that a function creates; ours. */
  textUnitsMax: 8_388_608,
  /** UTF-16 units of all texts that a query creates; ours. */
  textUnitsPerQueryMax: 67_108_864,
  /** UTF-16 units of long texts, read or created, that count as one additional evaluated unit; ours. */
  textUnitsPerComputeUnit: 4096,
  /** Steps of comparisons, merges and set operations on arrays that count as one additional evaluated unit; ours. */
  stepsPerComputeUnit: 512,
  /** Characters of a search pattern; ours. */
  regexPatternCharsMax: 10_000,
  /** Characters of the translation of a search pattern; ours. */
  regexSourceCharsMax: 1_000_000,
  /** Nested groups of a search pattern; ours. */
  regexDepthMax: 200,
  /** Compiled instructions of a search pattern; ours. */
  regexInstructionsMax: 10_000,
  /** Instructions of a pattern times characters of the searched text; ours: about ten seconds in the worst case. */
  regexStepsMax: 268_435_456,
  /** Steps of a backtracking search; additional steps for each UTF-16 unit of the text; saved alternatives; ours. */
  regexBacktrackStepsMax: 16_777_216,
  regexBacktrackStepsPerUnit: 32,
  regexBacktrackFramesMax: 4_194_304,
  /** Cached patterns, their instructions together, and bytes of search states of each; ours. */
  regexCacheMax: 200,
  regexCacheInstructionsMax: 100_000,
  regexStateBytesMax: 262_144,
  /** Events, and their bytes (ours), in the queue of one stream. The events of one transaction are counted together. */
  streamEventsMax: 4096,
  streamBytesMax: 8_388_608,
  /** Transactions and events that are handled in one turn of the event loop; ours. */
  streamTransactionsPerTurn: 64,
  streamEventsPerTurn: 1024,
  /** Streams that get the events of a transaction in one turn of the event loop, and bytes of these events; ours. */
  streamsPerTurn: 64,
  streamBytesPerTurn: 4_194_304,
  /** Past events that a stream of version 10 can catch up on. */
  streamReplayMax: 128,
  /** Events on a page of a feed: default and maximum. */
  feedPageDefault: 16,
  feedPageMax: 16_000,
  /** Events of one page for a stream that has caught up; ours. */
  streamPageEvents: 1024,
  /** UTF-16 units of a page of a stream; ours. */
  streamPageUnitsMax: 1_048_576,
  /** UTF-16 units of a page of a feed; ours. */
  feedPageUnitsMax: 16_777_216,
  /** Milliseconds for reading one page of a stream; ours. */
  streamPageMs: 60_000,
  /** Milliseconds without events after which a stream of version 10 sends its position. */
  streamStatusMs: 300_000,
  /** Milliseconds until a page of a stream of version 10 is read again after a failure, and number of retries; ours. */
  streamRetryMs: 1000,
  streamRetriesMax: 5,
  /** Milliseconds for all permission checks of the events of one transaction. */
  streamBatchMs: 60_000,
  /** Milliseconds of one permission check of an event; ours. */
  streamPredicateMs: 100,
  /** Milliseconds of work for streams in one turn of the event loop; ours. */
  streamTurnMs: 20,
  /** Milliseconds of one batch of background work; ours. */
  backgroundBatchMs: 10,
  /** Milliseconds of one batch of an import; ours. */
  importBatchMs: 20,
  /** Milliseconds of all bindings of one document; ours. */
  documentBindingsMs: 100,
  /** Milliseconds for the bindings of all versions that one imported record changes; ours. */
  recordBindingsMs: 250,
  /**
   * Pause of a database after bindings in the background or in an import, as a multiple of the duration of the
   * bindings; ours.
   */
  bindingRestFactor: 3,
  /** Minimum of this pause in milliseconds; ours. */
  bindingRestMsMin: 1,
  /** First and longest pause of an index build that fails, in milliseconds; ours. */
  buildRetryMs: 1000,
  buildRetryMsMax: 600_000,
  /** Milliseconds that a client may take to read the end of its stream before it is disconnected; ours. */
  streamEndMs: 5000,
  /** Characters of the `x-fauna-tags` header, pairs in it, characters of a key and of a value. */
  tagsHeaderCharsMax: 3000,
  tagPairsMax: 25,
  tagKeyCharsMax: 40,
  tagValueCharsMax: 80,
  /** Days that an export of the query log may span; exports on one page of their list; characters of a filter. */
  logExportDaysMax: 90,
  logExportsPageMax: 1000,
  logFilterCharsMax: 4096,
  /** Unfinished exports of one requester; exports read for one page of their list; ours. */
  logExportsWaitingMax: 1000,
  logExportsReadMax: 5000,
  /** Records on one page of the query log, and records that may be skipped; ours. */
  logRecordsPageMax: 500,
  logRecordsSkipMax: 10_000,
  /** Lifetime of an account key in days; ours. */
  accountKeyDaysMax: 36_500,
  /** Characters of the name of an account key; ours. */
  accountKeyNameCharsMax: 200,
  /** Permission checks in one explanation; ours. */
  explainedDecisionsMax: 1000,
  /** Rows of an index or a collection that one request for its size reads; ours. */
  sizeRows: 10_000,
  /** Databases with a key of the same id; ours: a secret with this id is checked against each of these keys. */
  keysOfOneIdMax: 16,
  /** Concurrent checks and hashes of secrets, and waiting checks and hashes; ours: other work needs threads, too. */
  secretChecksAtOnceMax: 2,
  secretChecksWaitingMax: 10_000,
  /** Waiting password checks and hashes; ours. */
  passwordChecksWaitingMax: 4000,
  /** Failed password checks without a pause, of one client (a credential at an address) for one identity; ours. */
  passwordFreeFailures: 5,
  /** Longest pause between password checks after failures, in milliseconds; ours. */
  passwordPauseMaxMs: 2000,
  /** Milliseconds after which half of the failed password checks of a client are forgotten; ours. */
  passwordFailureHalfLifeMs: 300_000,
  /** Password checks of one client that wait for the end of its pause; ours. */
  passwordQueueMax: 1000,
  /** Maximum milliseconds for which pauses delay a password check; ours. */
  passwordQueueWaitMs: 5000,
  /** Clients whose failed password checks are remembered; ours. */
  passwordGuessersMax: 100_000,
  /**
   * Unknown secrets of one address that are looked up in a shared store: at once, and per second; addresses that are
   * remembered; ours.
   */
  unknownSecretsBurst: 50,
  unknownSecretsPerSecond: 5,
  unknownSecretAddressesMax: 10_000,
  /** Characters of an `authorization` header, and of a third-party token; ours. */
  authorizationCharsMax: 16_384,
  /** Bytes of one key set of an access provider; ours. */
  jwksBytesMax: 1_048_576,
  /** Bytes of all cached key sets. */
  jwksCacheBytesMax: 16_777_216,
  /** Keys of one key set; ours: an empty key of three bytes takes twenty times as much memory. */
  jwksKeysMax: 4096,
  /** Milliseconds that fetching a key set may take. */
  jwksTimeoutMs: 5000,
  /** Milliseconds until a key set is fetched again; until an unused key set is dropped; between forced reloads. */
  jwksRefreshMs: 300_000,
  jwksIdleMs: 3_600_000,
  jwksReloadMs: 500,
  /** Concurrent fetches of key sets, and waiting fetches; ours. */
  jwksFetchesAtOnceMax: 32,
  jwksFetchesWaitingMax: 1000,
} as const
