/**
 * The Kafka topic of accepted usage events, unless `KAFKA_TOPIC` names another. Its partition count
 * is fixed at creation (docs/internals/architecture.md 3.1).
 */
export const USAGE_EVENTS_TOPIC = 'usage.events.v1';

/**
 * Consumer group under which finished offsets are committed, for lag tools only: the checkpoint
 * decides.
 */
export const AGGREGATOR_GROUP = 'minutebook-aggregator';
