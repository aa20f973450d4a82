import type { GatewayName } from '../../declarations/exports/connection.resource.js';
import type { GatewayKind } from './gateway-kind.js';
import { STRIPE } from './stripe.js';

/** One without its entry does not compile. */
const GATEWAYS: Readonly<Record<GatewayName, GatewayKind>> = { stripe: STRIPE };

/** The gateway of a connection. @throws Error for a connection to a store. */
export function gatewayOf(provider: string): GatewayKind {
  const found = Object.entries(GATEWAYS).find(([name]) => name === provider);
  if (found === undefined) throw new Error(`${provider} is no payment gateway`);
  return found[1];
}
