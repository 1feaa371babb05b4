// The Markdown that runbooks are written in, as blocks of text: headings, paragraphs, lists, statements. Never as markup:
// whatever else a line holds is shown as it is. Pure.

/** A stretch of a line. */
export interface Part {
  readonly kind: 'text' | 'code' | 'strong' | 'link';
  readonly text: string;
  /** Of a link to another runbook: its name. */
  readonly name?: string;
}
export type Block =
  | { readonly kind: 'title' | 'heading' | 'paragraph'; readonly parts: readonly Part[] }
  | { readonly kind: 'list'; readonly items: readonly (readonly Part[])[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string };

const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;
const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)]+)\)/g;
const RUNBOOK = /^([a-z0-9-]{1,80})\.md$/;
const ITEM = /^[*-] /m;

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  for (const fence of markdown.matchAll(FENCE)) {
    blocks.push(...proseOf(markdown.slice(at, fence.index)));
    blocks.push({ kind: 'code', language: fence[1] ?? '', text: (fence[2] ?? '').trimEnd() });
    at = fence.index + fence[0].length;
  }
  return [...blocks, ...proseOf(markdown.slice(at))];
}

const proseOf = (text: string): Block[] =>
  text
    .split(/\n\s*\n/)
    .map((each) => each.trim())
    .filter(Boolean)
    .map((each) => {
      const heading = /^(#+) (.*)$/.exec(each);
      if (heading)
        return { kind: heading[1] === '#' ? 'title' : 'heading', parts: partsOf(heading[2] ?? '') };
      if (ITEM.test(each) && /^[*-]/.test(each))
        return { kind: 'list', items: each.split(ITEM).filter(Boolean).map(partsOf) };
      return { kind: 'paragraph', parts: partsOf(each) };
    });

function partsOf(text: string): Part[] {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const parts: Part[] = [];
  let at = 0;
  for (const found of line.matchAll(INLINE)) {
    if (found.index > at) parts.push({ kind: 'text', text: line.slice(at, found.index) });
    at = found.index + found[0].length;
    const [, code, strong, stressed, link, target = ''] = found;
    const name = RUNBOOK.exec(target)?.[1];
    if (code !== undefined) parts.push({ kind: 'code', text: code });
    else if (link === undefined) parts.push({ kind: 'strong', text: strong ?? stressed ?? '' });
    else
      parts.push(name ? { kind: 'link', text: link, name } : { kind: 'text', text: `${link} (${target})` });
  }
  if (at < line.length) parts.push({ kind: 'text', text: line.slice(at) });
  return parts;
}
