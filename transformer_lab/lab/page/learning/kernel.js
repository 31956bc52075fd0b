// The operations of loops.js in WebAssembly: engine/product.wat multiplies, and kernel.wat does the rest.

import { decodeBase64 } from "../bytes.js";
import { openProduct } from "../engine/product.js";
import { KERNEL } from "./kernel_bytes.js";
import { Loops } from "./loops.js";

class Kernel {
  constructor(product, operations) {
    Object.assign(this, operations, product);
  }

  get values() {
    return this.getValues();
  }
}

/** Return the kernel's operations, or plain loops without WebAssembly and its SIMD, and where the page's policy refuses them. */
export function openOperations() {
  const product = openProduct();
  if (!product) return new Loops();
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(decodeBase64(KERNEL)), { product });
  return new Kernel(product, exports);
}
