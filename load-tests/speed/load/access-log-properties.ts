import { join } from 'node:path';
import { eventsOfLog, readLogFile } from '../../../cli/demo/access-log.js';
import { projectRoot } from '../../../runtime/project.js';

/** The end of an event's JSON, from `"source"` on. */
export type EventTail = string;

let known: Promise<readonly EventTail[]> | null = null;

/** What the events of a real access log say besides who and when, each as it came; read once. */
export function readEventTails(): Promise<readonly EventTail[]> {
  return (known ??= read());
}

async function read(): Promise<readonly EventTail[]> {
  const text = await readLogFile(join(projectRoot, 'cli/demo/data/apache-access.log.gz'));
  return eventsOfLog(text).map(({ source, properties }) => {
    // A number among them with a trailing zero: it must be kept as it is written.
    const numbers = `"seconds":0.${Number(properties['bytes'] ?? 0) % 90}0`;
    const shown = JSON.stringify({ ...properties, status: Number(properties['status']) });
    return `"source":${JSON.stringify(source)},"properties":${shown.slice(0, -1)},${numbers}}}`;
  });
}
