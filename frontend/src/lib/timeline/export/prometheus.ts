// Prometheus' own page with the question of a lane, over the same window and at the same step. Pure.

/** `base`: where browsers find the server, with or without a path. Null when it is no web address. */
export function graphHref(
  base: string,
  promql: string,
  { from, to, step }: { readonly from: number; readonly to: number; readonly step: number },
): string | null {
  if (!/^https?:\/\//i.test(base) || !URL.canParse(base)) return null;
  const page = new URL(base);
  page.pathname = `${page.pathname.replace(/\/$/, '')}/graph`;
  page.search = new URLSearchParams({
    'g0.expr': promql,
    'g0.tab': '0',
    'g0.range_input': `${Math.max(1, Math.round((to - from) / 1000))}s`,
    'g0.end_input': new Date(to).toISOString().slice(0, 19).replace('T', ' '),
    'g0.step_input': String(step),
  }).toString();
  return page.href;
}
