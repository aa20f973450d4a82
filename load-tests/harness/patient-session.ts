import type { Client } from 'pg';
import { withSession, type SessionOptions } from '../../sql/session.js';

/** A server may be slow to let anyone in while several products start on the same cores. */
export const PATIENT_CONNECT: SessionOptions = { connectTimeoutMs: 60_000 };

/** A session of a test, beside whatever the machine does at that time. */
export function withPatientSession<T>(
  url: string,
  work: (session: Client) => Promise<T>,
): Promise<T> {
  return withSession(url, work, PATIENT_CONNECT);
}
