// The pages of a collection: its rows, its deleted documents, its settings, its indexes, a new document, and for each
// document its data and its history. `pages.tsx` opens the page that imports a file.

import { CollectionIndex } from './collection-index.tsx'
import { CollectionSettings } from './collection-settings.tsx'
import { DeletedDocuments } from './deleted.tsx'
import { Document } from './document.tsx'
import { DocumentHistory } from './document-history.tsx'
import { NewDocument } from './new-document.tsx'
import { Overview } from './overview.tsx'
import { DocumentRows } from './rows.tsx'

/** `path`: below `collections`. */
export function Collections({ path }: { readonly path: readonly string[] }) {
  const [name, part, tab] = path
  if (name === undefined) return <Overview />
  switch (part) {
    case undefined:
      return <DocumentRows collection={name} />
    case 'settings':
      return <CollectionSettings name={name} />
    case 'deleted':
      return <DeletedDocuments collection={name} />
    case 'new':
      return <NewDocument collection={name} />
    case 'indexes':
    case 'unique':
      return <CollectionIndex collection={name} kind={part} name={tab ?? ''} />
    default:
      return tab === 'history' ? (
        <DocumentHistory collection={name} id={part} />
      ) : (
        <Document collection={name} id={part} />
      )
  }
}
