import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../runtime/project.js';
import { eventOfLine, eventsOfLog, readLogFile } from './access-log.js';
import { recountWithAwk } from './recount.js';

const LINE =
  '83.149.9.216 - - [17/May/2015:10:05:03 +0200] "GET /a%20b?c=1 HTTP/1.1" 200 203023 ' +
  '"http://semicomplete.com:80/x" "Mozilla/5.0 \\"quoted\\""';

describe('eventOfLine', () => {
  it('takes customer, time, source and properties from the line', () => {
    const event = eventOfLine(LINE, 4);
    expect(event).toEqual({
      event_name: 'http_request',
      event_id: event.event_id,
      external_customer_id: '83.149.9.216',
      timestamp: '2015-05-17T10:05:03+02:00',
      source: 'semicomplete.com',
      properties: { method: 'GET', path: '/a%20b?c=1', status: '200', bytes: '203023' },
    });
  });

  it('gives equal lines at different positions different ids, and a line always the same id', () => {
    expect(eventOfLine(LINE, 4).event_id).toBe(eventOfLine(LINE, 4).event_id);
    expect(eventOfLine(LINE, 4).event_id).not.toBe(eventOfLine(LINE, 5).event_id);
  });

  it('has the source direct without a referrer, and 0 bytes without a size', () => {
    const line = '1.2.3.4 - - [01/Jan/2020:00:00:00 +0000] "HEAD / HTTP/1.0" 304 - "-" "x"';
    const event = eventOfLine(line, 0);
    expect([event.source, event.properties['bytes']]).toEqual(['direct', '0']);
  });

  it('rejects a line in another format and names its number', () => {
    expect(() => eventOfLine('hello', 6)).toThrow('line 7');
  });
});

describe('the demo data', () => {
  it('has 10,000 events of 1,753 customers, as many of each as awk counts', async () => {
    const text = await readLogFile(join(projectRoot, 'cli/demo/data/apache-access.log.gz'));
    const events = eventsOfLog(text);
    const counts = new Map<string, number>();
    for (const { external_customer_id: customer } of events) {
      counts.set(customer, (counts.get(customer) ?? 0) + 1);
    }
    const recount = await recountWithAwk(text);
    expect([events.length, counts.size, recount.size]).toEqual([10_000, 1_753, 1_753]);
    expect(new Set(events.map((event) => event.event_id)).size).toBe(10_000);
    for (const [customer, { all }] of recount) expect(counts.get(customer)).toBe(all);
  });
});
