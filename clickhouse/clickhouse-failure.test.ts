import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { clickHouseOutage, serverCodeOf } from './clickhouse-failure.js';

describe('clickHouseOutage', () => {
  it('does not retry what the HTTP layer of the server cannot read', () => {
    const error = new Error(
      'Poco::Exception. Code: 1000, e.code() = 0, HTML Form Exception: Field value too long (version 26.2.1.1)',
    );
    expect(serverCodeOf(error)).toBe('1000');
    expect(clickHouseOutage(error)).toMatchObject({ dependency: 'clickhouse', isRetryable: false });
  });

  it.each([
    ['1000', false],
    ['62', false],
    ['241', true],
    ['999', true],
  ])('tells whether an answer with code %s is worth another try', (code, isRetryable) => {
    const error = new ClickHouseError({ message: 'no', code, type: 'ANY' });
    expect(clickHouseOutage(error).isRetryable).toBe(isRetryable);
  });

  it('retries when no answer came, whatever the text of the failure', () => {
    for (const text of ['socket hang up', 'peer said: Poco::Exception. Code: 1000']) {
      expect(serverCodeOf(new Error(text))).toBeNull();
      expect(clickHouseOutage(new Error(text)).isRetryable).toBe(true);
    }
  });
});
