// The table of languages that the service supports. No other file refers to all languages.

import { version4 } from '../fql4/language.ts'
import { version10 } from '../fql10/language.ts'
import { graphql } from '../graphql/language.ts'
import type { Languages } from '../model/language.ts'

/** The languages, each by the name that requests use. */
export const languages: Languages = { '4': version4, '10': version10, graphql }
