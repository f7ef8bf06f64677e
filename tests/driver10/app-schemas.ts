// Schemas of two kinds of apps: the adapter of an authentication library, and a shop as in the samples of the drivers.

/** Collections without fields. A constraint names a field below `data`. */
export function authenticationSchema(prefix: string): string {
  return `collection ${prefix}User {
    unique [.email]
    index byEmail {
        terms [.email]
    }
}

collection ${prefix}Session {
    unique [.sessionToken]
    index bySessionToken {
        terms [.sessionToken]
    }
    index byUserId {
        terms [.userId]
    }
}

collection ${prefix}Account {
    unique [.provider, .data.providerAccountId]
    index byProviderAndProviderAccountId {
        terms [.provider, .providerAccountId]
    }
    index byUserId { terms [.userId] }
}

collection ${prefix}VerificationToken {
    index byIdentifierAndToken {
        terms [.identifier, .token]
    }
}
`
}

/** A shop with computed sets, checks that count documents, and functions. Keyed by file name. */
export const shop = {
  'collections.fsl': `collection Customer {
  name: String
  email: String
  address: {
    street: String
    city: String
    postalCode: String // as printed
  }

  // The order that is being put together, if there is one.
  compute cart: Order? = (customer => Order.byCustomerAndStatus(customer, 'cart').first())

  /* All of them, newest first. */
  compute orders: Set<Order> = ( customer => Order.byCustomer(customer))

  unique [.email]

  index byEmail {
    terms [.email]
  }
}

collection Category {
  name: String
  compute products: Set<Product> = (category => Product.byCategory(category))
  unique [.name]
}

collection Product {
  name: String
  price: Int
  stock: Int
  category: Ref<Category>
  unique [.name]
  index byCategory { terms [.category] }
  index sortedByPrice { values [desc(.price), .name, .stock] }
}

collection Order {
  customer: Ref<Customer>
  status: "cart" | "processing" | "shipped" | "delivered"
  createdAt: Time
  payment: { *: Any }

  compute items: Set<OrderItem> = (order => OrderItem.byOrder(order))
  compute total: Number = (order => order.items.fold(0, (sum, item) => {
    let item: Any = item
    if (item.product != null) {
      sum + item.product.price * item.quantity
    } else {
      sum
    }
  }))

  // A customer has at most one cart.
  check oneCart (order => {
    Order.byCustomerAndStatus(order.customer, 'cart').count() <= 1
  })

  index byCustomer {
    terms [.customer]
    values [desc(.createdAt), .status]
  }

  index byCustomerAndStatus {
    terms [.customer, .status]
  }
}

collection OrderItem {
  order: Ref<Order>
  product: Ref<Product>
  quantity: Int
  unique [.order, .product]
  check positive ((item) => item.quantity >= 0)
  index byOrder {
    terms [.order]
    values [.product, .quantity]
  }
  index byOrderAndProduct {
    terms [.order, .product]
  }
}
`,
  'functions.fsl': `function putInCart(id, productId, quantity) {
  let customer = Customer.byId(id)!
  let product = Product.byId(productId)
  if (product == null) {
    abort("Product does not exist.")
  }
  if (product!.stock < quantity) {
    abort("Product does not have the requested quantity in stock.")
  }
  if (customer!.cart == null) {
    Order.create({
      status: "cart",
      customer: Customer.byId(id),
      createdAt: Time.now(),
      payment: {},
    })
  }
  let cart = Customer.byId(id)!.cart!
  let item = OrderItem.byOrderAndProduct(cart, product).first()
  if (item == null) {
    OrderItem.create({
      order: Order(cart.id),
      product: Product.byId(productId),
      quantity: quantity,
    })
  } else {
    item!.update({ quantity: quantity })
  }
}

function checkout(orderId, status, payment) {
  let order = Order.byId(orderId)!
  if (status != "processing") {
    abort("Can not call checkout function with status other than processing.")
  }
  if (order!.status == "cart") {
    let changes = { status: status, payment: payment, }
    order!.items.forEach((item) => {
      let product: Any = item.product
      if (product.stock < item.quantity) {
        abort("Not enough of " + product.name)
      } else {
        product.update({ stock: product.stock - item.quantity })
      }
    })
    order!.update(changes)
  } else {
    abort("Order is no cart.")
  }
}
`,
}
