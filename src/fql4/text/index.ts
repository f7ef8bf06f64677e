// Version 4 of the query language as text, such as `Get(Ref(Collection("users"), "1"))`. Code outside of this folder
// imports only this file. The code in this folder also runs in browsers, never evaluates queries, and does not need a
// server:
//
//     const { json, source } = parseExpression('Get(Ref(Collection("users"), "1"))')
//     const body = writeJson(json)                     // the body of POST /
//     const range = source.at(error.position)          // the range of text that caused the error of a response
//     printValue(parseJson(response).get('resource'))  // a response as text
//
// In values of type `Json`, integers are bigint, doubles are number and objects are Maps.

export {
  isVersion4,
  looksLikeVersion10,
  type ParsedExpression,
  parseExpression,
  parseExpressions,
  parseModule,
  readExpressions,
} from './parse-text.ts'
export { printQuery, printValue } from './print.ts'
export {
  excerpt,
  FqlSyntaxError,
  lineAndColumn,
  type SourceNode,
  type TextRange,
} from './source.ts'
export { fqlFunctions } from './text-functions.ts'
export { NoValueError, valueOfQuery } from './value.ts'
