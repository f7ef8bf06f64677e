// The exports of the package.

export {
  Client,
  type ClientOptions,
  type EventSourceLike,
  type FeedOptions,
  type FollowOptions,
  type QueryOptions,
  type QueryResult,
  type StreamOptions,
} from './client.ts'
export {
  AuthenticationError,
  AuthorizationError,
  ClientTimeoutError,
  type ConstraintFailure,
  ConstraintFailureError,
  ContentionError,
  EventError,
  InvalidRequestError,
  NetworkError,
  ProtocolError,
  QueryAbortedError,
  QueryCheckError,
  QueryRuntimeError,
  QueryTimeoutError,
  RateLimitError,
  type ResponseInfo,
  ServiceError,
  ServiceFailureError,
  type Stats,
  TerrariumError,
} from './errors.ts'
export type { ChangeEvent, EventPosition, FeedPage } from './events.ts'
export { fql, Query, type QueryArgument, type QueryValue } from './query.ts'
export {
  Document,
  type DocumentOf,
  DocumentRef,
  Double,
  EventSourceToken,
  fieldsOf,
  LocalDate,
  type Long,
  Module,
  NamedDocument,
  NamedRef,
  type NullCause,
  NullDocument,
  Page,
  Time,
  Uuid,
} from './values.ts'
