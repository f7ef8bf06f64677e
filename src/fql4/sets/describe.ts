// Properties of a set that are known without reading the set: its order, and whether its elements are events.

import { unreachable } from '../../base/assert.ts'
import { step } from '../../base/effort.ts'
import type { Session } from '../../model/session.ts'
import {
  areAllCompatible,
  commonOrder,
  documentOrder,
  indexOrder,
  reversedOrder,
  type SetOrder,
} from '../../model/sets/stream.ts'
import { Lambda, Ref } from '../../values/value.ts'
import type { SetLike } from '../values/transient.ts'

export function isHistory(set: SetLike): boolean {
  step()
  if (set instanceof Ref) return false
  const { shape } = set
  switch (shape.type) {
    case 'events':
      return true
    case 'union':
    case 'intersection':
    case 'difference':
      return shape.sets.some(isHistory)
    case 'distinct':
    case 'reverse':
    case 'range':
    case 'filter':
    case 'join':
      return isHistory(shape.source)
    default:
      return false
  }
}

/**
 * Returns undefined for a deleted index, and for a join with a lambda, whose order is known only when the join is read.
 */
function orderOf(set: SetLike, session: Session): SetOrder | undefined {
  step()
  if (set instanceof Ref) return documentOrder
  const { shape } = set
  switch (shape.type) {
    case 'match':
      return orderOfIndex(shape.index, session)
    case 'documents':
    case 'singleton':
      return documentOrder
    case 'union':
    case 'intersection':
    case 'difference': {
      const orders = shape.sets.map(member => orderOf(member, session)).filter(order => order !== undefined)
      return orders.length === 0 ? undefined : commonOrder(orders)
    }
    case 'events':
    case 'distinct':
    case 'range':
    case 'filter':
      return orderOf(shape.source, session)
    case 'reverse': {
      const order = orderOf(shape.source, session)
      return order && reversedOrder(order)
    }
    case 'join':
      return shape.with instanceof Lambda ? undefined : orderOfIndex(shape.with, session)
    default:
      return unreachable(shape)
  }
}

function orderOfIndex(ref: Ref, { transaction }: Session): SetOrder | undefined {
  const index = transaction.catalogue.index(ref)
  return index && indexOrder(index.values.map(value => value.reverse))
}

export function canCombine(sets: readonly SetLike[], session: Session): boolean {
  const histories = sets.filter(isHistory).length
  if (histories !== 0 && histories !== sets.length) return false
  return areAllCompatible(sets.map(set => orderOf(set, session)).filter(order => order !== undefined))
}
