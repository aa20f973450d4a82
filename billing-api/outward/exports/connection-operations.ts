import { sql } from 'slonik';
import { z } from 'zod';
import {
  CONNECTIONS,
  placeOfSecrets,
  type ChangeConnectionBody,
  type ConnectionRow,
  type ConnectionSecretsBody,
  type CreateConnectionBody,
  type SyncConfigDto,
} from '../../declarations/exports/connection.resource.js';
import {
  changeRecord,
  notReferenced,
  removeRecord,
  type ChangeTarget,
  type Guard,
} from '../../records/change-record.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { readRecord } from '../../records/find-record.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import { searchRecords } from '../../records/search-records.js';
import type { SearchBodyRequest } from '../../records/search-request.js';
import { readOperation, writeOperation } from '../../records/operation.js';
import { writeUnit, type WriteDependencies } from '../../records/unit.js';
import type { GatewayKind } from '../../money/gateways/gateway-kind.js';
import { findGateway } from '../../money/gateways/gateways.js';
import type { GatewayAccess } from '../../money/gateways/open-gateway.js';
import { otherAccountRefusal } from './same-account.js';
import { endpointProblem } from './endpoint-problem.js';

/** What operations on connections need: without a key there is no box. */
export type ConnectionDependencies = WriteDependencies &
  GatewayAccess & {
    /** Whether a provider may be at an address in a private network. */
    readonly arePrivateTargetsAllowed: boolean;
  };

/** The secrets that a store needs, and those that it may have. */
const SECRETS_OF_STORE: GatewayKind['secrets'] = {
  needed: ['access_key_id', 'secret_access_key'],
  possible: ['session_token'],
};
type Provider = ConnectionRow['provider_type'];

/** Notes secrets that are missing, and those of another provider. */
function checkSecrets(
  reader: MemberReader,
  provider: Provider,
  secrets: ConnectionSecretsBody,
): void {
  const { needed, possible } = findGateway(provider)?.secrets ?? SECRETS_OF_STORE;
  const given = Object.keys(secrets);
  for (const name of needed) {
    if (!given.includes(name)) reader.note(`secrets.${name}`, `is required for ${provider}`);
  }
  const known: readonly string[] = [...needed, ...possible];
  for (const name of given) {
    if (!known.includes(name)) reader.note(`secrets.${name}`, `is no secret of ${provider}`);
  }
}

/** The address of a gateway; that of a store stands with its task. */
function readEndpoint(
  reader: MemberReader,
  { provider_type: provider, endpoint_url: endpoint }: CreateConnectionBody,
  arePrivateTargetsAllowed: boolean,
): string | null {
  if (endpoint === undefined) return null;
  const problem =
    provider === 's3'
      ? 'must be left out: the address of a store stands in job_config of its tasks'
      : endpointProblem(endpoint, arePrivateTargetsAllowed);
  reader.note('endpoint_url', problem);
  return endpoint;
}

/** What is synced with a provider; only one that has invoices of its own can. */
function readSyncConfig(
  reader: MemberReader,
  provider: Provider,
  config: SyncConfigDto | undefined,
): SyncConfigDto | null {
  if (config === undefined) return null;
  if (provider === 's3') reader.note('sync_config', 'must be left out: a store has no invoices');
  return { direction: [...new Set(config.direction)] };
}

/** Seals the secrets of a request; refused where nothing could keep them. */
async function sealed(
  { secretBox }: ConnectionDependencies,
  { environment }: Occasion,
  { id, secrets }: { readonly id: string; readonly secrets: ConnectionSecretsBody },
): Promise<Buffer | Refusal> {
  if (secretBox !== null) {
    const { tenantId: tenant_id, environmentId: environment_id } = environment;
    const place = placeOfSecrets({ tenant_id, environment_id, id });
    return secretBox.seal(JSON.stringify(secrets), place);
  }
  const problem = 'no key is configured to keep secrets with: set MINUTEBOOK_SECRETS_KEY';
  return new Refusal('invalid_operation', problem);
}

