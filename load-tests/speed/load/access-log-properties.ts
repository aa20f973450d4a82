import { join } from 'node:path';
import { eventsOfLog, readLogFile } from '../../../cli/demo/access-log.js';
import { projectRoot } from '../../../runtime/project.js';

/** The end of an event's JSON, from `"source"` on. */
export type EventTail = string;

let known: Promise<readonly EventTail[]> | null = null;

/** The properties of the events of a real access log, in their order; read once. */
export function readEventTails(): Promise<readonly EventTail[]> {
  return (known ??= read());
}

async function read(): Promise<readonly EventTail[]> {
  const text = await readLogFile(join(projectRoot, 'cli/demo/data/apache-access.log.gz'));
  return eventsOfLog(text).map(({ source, properties }) => {
    // One number has a trailing zero, which must be kept.
    const numbers = `"seconds":0.${Number(properties['bytes'] ?? 0) % 90}0`;
    const shown = JSON.stringify({ ...properties, status: Number(properties['status']) });
    return `"source":${JSON.stringify(source)},"properties":${shown.slice(0, -1)},${numbers}}}`;
  });
}
