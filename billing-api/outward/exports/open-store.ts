import type { S3Client } from '@aws-sdk/client-s3';
import type { OutboundAgents } from '../../../runtime/guarded-agents.js';
import type { S3Secrets } from '../../declarations/exports/connection.resource.js';
import type { ScheduledTaskRow } from '../../declarations/exports/scheduled-task.resource.js';

/** How long a connection to a store may be silent. */
const SILENCE_MS = 60_000;

/** The store of a connection. The client is loaded when it is used: it is large. */
export async function openStore(
  { job_config: config }: Pick<ScheduledTaskRow, 'job_config'>,
  secrets: S3Secrets,
  outbound: OutboundAgents | null,
): Promise<S3Client> {
  const { S3Client: Client } = await import('@aws-sdk/client-s3');
  const { session_token: sessionToken } = secrets;
  const agents = outbound === null ? {} : { httpAgent: outbound.http, httpsAgent: outbound.https };
  return new Client({
    region: config.region,
    forcePathStyle: config.use_path_style,
    ...(config.endpoint_url === null ? {} : { endpoint: config.endpoint_url }),
    credentials: {
      accessKeyId: secrets.access_key_id,
      secretAccessKey: secrets.secret_access_key,
      ...(sessionToken === undefined ? {} : { sessionToken }),
    },
    // Stores that only speak the interface know no other checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    maxAttempts: 2,
    requestHandler: { ...agents, connectionTimeout: 10_000, requestTimeout: SILENCE_MS },
  });
}
