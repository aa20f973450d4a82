import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../../runtime/project.js';
import type { Finding, Plot, Section } from '../section.js';

export type Report = {
  readonly name: string;
  readonly madeAt: string;
  readonly facts: readonly (readonly [string, string])[];
  readonly sections: readonly Section[];
};

const STYLE = `
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; }
  table { border-collapse: collapse; margin: 1rem 0; }
  td, th { padding: .2rem .8rem; border-bottom: 1px solid #ccc; text-align: left; }
  td.figure { text-align: right; font-variant-numeric: tabular-nums; }
  .reached { color: #060; } .missed { color: #a00; }
  .u-title { font-size: 14px; }`;

/** Plots the JSON in the page; uPlot is part of the page, so that it can be read offline. */
const DRAW = `
  for (const { id, plot } of JSON.parse(document.getElementById('plots').textContent)) {
    const xs = [...new Set(plot.series.flatMap((s) => s.points.map((p) => p[0])))].sort((a, b) => a - b);
    const columns = plot.series.map((s) => { const at = new Map(s.points); return xs.map((x) => at.get(x) ?? null); });
    const colours = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#ff7f0e', '#8c564b'];
    new uPlot({
      title: plot.title, width: 960, height: 280, scales: { x: { time: false } },
      axes: [{ label: plot.xLabel }, { label: plot.yLabel, size: 80 }],
      series: [{ label: plot.xLabel }, ...plot.series.map((s, i) => ({ label: s.name, stroke: colours[i % colours.length], spanGaps: true }))],
    }, [xs, ...columns], document.getElementById(id));
  }`;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function findingRow({ id, what, value, target, isReached }: Finding): string {
  const verdict = isReached === null ? '' : isReached ? 'reached' : 'missed';
  const cells = [id, what].map((text) => `<td>${escaped(text)}</td>`).join('');
  return `<tr>${cells}<td class="figure">${escaped(value)}</td><td>${escaped(target)}</td>
    <td class="${verdict}">${verdict}</td></tr>`;
}

function findingsTable(findings: readonly Finding[]): string {
  if (findings.length === 0) return '';
  const head = ['', 'figure', 'value', 'target', ''].map((text) => `<th>${text}</th>`).join('');
  return `<table><tr>${head}</tr>${findings.map(findingRow).join('')}</table>`;
}

function sectionHtml(section: Section, plotIds: readonly string[]): string {
  const notes = section.notes.map((note) => `<p>${escaped(note)}</p>`).join('');
  const plots = plotIds.map((id) => `<div id="${id}"></div>`).join('');
  return `<h2>${escaped(section.title)}</h2>${findingsTable(section.findings)}${notes}${plots}`;
}

function pageOf(
  report: Report,
  library: { readonly script: string; readonly style: string },
): string {
  const plots: { readonly id: string; readonly plot: Plot }[] = [];
  const sections = report.sections.map((section) => {
    const ids = section.plots.map((plot) => {
      const id = `plot-${plots.length}`;
      plots.push({ id, plot });
      return id;
    });
    return sectionHtml(section, ids);
  });
  const facts = report.facts.map(
    ([name, value]) => `<tr><td>${escaped(name)}</td><td>${escaped(value)}</td></tr>`,
  );
  const json = JSON.stringify(plots).replaceAll('<', '\\u003c');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escaped(report.name)}</title>
    <style>${library.style}${STYLE}</style>
    <h1>${escaped(report.name)}</h1><p>${escaped(report.madeAt)}</p><table>${facts.join('')}</table>
    ${sections.join('\n')}
    <script type="application/json" id="plots">${json}</script>
    <script>${library.script}</script><script>${DRAW}</script></html>`;
}

/** Writes `<name>.html` and `.json` under load-tests/results; returns the path of the page. */
export async function writeReport(report: Report): Promise<string> {
  const folder = join(projectRoot, 'load-tests', 'results');
  await mkdir(folder, { recursive: true });
  const library = dirname(createRequire(import.meta.url).resolve('uplot'));
  const page = pageOf(report, {
    script: await readFile(join(library, 'uPlot.iife.min.js'), 'utf8'),
    style: await readFile(join(library, 'uPlot.min.css'), 'utf8'),
  });
  const path = join(folder, `${report.name}.html`);
  await writeFile(path, page);
  await writeFile(join(folder, `${report.name}.json`), `${JSON.stringify(report, null, 2)}\n`);
  return path;
}
