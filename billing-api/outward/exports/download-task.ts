import { assertPresent } from '../../../runtime/failure.js';
import type { SecretBox } from '../../../runtime/secret-box.js';
import { CONNECTIONS } from '../../declarations/exports/connection.resource.js';
import { SCHEDULED_TASKS } from '../../declarations/exports/scheduled-task.resource.js';
import { TASKS } from '../../declarations/exports/task.resource.js';
import { findRecord, readRecord } from '../../records/find-record.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, Refusal, Refused } from '../../records/refusal.js';
import { readUnit, type ReadDependencies } from '../../records/unit.js';
import { openSecrets } from './open-secrets.js';
import { openStore } from './open-store.js';

/** How long an address can be used. */
const VALID_S = 900;

/**
 * GET /tasks/{id}/download: an address at the store of the customer that answers the file. Nothing
 * is asked of the store: the address is signed here.
 */
export async function downloadTask(
  dependencies: ReadDependencies & { readonly secretBox: SecretBox | null },
  occasion: Occasion,
  id: string,
): Promise<string | Refusal> {
  const found = await readUnit(dependencies, occasion, async (unit) => {
    const task = await readRecord(unit, TASKS, id);
    if (task.task_status !== 'COMPLETED' || task.file_url === null) {
      const state = `the task is ${task.task_status}, so there is no file to download yet`;
      throw new Refused(new Refusal('invalid_operation', state));
    }
    const scheduled = assertPresent(
      await findRecord(unit, SCHEDULED_TASKS, task.scheduled_task_id),
      'the scheduled task of a run',
    );
    const connection = assertPresent(
      await findRecord(unit, CONNECTIONS, scheduled.connection_id),
      'the connection of a scheduled task',
    );
    return { scheduled, fileUrl: task.file_url, connection };
  });
  if (isRefusal(found)) return found;
  const { scheduled, fileUrl, connection } = found;
  const { secretBox } = dependencies;
  if (secretBox === null) {
    const problem = 'no key is configured to open secrets with: set MINUTEBOOK_SECRETS_KEY';
    return new Refusal('invalid_operation', problem);
  }
  const secrets = await openSecrets({ secretBox }, connection);
  const { bucket } = scheduled.job_config;
  const key = fileUrl.slice(`s3://${bucket}/`.length);
  const [{ GetObjectCommand }, { getSignedUrl }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
  ]);
  const client = await openStore(scheduled, secrets, null);
  try {
    const command = new GetObjectCommand({ Bucket: bucket, Key: key });
    return await getSignedUrl(client, command, { expiresIn: VALID_S });
  } finally {
    client.destroy();
  }
}
