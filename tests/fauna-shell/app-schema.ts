// The schema of an app with twenty collections in the style of real apps: several files, comments, functions, roles.

const kinds = [
  'Customer',
  'Product',
  'Category',
  'Order',
  'OrderItem',
  'Supplier',
  'Warehouse',
  'Shelf',
  'Shipment',
]
const more = [
  'Invoice',
  'Payment',
  'Refund',
  'Review',
  'Coupon',
  'Cart',
  'Address',
  'Session',
  'Audit',
  'Tag',
  'Note',
]

export const collectionNames: readonly string[] = [...kinds, ...more]

function collection(name: string, at: number): string {
  const next = collectionNames[(at + 1) % collectionNames.length] as string
  return `// ${name}s of the shop.
@alias(${name}s)
collection ${name} {
  name: String // shown to customers
  size: Int = ${at}
  /* may be missing */
  next: Ref<${next}>?
  labels: Array<String> = []
  place: { street: String, *: Any }?

  compute loud: String = ((doc) => doc.name.toUpperCase())

  index byName {
    terms [.name]
    values [desc(.size), .id]
  }
  index byLabel { terms [mva(.labels)] }

  unique [.name, .size]
  check positive (.size >= 0) // always

  history_days ${at % 3}
}
`
}

/** Its files by name. */
export function appSchema(): Record<string, string> {
  const half = collectionNames.length / 2
  const some = (from: number, to: number) =>
    collectionNames
      .slice(from, to)
      .map((name, at) => collection(name, from + at))
      .join('\n')
  return {
    'main.fsl': `// The shop.\n\n${some(0, half)}`,
    'more/rest.fsl': `${some(half, collectionNames.length)}\n// The end of the collections.\n`,
    'functions.fsl': `/* What the shop can do. */
@role(server)
function rename(id: ID, name: String): Any {
  let found = Customer.byId(id)
  if (found == null) {
    abort("no customer")   // the app shows this
  } else {
    found!.update({ name: name })
  }
}

function total(x,   y) { x + y }
`,
    'roles.fsl': `role clerk {
  // reads everything it has to
  privileges Customer { read; create }
  privileges Order {
    read { predicate ((doc) => doc.size > 1) }
    write
  }
  privileges rename { call }
  membership Session { predicate (.size < 100) }
}
`,
  }
}
