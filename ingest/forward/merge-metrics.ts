const FAMILY_START = /^(?=# HELP )/m;

/** The families of a page in the text format of Prometheus, each with its HELP and TYPE lines. */
function familiesOf(page: string): ReadonlyMap<string, string> {
  const families = page.split(FAMILY_START).map((text) => text.trim());
  const named = families.filter((text) => text !== '');
  return new Map(named.map((text) => [text.split(' ', 3)[2] ?? '', text]));
}

/** The samples of a family, without the lines that describe it. */
function samplesOf(family: string): readonly string[] {
  return family.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/**
 * One page of the metrics of two programs. A family that both have stands there once, since its
 * lines must be together; the label `program` tells their samples apart.
 */
export function mergeMetrics(first: string, second: string): string {
  const families = new Map(familiesOf(first));
  for (const [name, family] of familiesOf(second)) {
    const known = families.get(name);
    const merged = known === undefined ? family : [known, ...samplesOf(family)].join('\n');
    families.set(name, merged);
  }
  return `${[...families.values()].join('\n\n')}\n`;
}
