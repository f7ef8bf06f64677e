// Types of a schema that are made when they are first used.

import type { Scheme } from './environment.ts'
import { schemeText } from './print.ts'
import type { Type } from './terms.ts'

export class LazyScheme implements Scheme {
  readonly parameters: readonly string[] = []
  readonly #make: () => Type
  #type: Type | undefined

  constructor(make: () => Type) {
    this.#make = make
  }

  get type(): Type {
    this.#type ??= this.#make()
    return this.#type
  }

  get text(): string {
    return schemeText({ parameters: [], type: this.type, text: '' })
  }
}

/** The type of the documents of a collection. It is final as soon as no type is being inferred. */
export class Alias implements Scheme {
  readonly parameters: readonly string[] = []
  readonly #make: () => { readonly type: Type; readonly isFinal: boolean }
  #type: Type | undefined

  constructor(make: () => { readonly type: Type; readonly isFinal: boolean }) {
    this.#make = make
  }

  get type(): Type {
    if (this.#type !== undefined) return this.#type
    const { isFinal, type } = this.#make()
    if (isFinal) this.#type = type
    return type
  }

  get text(): string {
    return schemeText({ parameters: [], type: this.type, text: '' })
  }
}

export function monomorphicScheme(type: Type): Scheme {
  return new LazyScheme(() => type)
}
