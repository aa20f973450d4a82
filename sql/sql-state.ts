/**
 * SQLSTATEs of outages that a retry can overcome: 08 connection, 25006 a node that only reads, as
 * after a failover until a standby is promoted, 40 rollback by the server, 53 resources, 55P03 and
 * 57014 waited too long, 57P0x shutting down or starting.
 */
const RETRYABLE_STATE = /^(08...|25006|40...|53...|55P03|57014|57P0.)$/;
/** SQLSTATEs that no retry can overcome: 28 credentials, 3D database, 58 system, XX internal. */
const LASTING_STATE = /^(28...|3D...|58...|XX...)$/;

/**
 * What an SQLSTATE says about PostgreSQL, for every user of a store: an outage that a retry can
 * overcome, one that it cannot, or nothing about an outage (null).
 */
export function outageOfState(code: string): 'retryable' | 'lasting' | null {
  if (LASTING_STATE.test(code)) return 'lasting';
  return RETRYABLE_STATE.test(code) ? 'retryable' : null;
}
