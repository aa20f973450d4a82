import { codeOf, DependencyError, messageOf } from '../../runtime/failure.js';

/** The codes of librdkafka (negative) and of the Kafka protocol that are treated specially. */
export const KAFKA_ERROR = {
  fatal: -150,
  unknownTopic: 3,
  noLeader: 5,
  notLeader: 6,
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

/**
 * The failure to throw when a broker answers with an error code of Kafka's protocol.
 * @param doing what could not be done, in words.
 */
export function kafkaRefusalOf(
  code: number,
  doing: string,
  message = `the broker answers with error ${code}`,
): DependencyError {
  return kafkaFailureOf(Object.assign(new Error(message), { code }), doing);
}
