/**
 * What the comparison itself finds wrong with the product, beside amounts that differ: a finding,
 * whereas any other error is a crash.
 */
export class ProductFinding extends Error {}
