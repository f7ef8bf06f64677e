// Made by `terrarium types` from the schema; changes are overwritten. What has no type in the schema is `unknown`.

import type { Document, DocumentRef, Time } from 'terrarium-client'

/** The fields of documents of `User`. */
export type UserFields = {
  readonly email: string
}

/** A document of `User`. */
export type User = Document & UserFields

/** What `create` of `User` takes. */
export type NewUser = {
  /** A number of up to 64 bits; made by the service when absent. */
  readonly id?: string
  /** When the document expires. */
  readonly ttl?: Time | Date | null
  readonly email: string
}

/** What `update` of a document of `User` takes: null removes a field. */
export type UserChanges = {
  /** When the document expires. */
  readonly ttl?: Time | Date | null
  readonly email?: string
}

/** The indexes of `User`: the terms that they are called with, and what their sets hold. */
export type UserIndexes = {
  readonly byEmail: { readonly terms: readonly [email: string]; readonly document: User }
}

/** The fields of documents of `Note`. */
export type NoteFields = {
  readonly owner: DocumentRef<User>
  readonly text: string
  /** Default: `false` */
  readonly done: boolean
}

/** A document of `Note`. */
export type Note = Document & NoteFields

/** What `create` of `Note` takes. */
export type NewNote = {
  /** A number of up to 64 bits; made by the service when absent. */
  readonly id?: string
  /** When the document expires. */
  readonly ttl?: Time | Date | null
  readonly owner: DocumentRef<User> | User
  readonly text: string
  /** Default: `false` */
  readonly done?: boolean | null
}

/** What `update` of a document of `Note` takes: null removes a field. */
export type NoteChanges = {
  /** When the document expires. */
  readonly ttl?: Time | Date | null
  readonly owner?: DocumentRef<User> | User
  readonly text?: string
  /** Default: `false` */
  readonly done?: boolean | null
}

/** The indexes of `Note`: the terms that they are called with, and what their sets hold. */
export type NoteIndexes = {
  readonly byOwner: { readonly terms: readonly [owner: DocumentRef<User> | User]; readonly document: Note }
}

/** The collections by the names that queries use. */
export type Collections = {
  readonly User: { readonly document: User; readonly create: NewUser; readonly update: UserChanges; readonly indexes: UserIndexes }
  readonly Note: { readonly document: Note; readonly create: NewNote; readonly update: NoteChanges; readonly indexes: NoteIndexes }
}

/** The functions by the names that queries use. */
export type Functions = {
  signUp(email: string, password: string): Document
  logIn(email: string, password: string): Document
}
