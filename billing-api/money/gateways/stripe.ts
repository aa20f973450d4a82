import type { GatewayKind } from './gateway-kind.js';
import { createStripeGateway } from './stripe-gateway.js';
import { createStripeInvoices } from './stripe-invoices.js';

export const STRIPE: GatewayKind = {
  signatureHeader: 'stripe-signature',
  open: createStripeGateway,
  openInvoices: createStripeInvoices,
};
