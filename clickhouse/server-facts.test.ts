import { describe, expect, it } from 'vitest';
import { factsWith } from '../load-tests/harness/fake-clickhouse.js';
import { refuseOther, refuseSeveral, refuseUnsupported } from './server-facts.js';

const refused = (message: string) =>
  expect.objectContaining({ isRetryable: false, message: expect.stringContaining(message) });

describe('a ClickHouse server', () => {
  it.each(['24.12.1.1', '25.3.9.2', '25.7.1.1'])('of version %s is too old', (version) => {
    expect(() => refuseUnsupported(factsWith({ version }))).toThrow(
      refused(`${version} is too old`),
    );
  });

  it.each(['25.8.1.1', '25.10.3.1-lts', '26.3.1.1', '26.7.2.1', '27.1.1.1'])(
    'of version %s is not',
    (version) => {
      expect(() => refuseUnsupported(factsWith({ version }))).not.toThrow();
    },
  );

  it.each(['Replicated', 'Shared'])('with a database of engine %s is refused', (engine) => {
    const facts = factsWith({ database_engine: engine });
    expect(() => refuseUnsupported(facts)).toThrow(refused(`engine ${engine}`));
  });

  it('with a table that is replicated is refused by the name of the table', () => {
    const facts = factsWith({ other_engines: ['usage_minute_v1 (SharedAggregatingMergeTree)'] });
    expect(() => refuseUnsupported(facts)).toThrow(
      refused('usage_minute_v1 (SharedAggregatingMergeTree)'),
    );
  });

  it('is refused when it is another than before, and when it is several', () => {
    const facts = factsWith({});
    const other = factsWith({ identity: '3/4' });
    expect(() => refuseOther(facts, other.identity)).toThrow(refused('clickhouse accept'));
    expect(() => refuseOther(facts, facts.identity)).not.toThrow();
    expect(() => refuseSeveral([facts, facts, other])).toThrow(refused('several servers'));
    expect(() => refuseSeveral([facts, facts])).not.toThrow();
  });
});
