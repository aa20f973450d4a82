import type {
  EventLogReader,
  EventLogWriter,
  LogIdentity,
} from '../../../event-log/interface/event-log.js';
import { readKafkaSecurity } from '../../../event-log/kafka/security.js';
import {
  openEventLogReader,
  openEventLogWriter,
  type EventLogConfig,
} from '../../../event-log/open-log.js';
import type { Clock } from '../../../runtime/clock.js';
import { createLazy } from '../../../runtime/lazy.js';
import type { Lifecycle } from '../../../runtime/lifecycle.js';
import { refuseOtherLog } from '../../../sql/log-in-use.js';
import type { Database } from '../../../sql/pool.js';
import { createLogDataUntil, createPostgresDataUntil, type ReadDataUntil } from './data-until.js';

/** The event log, opened by whoever first needs it. */
export type LazyEventLog = {
  readonly reader: () => Promise<EventLogReader>;
  readonly writer: () => Promise<EventLogWriter>;
};

type LogAccess = { readonly eventLog: LazyEventLog; readonly dataUntil: ReadDataUntil };

type OpenLog = { readonly identity: LogIdentity; readonly close: () => Promise<void> };

/**
 * The event log as the billing API uses it. Nothing is opened before a request needs it, so that
 * neither the start nor any other request depends on it; what was opened is closed in the end.
 * @throws ConfigError when the settings of Kafka do not fit together.
 */
export function createLogAccess(program: {
  readonly config: EventLogConfig;
  readonly database: Database;
  readonly clock: Clock;
  readonly lifecycle: Lifecycle;
}): LogAccess {
  const { config, database, clock, lifecycle } = program;
  // Settings that do not fit together are told at the start, not by the first request.
  readKafkaSecurity(config);
  const lazily = <T extends OpenLog>(name: string, open: () => Promise<T>): (() => Promise<T>) => {
    const lazy = createLazy(open);
    lifecycle.onClose(name, () => lazy.close());
    return async () => {
      const log = await lazy.get();
      // Another may have taken its place, of which this one would say that all of it is counted.
      await refuseOtherLog(database, log.identity.logId);
      return log;
    };
  };
  const reader = lazily('event log reader', () => openEventLogReader(config));
  const writer = lazily('event log writer', () => openEventLogWriter(config));
  const inFlightMs = config.MINUTEBOOK_PRODUCE_TIMEOUT_MS;
  const dataUntil =
    config.KAFKA_BROKERS === undefined
      ? createPostgresDataUntil(database, inFlightMs)
      : createLogDataUntil({
          database,
          clock,
          inFlightMs,
          openReader: lazily('watermark reader', () => openEventLogReader(config)),
        });
  return { eventLog: { reader, writer }, dataUntil };
}
