// The fields and checks that the definition of a collection declares, shown beside the editor of a document.

import { useLoad } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { pastTime } from '../router.ts'
import { type DeclaredField, declaredFields } from '../service/declared-fields.ts'
import { readSchema } from '../service/schema.ts'
import { at, listAt, textAt } from '../wire/json.ts'

/** Shows nothing if the collection declares neither fields nor checks. */
export function FieldTypes({ collection }: { readonly collection: string }) {
  // If the caller may not read the definition, the page shows the editor without the tables.
  const definition = useLoad(
    signal => readSchema('collections', collection, signal).catch(() => null),
    [collection, pastTime.value],
  )
  const declared = definition.data ?? null
  const fields = declaredFields(declared)
  const checks = listAt(declared, 'constraints').flatMap(constraint => {
    const check = at(constraint, 'check')
    return check === undefined ? [] : [check]
  })
  if (fields.length === 0 && checks.length === 0) return null
  const wildcard = textAt(declared, 'wildcard')
  // A collection that declares only computed fields accepts any other field.
  const rejectsOthers = wildcard === undefined && fields.some(({ isComputed }) => !isComputed)
  return (
    <details class="field-types" open>
      <summary>Fields of {collection}</summary>
      {fields.length > 0 && <FieldTable fields={fields} />}
      <p class="hint">
        {rejectsOthers
          ? 'Writes with other fields are rejected.'
          : `Other fields may be of type ${wildcard ?? 'Any'}.`}
      </p>
      {checks.length > 0 && (
        <ul class="reasons">
          {checks.map(check => (
            <li key={textAt(check, 'name')}>
              Check <bdi>{textAt(check, 'name')}</bdi>: <code>{textAt(check, 'body')}</code>
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}

function FieldTable({ fields }: { fields: readonly DeclaredField[] }) {
  return (
    <Table label="Fields" columns={['Field', 'Type', 'Default']}>
      {fields.map(({ name, type, value, isComputed, isRequired }) => (
        <tr key={name}>
          <th scope="row">
            <bdi>{name}</bdi>
          </th>
          <td>
            <code>{type}</code>
          </td>
          <td class="wrap">
            {isComputed && 'computed, read-only: '}
            {value === undefined ? isRequired ? 'none (required)' : '–' : <code>{value}</code>}
          </td>
        </tr>
      ))}
    </Table>
  )
}
