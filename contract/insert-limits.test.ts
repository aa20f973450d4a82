import { expect, test } from 'vitest';
import {
  BLOCK_ROWS_MAX,
  BULK_EVENTS_MAX,
  METERS_OF_EVENT_NAME_MAX,
  STREAMS_OF_METER_MAX,
} from './insert-limits.js';

test('the usage rows of the largest record fit into one insert', () => {
  const usage = BULK_EVENTS_MAX * METERS_OF_EVENT_NAME_MAX * STREAMS_OF_METER_MAX;
  // The count of the accepted events of the record, and the marker of its batch.
  expect(usage + 2).toBeLessThanOrEqual(BLOCK_ROWS_MAX);
});
