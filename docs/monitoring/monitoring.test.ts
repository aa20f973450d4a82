import { describe, expect, test } from 'vitest';
import {
  alertExpressions,
  dashboardExpressions,
  namedSeries,
  readMonitoring,
} from '../../load-tests/harness/monitoring-series.js';
import { readOperators, sectionOf } from '../../load-tests/harness/pages.js';
import { createMetrics } from '../../runtime/metrics.js';

const { registry } = createMetrics();

const ownMetrics = registry
  .getMetricsAsArray()
  .map(({ name }) => name)
  .filter((name) => name.startsWith('minutebook_'));

/** A histogram has one series for its buckets, one for its sum and one for its count. */
const metricOf = (series: string): string => series.replace(/_(?:bucket|sum|count)$/, '');

/** The metrics that a text names, each once. */
function metricsIn(text: string): readonly string[] {
  const names = [...text.matchAll(/\bminutebook_\w+/g)].map(([name]) => metricOf(name));
  return [...new Set(names)].sort();
}

describe('the dashboard and the alert rules', () => {
  test('name only series that the programs have', () => {
    const series = namedSeries();
    const unknown = series.filter(
      ({ name }) => registry.getSingleMetric(metricOf(name)) === undefined,
    );
    expect(series.length).toBeGreaterThan(30);
    expect(unknown).toEqual([]);
  });

  test('show every metric of the product on the dashboard', () => {
    expect(metricsIn(dashboardExpressions().join('\n'))).toEqual([...ownMetrics].sort());
  });

  test('have a rule for each metric of docs/operations.md 5.2', () => {
    const signals = [...sectionOf(readOperators(), '5.2').matchAll(/^\| ([^|]+)\|/gm)];
    const named = metricsIn(signals.map(([, signal = '']) => signal).join('\n'));
    const ruled = metricsIn(alertExpressions().join('\n'));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !ruled.includes(name))).toEqual([]);
  });

  test('say with each rule how urgent it is, what happened and what to do', () => {
    const [, ...rules] = readMonitoring('alerts.yml').split(/^ +- alert: /m);
    const incomplete = rules.filter(
      (rule) => !/severity: (?:page|ticket)\n[^]*summary: \S[^]*remedy: \S/.test(rule),
    );
    expect(rules).toHaveLength(alertExpressions().length);
    expect(incomplete).toEqual([]);
  });

  test('list in docs/operations.md 5.1 every metric of the product', () => {
    expect(metricsIn(sectionOf(readOperators(), '5.1'))).toEqual([...ownMetrics].sort());
  });
});
