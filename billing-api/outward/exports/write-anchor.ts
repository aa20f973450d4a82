import { createHash } from 'node:crypto';
import { sql } from 'slonik';
import { assertThat } from '../../../runtime/failure.js';
import { CONNECTIONS } from '../../declarations/exports/connection.resource.js';
import {
  SCHEDULED_TASKS,
  type ScheduledTaskRow,
} from '../../declarations/exports/scheduled-task.resource.js';
import { exportKey, manifestKey } from '../../domain/outward/export-windows.js';
import { HEADS_HEADER, headLines } from '../../domain/ledger/anchor-text.js';
import { readAnchoredHeads, type SignedAnchor } from '../../money/ledger/anchor-store.js';
import { anchorToDto } from '../../money/ledger/books-dto.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { findRecord } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { mustRead } from '../../records/unit.js';
import type { ExportNeeds } from './export-needs.js';
import { openStore } from './open-store.js';
import { openSecrets } from './open-secrets.js';
import { upload } from './write-file.js';

/** One task for each place to which an environment exports. */
async function findPlaces(needs: ExportNeeds, occasion: Occasion<JobActor>) {
  return mustRead(needs, occasion, async (unit) => {
    const tasks = await unit.tx.any(sql.type(SCHEDULED_TASKS.row)`
      SELECT DISTINCT ON (connection_id, job_config ->> 'bucket', job_config ->> 'endpoint_url',
        job_config ->> 'key_prefix') * FROM scheduled_tasks
      WHERE enabled AND status = 'published' AND ${isOfEnvironment}
      ORDER BY connection_id, job_config ->> 'bucket', job_config ->> 'endpoint_url',
        job_config ->> 'key_prefix', id`);
    const places = [];
    for (const task of tasks) {
      const connection = await findRecord(unit, CONNECTIONS, task.connection_id);
      if (connection !== null) places.push({ task, connection });
    }
    return places;
  });
}

/** The list of heads of an anchor. @throws when it is not that of the anchor. */
async function listOf(
  needs: ExportNeeds,
  occasion: Occasion<JobActor>,
  anchor: SignedAnchor,
): Promise<Buffer> {
  const text = await mustRead(needs, occasion, async (unit) => {
    const parts = [HEADS_HEADER];
    let behind = '';
    for (;;) {
      const heads = await readAnchoredHeads(unit, behind);
      const last = heads.at(-1);
      if (last === undefined) return parts.join('');
      parts.push(headLines(heads));
      behind = last.customerId;
    }
  });
  const list = Buffer.from(text);
  const root = createHash('sha256').update(list).digest('hex');
  assertThat(root === anchor.root, `the list of heads is not that of anchor ${anchor.number}`);
  return list;
}

function keyOf({ job_config: config }: ScheduledTaskRow, anchor: SignedAnchor): string {
  const window = { startMs: anchor.anchoredAt, endMs: anchor.anchoredAt };
  const { key_prefix: prefix } = config;
  return exportKey(window, { prefix, entityType: 'ledger_anchor', isZipped: false });
}

/** The anchor as it lies beside the list of its heads. */
export function anchorManifest(
  { tenantId, environmentId }: Occasion['environment'],
  anchor: SignedAnchor,
): string {
  const owner = { tenant_id: tenantId, environment_id: environmentId };
  return `${JSON.stringify({ format: 1, ...owner, ...anchorToDto(anchor) }, null, 2)}\n`;
}

/**
 * Writes an anchor to every place to which its environment exports: the list of heads, and then the
 * anchor as its manifest. The same anchor writes the same files.
 */
export async function writeAnchor(
  needs: ExportNeeds,
  occasion: Occasion<JobActor>,
  { anchor, signal }: { readonly anchor: SignedAnchor; readonly signal: AbortSignal },
): Promise<number> {
  const places = await findPlaces(needs, occasion);
  if (places.length === 0) return 0;
  const list = await listOf(needs, occasion, anchor);
  for (const { task, connection } of places) {
    const client = await openStore(task, await openSecrets(needs, connection), needs.outbound);
    const key = keyOf(task, anchor);
    const manifest = Buffer.from(anchorManifest(occasion.environment, anchor));
    try {
      await upload(client, task, { key, type: 'text/csv', body: list, signal });
      const type = 'application/json';
      await upload(client, task, { key: manifestKey(key), type, body: manifest, signal });
    } finally {
      client.destroy();
    }
  }
  return places.length;
}
