/** The owner of every record: nothing is ever read or written without one. */
export type Environment = { readonly tenantId: string; readonly environmentId: string };

/**
 * Names an environment among all of them. Ids of tenants and environments never hold `|`, so the
 * text is unambiguous, also with more behind another `|`.
 */
export function environmentKey({ tenantId, environmentId }: Environment): string {
  return `${tenantId}|${environmentId}`;
}
