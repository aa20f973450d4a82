import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../runtime/project.js';

/** A series, and the expression of Prometheus that names it. */
export type NamedSeries = { readonly name: string; readonly expression: string };

type Panel = { readonly targets?: readonly { readonly expr: string }[] };

const SERIES = /\b(?:minutebook|process|nodejs)_\w+/g;

export function readMonitoring(file: 'alerts.yml' | 'dashboard.json'): string {
  return readFileSync(join(projectRoot, 'docs', 'monitoring', file), 'utf8');
}

function seriesOf(expressions: readonly string[]): readonly NamedSeries[] {
  return expressions.flatMap((expression) =>
    [...expression.matchAll(SERIES)].map(([name]) => ({ name, expression })),
  );
}

/** The expression of every alert rule. Each rule says it on one line. */
export function alertExpressions(): readonly string[] {
  return [...readMonitoring('alerts.yml').matchAll(/^ +expr: (.+)$/gm)].map(
    ([, expression = '']) => expression,
  );
}

/** What every panel of the dashboard asks. */
export function dashboardExpressions(): readonly string[] {
  const { panels } = JSON.parse(readMonitoring('dashboard.json')) as { readonly panels: Panel[] };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** Every series that the alert rules and the dashboard name. */
export function namedSeries(): readonly NamedSeries[] {
  return seriesOf([...alertExpressions(), ...dashboardExpressions()]);
}
