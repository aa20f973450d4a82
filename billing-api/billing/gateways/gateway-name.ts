import type { GatewayName } from '../../declarations/exports/connection.resource.js';

/** The name where there is one, else `never`. */
type TheOnly<Name, All = Name> = Name extends unknown
  ? [All] extends [Name]
    ? Name
    : never
  : never;

/**
 * The one gateway. A second one does not compile here: whoever adds it looks at each place that
 * asks for this one, such as whose charge a signal is about, and asks for that of the payment.
 */
export const GATEWAY: TheOnly<GatewayName> = 'stripe';
