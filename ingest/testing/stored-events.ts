import { decodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import type { EventLogReader } from '../../event-log/interface/event-log.js';

async function eventsOfPartition(
  reader: EventLogReader,
  partition: number,
): Promise<readonly UsageEvent[]> {
  const { startOffset, endOffset } = await reader.bounds(partition);
  const events: UsageEvent[] = [];
  let fromOffset = startOffset;
  while (fromOffset < endOffset) {
    const limits = { recordsMax: 1000, bytesMax: 1 << 26, waitMs: 0 };
    for (const record of await reader.read({ partition, fromOffset, ...limits })) {
      const decoded = decodeEventRecord(record.value);
      if (typeof decoded === 'string') throw new Error(decoded);
      events.push(...decoded.events);
      fromOffset = record.offset + 1;
    }
  }
  return events;
}

/** For tests: every event in the log, partition by partition. */
export async function storedEvents(reader: EventLogReader): Promise<readonly UsageEvent[]> {
  const partitions = Array.from({ length: reader.identity.partitionCount }, (_, index) => index);
  const events = await Promise.all(partitions.map((one) => eventsOfPartition(reader, one)));
  return events.flat();
}
