// The suite on the logged engine.

import { openLogged } from '../../src/storage/log/logged-store.ts'
import { pathsOfFile } from '../support/folder.ts'
import { storeSuite } from './suite.ts'

const newPath = pathsOfFile()

storeSuite('logged', () => openLogged({ path: newPath() }))
