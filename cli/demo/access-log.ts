import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';

/** A usage event as the HTTP interface takes it. */
export type EventBody = {
  readonly event_name: string;
  readonly event_id: string;
  readonly external_customer_id: string;
  readonly timestamp: string;
  readonly source: string;
  readonly properties: Readonly<Record<string, string>>;
};

const MONTHS = [
  'Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec',
]; // prettier-ignore

/**
 * Apache's combined format. The browser's name is not needed, and one line of the demo has it cut
 * off.
 */
const LINE =
  /^(\S+) \S+ \S+ \[(\d{2})\/(\w{3})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2})\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-) "((?:[^"\\]|\\.)*)"/;

function sourceOf(referrer: string): string {
  return URL.canParse(referrer) ? new URL(referrer).host || 'direct' : 'direct';
}

/**
 * The event of one line: its own time, the client's address as customer, the referrer's host as
 * source, and an id made of its content and position, so that sending a file again counts nothing
 * twice while equal lines count each.
 * @throws when the line is not in the combined format.
 */
export function eventOfLine(line: string, position: number): EventBody {
  const match = LINE.exec(line);
  if (match === null) throw new Error(`line ${position + 1} is not in the combined log format`);
  const part = (index: number): string => match[index] ?? '';
  const month = String(MONTHS.indexOf(part(3)) + 1).padStart(2, '0');
  const [method = '', path = ''] = part(8).split(' ');
  const eventId = createHash('sha256').update(`${position}\n${line}`).digest('hex').slice(0, 32);
  return {
    event_name: 'http_request',
    event_id: eventId,
    external_customer_id: part(1),
    timestamp: `${part(4)}-${month}-${part(2)}T${part(5)}${part(6)}:${part(7)}`,
    source: sourceOf(part(11)),
    properties: { method, path, status: part(9), bytes: part(10) === '-' ? '0' : part(10) },
  };
}

/** Text of a log file, which may be gzipped. */
export async function readLogFile(path: string): Promise<string> {
  const bytes = await readFile(path);
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** The events of a log text, one a line; empty lines are passed over but keep their position. */
export function eventsOfLog(text: string): readonly EventBody[] {
  return text
    .split('\n')
    .flatMap((line, position) => (line.trim() === '' ? [] : [eventOfLine(line, position)]));
}
