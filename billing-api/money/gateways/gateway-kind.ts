import type { Decimal } from '../../../contract/number/decimal.js';
import type { OutboundAgents } from '../../../runtime/guarded-agents.js';
import type {
  ConnectionSecretsBody,
  GatewaySecrets,
} from '../../declarations/exports/connection.resource.js';
import type { InvoiceProvider } from './invoice-provider.js';
import type { PaymentGateway } from './payment-gateway.js';

/** How the account behind a connection is reached. */
export type GatewayAccount = {
  readonly secrets: GatewaySecrets;
  /** Null: the address of the gateway itself. */
  readonly endpointUrl: string | null;
  readonly outbound: OutboundAgents;
};

/** What a gateway is: who works with one asks here, and never for one by its name. */
export type GatewayKind = {
  /** The secrets that a connection to it needs, and those that it may have. */
  readonly secrets: {
    readonly needed: readonly (keyof ConnectionSecretsBody)[];
    readonly possible: readonly (keyof ConnectionSecretsBody)[];
  };
  /** What it can take of an amount: that rounded down to the steps of its amounts. */
  readonly chargeableOf: (amount: Decimal, currency: string) => Decimal;
  /** The header with the signature of what it sends. */
  readonly signatureHeader: string;
  readonly open: (account: GatewayAccount) => PaymentGateway;
  /** The invoices that it has of its own. */
  readonly openInvoices: (account: GatewayAccount) => InvoiceProvider;
};
