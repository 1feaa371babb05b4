// Pieces of a picture as SVG text: escaped, in the colours of the light theme, understood by any program that draws SVG.
import { operationShape } from '#lib/ui/operation.ts';

/** Tokens of `styles/tokens.css`, light: a picture goes on paper and into tickets. A test compares both. */
export const LIGHT = {
  bg: '#ffffff',
  s1: '#f5f6f8',
  s2: '#e9ecf1',
  text: '#14181f',
  muted: '#48515f',
  control: '#6b7584',
  hairline: '#c7cdd6',
  grid: '#e4e8ee',
  accent: '#0a58a8',
  ok: '#0a6b4b',
  warn: '#8a5200',
  crit: '#b4231a',
  unknown: '#545d6b',
  'series-job': '#007eff',
  'series-files': '#bb6800',
  'series-deletes': '#7f0035',
  'series-bytes': '#004e21',
  'series-fresh': '#42279d',
  'series-base': '#6b7584',
  'op-delete': '#a3195b',
} as const;

/** Pixels left of the plots. */
export const HEAD = 176;
/** Not read yet. */
export const UNREAD = 'url(#unread)';

const OPERATIONS: Record<string, string> = {
  append: LIGHT.ok,
  overwrite: LIGHT.warn,
  delete: LIGHT['op-delete'],
  replace: LIGHT.accent,
};

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** What XML 1.0 cannot hold at all. */
const NO_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

export const escapeXml = (text: string): string =>
  text.replace(NO_XML, '\uFFFD').replace(/[&<>"']/g, (each) => ENTITIES[each] as string);

type Attributes = Readonly<Record<string, string | number>>;

export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const all = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`);
  return `<${name}${all.join('')}${children.length ? `>${children.join('')}</${name}>` : '/>'}`;
}

/** Words on one line. Each is a paragraph of its own to the bidi algorithm: a name reorders nothing beside it. */
export const words = (x: number, y: number, text: string, attributes: Attributes = {}): string =>
  element('text', { x, y, 'font-size': 12, fill: LIGHT.text, ...attributes }, escapeXml(text));

/** So many characters at most. */
export function short(text: string, most: number): string {
  const all = [...text];
  return all.length > most ? `${all.slice(0, Math.max(0, most - 1)).join('')}…` : text;
}

/** The mark of an operation, its middle at a point. */
export function glyph(
  operation: string | null,
  x: number,
  y: number,
  size: number,
  look: { hollow?: boolean; expired?: boolean } = {},
): string {
  const colour = OPERATIONS[operation ?? ''] ?? LIGHT.unknown;
  const shape = operationShape(operation);
  const { hollow = false, expired = false } = look;
  return element(
    'g',
    {
      transform: `translate(${x - size / 2} ${y - size / 2}) scale(${size / 16})`,
      fill: hollow ? LIGHT.bg : colour,
      stroke: colour,
      'fill-opacity': expired && !hollow ? 0.25 : 1,
      'stroke-width': hollow || expired ? 1.6 : 1,
      ...(expired ? { 'stroke-dasharray': '0.1 2.6', 'stroke-linecap': 'round' } : {}),
      'stroke-linejoin': 'round',
    },
    shape ? element('path', { d: shape }) : element('circle', { cx: 8, cy: 8, r: 4.5 }),
  );
}