/** POST /connections. */
export async function createConnection(
  dependencies: ConnectionDependencies,
  occasion: Occasion,
  body: CreateConnectionBody,
): Promise<ConnectionRow | Refusal> {
  const { name, provider_type, secrets, metadata } = body;
  const reader = new MemberReader();
  checkSecrets(reader, provider_type, secrets);
  const endpoint_url = readEndpoint(reader, body, dependencies.arePrivateTargetsAllowed);
  const sync_config = readSyncConfig(reader, provider_type, body.sync_config);
  const members = {
    name,
    provider_type,
    endpoint_url,
    sync_config,
    metadata: reader.metadata(metadata),
  };
  const id = dependencies.createId(CONNECTIONS.idPrefix);
  const kept = await sealed(dependencies, occasion, { id, secrets });
  const problems = reader.refusal();
  if (problems !== null) return problems;
  if (isRefusal(kept)) return kept;
  return writeUnit(dependencies, occasion, (unit) =>
    createRecord(unit, CONNECTIONS, { id, ...members, secrets: kept }),
  );
}

/** GET /connections. */
export const listConnections = readOperation((unit, request: SearchBodyRequest) =>
  searchRecords(unit, CONNECTIONS, { request, conditions: [] }),
);

/** GET /connections/{id}. */
export const readConnection = readOperation((unit, id: string) =>
  readRecord(unit, CONNECTIONS, id),
);

/** Why the key of a gateway may not be replaced by this one; null when it may, or stays. */
async function otherAccount(
  dependencies: ConnectionDependencies,
  occasion: Occasion,
  { id, key }: { readonly id: string; readonly key: string | undefined },
): Promise<Refusal | null> {
  if (key === undefined) return null;
  const connection = await readConnection(dependencies, occasion, id);
  // What is unknown is refused by the change.
  if (isRefusal(connection)) return null;
  return otherAccountRefusal(dependencies, occasion, { connection, key });
}

/** PUT /connections/{id}. */
export async function changeConnection(
  dependencies: ConnectionDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeConnectionBody },
): Promise<ConnectionRow | Refusal> {
  const reader = new MemberReader();
  const { secrets } = body;
  const { id } = target;
  const kept =
    secrets === undefined ? undefined : await sealed(dependencies, occasion, { id, secrets });
  if (isRefusal(kept)) return kept;
  const other = await otherAccount(dependencies, occasion, {
    id: target.id,
    key: secrets?.secret_key,
  });
  if (other !== null) return other;
  const patch = givenOf({
    name: body.name,
    secrets: kept,
    metadata: reader.changedMetadata(body.metadata),
  });
  return writeUnit(dependencies, occasion, (unit) =>
    changeRecord(unit, CONNECTIONS, {
      target,
      change: ({ provider_type: provider }) => {
        if (secrets !== undefined) checkSecrets(reader, provider, secrets);
        const sync_config = readSyncConfig(reader, provider, body.sync_config) ?? undefined;
        return reader.refusal() ?? { ...patch, ...givenOf({ sync_config }) };
      },
    }),
  );
}

/** A gateway is kept while it may still take money, by a charge or a page. */
const notCharging: Guard = async ({ tx }, id) => {
  const found = await tx.exists(sql.type(z.unknown())`
    SELECT FROM payments JOIN connections ON connections.id = ${id}
      AND connections.provider_type = payments.payment_gateway AND ${rowIsOfEnvironment('connections')}
    WHERE (payment_status = 'PROCESSING' OR payment_url IS NOT NULL)
      AND ${rowIsOfEnvironment('payments')}`);
  return found ? 'has payments in process; wait until they have ended' : null;
};

const notUsed = notReferenced(
  {
    table: 'scheduled_tasks',
    column: 'connection_id',
    having: [sql.fragment`status = 'published'`],
  },
  'has scheduled tasks; remove them first',
);

/** DELETE /connections/{id}: none that a task or a payment needs. */
export const removeConnection = writeOperation((unit, id: string) =>
  removeRecord(unit, CONNECTIONS, { id, guards: [notUsed, notCharging] }),
);
