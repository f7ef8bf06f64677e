// Types of a schema that are inferred or converted when they are first used.

import type { Scheme } from './environment.ts'
import { schemeText } from './print.ts'
import type { Type } from './terms.ts'

export class LazyScheme implements Scheme {
  readonly parameters: readonly string[] = []
  readonly #make: () => Type
  readonly #isFinal: () => boolean
  #type: Type | undefined

  /** `isFinal`: returns whether the type may be remembered. Otherwise the next use makes the type again. */
  constructor(make: () => Type, isFinal: () => boolean = () => true) {
    this.#make = make
    this.#isFinal = isFinal
  }

  get type(): Type {
    if (this.#type !== undefined) return this.#type
    const type = this.#make()
    if (this.#isFinal()) this.#type = type
    return type
  }

  get text(): string {
    return schemeText({ parameters: [], type: this.type, text: '' })
  }
}
