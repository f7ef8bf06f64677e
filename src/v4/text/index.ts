// The query language as people write it: `Get(Ref(Collection("users"), "1"))`. This file is all that the rest of the
// program and the dashboard use of this folder. It runs in browsers, evaluates nothing, and knows nothing of a service:
//
//     const { json, source } = parseExpression('Get(Ref(Collection("users"), "1"))')
//     const body = writeJson(json)                     // the body of POST /
//     const place = source.at(error.position)          // where in the text an error of the response happened
//     printValue(parseJson(response).get('resource'))  // a response as text
//
// Integers are bigint and doubles are number in all JSON here, objects are Maps: see `Json`.

export { fqlFunctions } from './functions.ts'
export { parseModule } from './module.ts'
export { type ParsedExpression, parseExpression, parseExpressions, readExpressions } from './parse.ts'
export { printQuery, printValue } from './print.ts'
export {
  excerpt,
  FqlSyntaxError,
  lineAndColumn,
  type SourceNode,
  type TextRange,
} from './source.ts'
export { NoValueError, valueOfQuery } from './value.ts'
