import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../../contract/environment.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { OutboundAgents } from '../../../runtime/guarded-agents.js';
import type { SecretBox } from '../../../runtime/secret-box.js';
import {
  CONNECTIONS,
  placeOfSecrets,
  type ConnectionRow,
  type GatewaySecrets,
} from '../../declarations/exports/connection.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { BillingDatabase, StatementUnit } from '../../records/unit.js';
import { isGateway } from './gateway-name.js';
import type { GatewayAccount } from './gateway-kind.js';
import { gatewayOf } from './gateways.js';
import type { InvoiceProvider } from './invoice-provider.js';
import type { PaymentGateway } from './payment-gateway.js';

/** What reaching a gateway needs. */
export type GatewayAccess = {
  /** Null where no key is configured: then there are no connections either. */
  readonly secretBox: SecretBox | null;
  readonly outbound: OutboundAgents;
};

/** The connection by which the environment takes payments; null when it has none. */
export function findGatewayConnection({ tx }: StatementUnit): Promise<ConnectionRow | null> {
  return tx.maybeOne(sql.type(CONNECTIONS.row)`
    SELECT * FROM connections
    WHERE ${isGateway(['provider_type'])} AND status = 'published' AND ${isOfEnvironment}`);
}

const environmentRow = z.object({ tenant_id: z.string(), environment_id: z.string() });

/**
 * The environment of a gateway; null for an unknown one.
 * @throws DependencyError when PostgreSQL fails.
 */
export async function findGatewayEnvironment(
  { slonik }: BillingDatabase,
  connectionId: string,
): Promise<Environment | null> {
  const found = await slonik.maybeOne(sql.type(environmentRow)`
    SELECT tenant_id, environment_id FROM find_gateway_environment(${connectionId})`);
  if (found === null) return null;
  return { tenantId: found.tenant_id, environmentId: found.environment_id };
}

/** More are found by the next look. */
const ENVIRONMENTS_MAX = 10_000;

/** The environments that have a gateway. @throws DependencyError when PostgreSQL fails. */
export async function findGatewayEnvironments({
  slonik,
}: BillingDatabase): Promise<readonly Environment[]> {
  const rows = await slonik.any(sql.type(environmentRow)`
    SELECT tenant_id, environment_id FROM list_gateway_environments(${ENVIRONMENTS_MAX})`);
  return rows.map((row) => ({ tenantId: row.tenant_id, environmentId: row.environment_id }));
}

/** The secrets of a connection to a gateway. */
export async function secretsOf(
  { secretBox }: GatewayAccess,
  connection: ConnectionRow,
): Promise<GatewaySecrets> {
  const box = assertPresent(secretBox, 'the key of secrets, MINUTEBOOK_SECRETS_KEY');
  // Sealed by an operation that had it as this type.
  return JSON.parse(
    await box.open(connection.secrets, placeOfSecrets(connection)),
  ) as GatewaySecrets;
}

async function accountOf(
  access: GatewayAccess,
  connection: ConnectionRow,
): Promise<GatewayAccount> {
  const { endpoint_url: endpointUrl } = connection;
  const secrets = await secretsOf(access, connection);
  return { secrets, endpointUrl, outbound: access.outbound };
}

/** The gateway that a connection would lead to with another key. */
export async function openGatewayWith(
  access: GatewayAccess,
  connection: ConnectionRow,
  key: string,
): Promise<PaymentGateway> {
  const current = await accountOf(access, connection);
  const secrets = { ...current.secrets, secret_key: key };
  return gatewayOf(connection.provider_type).open({ ...current, secrets });
}

/** The gateway behind a connection. */
export async function openGateway(
  access: GatewayAccess,
  connection: ConnectionRow,
): Promise<PaymentGateway> {
  return gatewayOf(connection.provider_type).open(await accountOf(access, connection));
}

/** The invoices that the provider behind a connection has of its own. */
export async function openInvoiceProvider(
  access: GatewayAccess,
  connection: ConnectionRow,
): Promise<InvoiceProvider> {
  return gatewayOf(connection.provider_type).openInvoices(await accountOf(access, connection));
}
