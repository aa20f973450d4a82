import type { GatewayKind } from './gateway-kind.js';
import { chargeableOf } from './stripe-amounts.js';
import { createStripeGateway } from './stripe-gateway.js';
import { createStripeInvoices } from './stripe-invoices.js';

export const STRIPE: GatewayKind = {
  secrets: { needed: ['secret_key', 'webhook_secret'], possible: [] },
  chargeableOf,
  signatureHeader: 'stripe-signature',
  open: createStripeGateway,
  openInvoices: createStripeInvoices,
};
