import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';

/** A usage event as the HTTP interface accepts it. */
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
 * Apache's combined format, without the name of the browser, which is not needed. In one line of
 * the demo data the name is cut off.
 */
const LINE =
  /^(\S+) \S+ \S+ \[(\d{2})\/(\w{3})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2})\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-) "((?:[^"\\]|\\.)*)"/;

function sourceOf(referrer: string): string {
  return URL.canParse(referrer) ? new URL(referrer).host || 'direct' : 'direct';
}

/**
 * The event of one line: the time of the request as timestamp, the client's address as customer,
 * and the referrer's host as source. Its id is made of the line and its position, so that nothing
 * counts twice when a file is sent again, while equal lines of a file count separately.
 * @throws Error when the line is not in the combined format.
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

/** The text of a log file, which may be gzipped. */
export async function readLogFile(path: string): Promise<string> {
  const bytes = await readFile(path);
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** The events of a log text, one per line. Empty lines have a position but no event. */
export function eventsOfLog(text: string): readonly EventBody[] {
  return text
    .split('\n')
    .flatMap((line, position) => (line.trim() === '' ? [] : [eventOfLine(line, position)]));
}
