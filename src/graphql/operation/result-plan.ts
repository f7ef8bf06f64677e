// Describes how the value of an operation's expression becomes the JSON of the response.

import type { FieldNode } from 'graphql'

export type Plan =
  | { readonly kind: 'non-null'; readonly of: Plan }
  /** A scalar or an enum. */
  | { readonly kind: 'leaf'; readonly type: string }
  | { readonly kind: 'list'; readonly of: Plan }
  | { readonly kind: 'page'; readonly members: readonly PlanMember[] }
  /** A member of an object that contains several values of one element. */
  | { readonly kind: 'slot'; readonly name: string; readonly of: Plan }
  | ObjectPlan

export interface ObjectPlan {
  readonly kind: 'object'
  /** True for a type with a collection. */
  readonly isEntity: boolean
  /** True if the value has the document in {@link documentSlot}, and further values in slots. */
  readonly hasSlots: boolean
  readonly members: readonly PlanMember[]
}

export interface PlanMember {
  /** The name in the response. */
  readonly key: string
  readonly node: FieldNode
  readonly plan: Plan
  readonly source: MemberSource
}

type MemberSource =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'id' | 'ts' | 'data' | 'after' | 'before' | 'introspection' }
  | { readonly kind: 'field' | 'slot'; readonly name: string }

/** The slot with the document of an object with slots. */
export const documentSlot = 'd'

export function nonNullLeaf(type: string): Plan {
  return { kind: 'non-null', of: { kind: 'leaf', type } }
}

export const nonNullText: Plan = nonNullLeaf('String')
