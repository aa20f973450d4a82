/** Whether charges of a partial period are scaled to the part that they cover. */
export type ProrationBehavior = 'create_prorations' | 'none';

/** `coveredMs / fullMs` of a full charge or commitment; exact milliseconds. */
export type Proration = { readonly coveredMs: number; readonly fullMs: number };
