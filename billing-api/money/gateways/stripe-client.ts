import type Stripe from 'stripe';
import type { GatewayAccount } from './gateway-kind.js';
import { GatewayUnavailable } from './payment-gateway.js';

/** How long Stripe may take to answer. */
const TIMEOUT_MS = 20_000;
/** Statuses after which the same request may have another answer; without one there was none. */
const PASSING = [409, 425, 429];

/** The client is loaded when it is used: it is large. */
export async function openClient({
  secrets,
  endpointUrl,
  outbound,
}: GatewayAccount): Promise<Stripe> {
  const { default: Client } = await import('stripe');
  const url = new URL(endpointUrl ?? 'https://api.stripe.com');
  const isHttps = url.protocol === 'https:';
  const port = url.port === '' ? (isHttps ? 443 : 80) : Number(url.port);
  return new Client(secrets.secret_key, {
    host: url.hostname,
    port,
    protocol: isHttps ? 'https' : 'http',
    httpClient: Client.createNodeHttpClient(isHttps ? outbound.https : outbound.http),
    // A job asks again, with the same key.
    maxNetworkRetries: 0,
    timeout: TIMEOUT_MS,
    telemetry: false,
  });
}

/** What of an error of the client is looked at. */
type StripeFailure = {
  readonly statusCode?: number;
  readonly code?: string;
  readonly message: string;
};

export function failureOf(error: unknown): StripeFailure {
  return error instanceof Error ? error : { message: String(error) };
}

/** Why Stripe will not do something. @throws GatewayUnavailable when it may do it later. */
export function refusedBecause(error: unknown): string {
  const { statusCode = null, message } = failureOf(error);
  if (statusCode === null || statusCode >= 500 || PASSING.includes(statusCode)) {
    throw new GatewayUnavailable(`Stripe did not answer: ${message}`, error);
  }
  return message;
}
