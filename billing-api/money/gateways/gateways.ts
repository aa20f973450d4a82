import { assertPresent } from '../../../runtime/failure.js';
import type { GatewayName } from '../../declarations/exports/connection.resource.js';
import type { GatewayKind } from './gateway-kind.js';
import { isGatewayName } from './gateway-name.js';
import { STRIPE } from './stripe.js';

/** One without its entry does not compile. */
const GATEWAYS: Readonly<Record<GatewayName, GatewayKind>> = { stripe: STRIPE };

/** The gateway by which a payment is made; null where it is made otherwise. */
export function findGateway(name: string | null): GatewayKind | null {
  return isGatewayName(name) ? GATEWAYS[name] : null;
}

/** The gateway of a connection. @throws Error for a connection to a store. */
export function gatewayOf(provider: string): GatewayKind {
  return assertPresent(findGateway(provider), `the payment gateway ${provider}`);
}
