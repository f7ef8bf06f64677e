// The suite on the memory engine.

import { openMemory } from '../../src/storage/kv/memory.ts'
import { storeSuite } from './suite.ts'

storeSuite('memory', openMemory)
