// The languages of the service, by the name that requests use. No other file refers to all of them.

import { version4 } from '../fql4/language.ts'
import { version10 } from '../fql10/language.ts'
import { graphql } from '../graphql/language.ts'
import type { Languages } from '../model/language.ts'

export const languages: Languages = { '4': version4, '10': version10, graphql }
