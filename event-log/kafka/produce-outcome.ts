import type { DependencyError } from '../../runtime/failure.js';
import { logOutage } from '../group-commit.js';
import { KAFKA_ERROR, kafkaRefusalOf } from './kafka-failure.js';

/**
 * What follows from the answer to a batch. `again`: it is sent again under its numbers.
 * `renumber`: the brokers do not know its producer or its numbers, so it gets others.
 */
export type ProduceOutcome = 'stored' | 'again' | 'renumber' | 'refused';

/** Failures that end by themselves: leaders move, replicas are late, a login is renewed. */
const PASSING: ReadonlySet<number> = new Set([
  KAFKA_ERROR.corruptMessage,
  KAFKA_ERROR.unknownTopic,
  KAFKA_ERROR.noLeader,
  KAFKA_ERROR.notLeader,
  KAFKA_ERROR.requestTimedOut,
  KAFKA_ERROR.replicaNotAvailable,
  KAFKA_ERROR.networkException,
  KAFKA_ERROR.coordinatorLoading,
  KAFKA_ERROR.notEnoughReplicas,
  KAFKA_ERROR.notEnoughReplicasAfterAppend,
  KAFKA_ERROR.illegalSaslState,
  KAFKA_ERROR.storageError,
  KAFKA_ERROR.fencedLeaderEpoch,
  KAFKA_ERROR.unknownLeaderEpoch,
]);

const PRODUCER_LOST: ReadonlySet<number> = new Set([
  KAFKA_ERROR.outOfOrderSequence,
  KAFKA_ERROR.duplicateSequence,
  KAFKA_ERROR.invalidProducerEpoch,
  KAFKA_ERROR.unknownProducerId,
]);

/** @param code null when the broker said nothing of the partition. */
export function outcomeOf(code: number | null): ProduceOutcome {
  if (code === 0) return 'stored';
  if (code === null || PASSING.has(code)) return 'again';
  return PRODUCER_LOST.has(code) ? 'renumber' : 'refused';
}

export function failureOfCode(code: number | null): DependencyError {
  if (code === null) return logOutage('the broker did not answer for a partition');
  const doing =
    code === KAFKA_ERROR.recordTooLarge
      ? 'a record is larger than max.message.bytes of the topic allows'
      : 'a record was not acknowledged';
  return kafkaRefusalOf(code, doing);
}
