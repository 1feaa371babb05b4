// One question to axe for component tests: what is wrong, what could not be decided. Both must be empty.
import axe from 'axe-core';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Rules about whole pages; a component under test is not one. */
const PAGE_RULES = {
  region: { enabled: false },
  'page-has-heading-one': { enabled: false },
  'heading-order': { enabled: false },
  'landmark-one-main': { enabled: false },
};

/** `rule: element` of each finding, undecided ones marked; empty when all is well. */
export async function axeFindings(root: Element = document.body): Promise<string[]> {
  const result = await axe.run(root, { runOnly: TAGS, rules: PAGE_RULES });
  // axe cannot tell what is painted behind text inside an svg, nor the colour of a sign that stands alone on a key;
  // tokens.test.ts computes those contrasts
  const undecided = result.incomplete
    .map((rule) => ({
      ...rule,
      nodes: rule.nodes.filter((n) => rule.id !== 'color-contrast' || !/^<(text|kbd)/.test(n.html)),
    }))
    .filter((rule) => rule.nodes.length > 0);
  const say = (mark: string) => (rule: axe.Result) =>
    `${mark}${rule.id}: ${rule.nodes.map((n) => n.html).join(' ')}`;
  return [...result.violations.map(say('')), ...undecided.map(say('undecided '))];
}

/** Ids that occur more than once in the document. */
export function doubleIds(): string[] {
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  return ids.filter((id, i) => ids.indexOf(id) !== i);
}
