import { codeOf, DependencyError, messageOf } from '../../runtime/failure.js';

/** The codes of librdkafka (negative) and of the Kafka protocol that are treated specially. */
export const KAFKA_ERROR = {
  fatal: -150,
  queueFull: -184,
  allBrokersDown: -187,
  unknownTopic: 3,
  noLeader: 5,
  recordTooLarge: 10,
  topicExists: 36,
} as const;

/**
 * Codes of failures that no retry can overcome: too large, wrong topic, authorization (29 to 31),
 * authentication (-169, 58), bad configuration (40), policy (44).
 */
const LASTING_CODES = new Set(['10', '17', '29', '30', '31', '-169', '58', '40', '44']);

/** Turns any failure of Kafka or its driver into a DependencyError. */
export function kafkaFailureOf(error: unknown, doing: string): DependencyError {
  if (error instanceof DependencyError) return error;
  return new DependencyError(`event log in Kafka: ${doing}: ${messageOf(error)}`, {
    dependency: 'event-log',
    isRetryable: !LASTING_CODES.has(codeOf(error) ?? ''),
    cause: error,
  });
}
