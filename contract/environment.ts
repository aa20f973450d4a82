/** The owner of every record: nothing is ever read or written without one. */
export type Environment = { readonly tenantId: string; readonly environmentId: string };
