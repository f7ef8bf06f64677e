// Every limit of the service with its unit. Sources: the protocol's published limits unless a line says otherwise.

export const limits = {
  /** Bytes of a request body. */
  requestBodyBytesMax: 8_388_608,
  /** Schema files that are sent at a time, `main.fsl` among them. */
  schemaFilesMax: 1024,
  /** Bytes of all request bodies that are being received at one time; ours: bounds the memory slow senders take. */
  bufferedBodyBytesMax: 268_435_456,
  /** Bytes of a request body that are kept before its sender's credential has been looked at; ours. */
  strangerBodyBytesMax: 65_536,
  /** Characters of a header in a record of the query log; ours: what is longer is cut. */
  loggedHeaderCharsMax: 512,
  /** One part in so many of the query log is for requests whose credential was refused, at once and over its days; ours. */
  strangersLogShare: 16,
  /** Bytes of a request body at the endpoints of the query log; ours. */
  logBodyBytesMax: 65_536,
  /** What a request body has to bring, in bytes, in each window of this many milliseconds; ours. */
  bodyPaceBytes: 32_768,
  bodyPaceMs: 20_000,
  /** Bytes of all responses that their clients have not read yet, and what each client has to read in a window; ours. */
  unreadResponseBytesMax: 268_435_456,
  unreadPaceBytes: 32_768,
  unreadPaceMs: 60_000,
  /** Bytes of a request line (16 KiB) and all request headers (8 KiB) together. */
  requestHeadBytesMax: 24_576,
  /** Connections without a request under way, HTTP/2 streams of one connection that are open at a time; ours. */
  waitingConnectionsMax: 8192,
  sessionStreamsMax: 1000,
  /** Requests of one connection that are begun in one turn of the event loop; ours: others get theirs in between. */
  requestsPerTurn: 16,
  /** Requests of one connection that wait for their turn until no more of it is read; ours. */
  requestsWaitingMax: 64,
  /** Bytes to be parsed that count as one request, and up to how many do not count; ours. */
  readBytesPerRequest: 256,
  shortReadBytes: 8192,
  /** Over HTTP/1.1: lines, and bytes beside them, that count as one request; lines that do not count, and of a slice; ours. */
  linesPerRequest: 16,
  bodyBytesPerRequest: 2048,
  shortReadLines: 40,
  linesPerSlice: 512,
  /** Lines beyond those, of all in one turn, after which all are sliced, and for how many milliseconds new ones are; ours. */
  excessLinesPerTurn: 2048,
  slicesAllMs: 10_000,
  /** Of all connections together, beyond the first of each, and the milliseconds that a turn is to take; ours. */
  extraRequestsPerTurn: 256,
  turnMs: 10,
  /** Streams of one connection that a client may reset at once, and per second after that; ours. */
  sessionResetBurst: 100,
  sessionResetsPerSecond: 50,
  /** Bytes of an HTTP/2 connection that belong to no request and no body, at once and per second after that; ours. */
  sessionEmptyBytesBurst: 524_288,
  sessionEmptyBytesPerSecond: 65_536,
  /** How often that is looked at, in milliseconds. */
  sessionLookMs: 50,
  /**
   * For so many milliseconds after a session was cut off, those of the same client begin one after the other, so many
   * milliseconds apart, or are refused when they had to wait for more than that, and may reset so many streams at once; all of
   * them get one part in so many of the bytes that belong to nothing; ours.
   */
  offenderMs: 10_000,
  offenderSpacingMs: 100,
  offenderResetBurst: 10,
  offenderEmptyBytesPart: 16,
  offenderWaitMs: 5_000,
  /** About how many such clients are remembered; ours. */
  offendersMax: 10_000,
  /** Milliseconds that connections without a request stay open for one on its way when the service stops; ours. */
  lingerMs: 250,
  /** Milliseconds a kept-alive connection may be idle, and a client may take to send one request. */
  connectionIdleMs: 75_000,
  requestReceiveMs: 60_000,
  /** Levels of JSON nesting in a request body. */
  jsonDepthMax: 1000,
  /** Characters of an object's key, and of a number token, in a request body. */
  jsonNameCharsMax: 50_000,
  jsonNumberCharsMax: 1000,
  /** Levels of arrays and objects in a value that is rendered; ours: keeps the native stack safe. */
  valueDepthMax: 1200,
  /** Milliseconds a query may take when the request does not say, and the most it may ask for. */
  queryTimeoutDefaultMs: 120_000,
  queryTimeoutMaxMs: 600_000,
  /** Maximum of `x-max-retries-on-contention`. */
  contentionRetriesMax: 7,
  /** The same when the request does not say: five attempts in all. */
  contentionRetriesDefault: 4,
  /** Nested applications of lambdas and user functions. */
  callDepthMax: 200,
  /** Nested expressions under evaluation, all lambdas together; ours: keeps the native stack safe. */
  evaluationDepthMax: 3000,
  /** Billed compute operations of one query; one is {@link computeUnitsPerOp} evaluated units. */
  computeOpsMax: 12_000,
  computeUnitsPerOp: 50,
  /** Expressions, or elements that one lambda is applied to, side by side in one query. */
  queryWidthMax: 100_000,
  /** Elements that the sets of one query read from storage; ours: sets of sets cost no compute. */
  setElementsMax: 1_000_000,
  /** Errors of things side by side that are gathered for the response, and characters and steps of positions; ours. */
  gatheredErrorsMax: 1000,
  gatheredErrorUnitsMax: 262_144,
  /** Elements of an array that `append` and `prepend` make; ours: doubling must not fill the memory. */
  arrayElementsMax: 1_000_000,
  /** Results that the elements of one call wait for at a time; ours: leaves room in the queues of checks for others. */
  questionsAtOnceMax: 256,
  /** Bytes of a query that is parsed where all are served, and of a response that is not sent in pieces; ours. */
  shortBodyBytes: 262_144,
  longBodyBytes: 65_536,
  /** Milliseconds that longer evaluations of a database may hold the process, forgiven per second, and one has then; ours. */
  heldMsFree: 80,
  forgivenMsPerSecond: 20,
  impatientMs: 3,
  /** Milliseconds that the expression of a stream may hold the service, which cannot move to the slow lane; ours. */
  unmovableMs: 50,
  /** Queries waiting for the slow lane, all of them and of one database; ours. */
  laneWaitingMax: 1000,
  laneWaitingPerDatabaseMax: 100,
  /** Bytes, about, of decoded documents, of decoded entries of indexes and of schemas that a process remembers; ours. */
  knownDocumentsBytesMax: 33_554_432,
  knownEntriesBytesMax: 16_777_216,
  knownSchemasBytesMax: 134_217_728,
  /** Milliseconds that a service which ends waits for commits of its slow lane; ours. */
  laneEndGraceMs: 8_000,
  /** Milliseconds past its deadline after which a process is killed, and without a query after which it is ended, all but one; ours. */
  laneGraceMs: 250,
  laneIdleMs: 60_000,
  /** Milliseconds from when a service serves until a process is started for its first slow query; ours. */
  laneReadyMs: 1000,
  /** Milliseconds until a process that could not start is started again; ours. */
  laneRestartMs: 1000,
  /** Bytes written by one transaction. */
  transactionBytesMax: 16_777_216,
  /** Bytes of one document version. */
  documentBytesMax: 8_388_608,
  /** Bytes of the key of one index entry, which its terms and values make up together. */
  indexKeyBytesMax: 64_000,
  /** Bytes of one value of an index entry; longer ones are not indexed. */
  indexValueBytesMax: 32_767,
  /** Values and characters of a response, together; ours. */
  answerUnitsMax: 67_108_864,
  /** Values and characters, together, of a value that a query puts together, and of one that a lambda keeps; ours. */
  valueUnitsMax: 67_108_864,
  capturedUnitsMax: 8_388_608,
  /** Elements of a page when the query does not say, and at most. */
  pageSizeDefault: 64,
  pageSizeMax: 100_000,
  /** Bytes read, and bytes written, that count as one operation. */
  readOpBytes: 4096,
  writeOpBytes: 1024,
  /** Existing documents and versions up to which an index is built in the transaction that creates it. */
  synchronousIndexBuildMax: 128,
  /** Roles whose membership names the same collection. */
  rolesPerMembershipMax: 64,
  /** The highest number of a collection, and the first of an index; numbers are not given twice. */
  userCollectionIdMax: 32_767,
  firstIndexId: 32_768,
  /** Partitions of an index. */
  indexPartitionsMax: 8,
  /** Days of history of a collection created without `history_days`. */
  historyDaysDefault: 30,
  /** Microseconds of history kept beyond `history_days`. */
  historyGraceMicros: 15 * 60 * 1_000_000,
  /** Results of `FindStrRegex`. */
  regexResultsMax: 1024,
  /** Repetitions that `Repeat` makes. */
  stringRepeatMax: 1024,
  /** UTF-16 units of a text that a query of version 10 makes, elements of an array or a page that it makes at once. */
  v10TextUnitsMax: 16_777_216,
  v10ElementsMax: 16_000,
  /** Expressions and types within each other in the text of a query of version 10; ours: keeps the native stack safe. */
  v10NestingMax: 500,
  /** Nested expressions of version 10 under evaluation, all lambdas together; ours: keeps the native stack safe. */
  v10EvaluationDepthMax: 16_000,
  /** Faults of one text of version 10 that are told; ours: reading ends with the last. */
  v10FaultsMax: 1000,
  /** UTF-16 units of the summary in a response of version 10, and of what is drawn within a message; ours. */
  v10SummaryUnitsMax: 1_048_576,
  v10DrawnUnitsMax: 16_384,
  /** Hints about performance in a response of version 10; ours: more places are not told. */
  v10HintsMax: 64,
  /** Nested calls of lambdas and user functions in version 10. */
  v10CallDepthMax: 2048,
  /** UTF-16 units of one text that a function makes, and of all that a query makes; ours. */
  textUnitsMax: 8_388_608,
  textUnitsPerQueryMax: 67_108_864,
  /** UTF-16 units of long texts made or read that count as one evaluated unit more; ours. */
  textUnitsPerComputeUnit: 4096,
  /** Steps of comparing, merging and set operations on arrays that count as one evaluated unit more; ours. */
  stepsPerComputeUnit: 512,
  /** Characters of a search pattern, of what it is translated to, groups in groups, compiled instructions; ours. */
  regexPatternCharsMax: 10_000,
  regexSourceCharsMax: 1_000_000,
  regexDepthMax: 200,
  regexInstructionsMax: 10_000,
  /** Instructions of a pattern times characters of the text of one search; ours: about ten seconds at worst. */
  regexStepsMax: 268_435_456,
  /** Steps of a search that backtracks, more of them for each UTF-16 unit of the text, ways left to try; ours. */
  regexBacktrackStepsMax: 16_777_216,
  regexBacktrackStepsPerUnit: 32,
  regexBacktrackFramesMax: 4_194_304,
  /** Compiled patterns kept, instructions of all of them, bytes of search states of each; ours. */
  regexCacheMax: 200,
  regexCacheInstructionsMax: 100_000,
  regexStateBytesMax: 262_144,
  /** Events that wait for the reader of one stream; and their bytes, which is ours. A transaction counts as one step. */
  streamEventsMax: 4096,
  streamBytesMax: 8_388_608,
  /** Transactions and events that are handed out before other work gets its turn; ours. */
  streamTransactionsPerTurn: 64,
  streamEventsPerTurn: 1024,
  /** Streams that get the events of a transaction in one turn of the event loop, and bytes of these events; ours. */
  streamsPerTurn: 64,
  streamBytesPerTurn: 4_194_304,
  /** Events that a stream of version 10 may have to catch up on; and those on a page of a feed, unless told and at most. */
  streamReplayMax: 128,
  feedPageDefault: 16,
  feedPageMax: 16_000,
  /** Events that are read at once for a stream that has caught up, UTF-16 units after which a page ends, milliseconds for one; ours. */
  streamPageEvents: 1024,
  streamPageUnitsMax: 1_048_576,
  feedPageUnitsMax: 16_777_216,
  streamPageMs: 60_000,
  /** Milliseconds after which a stream of version 10 without events tells where it is. */
  streamStatusMs: 300_000,
  /** How long such a stream rests after a page that could not be read, in milliseconds, and how often that is tried; ours. */
  streamRetryMs: 1000,
  streamRetriesMax: 5,
  /** Milliseconds for deciding who may see the events of one transaction. */
  streamBatchMs: 60_000,
  /** Milliseconds of one decision about one event, and of work for streams until others get their turn; ours. */
  streamPredicateMs: 100,
  streamTurnMs: 20,
  /**
   * Milliseconds of one batch of work in the background and of an import, of the bindings of one document wherever they are
   * computed, and of a record of an import with all versions that it changes; ours.
   */
  backgroundBatchMs: 10,
  importBatchMs: 20,
  documentBindingsMs: 100,
  recordBindingsMs: 250,
  /**
   * How many times as long as its bindings took a database rests from them in the background and in imports, rests not worth
   * it in milliseconds, and the pauses of a build that fails again and again, in milliseconds; ours.
   */
  bindingRestFactor: 3,
  bindingRestMsMin: 1,
  buildRetryMs: 1000,
  buildRetryMsMax: 600_000,
  /** Milliseconds that a reader has to take the end of its stream before it is cut off; ours. */
  streamEndMs: 5000,
  /** Characters of the `x-fauna-tags` header, pairs in it, characters of a key and of a value. */
  tagsHeaderCharsMax: 3000,
  tagPairsMax: 25,
  tagKeyCharsMax: 40,
  tagValueCharsMax: 80,
  /** Days that an export of the query log may span, exports on one page of their list, characters of a filter. */
  logExportDaysMax: 90,
  logExportsPageMax: 1000,
  logFilterCharsMax: 4096,
  /** Exports of one requester that wait or are made at a time; requests looked at for one page of their list; ours. */
  logExportsWaitingMax: 1000,
  logExportsLooksMax: 5000,
  /** Records of one page of the query log, and records that may be skipped; ours. */
  logRecordsPageMax: 500,
  logRecordsSkipMax: 10_000,
  /** Days that an account key may be good for, characters of its name; ours. */
  accountKeyDaysMax: 36_500,
  accountKeyNameCharsMax: 200,
  /** Decisions about rights that one explanation tells; ours. */
  explainedDecisionsMax: 1000,
  /** Rows of an index or of a collection that one request for its size reads; ours. */
  sizeRows: 10_000,
  /** Databases with a key of the same id: a secret that names the id is checked with each; ours. */
  keysOfOneIdMax: 16,
  /** Checks and hashes of secrets at a time, and waiting behind them; ours: threads stay free for other work. */
  secretChecksAtOnceMax: 2,
  secretChecksWaitingMax: 10_000,
  /** Password checks and hashes that wait for their turn; ours. */
  passwordChecksWaitingMax: 4000,
  /**
   * Failed password checks of one guesser (a credential at an address) at one identity that cost no pause, and the
   * longest pause between the ones after, in milliseconds; ours.
   */
  passwordFreeFailures: 5,
  passwordPauseMaxMs: 2000,
  /** Milliseconds after which half of a guesser's failures are forgotten; ours. */
  passwordFailureHalfLifeMs: 300_000,
  /**
   * Checks in one line while it is slowed down, milliseconds that one of them waits at most for the others' pauses, and
   * guessers whose failures are remembered; ours.
   */
  passwordQueueMax: 1000,
  passwordQueueWaitMs: 5000,
  passwordGuessersMax: 100_000,
  /**
   * Unknown secrets of one address that are looked for in the newest state of a store that several machines share, at once
   * and per second, and addresses that are remembered; ours.
   */
  secretLooksBurst: 50,
  secretLooksPerSecond: 5,
  secretLookersMax: 10_000,
  /** Characters of an `authorization` header, of one third-party token; ours. */
  authorizationCharsMax: 16_384,
  /** Bytes of one key set of an access provider, and of all that are kept; ours, and the protocol's. */
  jwksBytesMax: 1_048_576,
  jwksCacheBytesMax: 16_777_216,
  /** Keys of one set; ours: an empty one of three bytes takes twenty times as much memory. */
  jwksKeysMax: 4096,
  /** Milliseconds: of a fetch, until a refresh, until an unused set is dropped, between forced reloads. */
  jwksTimeoutMs: 5000,
  jwksRefreshMs: 300_000,
  jwksIdleMs: 3_600_000,
  jwksReloadMs: 500,
  /** Key sets fetched at a time, and fetches waiting behind them; ours. */
  jwksFetchesAtOnceMax: 32,
  jwksFetchesWaitingMax: 1000,
} as const
